import PushBase
import PushDomain
import PushHTTPClient
import PushStorage
import Synchronization

/// Sends the due batches of the database to app servers; only requests in flight are in memory. Safe to use from any thread.
final class CallbackQueue: Sendable {
  private struct State: Sendable {
    var limiter: DestinationLimiter
    /// The destination after which the next query continues, so that each gets its turn.
    var last: CallbackDestination?
    var isReading = false
    /// Whether a query was requested while one was running, which may have missed the new batch.
    var isWanted = false
    /// Whether the last query failed: of what lasts one line in the log is enough.
    var hasFailed = false
    var isClosed = false
  }

  /// Batches that can be sent now, with the settings of their apps.
  private struct Found: Sendable {
    var batches: [CallbackBatchRow] = []
    var settings: [AppID: CallbackSettingRow] = [:]
    /// The data for batches in Getui's format, by app.
    var receipts: [AppID: GetuiReceipts] = [:]
    var last: CallbackDestination?
  }

  /// Destinations in one query.
  private static let destinationsPerQuery = 256

  private let store: Store
  private let scope: HomeScope
  private let transport: HTTPTransport
  private let keys: CallbackKeys
  private let metrics: CallbackMetrics
  private let time: any TimeSource
  private let log: Log
  private let state: Mutex<State>

  init(
    store: Store, scope: HomeScope, transport: HTTPTransport, keys: CallbackKeys, metrics: CallbackMetrics,
    limits: DestinationLimiter.Limits = DestinationLimiter.Limits(), time: any TimeSource, log: Log
  ) {
    self.store = store
    self.scope = scope
    self.transport = transport
    self.keys = keys
    self.metrics = metrics
    self.time = time
    self.log = log
    state = Mutex(State(limiter: DestinationLimiter(limits: limits)))
  }

  /// Reads due batches and sends them within the limits.
  func look() {
    let limiter = state.withLock { state -> DestinationLimiter? in
      guard !state.isClosed else { return nil }
      guard !state.isReading else {
        state.isWanted = true
        return nil
      }
      guard state.limiter.availableCapacity > 0 else { return nil }
      state.isReading = true
      state.isWanted = false
      return state.limiter
    }
    guard let limiter else { return }
    let (now, nanoseconds) = (time.now(), time.monotonic())
    let last = state.withLock { $0.last }
    store.read { [scope] transaction throws(StorageError) in
      try Self.find(in: transaction, scope, limiter: limiter, after: last, at: now, nanoseconds)
    } completion: { [self] result in
      switch result {
      case .failure(let error): noteFailure(error)
      case .success(let found): send(found)
      }
      let isWanted = state.withLock { state in
        if case .success(let found) = result { (state.last, state.hasFailed) = (found.last, false) }
        state.isReading = false
        return state.isWanted
      }
      if isWanted { look() }
    }
  }

  private func noteFailure(_ error: StorageError) {
    let isKnown = state.withLock { state in
      defer { state.hasFailed = true }
      return state.hasFailed
    }
    if !isKnown { log.error("cannot read callbacks", ["reason": .text("\(error)")]) }
  }

  /// Stops sending.
  func close() { state.withLock { $0.isClosed = true } }

  /// Called once a minute.
  func tidy() {
    let now = time.monotonic()
    state.withLock { $0.limiter.forgetIdle(at: now) }
  }

  private static func find(
    in transaction: ReadTransaction, _ scope: HomeScope, limiter: DestinationLimiter,
    after last: CallbackDestination?, at now: Timestamp, _ nanoseconds: UInt64
  ) throws(StorageError) -> Found {
    var found = Found()
    var destinations = try transaction.callbacks.destinations(
      after: last, limit: destinationsPerQuery, in: scope.rows)
    if destinations.count < destinationsPerQuery, let last {
      let first = try transaction.callbacks.destinations(
        after: nil, limit: destinationsPerQuery - destinations.count, in: scope.rows)
      destinations += first.prefix { !(last < $0) }
    }
    for destination in destinations {
      guard found.batches.count < limiter.availableCapacity else { break }
      found.last = destination
      let (free, busy) = limiter.availableCapacity(of: destination, at: nanoseconds)
      guard free > 0 else { continue }
      let due = try transaction.callbacks.due(destination, at: now, limit: free + busy.count)
      found.batches += due.filter { !busy.contains($0.id) }.prefix(free)
      if found.settings[destination.app] == nil {
        found.settings[destination.app] = try transaction.callbacks.setting(app: destination.app)
      }
    }
    for batch in found.batches where found.settings[batch.app]?.wantsReceipts(of: batch) == true {
      try found.receipts.add(batch, in: transaction)
    }
    return found
  }

  private func send(_ found: Found) {
    var signer = CallbackSigner(keys)
    for batch in found.batches {
      let setting = found.settings[batch.app]
      let destination = CallbackDestination(app: batch.app, origin: batch.origin)
      let now = time.now()
      let url = batch.url ?? setting?.url
      let host = url.flatMap { CallbackAddress($0) }?.origin ?? ""
      let nanoseconds = time.monotonic()
      guard state.withLock({ $0.limiter.begin(batch.id, of: destination, host: host, at: nanoseconds) })
      else {
        continue
      }
      guard let url else {
        // The app no longer has a URL.
        note(
          batch, destination, host: host, HTTPAnswer(error: "the app has no callback address"),
          isFinal: true)
        continue
      }
      do throws(CallbackKeys.Failure) {
        var post = HTTPPost(url: url, fields: [], body: batch.body)
        if setting?.wantsReceipts(of: batch) == true, let receipts = found.receipts[batch.app] {
          let body = try receipts.body(batch.body, of: batch.app, with: signer.sealingKeys())
          post = HTTPPost(url: url, fields: [], body: body, contentType: GetuiReceipts.contentType)
          guard !body.isEmpty else {
            // The format was chosen after these events.
            note(
              batch, destination, host: host,
              HTTPAnswer(error: "nothing of it has a form in Getui's format"),
              isFinal: true)
            continue
          }
        } else if let body = CallbackEvent.withoutShown(batch.body) {
          guard !body.isEmpty else {
            // The format was chosen after these events.
            note(
              batch, destination, host: host,
              HTTPAnswer(error: "nothing of it has a form in Borealis' format"),
              isFinal: true)
            continue
          }
          post = HTTPPost(url: url, fields: [], body: body)
        }
        post.fields = try signer.fields(
          for: post.body, of: setting, delivery: "\(batch.id)", attempt: batch.attempts + 1, at: now)
        transport.send(post) { [self] answer in
          // It is sent again after the next start.
          guard !answer.isClosed else { return }
          note(batch, destination, host: host, answer)
        }
      } catch {
        note(batch, destination, host: host, HTTPAnswer(error: error.message))
      }
    }
  }

  // MARK: Its outcome

  private func note(
    _ batch: CallbackBatchRow, _ destination: CallbackDestination, host: String, _ answer: HTTPAnswer,
    isFinal: Bool = false
  ) {
    let now = time.now()
    let problem = answer.problem
    var random = SystemRandomNumberGenerator()
    let next =
      problem == nil || isFinal
      ? nil
      : CallbackRetries.next(
        afterFailures: batch.attempts + 1, now: now, end: batch.endsAt, using: &random)
    let chance = Double.random(in: 0...1, using: &random)
    let nanoseconds = time.monotonic()
    state.withLock {
      $0.limiter.answered(destination, isSuccess: problem == nil || isFinal, chance: chance, at: nanoseconds)
    }
    count(batch, answer, isDead: problem != nil && next == nil, at: now)
    let attempt = CallbackAttemptRow(
      at: now, milliseconds: answer.milliseconds, status: answer.status, error: problem)
    store.write(of: batch.app, lowPriority: true) { transaction throws(StorageError) in
      try transaction.callbacks.noteAttempt(batch: batch.id, attempt, next: next)
    } completion: { [self] result in
      if case .failure(let error) = result, error.kind != .movedAway {
        log.error(
          "cannot store the outcome of a callback", ["batch": .number(batch.id), "reason": .text("\(error)")])
      }
      state.withLock { $0.limiter.end(batch.id, of: destination, host: host) }
      // While the database fails, do not send the same batch in a busy loop: wait for the next second.
      if case .success = result { look() }
    }
  }

  private func count(_ batch: CallbackBatchRow, _ answer: HTTPAnswer, isDead: Bool, at now: Timestamp) {
    metrics.requestTime.observe(microseconds: UInt64(clamping: answer.milliseconds) &* 1000)
    guard let problem = answer.problem else {
      metrics.sent.add()
      metrics.events.add(UInt64(batch.events))
      let delay = max(0, now.milliseconds &- batch.createdAt.milliseconds)
      metrics.delay.observe(microseconds: UInt64(delay) &* 1000)
      log.debug("callback accepted", ["app": .number(Int64(batch.app.rawValue)), "batch": .number(batch.id)])
      return
    }
    metrics.failed.add()
    if isDead { metrics.dead.add() }
    log.warning(
      isDead ? "callback given up" : "callback failed",
      [
        "app": .number(Int64(batch.app.rawValue)), "batch": .number(batch.id),
        "attempt": .number(Int64(batch.attempts + 1)), "reason": .text(problem),
        "refused": .text(answer.refused?.text ?? "-"),
      ])
  }
}

extension CallbackSettingRow {
  /// Whether a batch is sent in Getui's format: it goes to the app's own address.
  fileprivate func wantsReceipts(of batch: CallbackBatchRow) -> Bool { format == .getui && batch.url == nil }
}

extension [AppID: GetuiReceipts] {
  /// Reads the data for a batch.
  fileprivate mutating func add(
    _ batch: CallbackBatchRow, in transaction: ReadTransaction
  ) throws(StorageError) {
    if self[batch.app] == nil {
      guard let app = try transaction.apps.find(batch.app) else { return }
      self[batch.app] = GetuiReceipts(
        app: app.key, secret: try transaction.getui.access(app: batch.app)?.secret)
    }
    for push in Set(GetuiReceipts.pushes(of: batch.body)) where self[batch.app]?.tasks[push] == nil {
      self[batch.app]?.tasks[push] = try transaction.getui.name(ofTaskWith: push, app: batch.app)?.text
    }
  }
}
