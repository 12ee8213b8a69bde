import BorealisBase
import BorealisNet
import Synchronization

/// Connections to one server. Safe to use from any thread.
///
/// The pool pulls: whenever it has capacity it asks its source for requests, so nothing queues up here, and
/// memory stays constant however much waits. It connects when there is something to send, follows the
/// server's limit of streams, opens more connections while all are full, closes them after long idleness,
/// resolves the host again for each connection, and backs off after failures. It does not repeat failed
/// requests: how to handle them depends on the message, which the source knows.
///
///     let pool = HTTP2Pool(on: address, configuration) { source }
///     pool.wake()      // call whenever the source has requests after it had none
package final class HTTP2Pool: Sendable {
  /// The state that threads and the loop share.
  struct Shared: Sendable {
    var isPaused = false
    var closing: Closing?
    var status = HTTP2PoolStatus()
    /// Counts the calls to `renewConnections`.
    var renewals = 0
    /// Requests to withdraw.
    var recalls: [UInt64] = []
  }

  enum Closing: Sendable { case drain, atOnce }

  let shared = Mutex(Shared())
  /// Set after a change that the loop must read.
  let isChanged = Atomic<Bool>(false)
  /// Set by the source when it has requests.
  let hasRequests = Atomic<Bool>(false)
  private let address: HTTP2Driver.Address

  /// Starts a pool on a loop that has an `HTTP2Driver`. The source is made on the loop's thread, and retained
  /// until the pool has closed.
  package init(
    on address: HTTP2Driver.Address, _ configuration: HTTP2PoolConfiguration,
    source: @escaping @Sendable () -> any HTTP2PoolSource
  ) {
    self.address = address
    address.post(.add(self, configuration, source))
  }

  /// Tells the pool that the source has requests. Connects if there is no connection.
  package func wake() {
    guard !hasRequests.exchange(true, ordering: .acquiringAndReleasing) else { return }
    noteChange()
  }

  /// Gives the pool a turn: the source may have changed its mind.
  package func noteChange() {
    guard !isChanged.exchange(true, ordering: .acquiringAndReleasing) else { return }
    address.post(.wake(self))
  }

  /// Takes nothing from the source until `resume`; requests in flight continue.
  package func pause() {
    shared.withLock { $0.isPaused = true }
    noteChange()
  }

  /// Ends a pause.
  package func resume() {
    shared.withLock { $0.isPaused = false }
    noteChange()
  }

  /// Moves to new connections; existing ones end after their last response.
  package func renewConnections() {
    shared.withLock { $0.renewals &+= 1 }
    noteChange()
  }

  /// Withdraws requests by their tags: those that have not been given to the socket come back as not sent.
  /// The others are unaffected.
  package func recall(_ tags: [UInt64]) {
    shared.withLock { $0.recalls += tags }
    noteChange()
  }

  /// Closes the pool permanently: after pending responses, or immediately, with unknown results for requests
  /// in flight. The source gets `.closed` when it is done.
  package func close(drain: Bool) {
    shared.withLock { $0.closing = drain && $0.closing != .atOnce ? .drain : .atOnce }
    noteChange()
  }

  /// The pool as it was at the end of its loop's last turn.
  package var status: HTTP2PoolStatus { shared.withLock { $0.status } }
}
