import PushBase

extension ReadTransaction {
  /// The schedule of an app with a name, nil if it has none such.
  public func schedule(app: AppID, uuid: String) throws(StorageError) -> ScheduleRow? {
    try database.first(
      """
      SELECT id, app_id, uuid, cid, name, enabled, trigger_json, push_json, created_at, next_local, next_at,
        last_local, last_at
      FROM schedule WHERE uuid = ? AND app_id = ?
      """, .text(uuid), .app(app), map: Self.schedule)
  }

  /// The schedule that a request of an app made, nil if there is none.
  public func schedule(app: AppID, cid: String) throws(StorageError) -> ScheduleRow? {
    try database.first(
      """
      SELECT id, app_id, uuid, cid, name, enabled, trigger_json, push_json, created_at, next_local, next_at,
        last_local, last_at
      FROM schedule WHERE app_id = ? AND cid = ?
      """, .app(app), .text(cid), map: Self.schedule)
  }

  /// A schedule that may fire, nil if it is gone or disabled.
  public func enabledSchedule(_ id: Int64) throws(StorageError) -> ScheduleRow? {
    try database.first(
      """
      SELECT id, app_id, uuid, cid, name, enabled, trigger_json, push_json, created_at, next_local, next_at,
        last_local, last_at
      FROM schedule WHERE id = ? AND enabled = 1
      """, .integer(id), map: Self.schedule)
  }

  /// An app's schedules of which something may still come, by age.
  public func validSchedules(
    app: AppID, at now: Timestamp, offset: Int, limit: Int
  ) throws(StorageError) -> [ScheduleRow] {
    try database.all(
      """
      SELECT id, app_id, uuid, cid, name, enabled, trigger_json, push_json, created_at, next_local, next_at,
        last_local, last_at
      FROM schedule WHERE app_id = ? AND next_local IS NOT NULL AND (enabled = 1 OR last_at > ?)
      ORDER BY id LIMIT ? OFFSET ?
      """, .app(app), .time(now), .integer(limit), .integer(offset), map: Self.schedule)
  }

  /// How many schedules of which something may still come an app has.
  public func validScheduleCount(app: AppID, at now: Timestamp) throws(StorageError) -> Int {
    try database.first(
      """
      SELECT count(*) FROM schedule
      WHERE app_id = ? AND next_local IS NOT NULL AND (enabled = 1 OR last_at > ?)
      """, .app(app), .time(now)
    ) { Int($0.integer(0)) } ?? 0
  }

  /// Schedules whose next occurrence has come, those that wait longest first.
  public func dueSchedules(at now: Timestamp, limit: Int) throws(StorageError) -> [ScheduleRow] {
    try database.all(
      """
      SELECT id, app_id, uuid, cid, name, enabled, trigger_json, push_json, created_at, next_local, next_at,
        last_local, last_at
      FROM schedule WHERE enabled = 1 AND next_at IS NOT NULL AND next_at <= ? ORDER BY next_at LIMIT ?
      """, .time(now), .integer(limit), map: Self.schedule)
  }

  /// Calls `body` with the number and the occurrences of each schedule.
  public func scheduleOccurrences(
    each body: (_ id: Int64, _ next: ScheduleRow.Occurrence?, _ last: ScheduleRow.Occurrence) -> Void
  ) throws(StorageError) {
    let statement = try database.statement(
      "SELECT id, next_local, next_at, last_local, last_at FROM schedule")
    try statement.each([]) { row in
      guard let last = row.occurrence(3) else { return }
      body(row.integer(0), row.occurrence(1), last)
    }
  }

  /// What became of a schedule's occurrences, by ID.
  public func runs(of schedule: Int64) throws(StorageError) -> [ScheduleRunRow] {
    try database.all(
      """
      SELECT msg_id, schedule_id, occurrence, at, code, message, need_retry FROM schedule_run
      WHERE schedule_id = ? ORDER BY msg_id
      """, .integer(schedule)
    ) {
      ScheduleRunRow(
        id: $0.message(0), schedule: $0.integer(1), occurrence: LocalTime(count: $0.integer(2)),
        at: $0.time(3),
        code: Int($0.integer(4)), message: $0.text(5), needsRetry: $0.integer(6) != 0)
    }
  }

  private static func schedule(_ row: Statement) -> ScheduleRow {
    var schedule = ScheduleRow(
      app: row.app(1), uuid: row.text(2), cid: row.optionalText(3), name: row.text(4), trigger: row.blob(6),
      push: row.blob(7), createdAt: row.time(8), next: row.occurrence(9),
      last: row.occurrence(11)
        ?? ScheduleRow.Occurrence(local: LocalTime(count: 0), at: Timestamp(milliseconds: 0)))
    schedule.id = row.integer(0)
    schedule.isEnabled = row.integer(5) != 0
    return schedule
  }
}

extension Statement {
  /// An occurrence from two columns in a row; nil for NULL.
  fileprivate func occurrence(_ column: Int32) -> ScheduleRow.Occurrence? {
    optionalInteger(column).map { .init(local: LocalTime(count: $0), at: time(column + 1)) }
  }
}
