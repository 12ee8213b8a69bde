import BorealisBase

/// Apps whose sessions at a gateway may lack pushes: their home was told of them, and has not said since what
/// they lack. A state machine without input or output.
struct ReplayQuestions: Sendable {
  private struct Question: Sendable {
    /// When it is asked, or asked again.
    var due: UInt64
    /// The number under which it was asked last; nil before.
    var number: UInt32?
  }

  /// Nanoseconds for which an answer is awaited.
  private static let patience: UInt64 = 1_000_000_000

  private var open: [AppID: Question] = [:]
  private var last: UInt32 = 0

  /// When one is due.
  var deadline: UInt64 { open.values.reduce(.max) { min($0, $1.due) } }

  /// Whether an app's sessions may lack something.
  func isOpen(_ app: AppID) -> Bool { open[app] != nil }

  /// A home will be told of an app's sessions: it is asked then, or after a while all the same.
  mutating func expect(_ app: AppID, now: UInt64) { open[app] = Question(due: now + Self.patience) }

  /// A question for an app's home, behind the list of sessions, so that its answer is of a home that knows
  /// them.
  mutating func ask(_ app: AppID, now: UInt64) -> ClusterMessage {
    last &+= 1
    open[app] = Question(due: now + Self.patience, number: last)
    return .replay(ReplayRequest(after: MessageID(0), number: last))
  }

  /// A home has said that nothing is missing any more. It says which question it answers; one of the version
  /// before does not.
  mutating func handle(_ end: ReplayEnd, of app: AppID) {
    guard let number = open[app]?.number, end.answers ?? number >= number else { return }
    open[app] = nil
  }

  /// An app has no home, or no sessions here.
  mutating func forget(_ app: AppID) { open[app] = nil }

  /// The same of all apps.
  mutating func forgetAll() { open = [:] }

  /// The apps whose homes are to be asked now.
  func due(now: UInt64) -> [AppID] {
    open.filter { $0.value.due <= now }.keys.sorted { $0.rawValue < $1.rawValue }
  }
}
