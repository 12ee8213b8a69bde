import BorealisBase
import Synchronization

/// What a server has of the one before it, and of the one that follows.
final class Takeover: Sendable {
  private struct State: Sendable {
    var isUnderWay = false
    /// The server is to stop.
    var isStopping = false
    /// Signalled when the main thread does nothing any more.
    var wanted: Semaphore?
    var holdsMainThread = false
    var successor: Successor?
    var follower: Int32?
    var failure: String?
    var opening: HomeOpening?
    var readingTime: UInt64 = 0
  }

  /// Why an upgrade ends when the server does.
  static let stopping = Failure.failed("the server is to stop")

  /// The server whose place this one takes; nil for one that was started otherwise.
  let predecessor: Predecessor?
  /// Nil for a database in PostgreSQL.
  let locks: FolderLocks?
  /// The path of this program when it was started; nil if the system does not tell.
  let program: String?
  private let state = Mutex(State())

  init(locks: FolderLocks? = nil, predecessor: Predecessor? = nil) {
    (self.locks, self.predecessor) = (locks, predecessor)
    program = try? Successor.ownProgram()
  }

  /// Whether another process has this one's place.
  var hasFollower: Bool { follower != nil }

  /// That process.
  var follower: Int32? { state.withLock { $0.follower } }

  /// Why that one does not serve, if it does not.
  var failure: String? { state.withLock { $0.failure } }

  /// Another process has the place from now on.
  func note(follower: Int32) { state.withLock { $0.follower = follower } }

  /// How the database is opened again; nil for a node of a cluster.
  var opening: HomeOpening? { state.withLock { $0.opening } }

  /// Nanoseconds that it took to read the database.
  var readingTime: UInt64 { state.withLock { $0.readingTime } }

  func note(_ opening: HomeOpening, readingTime: UInt64) {
    state.withLock { ($0.opening, $0.readingTime) = (opening, readingTime) }
  }

  func note(failure: String) { state.withLock { $0.failure = failure } }

  /// Begins to look for one; false if somebody does.
  func begin() -> Bool {
    state.withLock { state in
      defer { state.isUnderWay = true }
      return !state.isUnderWay
    }
  }

  func end() { state.withLock { ($0.isUnderWay, $0.successor) = (false, nil) } }

  // MARK: The end of the server

  /// Whether the server is to stop.
  var isStopping: Bool { state.withLock { $0.isStopping } }

  func expectNoStop() throws(Failure) { if isStopping { throw Self.stopping } }

  /// The process that has been started, which ends with the server unless it has its place.
  func note(_ successor: Successor) { state.withLock { $0.successor = successor } }

  /// The server is to stop: what is under way ends.
  func stop() {
    state.withLock { state in
      state.isStopping = true
      state.wanted?.signal()
      state.wanted = nil
    }
  }

  /// Ends a process that is to have the place and does not have it.
  func endSuccessor() {
    let successor = state.withLock { $0.follower == nil ? $0.successor : nil }
    successor?.end()
  }

  // MARK: The main thread

  /// Does something while the main thread does nothing but wait for signals. On another thread.
  func whileMainThreadWaits<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    let waits = Semaphore()
    let isAsked = state.withLock { state in
      guard !state.isStopping else { return false }
      state.wanted = waits
      return true
    }
    if isAsked { waits.wait() }
    defer { state.withLock { $0.holdsMainThread = false } }
    try expectNoStop()
    return try body()
  }

  /// Whether the main thread is to do nothing but wait for signals. Asked by the main thread, between two
  /// pieces of work.
  func holdsMainThread() -> Bool {
    state.withLock { state in
      if let wanted = state.wanted {
        (state.wanted, state.holdsMainThread) = (nil, true)
        wanted.signal()
      }
      return state.holdsMainThread
    }
  }
}
