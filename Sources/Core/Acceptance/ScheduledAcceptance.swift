import BorealisBase
import Model
import Storage

/// The push of an occurrence of a schedule. Push, its place in the schedule's list, and the schedule's next
/// occurrence are one commit, so that an occurrence never comes twice and is never lost
/// (Docs/decisions/0014).
private struct ScheduledAcceptance: AcceptanceKind {
  let due: DueSchedule
  let next: ScheduleRow.Occurrence?
  let now: Timestamp
  /// Why nothing is pushed at all; there is no part then.
  let refusal: APIError?
  /// The way around the earth; nil if the server's clocks count.
  let way: Way?

  /// How an occurrence goes on that follows the clocks of devices.
  struct Way: Sendable {
    /// Whether clocks everywhere have shown its time.
    let isLast: Bool
    /// Whose turn has come; nil if all turns up to now are skipped.
    let passed: NumberSet?
  }

  var isNamed: Bool { false }
  var keepsRefusals: Bool { true }
  var isPaidAfterwards: Bool { true }

  func speed(for audience: Recipients) -> Int? { nil }

  func first(in reading: ReadTransaction) throws(StorageError) -> FiringEnd? { nil }

  func store(
    _ parts: inout [AcceptancePart], by acceptance: Acceptance, in transaction: WriteTransaction
  ) throws(StorageError) -> Result<FiringEnd, APIError> {
    let schedule = due.schedule
    try transaction.expectHome(of: schedule.row.app)
    // Another firing, or the app server, may have been faster.
    guard let row = try transaction.schedules.enabled(schedule.row.id), row.next == due.occurrence,
      row.trigger == schedule.row.trigger, row.push == schedule.row.push,
      row.approval == schedule.row.approval
    else { return .success(.stale) }
    let isQuiet = parts.contains { part in
      if case .routed(let push) = part.state { push.quiet?.dropped.isEmpty == false } else { false }
    }
    for index in parts.indices { try acceptance.store(&parts[index], in: transaction) }
    // The occurrence stays: it fires once somebody has approved it.
    if let app = due.app, row.approval.author != nil, parts.first?.refusal == .volumeRefused {
      try acceptance.approvals.ask(for: row, of: app, at: now, in: transaction)
      return .success(.held)
    }
    if try isUnremarkable(parts, isQuiet: isQuiet, in: transaction) {
      try goOn(row, transaction)
      return .success(.nobodyYet)
    }
    let id = parts.first?.accepted?.id ?? acceptance.ids.next()
    var run = ScheduleRunRow(id: id, schedule: row.id, occurrence: due.occurrence.local, at: now)
    var end = FiringEnd.fired(id)
    if parts.first?.accepted == nil {
      let error = reason(parts)
      (run.code, run.message) = (error.code, error.message)
      run.needsRetry = error.httpStatus >= 500
      end = error == Acceptance.tooLate ? .missed : .failed(error)
    }
    if let push = parts.first?.accepted {
      try transaction.getui.insertPush(push.id, ofSchedule: row.id)
      if row.approval.isSend, let app = due.app {
        let target = "\(push.id.text) (\(push.targets))"
        try acceptance.approvals.note("push.send", of: row, target, app, at: now, in: transaction)
      }
    }
    try transaction.schedules.insertRun(run)
    try goOn(row, transaction)
    return .success(end)
  }

  private func reason(_ parts: [AcceptancePart]) -> APIError {
    refusal ?? parts.first?.refusal ?? .internalError
  }

  /// Whether nothing has to be said of this part of the way: nobody is here, as in most zones, or the same
  /// has been said of another zone. `isQuiet` says that quiet hours keep it from somebody.
  private func isUnremarkable(
    _ parts: [AcceptancePart], isQuiet: Bool, in transaction: WriteTransaction
  ) throws(StorageError) -> Bool {
    guard let way, parts.first?.accepted == nil else { return false }
    let (code, local) = (reason(parts).code, due.occurrence.local)
    if try transaction.schedules.hasRun(schedule: due.schedule.row.id, at: local, code: code) { return true }
    guard code == APIError.noTarget.code, !isQuiet else { return false }
    guard way.isLast else { return true }
    return try transaction.schedules.hasRun(schedule: due.schedule.row.id, at: local)
  }

  /// Moves the schedule on, and notes whose turn has come.
  private func goOn(_ row: ScheduleRow, _ transaction: WriteTransaction) throws(StorageError) {
    try transaction.schedules.advance(row.id, to: next)
    guard let way else { return }
    if way.isLast {
      return try transaction.schedules.endTurns(of: row.id, through: due.occurrence.local)
    }
    var turn =
      due.turn
      ?? ScheduleTurnRow(schedule: row.id, occurrence: due.occurrence.local, passed: NumberSet().serialized())
    if let passed = way.passed?.serialized() {
      // Most moments are nobody's.
      guard passed != turn.passed || turn.skippedUntil != nil else { return }
      (turn.passed, turn.skippedUntil) = (passed, nil)
    } else {
      turn.skippedUntil = due.occurrence.at
    }
    try transaction.schedules.setTurn(turn)
  }

  func note(_ failure: StorageError, in log: Log, trace: String?) {
    log.error(
      "schedule not fired", ["schedule": .text(due.schedule.id), "reason": .text("\(failure.kind)")])
  }
}

extension Acceptance {
  /// Deals with an occurrence of a schedule: makes its push, unless `request` already failed, the app is
  /// turned off, or it is too late. `done` comes on the writer's thread or a reader's.
  package func fire(
    _ due: DueSchedule, _ request: Result<PushRequest, APIError>,
    done: @escaping @Sendable (FiringEnd) -> Void
  ) {
    let now = time.now()
    var parts: [AcceptancePart] = []
    var refusal: APIError?
    switch checked(due, request, at: now) {
    case .failure(let error): refusal = error
    case .success(let part): parts = [part]
    }
    var way: ScheduledAcceptance.Way?
    if due.schedule.trigger.clocks == .device {
      let isLast = clocks.isLast(due.occurrence)
      let turn = due.app?.directory.turn(at: due.occurrence, after: due.turn, by: clocks)
      way = ScheduledAcceptance.Way(isLast: isLast, passed: turn?.passed)
      if let turn, !parts.isEmpty {
        parts[0].request.turn = AcceptRequest.Turn(devices: turn.due, isFirst: !due.hasFired)
      }
      // Why nobody was meant at all is looked for at the end.
      if turn?.due.isEmpty == true, !isLast || due.hasFired { (refusal, parts) = (.noTarget, []) }
    }
    let next = clocks.next(of: due.schedule.trigger, after: due.occurrence)
    let kind = ScheduledAcceptance(due: due, next: next, now: now, refusal: refusal, way: way)
    run(kind, parts) { [log] result in
      // What the database could not read or store is retried.
      guard case .success(let end) = result else { return done(.postponed) }
      if let error = end.error {
        log.warning(
          "schedule not fired",
          [
            "schedule": .text(due.schedule.id), "time": .text(due.occurrence.local.text),
            "code": .number(Int64(error.code)), "reason": .text(error.message),
          ])
      }
      done(end)
    }
  }

  /// Seconds after its time at which an occurrence is still on time, however short its push lives: the look
  /// for what is due comes once a second, and many may be due at once.
  static let punctual: Int64 = 5

  /// Why nothing is pushed for an occurrence, or a winner, that was missed.
  static let tooLate = APIError.timeout.saying(
    "Missed: the server was not running or could not store anything, or its clock jumped over the time")

  /// Whether an occurrence may still be pushed, and its part.
  private func checked(
    _ due: DueSchedule, _ request: Result<PushRequest, APIError>, at now: Timestamp
  ) -> Result<AcceptancePart, APIError> {
    guard let app = due.app else { return .failure(.blacklisted) }
    return request.flatMap { request in
      let (row, approval) = (due.schedule.row, due.schedule.row.approval)
      // What a person sends lives from when it goes.
      let life = approval.isSend ? options.scheduleGrace : Int64(request.options.timeToLive)
      let grace = max(Self.punctual, min(life, options.scheduleGrace))
      var time = due.occurrence.at
      if approval.state == .approved, let decided = approval.decidedAt { time = max(time, decided) }
      guard now <= time.adding(seconds: grace) else { return .failure(Self.tooLate) }
      var sender = PushSender.schedule(row.id)
      if approval.isSend, let author = approval.author { sender = .person(author) }
      var asked = AcceptRequest(request, from: sender, object: row.push)
      (asked.author, asked.isApproved) = (approval.author, approval.state == .approved)
      return .success(AcceptancePart(app, asked))
    }
  }
}

extension FiringEnd {
  /// Why nothing was pushed, for the schedule's list.
  fileprivate var error: APIError? {
    switch self {
    case .failed(let error): error
    case .missed: Acceptance.tooLate
    case .fired, .held, .nobodyYet, .stale, .postponed: nil
    }
  }
}
