import PushBase
import PushNet
import Synchronization

/// Connections to an APNs environment with one credential. Safe to use from any thread.
///
/// The pool pulls: whenever it has capacity it asks its source for requests, so nothing queues up here, and memory stays
/// constant however much waits. It connects when there is something to send, follows the server's limit of streams, opens
/// more connections while all are full, closes them after long idleness, resolves the host again for each connection, and
/// backs off after failures. It does not repeat failed requests: how to handle them depends on the message, which the
/// source knows.
///
///     let pool = APNsPool(on: address, configuration, source: source)
///     pool.setAuthorization(Array("bearer \(token)".utf8))
///     pool.wake()      // call whenever the source has requests after it had none
public final class APNsPool: Sendable {
  /// The state that threads and the loop share.
  struct Shared: Sendable {
    var authorization: [UInt8] = []
    var isPaused = false
    var closing: Closing?
    var status = APNsPoolStatus()
    /// Counts the calls to `renewConnections`.
    var renewals = 0
    /// Requests to withdraw.
    var recalls: [UInt64] = []
  }

  enum Closing: Sendable { case drain, atOnce }

  let configuration: APNsPoolConfiguration
  let source: any APNsSource
  let shared = Mutex(Shared())
  /// Set after a change that the loop must read.
  let isChanged = Atomic<Bool>(false)
  /// Set by the source when it has requests.
  let hasRequests = Atomic<Bool>(false)
  private let address: APNsDriver.Address

  /// Starts a pool on a loop that has an `APNsDriver`. It retains its source until it has closed.
  public init(on address: APNsDriver.Address, _ configuration: APNsPoolConfiguration, source: any APNsSource)
  {
    self.configuration = configuration
    self.source = source
    self.address = address
    address.post(.add(self))
  }

  /// Tells the pool that the source has requests. Connects if there is no connection.
  public func wake() {
    guard !hasRequests.exchange(true, ordering: .acquiringAndReleasing) else { return }
    noteChange()
  }

  /// Has the loop read changes.
  private func noteChange() {
    guard !isChanged.exchange(true, ordering: .acquiringAndReleasing) else { return }
    address.post(.wake(self))
  }

  /// Sets the value of `authorization`, `bearer ` and the JWT, for all requests taken from now on.
  public func setAuthorization(_ value: [UInt8]) {
    shared.withLock { $0.authorization = value }
    noteChange()
  }

  /// Takes nothing from the source until `resume`; requests in flight continue.
  public func pause() {
    shared.withLock { $0.isPaused = true }
    noteChange()
  }

  /// Ends a pause.
  public func resume() {
    shared.withLock { $0.isPaused = false }
    noteChange()
  }

  /// Moves to new connections; existing ones end after their last response. Needed after the team got a new topic, which
  /// open connections do not know, or a key of another kind.
  public func renewConnections() {
    shared.withLock { $0.renewals &+= 1 }
    noteChange()
  }

  /// Withdraws requests by their tags: those that have not been given to the socket come back as not sent. The others are
  /// unaffected.
  public func recall(_ tags: [UInt64]) {
    shared.withLock { $0.recalls += tags }
    noteChange()
  }

  /// Closes the pool permanently: after pending responses, or immediately, with unknown results for requests in flight.
  /// The source gets `.closed` when it is done.
  public func close(drain: Bool) {
    shared.withLock { $0.closing = drain && $0.closing != .atOnce ? .drain : .atOnce }
    noteChange()
  }

  /// The pool as it was at the end of its loop's last turn.
  public var status: APNsPoolStatus { shared.withLock { $0.status } }
}
