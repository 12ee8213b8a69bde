import BorealisBase
import Model
import Storage

/// Why something that waits could not be approved or stopped.
package enum ApprovalFailure: Error, Sendable, Equatable {
  /// The app has no such push.
  case unknown
  /// It no longer waits.
  case over
  /// The person who asked cannot approve.
  case own
  /// The person may not, or no longer.
  case forbidden
  /// It was changed after the person had seen it.
  case changed
  /// Nobody else could approve.
  case alone
  /// The store cannot take changes now; try again later.
  case unavailable
}

/// A push that a person sends, which goes later: after the time to undo it, or when it is approved.
package struct SentPush: Sendable {
  package let push: ScheduledPush
  /// The name under which it goes once.
  package let cid: String
  /// For lists.
  package let name: String
  package let author: PersonID
  /// How many devices it would go to now.
  package let devices: Int

  /// Puts one together.
  package init(push: ScheduledPush, cid: String, name: String, author: PersonID, devices: Int) {
    (self.push, self.cid, self.name) = (push, cid, name)
    (self.author, self.devices) = (author, devices)
  }
}

/// Pushes that people send and that do not go at once: they can be undone for some seconds, or wait for the
/// approval of a second person. Each is a row among the schedules, which fires once (Docs/decisions/0103).
package struct Approvals: Sendable {
  /// How an answer comes.
  package typealias Reply<Value> = @Sendable (Result<Value, ApprovalFailure>) -> Void

  /// Seconds after its time for which something waits for approval.
  package static let lifetime: Int64 = 86_400
  /// The most pushes of an app that people sent and that have not gone.
  package static let most = 100
  /// The longest time to undo a push, in seconds.
  package static let longestUndo: Int64 = 60
  /// The most people of an account who get mail.
  private static let mostMails = 50
  /// What ends in one transaction.
  private static let atOnce = 32

  let store: Store
  let scope: HomeScope
  let time: any TimeSource
  let zone: any Zone
  /// The base URL of links in mail; nil if none is sent.
  let mailSite: String?

  // MARK: Asking

  /// What came of a push that a person sent.
  package enum Held: Sendable {
    /// It waits.
    case waits(Schedule)
    /// A push of the same name went before.
    case sent(MessageID)
  }

  /// Keeps a push that a person sends, for the app's time to undo it or until it is approved. `entry` makes
  /// the audit log entry from the action. 1012 if as many wait as may.
  package func hold(
    _ sent: SentPush, named uuid: String, in app: App, noting entry: @escaping @Sendable (String) -> AuditRow,
    reply: @escaping @Sendable (Result<Held, APIError>) -> Void
  ) {
    let (now, brakes) = (time.now(), app.brakes)
    store.write(of: app.id) { transaction throws(StorageError) -> Result<Held, APIError> in
      if let known = try transaction.schedules.find(app: app.id, cid: sent.cid) {
        return Schedule(known).map { .success(.waits($0)) } ?? .failure(.internalError)
      }
      if let first = try transaction.pushes.lookupCID(app: app.id, cid: sent.cid) {
        return .success(.sent(first.id))
      }
      guard try transaction.schedules.sendCount(app: app.id) < Self.most else {
        return .failure(.overLimit("\(Self.most) pushes of the app wait, and not more may"))
      }
      if let missing = try sent.push.missingThing(in: app.id, transaction) {
        return .failure(.invalidValue(missing))
      }
      let needsApproval = brakes.needsApproval(devices: sent.devices)
      let row = try insert(
        sent, named: uuid, app, after: needsApproval ? 0 : brakes.undoSeconds, at: now, in: transaction)
      if needsApproval {
        try ask(for: row, of: app, at: now, noting: entry("push.ask"), in: transaction)
      } else {
        var noted = entry("push.submit")
        noted.target = uuid
        try transaction.audit.add(noted)
      }
      guard let stored = try transaction.schedules.any(app: app.id, uuid: uuid), let held = Schedule(stored)
      else { return .failure(.internalError) }
      return .success(.waits(held))
    } completion: { result in
      reply(result.mapError(\.apiError).flatMap { $0 })
    }
  }

  /// The push that a person sent under a name and that did not go at once; nil if there is none.
  package func find(
    cid: String, in app: App, reply: @escaping @Sendable (Result<Schedule?, APIError>) -> Void
  ) {
    store.read { transaction throws(StorageError) in
      try transaction.schedules.find(app: app.id, cid: cid).flatMap { Schedule($0) }
    } completion: {
      reply($0.mapError(\.apiError))
    }
  }

  private func insert(
    _ sent: SentPush, named uuid: String, _ app: App, after seconds: Int64, at now: Timestamp,
    in transaction: WriteTransaction
  ) throws(StorageError) -> ScheduleRow {
    // Whole seconds, and not less than was promised.
    let moment = Timestamp(milliseconds: (now.milliseconds + seconds * 1000 + 999) / 1000 * 1000)
    let occurrence = ScheduleRow.Occurrence(local: zone.local(moment), at: moment)
    var row = ScheduleRow(
      app: app.id, uuid: uuid, cid: sent.cid, name: sent.name,
      trigger: ScheduleTrigger.single(occurrence.local).stored, push: sent.push.json, createdAt: now,
      next: occurrence, last: occurrence)
    row.name(sent.push)
    row.approval = ScheduleApproval(author: sent.author, isSend: true)
    row.id = try transaction.schedules.insert(row)
    return row
  }

  /// Has a schedule wait for approval, and mails those who may approve it. Without an entry it is noted as
  /// its author's doing.
  func ask(
    for row: ScheduleRow, of app: App, at now: Timestamp, noting entry: AuditRow? = nil,
    in transaction: WriteTransaction
  ) throws(StorageError) {
    try transaction.schedules.awaitApproval(row.id)
    if var entry {
      entry.target = row.uuid
      try transaction.audit.add(entry)
    } else {
      try note("push.ask", of: row, row.uuid, app, at: now, in: transaction)
    }
    guard let mailSite, let author = row.approval.author else { return }
    let name = try transaction.people.find(author)?.name ?? ""
    let page = "\(mailSite)/console/apps/\(app.key.text)/waiting/\(row.uuid)"
    let mail = ApprovalMail(
      subject: .push(above: app.brakes.approvalAbove), app: app.name, by: name, page: page)
    try send(mail, to: app.account, from: .sender, besides: author, at: now, in: transaction)
  }

  /// Mails the members of an account from a role upwards, but for one.
  func send(
    _ mail: ApprovalMail, to account: AccountID, from role: Role, besides person: PersonID,
    at now: Timestamp, in transaction: WriteTransaction
  ) throws(StorageError) {
    let recipients = try transaction.members.recipients(of: account, from: role, besides: person)
    for recipient in recipients.prefix(Self.mostMails) {
      try transaction.mail.add(mail.mail(to: recipient), at: now)
    }
  }

  /// Notes what became of a schedule as its author's doing, in the audit log.
  func note(
    _ action: String, of row: ScheduleRow, _ target: String, _ app: App, at now: Timestamp,
    in transaction: WriteTransaction
  ) throws(StorageError) {
    let author = try row.approval.author.flatMap { id throws(StorageError) in try transaction.people.find(id)
    }
    try transaction.audit.add(
      AuditRow(
        at: now, account: app.account, app: app.id, person: row.approval.author,
        who: author?.signature ?? "", action: action, target: target, address: ""))
  }

  // MARK: Deciding

  /// Approves what waits. `seen` is the mark of what the person has seen. The audience is found anew when it
  /// goes, which is at once if its time has come.
  package func approve(
    _ uuid: String, seen: String, by person: PersonID, in app: App, noting entry: AuditRow,
    reply: @escaping Reply<Void>
  ) {
    let now = time.now()
    decide(uuid, by: person, in: app, reply) { transaction, schedule throws(StorageError) in
      let row = schedule.row
      guard schedule.isWaiting(at: now) else { return .over }
      guard row.approval.author != person else { return .own }
      guard try schedule.mark(transaction) == seen else { return .changed }
      guard try transaction.schedules.approve(row.id, by: person, at: now) else { return .over }
      try transaction.audit.add(entry)
      return nil
    }
  }

  /// Stops what waits for approval, or a push that a person sent before it goes: nobody gets it. `entry`
  /// makes the audit log entry from the action.
  package func stop(
    _ uuid: String, by person: PersonID, in app: App, noting entry: @escaping @Sendable (String) -> AuditRow,
    reply: @escaping Reply<Void>
  ) {
    let now = time.now()
    decide(uuid, by: person, in: app, reply) { transaction, schedule throws(StorageError) in
      let approval = schedule.row.approval
      guard try transaction.schedules.stop(schedule.row.id, by: person, at: now) else { return .over }
      let action =
        approval.state != .waiting ? "push.undo" : approval.author == person ? "push.withdraw" : "push.reject"
      try transaction.audit.add(entry(action))
      return nil
    }
  }

  private func decide(
    _ uuid: String, by person: PersonID, in app: App, _ reply: @escaping Reply<Void>,
    _ body: @escaping @Sendable (WriteTransaction, Schedule) throws(StorageError) -> ApprovalFailure?
  ) {
    store.write(of: app.id) { transaction throws(StorageError) -> ApprovalFailure? in
      guard let schedule = try transaction.schedules.any(app: app.id, uuid: uuid).flatMap({ Schedule($0) })
      else { return .unknown }
      guard try transaction.members.role(of: person, in: app.account) ?? .viewer >= .sender else {
        return .forbidden
      }
      return try body(transaction, schedule)
    } completion: { result in
      reply(result.mapError { _ in .unavailable }.flatMap { $0.map { .failure($0) } ?? .success(()) })
    }
  }

  // MARK: Looking

  /// Something that waits, and the people who had to do with it.
  package struct Waiting: Sendable {
    package let schedule: Schedule
    /// The names of who made it, and of who approved or stopped it.
    package let author, decider: String?
    /// What became of it; nil if it has not gone.
    package let run: ScheduleRunRow?
    /// A mark of what it pushes, to whom and when.
    package let mark: String
  }

  /// What waits for approval, what ends first at the beginning.
  package func list(of app: App, reply: @escaping Reply<[Waiting]>) {
    store.read { transaction throws(StorageError) in
      let rows = try transaction.schedules.waiting(app: app.id, limit: Self.mostListed)
      var names: [PersonID: String] = [:]
      var list: [Waiting] = []
      for schedule in rows.compactMap({ Schedule($0) }) {
        list.append(try Self.waiting(schedule, &names, nil, transaction))
      }
      return list
    } completion: { result in
      reply(result.mapError { _ in .unavailable })
    }
  }

  /// What a list has: more than can wait.
  private static let mostListed = 200

  /// A push that a person sent, or a schedule that waits or waited for approval.
  package func find(_ uuid: String, in app: App, reply: @escaping Reply<Waiting>) {
    store.read { transaction throws(StorageError) -> Waiting? in
      guard let schedule = try transaction.schedules.any(app: app.id, uuid: uuid).flatMap({ Schedule($0) }),
        schedule.approval.isSend || schedule.approval.state != .none
      else { return nil }
      let run = schedule.approval.isSend ? try transaction.schedules.runs(of: schedule.row.id).last : nil
      var names: [PersonID: String] = [:]
      return try Self.waiting(schedule, &names, run, transaction)
    } completion: { result in
      reply(result.mapError { _ in .unavailable }.flatMap { $0.map { .success($0) } ?? .failure(.unknown) })
    }
  }

  private static func waiting(
    _ schedule: Schedule, _ names: inout [PersonID: String], _ run: ScheduleRunRow?,
    _ transaction: ReadTransaction
  ) throws(StorageError) -> Waiting {
    let approval = schedule.approval
    for person in [approval.author, approval.decidedBy].compactMap({ $0 }) where names[person] == nil {
      names[person] = try transaction.people.find(person)?.name
    }
    return Waiting(
      schedule: schedule, author: approval.author.flatMap { names[$0] },
      decider: approval.decidedBy.flatMap { names[$0] }, run: run, mark: try schedule.mark(transaction))
  }

  // MARK: The end

  /// Ends what has waited for too long. `done` is called on a reader's or the writer's thread.
  package func expire(done: @escaping @Sendable () -> Void) {
    let now = time.now()
    let moment = now.adding(seconds: -Self.lifetime)
    store.read { [rows = scope.rows] transaction throws(StorageError) in
      try transaction.schedules.waited(since: moment, limit: Self.atOnce, in: rows).map { $0.id }
    } completion: { result in
      guard case .success(let ids) = result, !ids.isEmpty else { return done() }
      end(ids, at: now, done)
    }
  }

  private func end(_ ids: [Int64], at now: Timestamp, _ done: @escaping @Sendable () -> Void) {
    let moment = now.adding(seconds: -Self.lifetime)
    store.write { [rows = scope.rows] transaction throws(StorageError) in
      let waited = try transaction.reading.schedules.waited(since: moment, limit: Self.atOnce, in: rows)
      for (id, app, uuid) in waited where ids.contains(id) && !scope.hasLeft(app) {
        guard try transaction.schedules.expire(id, at: now) else { continue }
        let account = try transaction.apps.find(app)?.account
        try transaction.audit.add(
          AuditRow(
            at: now, account: account, app: app, person: nil, who: "Borealis", action: "push.expire",
            target: uuid, address: ""))
      }
    } completion: { _ in
      // What could not be stored has its turn again.
      done()
    }
  }
}

extension BrakesRow {
  /// Whether a push of a person to so many devices waits for approval.
  package func needsApproval(devices: Int) -> Bool { approvalAbove > 0 && devices > approvalAbove }
}
