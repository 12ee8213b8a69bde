import BorealisBase

/// Schedules and the results of their occurrences.
package struct ScheduleRepository<Access>: Repository {
  let database: Database
}

extension ScheduleRepository {
  private static var selectSchedule: StaticString {
    """
    SELECT id, app_id, uuid, cid, name, enabled, trigger_json, push_json, created_at, next_local,
      next_at, last_local, last_at, segment, template, abtest, author, approval, decided_by, decided_at,
      is_send, follows_devices FROM schedule
    """
  }

  /// The schedule of an app with a name, nil if it has none such. Pushes that people send are no schedules.
  package func find(app: AppID, uuid: String) throws(StorageError) -> ScheduleRow? {
    let found = try any(app: app, uuid: uuid)
    return found?.approval.isSend == true ? nil : found
  }

  /// The schedule of an app with a name, or the push that a person sent; nil if it has none such.
  package func any(app: AppID, uuid: String) throws(StorageError) -> ScheduleRow? {
    let found = try database.first(
      Self.selectSchedule, "WHERE uuid = ? AND app_id = ?", .text(uuid), .app(app), map: Self.schedule)
    return try found.map { row throws(StorageError) in try opened(row) }
  }

  /// The schedule that a request of an app made, nil if there is none.
  package func find(app: AppID, cid: String) throws(StorageError) -> ScheduleRow? {
    let found = try database.first(
      Self.selectSchedule, "WHERE app_id = ? AND cid = ?", .app(app), .text(cid), map: Self.schedule)
    return try found.map { row throws(StorageError) in try opened(row) }
  }

  /// A schedule that may fire, nil if it is gone or disabled.
  package func enabled(_ id: Int64) throws(StorageError) -> ScheduleRow? {
    let found = try database.first(
      Self.selectSchedule, "WHERE id = ? AND enabled = 1", .integer(id), map: Self.schedule)
    return try found.map { row throws(StorageError) in try opened(row) }
  }

  /// An app's schedules of which something may still come, by age.
  package func valid(
    app: AppID, at now: Timestamp, offset: Int, limit: Int
  ) throws(StorageError) -> [ScheduleRow] {
    let found = try database.all(
      Self.selectSchedule,
      """
      WHERE app_id = ? AND next_local IS NOT NULL AND (enabled = 1 OR last_at > ?) AND is_send = 0
      ORDER BY id LIMIT ? OFFSET ?
      """, .app(app), .time(now), .integer(limit), .integer(offset), map: Self.schedule)
    return try found.map { row throws(StorageError) in try opened(row) }
  }

  /// How many schedules of which something may still come an app has.
  package func validCount(app: AppID, at now: Timestamp) throws(StorageError) -> Int {
    try database.first(
      """
      SELECT count(*) FROM schedule
      WHERE app_id = ? AND next_local IS NOT NULL AND (enabled = 1 OR last_at > ?) AND is_send = 0
      """, .app(app), .time(now)
    ) { $0.count() } ?? 0
  }

  /// Schedules whose next occurrence has come, those that wait longest first, at most `limit` of them after a
  /// place. One whose push needs a secret key that is not there is only counted: it must not stop those of
  /// other apps.
  package func due(
    at now: Timestamp, after place: DuePlace? = nil, limit: Int, in rows: AppRows
  ) throws(StorageError) -> DueSchedules {
    let start = place ?? DuePlace(at: Timestamp(milliseconds: .min), id: 0)
    let found = try database.statement(
      Self.selectSchedule,
      """
      WHERE enabled = 1 AND next_at IS NOT NULL AND next_at <= ? AND (next_at, id) > (?, ?)
        AND {own schedule.app_id}
      ORDER BY next_at, id LIMIT ?
      """, in: rows
    ).all([.time(now), .time(start.at), .integer(start.id), .integer(limit)], Self.schedule)
    var page = DueSchedules(rows: [], unopened: 0, end: nil)
    for row in found {
      do throws(StorageError) {
        page.rows.append(try opened(row))
      } catch {
        guard case .noSecretKey = error.kind else { throw error }
        page.unopened += 1
      }
    }
    if found.count == limit, let last = found.last, let next = last.next {
      page.end = DuePlace(at: next.at, id: last.id)
    }
    return page
  }

  /// Calls `body` with the number, the request's name and the occurrences of each schedule that does not
  /// follow the clocks of devices, and whether it is a push that a person sent.
  package func occurrences(
    in rows: AppRows,
    each body: (
      _ id: Int64, _ cid: String?, _ isSend: Bool, _ next: ScheduleRow.Occurrence?,
      _ last: ScheduleRow.Occurrence
    ) -> Void
  ) throws(StorageError) {
    let statement = try database.statement(
      """
      SELECT id, cid, is_send, next_local, next_at, last_local, last_at FROM schedule
      WHERE follows_devices = 0 AND {own schedule.app_id}
      """, in: rows)
    try statement.each([]) { row in
      guard let last = row.occurrence("last_local", "last_at") else { return }
      body(
        row.integer("id"), row.optionalText("cid"), row.bool("is_send"),
        row.occurrence("next_local", "next_at"), last)
    }
  }

  /// An app's schedules and pushes that wait for approval, those that end first at the beginning.
  package func waiting(app: AppID, limit: Int) throws(StorageError) -> [ScheduleRow] {
    let found = try database.all(
      Self.selectSchedule, "WHERE approval = 1 AND app_id = ? ORDER BY next_at, id LIMIT ?", .app(app),
      .integer(limit), map: Self.schedule)
    return try found.map { row throws(StorageError) in try opened(row) }
  }

  /// How many pushes that people sent have not gone yet, those that wait for approval included.
  package func sendCount(app: AppID) throws(StorageError) -> Int {
    try database.first(
      "SELECT count(*) FROM schedule WHERE app_id = ? AND next_local IS NOT NULL AND is_send = 1", .app(app)
    ) { $0.count() } ?? 0
  }

  /// Schedules that have waited for approval since before a moment: number, app and name.
  package func waited(
    since moment: Timestamp, limit: Int, in rows: AppRows
  ) throws(StorageError) -> [(id: Int64, app: AppID, uuid: String)] {
    try database.statement(
      """
      SELECT id, app_id, uuid FROM schedule WHERE approval = 1 AND next_at <= ? AND {own schedule.app_id}
      ORDER BY next_at, id LIMIT ?
      """, in: rows
    ).all([.time(moment), .integer(limit)]) { ($0.integer("id"), $0.app("app_id"), $0.text("uuid")) }
  }

  /// The outcome of a schedule's occurrences, by ID.
  package func runs(of schedule: Int64) throws(StorageError) -> [ScheduleRunRow] {
    try database.all(
      """
      SELECT msg_id, schedule_id, occurrence, at, code, message, need_retry FROM schedule_run
      WHERE schedule_id = ? ORDER BY msg_id
      """, .integer(schedule)
    ) {
      ScheduleRunRow(
        id: $0.message("msg_id"), schedule: $0.integer("schedule_id"),
        occurrence: LocalTime(count: $0.integer("occurrence")),
        at: $0.time("at"),
        code: $0.count("code"), message: $0.text("message"), needsRetry: $0.bool("need_retry"))
    }
  }

  private func opened(_ row: ScheduleRow) throws(StorageError) -> ScheduleRow {
    var row = row
    row.push = try database.opened(row.push, of: row.app, .schedule)
    return row
  }

  private static func schedule(_ row: Row) -> ScheduleRow {
    var schedule = ScheduleRow(
      app: row.app("app_id"), uuid: row.text("uuid"), cid: row.optionalText("cid"), name: row.text("name"),
      trigger: row.blob("trigger_json"),
      push: row.blob("push_json"), createdAt: row.time("created_at"),
      next: row.occurrence("next_local", "next_at"),
      last: row.occurrence("last_local", "last_at")
        ?? ScheduleRow.Occurrence(local: LocalTime(count: 0), at: Timestamp(milliseconds: 0)))
    schedule.id = row.integer("id")
    schedule.isEnabled = row.bool("enabled")
    schedule.segment = row.optionalInteger("segment")
    schedule.template = row.optionalInteger("template")
    schedule.abTest = row.optionalInteger("abtest")
    schedule.approval = ScheduleApproval(row)
    schedule.followsDevices = row.bool("follows_devices")
    return schedule
  }
}

extension ScheduleRepository<Writing> {
  /// Adds a schedule and returns its number. `.constraint` if its `uuid`, or its app's `cid`, is taken.
  @discardableResult
  package func insert(_ row: ScheduleRow) throws(StorageError) -> Int64 {
    let push = try database.stored(row.push, of: row.app, .schedule)
    return try database.insert(
      """
      INSERT INTO schedule (app_id, uuid, cid, name, enabled, trigger_json, push_json, created_at, next_local,
        next_at, last_local, last_at, segment, template, abtest, author, approval, is_send, follows_devices)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
      """, .app(row.app), .text(row.uuid), .optional(row.cid), .text(row.name),
      .integer(row.isEnabled ? 1 : 0),
      .blob(row.trigger), .blob(push), .time(row.createdAt), .optional(row.next?.local.count),
      .optional(row.next?.at.milliseconds), .integer(row.last.local.count), .time(row.last.at),
      .optional(row.segment), .optional(row.template), .optional(row.abTest),
      .optional(row.approval.author?.rawValue),
      .integer(row.approval.state.rawValue), .integer(row.approval.isSend ? 1 : 0),
      .integer(row.followsDevices ? 1 : 0))
  }

  /// Replaces what may change of a schedule: all but its names, its app and who decided about it.
  package func update(_ row: ScheduleRow) throws(StorageError) {
    let push = try database.stored(row.push, of: row.app, .schedule)
    try database.run(
      """
      UPDATE schedule SET name = ?, enabled = ?, trigger_json = ?, push_json = ?, next_local = ?, next_at = ?,
        last_local = ?, last_at = ?, segment = ?, template = ?, abtest = ?, author = ?, approval = ?,
        follows_devices = ?
      WHERE id = ?
      """, .text(row.name), .integer(row.isEnabled ? 1 : 0), .blob(row.trigger), .blob(push),
      .optional(row.next?.local.count), .optional(row.next?.at.milliseconds), .integer(row.last.local.count),
      .time(row.last.at), .optional(row.segment), .optional(row.template), .optional(row.abTest),
      .optional(row.approval.author?.rawValue),
      .integer(row.approval.state.rawValue), .integer(row.followsDevices ? 1 : 0), .integer(row.id))
  }

  /// Has a schedule wait for approval instead of firing.
  package func awaitApproval(_ id: Int64) throws(StorageError) {
    try database.run("UPDATE schedule SET approval = 1, enabled = 0 WHERE id = ?", .integer(id))
  }

  /// Approves a schedule that waits, which fires from now on; false if it does not wait.
  package func approve(_ id: Int64, by person: PersonID, at now: Timestamp) throws(StorageError) -> Bool {
    guard try waits(id) else { return false }
    try database.run(
      """
      UPDATE schedule SET approval = 2, enabled = 1, decided_by = ?, decided_at = ?
      WHERE id = ?
      """, .integer(person.rawValue), .time(now), .integer(id))
    return true
  }

  /// Whether a schedule waits for approval.
  private func waits(_ id: Int64) throws(StorageError) -> Bool {
    try database.first("SELECT approval FROM schedule WHERE id = ?", .integer(id)) {
      $0.integer("approval") == ScheduleApproval.State.waiting.rawValue
    } ?? false
  }

  /// Ends a schedule that waits, or a push of a person that has not gone; false if it is neither.
  package func stop(_ id: Int64, by person: PersonID, at now: Timestamp) throws(StorageError) -> Bool {
    try database.run(
      """
      UPDATE schedule SET approval = 3, enabled = 0, next_local = NULL, next_at = NULL, decided_by = ?,
        decided_at = ?
      WHERE id = ? AND next_local IS NOT NULL AND (approval = 1 OR is_send = 1)
      """, .integer(person.rawValue), .time(now), .integer(id))
    return database.changes > 0
  }

  /// Ends a schedule that has waited for too long; false if it does not wait.
  package func expire(_ id: Int64, at now: Timestamp) throws(StorageError) -> Bool {
    guard try waits(id) else { return false }
    try database.run(
      """
      UPDATE schedule SET approval = 4, enabled = 0, next_local = NULL, next_at = NULL, decided_at = ?
      WHERE id = ?
      """, .time(now), .integer(id))
    return true
  }

  /// Withdraws the approval of schedules that push to a segment, or to an A/B test for it: it means other
  /// devices now.
  package func forgetApprovals(ofSegment segment: Int64) throws(StorageError) {
    try database.run(
      "UPDATE schedule SET approval = 0 WHERE segment = ? AND approval = 2", .integer(segment))
    try database.run(
      """
      UPDATE schedule SET approval = 0
      WHERE abtest IN (SELECT id FROM abtest WHERE segment = ?) AND approval = 2
      """, .integer(segment))
  }

  /// Withdraws the approval of schedules that push to an A/B test: it says something else now, or to others.
  package func forgetApprovals(ofABTest test: Int64) throws(StorageError) {
    try database.run("UPDATE schedule SET approval = 0 WHERE abtest = ? AND approval = 2", .integer(test))
  }

  /// Withdraws the approval of schedules that push with a template: it says something else now.
  package func forgetApprovals(ofTemplate template: Int64) throws(StorageError) {
    try database.run(
      "UPDATE schedule SET approval = 0 WHERE template = ? AND approval = 2", .integer(template))
  }

  /// Moves a schedule on; nil when all its occurrences are over.
  package func advance(_ id: Int64, to next: ScheduleRow.Occurrence?) throws(StorageError) {
    try database.run(
      "UPDATE schedule SET next_local = ?, next_at = ? WHERE id = ?", .optional(next?.local.count),
      .optional(next?.at.milliseconds), .integer(id))
  }

  /// Replaces the occurrences of a schedule, and its trigger unless it stays.
  package func setTimes(
    schedule id: Int64, next: ScheduleRow.Occurrence?, last: ScheduleRow.Occurrence, trigger: [UInt8]?
  ) throws(StorageError) {
    try database.run(
      "UPDATE schedule SET next_local = ?, next_at = ?, last_local = ?, last_at = ? WHERE id = ?",
      .optional(next?.local.count), .optional(next?.at.milliseconds), .integer(last.local.count),
      .time(last.at), .integer(id))
    guard let trigger else { return }
    try database.run("UPDATE schedule SET trigger_json = ? WHERE id = ?", .blob(trigger), .integer(id))
  }

  /// Records the outcome of an occurrence. `.constraint` if the ID is taken or there is no such schedule.
  package func insertRun(_ run: ScheduleRunRow) throws(StorageError) {
    try database.run(
      """
      INSERT INTO schedule_run (msg_id, schedule_id, occurrence, at, code, message, need_retry)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """, .message(run.id), .integer(run.schedule), .integer(run.occurrence.count), .time(run.at),
      .integer(run.code), .text(run.message), .integer(run.needsRetry ? 1 : 0))
  }

  /// Deletes a schedule of an app and what is known of its occurrences; false if the app has none of this
  /// name.
  package func delete(app: AppID, uuid: String) throws(StorageError) -> Bool {
    try database.run(
      "DELETE FROM schedule WHERE uuid = ? AND app_id = ? AND is_send = 0", .text(uuid), .app(app))
    return database.changes > 0
  }

  /// Deletes up to `limit` each of the runs with IDs below `id`, and of the schedules whose occurrences were
  /// all over before `time`; returns how many rows went.
  package func sweep(runsBelow id: MessageID, overBefore time: Timestamp, limit: Int, in rows: AppRows)
    throws(StorageError) -> Int
  {
    try database.run(
      """
      DELETE FROM schedule_run WHERE msg_id IN (
        SELECT msg_id FROM schedule_run WHERE msg_id < ?
          AND EXISTS (SELECT 1 FROM schedule WHERE schedule.id = schedule_id AND {own schedule.app_id})
        ORDER BY msg_id LIMIT ?)
      """, in: rows, .message(id), .integer(limit))
    let runs = database.changes
    // One that has yet to deal with its last occurrences keeps them.
    try database.run(
      """
      DELETE FROM schedule WHERE id IN (
        SELECT id FROM schedule WHERE last_at < ? AND (next_local IS NULL OR enabled = 0)
          AND {own schedule.app_id} ORDER BY last_at LIMIT ?)
      """, in: rows, .time(time), .integer(limit))
    return runs + database.changes
  }
}

extension Row {
  /// An occurrence from two columns in a row; nil for NULL.
  fileprivate func occurrence(_ local: StaticString, _ at: StaticString) -> ScheduleRow.Occurrence? {
    optionalInteger(local).map { .init(local: LocalTime(count: $0), at: time(at)) }
  }
}
