import BorealisBase
import Core

/// What a home keeps of one gateway. Locations in it are the router's.
struct GatewayPeer: Sendable {
  /// A session asks for its waiting pushes after one.
  struct Pull: Sendable {
    let session: BoundSession
    let after: MessageID
  }

  /// A request of a device.
  enum Request: Sendable {
    case underway(AppID)
    case done(AppID, Handle, [UInt8])
  }

  /// A question for all its sessions of an app, or with `.none` of all apps, that is not answered.
  struct Question: Sendable {
    let app: AppID
    /// The parts of the answer that have come.
    var told: Set<UInt32> = []
    /// When it is asked again.
    var next: UInt64
  }

  /// Nanoseconds for which results are kept.
  private static let resultLifetime: UInt64 = 60_000_000_000
  /// Results, and bytes of them, that are kept at most. One that is kept no more is made again if the gateway
  /// has to ask again.
  private static let mostResults = 65_536
  private static let mostResultBytes = 16 << 20

  let incarnation: Incarnation
  var table = SessionTable()
  /// Logins whose app is being looked up.
  var logins: [Location: (login: DeviceLogin, app: AppID)] = [:]
  /// Registrations that are being stored.
  var registering: [Location: UInt32] = [:]
  var pulls: [Location: Pull] = [:]
  var acknowledgements = BatchProgress()
  private(set) var requests: [UInt32: Request] = [:]
  private var results = FIFO<(sequence: UInt32, bytes: Int, end: UInt64)>()
  private var resultBytes = 0
  /// Sessions that have ended: a LOGIN that comes behind is late.
  var ended = RecentSet<Location>(capacity: 16_384)
  var lateCounter: UInt64 = 0
  /// The questions for its sessions, by their numbers.
  private(set) var questions: [UInt32: Question] = [:]
  /// Buckets that differed when they were last compared.
  var suspects: [AppID: Set<UInt32>] = [:]

  /// Whether devices of an app may be connected there.
  func mayHaveSessions(of app: AppID) -> Bool { table.knows(app) || !hasReported(app) }

  /// Whether it has reported all its sessions of an app.
  func hasReported(_ app: AppID) -> Bool {
    !questions.values.contains { $0.app == app || $0.app == .none }
  }

  /// When a question is asked again.
  var nextAsk: UInt64 { questions.values.reduce(.max) { min($0, $1.next) } }

  init(_ incarnation: Incarnation) { self.incarnation = incarnation }

  /// Begins a request of a device; false if it is under way or done.
  mutating func begin(_ sequence: UInt32, of app: AppID) -> Bool {
    guard requests[sequence] == nil else { return false }
    requests[sequence] = .underway(app)
    return true
  }

  /// The app as it was named in a request that is under way.
  func app(of sequence: UInt32) -> AppID? {
    if case .underway(let app) = requests[sequence] { app } else { nil }
  }

  /// A request of a device has a result.
  mutating func finish(
    _ sequence: UInt32, _ app: AppID, _ handle: Handle, _ result: [UInt8], now: UInt64
  ) {
    guard requests[sequence] != nil else { return }
    requests[sequence] = .done(app, handle, result)
    results.append((sequence, result.count, now + Self.resultLifetime))
    resultBytes += result.count
    while let first = results.first,
      first.end <= now || results.count > Self.mostResults || resultBytes > Self.mostResultBytes
    {
      _ = results.popFirst()
      resultBytes -= first.bytes
      requests[first.sequence] = nil
    }
  }

  /// It is asked for its sessions of an app.
  mutating func ask(_ app: AppID, _ number: UInt32, next: UInt64) {
    questions = questions.filter { $0.value.app != app }
    questions[number] = Question(app: app, next: next)
  }

  /// The apps about which it is to be asked once more.
  func unanswered(now: UInt64) -> [AppID] {
    questions.filter { $0.value.next <= now }.sorted { $0.key < $1.key }.map(\.value.app)
  }

  /// A part of the answer to a question has come; if others do not, it is asked again. True if it was the
  /// last one.
  mutating func note(_ list: SessionList, next: UInt64) -> Bool {
    guard questions[list.request]?.told.insert(list.index) != nil else { return false }
    questions[list.request]?.next = next
    guard questions[list.request]?.told.count == Int(list.count) else { return false }
    questions[list.request] = nil
    return true
  }

  /// An app has another home; what is kept of it here is that one's.
  mutating func forget(_ app: AppID) {
    _ = table.removeAll(of: app)
    logins = logins.filter { $0.value.app != app }
    pulls = pulls.filter { $0.value.session.app != app }
    for (sequence, request) in requests {
      if case .underway(app) = request { requests[sequence] = nil }
    }
    registering = registering.filter { requests[$0.value] != nil }
    acknowledgements.forget(app)
    suspects[app] = nil
    questions = questions.filter { $0.value.app != app }
  }

  /// The buckets of an app that differ from what the gateway says, and did so before: once may be a message
  /// under way.
  mutating func compare(_ digest: DigestMessage, _ app: AppID) -> [UInt32] {
    let differing = table.digest(of: app).differing(from: digest)
    let range = digest.first...digest.last
    let before = suspects[app] ?? []
    let others = before.filter { !range.contains($0) }.union(differing)
    suspects[app] = others.isEmpty ? nil : others
    return differing.filter(before.contains)
  }

  /// Whether a push that is told late still waits for a session, and has not been recalled.
  func isWaiting(_ late: LatePush, in directory: AppDirectory, _ places: LoopDirectory) -> Bool {
    let sessions = late.handles.compactMap { places.location(of: $0) }.compactMap { table[$0] }
    return sessions.contains { directory.isWaiting(late.id, for: $0.number) }
  }
}
