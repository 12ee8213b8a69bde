import BorealisBase
import Model
import Storage

/// The schedules of apps, as their servers make and change them.
package struct Schedules: Sendable {
  /// How an answer comes.
  package typealias Reply<Value> = @Sendable (Result<Value, APIError>) -> Void

  let store: Store
  let scope: HomeScope
  let time: any TimeSource
  package let clocks: ScheduleClocks
  /// The most schedules of an app that are not over.
  let limit: Int
  let apps: AppTable
  let ids: MessageIDs
  let approvals: Approvals
  let log: Log

  /// A person who makes or changes a schedule.
  package struct Author: Sendable {
    package let person: PersonID
    /// How many devices the push would go to now.
    package let devices: Int
    /// Makes the audit log entry from the action.
    package let entry: @Sendable (String) -> AuditRow

    /// Puts them together.
    package init(_ person: PersonID, devices: Int, entry: @escaping @Sendable (String) -> AuditRow) {
      (self.person, self.devices, self.entry) = (person, devices, entry)
    }
  }

  /// Makes a schedule with a name of the caller's, a UUID. A request with a `cid` that was used before gets
  /// the schedule that the first one made. 8100 if nothing would come of it, or if the app has as many as it
  /// may. One of a person waits for approval if its push would go to too many devices now.
  package func create(
    _ request: ScheduleRequest, named uuid: String, in app: App, by author: Author? = nil,
    reply: @escaping Reply<Schedule>
  ) {
    let (now, brakes) = (time.now(), app.brakes)
    let fault =
      planFault(request.push, app)
      ?? Self.fault(request.trigger, request.push.request, test: request.push.abTest, app)
    if let fault {
      reply(.failure(fault))
      return
    }
    write(of: app, reply) { transaction throws(StorageError) in
      if let cid = request.cid, let known = try transaction.schedules.find(app: app.id, cid: cid) {
        return .success(known)
      }
      let count = try transaction.schedules.validCount(app: app.id, at: now)
      guard count < limit else {
        return .failure(
          .scheduleInvalid("The app has \(limit) schedules, and may not have more"))
      }
      if let missing = try request.push.missingThing(in: app.id, transaction) { return Self.lacks(missing) }
      let first: ScheduleRow.Occurrence
      do throws(APIError) { first = try clocks.first(of: request.trigger, from: now) } catch {
        return .failure(error)
      }
      var row = ScheduleRow(
        app: app.id, uuid: uuid, cid: request.cid, name: request.name, trigger: request.trigger.stored,
        push: request.push.json, createdAt: now, next: first,
        last: clocks.last(of: request.trigger, first: first))
      row.followsDevices = request.trigger.clocks == .device
      row.name(request.push)
      row.approval.author = author?.person
      row.id = try transaction.schedules.insert(row)
      try skipTurns(request.trigger, of: row.id, at: now, transaction)
      if let author {
        try transaction.audit.add(author.entry("schedule.create"))
        if brakes.needsApproval(devices: author.devices) { try ask(for: &row, of: app, author, transaction) }
      }
      return .success(row)
    }
  }

  /// Has what a person made or changed wait for approval.
  private func ask(
    for row: inout ScheduleRow, of app: App, _ author: Author, _ transaction: WriteTransaction
  ) throws(StorageError) {
    (row.approval.state, row.isEnabled) = (.waiting, false)
    try approvals.ask(
      for: row, of: app, at: time.now(), noting: author.entry("push.ask"), in: transaction)
  }

  /// Changes a schedule. 8104 if the app does not have it; 8100 if it has ended, would never fire, or waits
  /// for approval and is to fire without. What was approved has to be approved anew if it is changed. `entry`
  /// is the audit log entry of a person who only turns it on or off; one who changes more is its `author`.
  package func change(
    _ uuid: String, _ update: ScheduleUpdate, in app: App, noting entry: AuditRow? = nil,
    by author: Author? = nil, reply: @escaping Reply<Schedule>
  ) {
    let (now, brakes) = (time.now(), app.brakes)
    if let push = update.push, let fault = planFault(push, app) {
      reply(.failure(fault))
      return
    }
    write(of: app, reply) { transaction throws(StorageError) in
      guard let row = try transaction.schedules.find(app: app.id, uuid: uuid), let old = Schedule(row)
      else {
        return .failure(.scheduleUnknown)
      }
      guard row.isValid(at: now) else {
        return .failure(.scheduleInvalid("The schedule is over, and cannot be changed"))
      }
      guard let approval = old.approval(after: update, by: author?.person) else {
        return .failure(Self.waitsForApproval)
      }
      var new = row
      new.approval = approval
      if let push = update.push {
        if let missing = try push.missingThing(in: app.id, transaction) { return Self.lacks(missing) }
        new.name(push)
      }
      new.name = update.name ?? row.name
      new.isEnabled = update.isEnabled ?? (row.isEnabled || approval.state != row.approval.state)
      new.push = update.push?.json ?? row.push
      let trigger = update.trigger ?? old.trigger
      guard trigger.isSameKind(as: old.trigger) else {
        return .failure(.scheduleInvalid("trigger must stay single or periodical, as it is"))
      }
      if update.trigger != nil || update.push != nil {
        let push = update.push?.request ?? (try? old.request(by: PushRules()))
        if let fault = Self.fault(trigger, push, test: new.abTest, app) { return .failure(fault) }
      }
      // What was to happen while it was disabled is not made up for. A trigger that stays as it is leaves an
      // occurrence alone that has come just now, and the moment of a request of Getui's API that is still to
      // come: clocks may show its time twice.
      let isAgain = new.isEnabled && !row.isEnabled
      let keepsMoment = old.isGetui && row.next.map { $0.at > now } == true
      if trigger != old.trigger || isAgain && !keepsMoment {
        if let fault = try setTimes(of: &new, to: trigger, at: now, transaction) { return .failure(fault) }
      }
      try transaction.schedules.update(new)
      if let entry = author?.entry("schedule.change") ?? entry { try transaction.audit.add(entry) }
      if let author, approval.state == .none, brakes.needsApproval(devices: author.devices) {
        try ask(for: &new, of: app, author, transaction)
      }
      if old.isGetui { try transaction.getui.moveTask(ofSchedule: row.id, to: new.last.at) }
      try noteMissed(row, new, at: now, transaction)
      return .success(new)
    }
  }

  /// Has a schedule fire at the times of a trigger from now on; says why if none is left.
  private func setTimes(
    of row: inout ScheduleRow, to trigger: ScheduleTrigger, at now: Timestamp, _ transaction: WriteTransaction
  ) throws(StorageError) -> APIError? {
    let first: ScheduleRow.Occurrence
    do throws(APIError) { first = try clocks.first(of: trigger, from: now) } catch { return error }
    guard let next = try notFired(first, of: trigger, row.id, in: transaction) else {
      return .scheduleInvalid("trigger has no time that the schedule has not fired at")
    }
    (row.trigger, row.followsDevices) = (trigger.stored, trigger.clocks == .device)
    (row.next, row.last) = (next, clocks.last(of: trigger, first: next))
    try skipTurns(trigger, of: row.id, at: now, transaction)
    return nil
  }

  /// Records that an occurrence which had come and was not fired yet never will be.
  private func noteMissed(
    _ old: ScheduleRow, _ new: ScheduleRow, at now: Timestamp, _ transaction: WriteTransaction
  ) throws(StorageError) {
    guard old.isEnabled, let due = old.next, due.at <= now, new.next != due || !new.isEnabled else { return }
    let error = Self.changedTooLate
    try transaction.schedules.insertRun(
      ScheduleRunRow(
        id: ids.next(), schedule: old.id, occurrence: due.local, at: now, code: error.code,
        message: error.message, needsRetry: true))
  }

  /// Why a schedule cannot be turned on.
  private static let waitsForApproval = APIError.scheduleInvalid(
    "The schedule waits for the approval of a second person in the console")

  /// Why nothing was pushed for an occurrence during whose handling the schedule was changed.
  private static let changedTooLate = APIError.timeout.saying(
    "Missed: the schedule was changed after the time had come and before the push was made")

  /// The first occurrence, not before one, at which a schedule has not fired: the clock may have been set
  /// back.
  private func notFired(
    _ first: ScheduleRow.Occurrence, of trigger: ScheduleTrigger, _ id: Int64,
    in transaction: WriteTransaction
  ) throws(StorageError) -> ScheduleRow.Occurrence? {
    var next: ScheduleRow.Occurrence? = first
    while let one = next, try transaction.schedules.hasRun(schedule: id, at: one.local) {
      // By the clocks of devices it may have fired for some of them only.
      if try transaction.schedules.turn(of: id, at: one.local) != nil { break }
      next = clocks.next(of: trigger, after: one)
    }
    return next
  }

  /// What the clocks of devices have shown before a schedule was made, changed or enabled is not made up for.
  private func skipTurns(
    _ trigger: ScheduleTrigger, of id: Int64, at now: Timestamp, _ transaction: WriteTransaction
  ) throws(StorageError) {
    guard trigger.clocks == .device else { return }
    for local in clocks.underWay(of: trigger, at: now) {
      var row =
        try transaction.schedules.turn(of: id, at: local)
        ?? ScheduleTurnRow(schedule: id, occurrence: local, passed: NumberSet().serialized())
      row.skippedUntil = max(row.skippedUntil ?? now, now)
      try transaction.schedules.setTurn(row)
    }
  }

  /// Deletes a schedule. 8104 if the app has none of the name.
  package func delete(
    _ uuid: String, in app: App, noting entry: AuditRow? = nil, reply: @escaping Reply<Void>
  ) {
    store.write(of: app.id) { transaction throws(StorageError) in
      let isDeleted = try transaction.schedules.delete(app: app.id, uuid: uuid)
      if let entry, isDeleted { try transaction.audit.add(entry) }
      return isDeleted
    } completion: { result in
      reply(result.mapError(Self.failure).flatMap { $0 ? .success(()) : .failure(.scheduleUnknown) })
    }
  }

  /// A schedule, also one that has ended. 8104 if the app does not have it.
  package func find(_ uuid: String, in app: App, reply: @escaping Reply<Schedule>) {
    store.read { transaction throws(StorageError) in
      try transaction.schedules.find(app: app.id, uuid: uuid)
    } completion: { result in
      reply(result.mapError(Self.failure).flatMap { Self.readable($0) })
    }
  }

  /// A page of the schedules of which something may still come; pages count from 0.
  package func list(
    of app: App, page: Int, size: Int, reply: @escaping Reply<SchedulePage>
  ) {
    let now = time.now()
    let (offset, isFar) = page.multipliedReportingOverflow(by: size)
    store.read { transaction throws(StorageError) in
      let rows =
        isFar ? [] : try transaction.schedules.valid(app: app.id, at: now, offset: offset, limit: size)
      return SchedulePage(
        total: try transaction.schedules.validCount(app: app.id, at: now),
        schedules: rows.compactMap { Schedule($0) })
    } completion: { result in
      reply(result.mapError(Self.failure))
    }
  }

  /// The results of a schedule's occurrences, the oldest first. 8104 if the app does not have it.
  package func runs(of uuid: String, in app: App, reply: @escaping Reply<[ScheduleRunRow]>) {
    store.read(inTurnOf: app.id) { transaction throws(StorageError) -> [ScheduleRunRow]? in
      guard let row = try transaction.schedules.find(app: app.id, uuid: uuid) else { return nil }
      return try transaction.schedules.runs(of: row.id)
    } completion: { result in
      reply(
        result.mapError(Self.failure).flatMap { $0.map { .success($0) } ?? .failure(.scheduleUnknown) })
    }
  }

  // MARK: Helpers

  /// Why an app's plan does not allow a push, or the facts do not that it asks for.
  func planFault(_ push: ScheduledPush, _ app: App) -> APIError? {
    (app.plan.fault(push.request.options) ?? app.facts.fault(push.request)).map {
      .scheduleInvalid("push: \($0.message)")
    }
  }

  /// Why a push cannot go by the clocks of devices.
  private static func fault(
    _ trigger: ScheduleTrigger, _ push: PushRequest?, test: Int64?, _ app: App
  ) -> APIError? {
    guard trigger.clocks == .device else { return nil }
    guard app.facts.contains(.timeZone) else {
      return .scheduleInvalid(
        "trigger: the zone device needs the fact time_zone, which the app does not ask its devices for: "
          + "select it in the app's settings, or with PUT /v1/facts/wanted")
    }
    guard push?.options.overrideMessageID == nil else {
      return .scheduleInvalid("push: options.override_msg_id does not go with the zone device")
    }
    guard push?.options.canary == nil else {
      return .scheduleInvalid("push: options.canary does not go with the zone device")
    }
    // A test has one run at a time, with one audience.
    guard test == nil else {
      return .scheduleInvalid("push: audience.abtest does not go with the zone device")
    }
    return nil
  }

  /// The answer to a push that names what the app does not have.
  private static func lacks(_ missing: String) -> Result<ScheduleRow, APIError> {
    .failure(.scheduleInvalid("push: \(missing)"))
  }

  private func write(
    of app: App, _ reply: @escaping Reply<Schedule>,
    _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> Result<ScheduleRow, APIError>
  ) {
    store.write(of: app.id, body) { result in
      switch result {
      case .failure(let error): reply(.failure(Self.failure(error)))
      case .success(.failure(let error)): reply(.failure(error))
      case .success(.success(let row)): reply(Self.readable(row))
      }
    }
  }

  private static func readable(_ row: ScheduleRow?) -> Result<Schedule, APIError> {
    guard let row else { return .failure(.scheduleUnknown) }
    return Schedule(row).map { .success($0) } ?? .failure(.scheduleInternalError)
  }

  /// What a caller is told of a schedule that was not stored, or may be.
  static func failure(_ error: StorageError) -> APIError {
    if error.isPassing { return .scheduleTimeout }
    return error.isInDoubt ? .scheduleUnanswered : .scheduleInternalError
  }
}

extension Zone {
  /// A local time and its moment.
  func occurrence(_ local: LocalTime) -> ScheduleRow.Occurrence {
    ScheduleRow.Occurrence(local: local, at: moment(of: local))
  }
}
