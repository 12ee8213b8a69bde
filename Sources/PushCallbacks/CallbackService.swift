import PushBase
import PushDomain
import PushRouter
import PushStorage
import Synchronization

/// Tells app servers what became of their pushes. Safe to use from any thread.
public final class CallbackService: Sendable {
  /// What the operator chooses.
  public struct Options: Sendable {
    /// Networks that may be connected to although they are not public.
    public var networks: [IPNetwork] = []
    /// A file with certificates, PEM, to trust besides the system's.
    public var authorities: String?
    /// Seconds for which batches are kept that are taken or given up.
    public var retention: Int64 = 3 * 86_400

    /// The defaults.
    public init() {}
  }

  /// Batches counted for the metric; there may be more.
  private static let countLimit = 1_000_000
  /// Rows that one step of housekeeping deletes.
  private static let sweepRows = 256

  let store: Store
  let router: Router
  let keys: CallbackKeys
  let transport: CallbackTransport
  let queue: CallbackQueue
  let time: any TimeSource
  let log: Log
  let addresses: AddressGuard
  let trials = Mutex<Set<AppID>>([])
  private let bulk: BulkTeller
  private let metrics: CallbackMetrics
  private let retention: Int64
  private let ticks = Atomic<Int>(0)

  /// Starts the thread that sends; nil if the system has none left. Nothing is sent before the first `tick`.
  public init?(
    router: Router, options: Options = Options(), keys: CallbackKeys, metrics: Metrics,
    time: any TimeSource = SystemTime(), log: Log
  ) {
    var transfer = CallbackTransfer.Options()
    addresses = AddressGuard(allowing: options.networks)
    transfer.addresses = addresses
    transfer.authorities = options.authorities
    guard let transport = CallbackTransport(transfer) else { return nil }
    self.transport = transport
    self.router = router
    store = router.store
    self.keys = keys
    self.time = time
    self.log = log
    retention = options.retention
    self.metrics = CallbackMetrics(metrics)
    let queue = CallbackQueue(
      store: router.store, transport: transport, keys: keys, metrics: self.metrics, time: time, log: log)
    self.queue = queue
    bulk = BulkTeller(router: router, time: time, log: log) { queue.look() }
    router.journal.add(CallbackRecorder(router: router))
  }

  /// The work of once a second.
  public func tick() {
    let tick = ticks.add(1, ordering: .relaxed).oldValue
    queue.look()
    bulk.tick()
    if tick % 15 == 0 { countWaiting() }
    if tick % 60 == 0 {
      queue.tidy()
      sweep()
    }
  }

  /// Sends no more. What has no answer yet is sent again after the next start.
  public func close() {
    queue.close()
    transport.close()
  }

  private func countWaiting() {
    store.read { transaction throws(StorageError) in
      try transaction.waitingCallbacks(limit: Self.countLimit)
    } completion: { [metrics] result in
      if case .success(let count) = result { metrics.setWaiting(count) }
    }
  }

  /// One step, and when it found enough to do the next behind what waits meanwhile.
  private func sweep() {
    let moment = time.now().adding(seconds: -retention)
    store.write { transaction throws(StorageError) in
      try transaction.sweepPushCallbacks(below: MessageID(firstAt: moment), limit: Self.sweepRows)
      return try transaction.sweepCallbacks(before: moment, limit: Self.sweepRows)
    } completion: { [self] result in
      if case .success(Self.sweepRows) = result { sweep() }
    }
  }
}
