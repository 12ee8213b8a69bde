import BorealisBase
import HTTP
import Model
import Storage
import Synchronization

/// Sends the due batches of the database to app servers; only requests in flight are in memory. Safe to use
/// from any thread.
final class CallbackQueue: Sendable {
  private struct State: Sendable {
    var limiter: DestinationLimiter
    var turns = CallbackTurns()
    var isReading = false
    /// Whether a query was requested while one was running, which may have missed the new batch.
    var isWanted = false
    /// Whether the last query failed: of what lasts one line in the log is enough.
    var hasFailed = false
    var isClosed = false
  }

  private let store: Store
  private let scope: HomeScope
  private let transport: HTTPTransport
  private let keys: CallbackKeys
  private let metrics: CallbackMetrics
  private let time: any TimeSource
  private let log: Log
  private let tracer: Tracer?
  private let state: Mutex<State>

  init(
    store: Store, scope: HomeScope, transport: HTTPTransport, keys: CallbackKeys, metrics: CallbackMetrics,
    limits: DestinationLimiter.Limits = DestinationLimiter.Limits(), time: any TimeSource, log: Log,
    tracer: Tracer? = nil
  ) {
    self.store = store
    self.scope = scope
    self.transport = transport
    self.keys = keys
    self.metrics = metrics
    self.time = time
    self.log = log
    self.tracer = tracer
    state = Mutex(State(limiter: DestinationLimiter(limits: limits)))
  }

  /// Reads due batches and sends them within the limits.
  func look() {
    let seen = state.withLock { state -> (limiter: DestinationLimiter, turns: CallbackTurns)? in
      guard !state.isClosed else { return nil }
      guard !state.isReading else {
        state.isWanted = true
        return nil
      }
      guard !state.limiter.places.isFull else { return nil }
      state.isReading = true
      state.isWanted = false
      return (state.limiter, state.turns)
    }
    guard let seen else { return }
    let query = CallbackQuery(
      seen.turns, limiter: seen.limiter, at: time.now(), nanoseconds: time.monotonic())
    store.read { [rows = scope.rows] transaction throws(StorageError) in
      var query = query
      try query.run(in: transaction, rows)
      return query
    } completion: { [self] result in
      switch result {
      case .failure(let error): noteFailure(error)
      case .success(let found): send(found)
      }
      let isWanted = state.withLock { state in
        if case .success(let found) = result { (state.turns, state.hasFailed) = (found.turns, false) }
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

  private func send(_ found: CallbackQuery) {
    var signer = CallbackSigner(keys)
    for (batch, target) in found.batches {
      let setting = found.settings[batch.app]
      let now = time.now()
      let url = batch.url ?? setting?.url
      let nanoseconds = time.monotonic()
      guard state.withLock({ $0.limiter.begin(batch.id, to: target, at: nanoseconds) }) else { continue }
      guard let url else {
        // The app no longer has a URL.
        note(
          batch, target, HTTPAnswer(error: "the app has no callback address"),
          isFinal: true)
        continue
      }
      do throws(CallbackKeys.Failure) {
        var post = OutgoingRequest(url: url, fields: [], body: batch.body)
        if setting?.wantsReceipts(of: batch) == true, let receipts = found.receipts[batch.app] {
          let body = try receipts.body(batch.body, of: batch.app, with: signer.sealingKeys())
          post = OutgoingRequest(url: url, fields: [], body: body, contentType: GetuiReceipts.contentType)
          guard !body.isEmpty else {
            // The format was chosen after these events.
            note(
              batch, target,
              HTTPAnswer(error: "nothing of it has a form in Getui's format"),
              isFinal: true)
            continue
          }
        } else if let body = CallbackEvent.withoutShown(batch.body) {
          guard !body.isEmpty else {
            // The format was chosen after these events.
            note(
              batch, target,
              HTTPAnswer(error: "nothing of it has a form in Borealis' format"),
              isFinal: true)
            continue
          }
          post = OutgoingRequest(url: url, fields: [], body: body)
        }
        post.fields = try signer.fields(
          for: post.body, of: setting, delivery: "\(batch.id)", attempt: batch.attempts + 1, at: now)
        send(post, batch, target)
      } catch {
        note(batch, target, HTTPAnswer(error: error.message))
      }
    }
  }

  /// Sends a request, in the trace of the first of its pushes that can have a span.
  private func send(_ request: OutgoingRequest, _ batch: CallbackBatchRow, _ target: CallbackTarget) {
    var post = request
    let span = tracer?.begin(notifying: CallbackEvent.pushes(in: batch.body))
    if let span { post.fields += span.context.fields }
    transport.send(post) { [self] answer in
      // It is sent again after the next start.
      guard !answer.isClosed else { return }
      span?.end(
        "send callback",
        [
          SpanAttribute("borealis.delivery", batch.id), SpanAttribute("borealis.events", batch.events),
          SpanAttribute("borealis.attempt", batch.attempts + 1),
        ], answer)
      note(batch, target, answer, trace: span?.traceID)
    }
  }

  // MARK: Its outcome

  private func note(
    _ batch: CallbackBatchRow, _ target: CallbackTarget, _ answer: HTTPAnswer, isFinal: Bool = false,
    trace: String? = nil
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
      $0.limiter.answered(target, isSuccess: problem == nil || isFinal, chance: chance, at: nanoseconds)
    }
    count(batch, answer, isDead: problem != nil && next == nil, at: now, trace: trace)
    let attempt = CallbackAttemptRow(
      at: now, milliseconds: answer.milliseconds, status: answer.status, error: problem)
    store.write(of: batch.app, lowPriority: true) { transaction throws(StorageError) in
      try transaction.callbacks.noteAttempt(batch: batch.id, attempt, next: next)
    } completion: { [self] result in
      if case .failure(let error) = result, error.kind != .movedAway {
        log.error(
          "cannot store the outcome of a callback", ["batch": .number(batch.id), "reason": .text("\(error)")])
      }
      state.withLock { $0.limiter.end(batch.id, to: target) }
      // While the database fails, do not send the same batch in a busy loop: wait for the next second.
      if case .success = result { look() }
    }
  }

  private func count(
    _ batch: CallbackBatchRow, _ answer: HTTPAnswer, isDead: Bool, at now: Timestamp, trace: String?
  ) {
    metrics.requestTime.observe(microseconds: UInt64(clamping: answer.milliseconds) &* 1000)
    guard let problem = answer.problem else {
      metrics.sent.add()
      metrics.events.add(UInt64(batch.events))
      let delay = max(0, now.milliseconds &- batch.createdAt.milliseconds)
      metrics.delay.observe(microseconds: UInt64(delay) &* 1000)
      log.debug(
        "callback accepted", ["app": .number(Int64(batch.app.rawValue)), "batch": .number(batch.id)],
        trace: trace)
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
      ], trace: trace)
  }
}
