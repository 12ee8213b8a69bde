import BorealisBase
import HTTP
import Model
import Storage
import Synchronization

/// Sends delivery events to app servers. Safe to use from any thread.
package final class CallbackService: Sendable {
  /// Options of the operator.
  package struct Options: Sendable {
    /// Private networks that callbacks may connect to.
    package var networks: [IPNetwork] = []
    /// A PEM file of certificates to trust in addition to the system's.
    package var authorities: String?
    /// The proxy that requests go through; nil for none.
    package var proxy: OutgoingProxy?
    /// Seconds for which delivered and failed batches are kept.
    package var retention: Int64 = 3 * 86_400

    /// The defaults.
    package init() {}
  }

  /// Batches counted for the metric; there may be more.
  private static let countLimit = 1_000_000
  /// Rows that one step of housekeeping deletes.
  private static let sweepRows = 256

  let store: Store
  let router: Router
  let keys: CallbackKeys
  let transport: HTTPTransport
  let queue: CallbackQueue
  let time: any TimeSource
  let log: Log
  let addresses: AddressGuard
  let trials = Mutex<Set<AppID>>([])
  let bulk: BulkNotifier
  private let metrics: CallbackMetrics
  let retention: Int64
  private let ticks = Atomic<Int>(0)

  /// Starts the sending thread; nil if the system cannot create one. Sends nothing before the first `tick`.
  package init?(
    router: Router, store: Store, options: Options = Options(), keys: CallbackKeys, metrics: Metrics,
    time: any TimeSource = SystemTime(), log: Log
  ) {
    let addresses = AddressGuard(allowing: options.networks)
    self.addresses = addresses
    var transfer = HTTPTransport.Options()
    transfer.allows = { addresses.allows($0) }
    transfer.authorities = options.authorities
    transfer.proxy = options.proxy
    transfer.allowsPlainHTTP = true
    transfer.usesHTTP2 = false
    guard let transport = HTTPTransport(transfer, thread: "callbacks") else { return nil }
    self.transport = transport
    self.router = router
    self.store = store
    self.keys = keys
    self.time = time
    self.log = log
    retention = options.retention
    self.metrics = CallbackMetrics(metrics)
    let queue = CallbackQueue(
      store: store, scope: router.scope, transport: transport, keys: keys, metrics: self.metrics, time: time,
      log: log, tracer: router.tracer)
    self.queue = queue
    bulk = BulkNotifier(router: router, store: store, time: time, log: log) { queue.look() }
    router.journal.add(CallbackRecorder(router: router))
    if AddressGuard.ownAddresses() == nil {
      // A sandbox without AF_NETLINK, for one.
      log.error("this machine's addresses cannot be listed: callbacks go to the allowed networks only")
    }
  }

  /// Called once a second.
  package func tick() {
    let tick = ticks.add(1, ordering: .relaxed).oldValue
    queue.look()
    bulk.tick()
    if tick % 15 == 0 { countWaiting() }
    if tick % 60 == 0 {
      queue.tidy()
      sweep()
    }
  }

  /// Stops sending. Requests without a response are sent again after the next start.
  package func close() {
    queue.close()
    transport.close()
  }

  private func countWaiting() {
    store.read { [rows = router.scope.rows] transaction throws(StorageError) in
      try transaction.callbacks.waiting(limit: Self.countLimit, in: rows)
    } completion: { [metrics] result in
      if case .success(let count) = result { metrics.setWaiting(count) }
    }
  }

  /// Runs one step over some apps and queues the next one, up to the last app.
  private func sweep(after last: AppID = .installation) {
    let moment = time.now().adding(seconds: -retention)
    store.write { [rows = router.scope.rows] transaction throws(StorageError) in
      try transaction.callbacks.sweep(before: moment, after: last, limit: Self.sweepRows, in: rows)
    } completion: { [self] result in
      if case .success(let next?) = result { sweep(after: next) }
    }
  }
}
