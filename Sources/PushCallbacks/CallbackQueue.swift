import PushBase
import PushDomain
import PushStorage
import Synchronization

/// Sends what the database holds for app servers. Only what is under way is in memory. Safe to use from any thread.
final class CallbackQueue: Sendable {
  private struct State: Sendable {
    var board: LaneBoard
    /// Where the look for destinations goes on, so that each has its turn.
    var last: CallbackLane?
    var isReading = false
    /// Somebody asked while a look was under way, which may have missed what it was about.
    var isWanted = false
    var isClosed = false
  }

  /// Batches that can be sent now, with what their apps have set up.
  private struct Found: Sendable {
    var batches: [CallbackBatchRow] = []
    var settings: [AppID: CallbackSettingRow] = [:]
    var last: CallbackLane?
  }

  /// Destinations that one look goes through.
  private static let lanesInLook = 256

  private let store: Store
  private let transport: CallbackTransport
  private let keys: CallbackKeys
  private let metrics: CallbackMetrics
  private let time: any TimeSource
  private let log: Log
  private let state: Mutex<State>

  init(
    store: Store, transport: CallbackTransport, keys: CallbackKeys, metrics: CallbackMetrics,
    limits: LaneBoard.Limits = LaneBoard.Limits(), time: any TimeSource, log: Log
  ) {
    self.store = store
    self.transport = transport
    self.keys = keys
    self.metrics = metrics
    self.time = time
    self.log = log
    state = Mutex(State(board: LaneBoard(limits: limits)))
  }

  /// Looks for batches that are due, and sends them as far as there is room.
  func look() {
    let board = state.withLock { state -> LaneBoard? in
      guard !state.isClosed else { return nil }
      guard !state.isReading else {
        state.isWanted = true
        return nil
      }
      guard state.board.room > 0 else { return nil }
      state.isReading = true
      state.isWanted = false
      return state.board
    }
    guard let board else { return }
    let (now, nanoseconds) = (time.now(), time.monotonic())
    let last = state.withLock { $0.last }
    store.read { transaction throws(StorageError) in
      try Self.find(in: transaction, board: board, after: last, at: now, nanoseconds)
    } completion: { [self] result in
      switch result {
      case .failure(let error): log.error("cannot read callbacks", ["reason": .text("\(error)")])
      case .success(let found): send(found)
      }
      let isWanted = state.withLock { state in
        if case .success(let found) = result { state.last = found.last }
        state.isReading = false
        return state.isWanted
      }
      if isWanted { look() }
    }
  }

  /// Sends no more.
  func close() { state.withLock { $0.isClosed = true } }

  /// The work of once a minute.
  func tidy() {
    let now = time.monotonic()
    state.withLock { $0.board.forgetIdle(at: now) }
  }

  private static func find(
    in transaction: ReadTransaction, board: LaneBoard, after last: CallbackLane?, at now: Timestamp,
    _ nanoseconds: UInt64
  ) throws(StorageError) -> Found {
    var found = Found()
    var lanes = try transaction.callbackLanes(after: last, limit: lanesInLook)
    if lanes.count < lanesInLook, let last {
      let first = try transaction.callbackLanes(after: nil, limit: lanesInLook - lanes.count)
      lanes += first.prefix { !(last < $0) }
    }
    for lane in lanes {
      guard found.batches.count < board.room else { break }
      found.last = lane
      let (free, busy) = board.room(of: lane, at: nanoseconds)
      guard free > 0 else { continue }
      let due = try transaction.dueCallbacks(lane, at: now, limit: free + busy.count)
      found.batches += due.filter { !busy.contains($0.id) }.prefix(free)
      if found.settings[lane.app] == nil {
        found.settings[lane.app] = try transaction.callbackSetting(app: lane.app)
      }
    }
    return found
  }

  private func send(_ found: Found) {
    var signer = CallbackSigner(keys)
    for batch in found.batches {
      let setting = found.settings[batch.app]
      let lane = CallbackLane(app: batch.app, origin: batch.origin)
      let now = time.now()
      let url = batch.url ?? setting?.url
      let host = url.flatMap { CallbackAddress($0) }?.origin ?? ""
      let nanoseconds = time.monotonic()
      guard state.withLock({ $0.board.begin(batch.id, of: lane, host: host, at: nanoseconds) }) else {
        continue
      }
      guard let url else {
        // Nobody is left to be told.
        note(batch, lane, host: host, CallbackAnswer(error: "the app has no callback address"), isFinal: true)
        continue
      }
      do throws(CallbackKeys.Failure) {
        let fields = try signer.fields(
          for: batch.body, of: setting, delivery: "\(batch.id)", attempt: batch.attempts + 1, at: now)
        transport.send(CallbackPost(url: url, fields: fields, body: batch.body)) { [self] answer in
          note(batch, lane, host: host, answer)
        }
      } catch {
        note(batch, lane, host: host, CallbackAnswer(error: error.message))
      }
    }
  }

  // MARK: What came of it

  private func note(
    _ batch: CallbackBatchRow, _ lane: CallbackLane, host: String, _ answer: CallbackAnswer,
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
      $0.board.answered(lane, isSuccess: problem == nil || isFinal, chance: chance, at: nanoseconds)
    }
    count(batch, answer, isDead: problem != nil && next == nil, at: now)
    let attempt = CallbackAttemptRow(
      at: now, milliseconds: answer.milliseconds, status: answer.status, error: problem)
    store.write(canWait: true) { transaction throws(StorageError) in
      try transaction.noteCallbackAttempt(batch: batch.id, attempt, next: next)
    } completion: { [self] result in
      if case .failure(let error) = result {
        log.error(
          "cannot store what came of a callback", ["batch": .number(batch.id), "reason": .text("\(error)")])
      }
      state.withLock { $0.board.end(batch.id, of: lane, host: host) }
      // A database that takes nothing must not have us send the same batch as fast as we can: the next second will do.
      if case .success = result { look() }
    }
  }

  private func count(_ batch: CallbackBatchRow, _ answer: CallbackAnswer, isDead: Bool, at now: Timestamp) {
    metrics.requestTime.observe(microseconds: UInt64(clamping: answer.milliseconds) &* 1000)
    guard let problem = answer.problem else {
      metrics.sent.add()
      metrics.events.add(UInt64(batch.events))
      let delay = max(0, now.milliseconds &- batch.createdAt.milliseconds)
      metrics.delay.observe(microseconds: UInt64(delay) &* 1000)
      log.debug("callback taken", ["app": .number(Int64(batch.app.rawValue)), "batch": .number(batch.id)])
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
