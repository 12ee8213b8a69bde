import PushBase
import PushNet
import Synchronization

/// Connections to one of Apple's services with one credential, and the way to reach them from any thread.
///
/// The pool pulls: whenever it has room it asks its source for requests, so nothing queues up here, and memory stays flat
/// however much waits. It connects when there is something to send, follows the server's limit of streams as it changes,
/// opens further connections while all are full, closes them after long idleness, looks the host up anew for each
/// connection, and waits longer and longer after failures. Requests that fail are not repeated: what is to be done about
/// them depends on the message, which the source knows.
///
///     let pool = APNsPool(on: address, configuration, source: source)
///     pool.setAuthorization(Array("bearer \(token)".utf8))
///     pool.wake()      // the source has requests; again whenever it has some after it had none
public final class APNsPool: Sendable {
  /// What threads and the loop share.
  struct Shared: Sendable {
    var authorization: [UInt8] = []
    var isPaused = false
    var closing: Closing?
    var status = APNsPoolStatus()
    /// Counts the calls to `renewConnections`.
    var renewals = 0
    /// Requests that are wanted back.
    var recalls: [UInt64] = []
  }

  enum Closing: Sendable { case drain, atOnce }

  let configuration: APNsPoolConfiguration
  let source: any APNsSource
  let shared = Mutex(Shared())
  /// Set by whoever changes something the loop must look at.
  let isChanged = Atomic<Bool>(false)
  /// Set by the source when it has requests.
  let hasRequests = Atomic<Bool>(false)
  private let address: APNsDriver.Address

  /// Starts a pool on a loop that has an `APNsDriver`. It keeps its source until it has closed.
  public init(on address: APNsDriver.Address, _ configuration: APNsPoolConfiguration, source: any APNsSource)
  {
    self.configuration = configuration
    self.source = source
    self.address = address
    address.post(.add(self))
  }

  /// Says that the source has requests. Connects if there is no connection.
  public func wake() {
    guard !hasRequests.exchange(true, ordering: .acquiringAndReleasing) else { return }
    noteChange()
  }

  /// Has the loop look at what was changed.
  private func noteChange() {
    guard !isChanged.exchange(true, ordering: .acquiringAndReleasing) else { return }
    address.post(.wake(self))
  }

  /// Sets the value of `authorization`, `bearer ` and the JWT, for all requests that are taken from now on.
  public func setAuthorization(_ value: [UInt8]) {
    shared.withLock { $0.authorization = value }
    noteChange()
  }

  /// Takes nothing from the source until `resume`; what is under way goes on.
  public func pause() {
    shared.withLock { $0.isPaused = true }
    noteChange()
  }

  /// Ends a pause.
  public func resume() {
    shared.withLock { $0.isPaused = false }
    noteChange()
  }

  /// Moves to new connections; those that exist end when their last answer has come. Needed after the team got a new
  /// topic, which open connections do not know, or a key of another kind.
  public func renewConnections() {
    shared.withLock { $0.renewals &+= 1 }
    noteChange()
  }

  /// Wants requests back, by their tags: those that have not been given to the socket come back as not sent. Of the others
  /// nothing changes.
  public func recall(_ tags: [UInt64]) {
    shared.withLock { $0.recalls += tags }
    noteChange()
  }

  /// Closes the pool for good: after the answers that are due have come, or at once, with what is under way unknown. The
  /// source gets `.closed` when it is done.
  public func close(drain: Bool) {
    shared.withLock { $0.closing = drain && $0.closing != .atOnce ? .drain : .atOnce }
    noteChange()
  }

  /// The pool as it was at the end of its loop's last turn.
  public var status: APNsPoolStatus { shared.withLock { $0.status } }
}
