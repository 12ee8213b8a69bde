import PushBase

extension WriteTransaction {
  /// Adds a schedule. `.constraint` if its `uuid`, or its app's `cid`, is taken.
  public func insertSchedule(_ row: ScheduleRow) throws(StorageError) {
    try database.run(
      """
      INSERT INTO schedule (app_id, uuid, cid, name, enabled, trigger_json, push_json, created_at, next_local,
        next_at, last_local, last_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .app(row.app), .text(row.uuid), .optional(row.cid), .text(row.name),
      .integer(row.isEnabled ? 1 : 0),
      .blob(row.trigger), .blob(row.push), .time(row.createdAt), .optional(row.next?.local.count),
      .optional(row.next?.at.milliseconds), .integer(row.last.local.count), .time(row.last.at))
  }

  /// Replaces what may change of a schedule: all but its names and its app.
  public func updateSchedule(_ row: ScheduleRow) throws(StorageError) {
    try database.run(
      """
      UPDATE schedule SET name = ?, enabled = ?, trigger_json = ?, push_json = ?, next_local = ?, next_at = ?,
        last_local = ?, last_at = ? WHERE id = ?
      """, .text(row.name), .integer(row.isEnabled ? 1 : 0), .blob(row.trigger), .blob(row.push),
      .optional(row.next?.local.count), .optional(row.next?.at.milliseconds), .integer(row.last.local.count),
      .time(row.last.at), .integer(row.id))
  }

  /// Moves a schedule on; nil when all its occurrences are over.
  public func advanceSchedule(_ id: Int64, to next: ScheduleRow.Occurrence?) throws(StorageError) {
    try database.run(
      "UPDATE schedule SET next_local = ?, next_at = ? WHERE id = ?", .optional(next?.local.count),
      .optional(next?.at.milliseconds), .integer(id))
  }

  /// Replaces the moments that a schedule's occurrences stand for.
  public func setMoments(schedule id: Int64, next: Timestamp?, last: Timestamp) throws(StorageError) {
    try database.run(
      "UPDATE schedule SET next_at = ?, last_at = ? WHERE id = ?", .optional(next?.milliseconds), .time(last),
      .integer(id))
  }

  /// Notes what became of an occurrence. `.constraint` if the ID is taken or there is no such schedule.
  public func insertRun(_ run: ScheduleRunRow) throws(StorageError) {
    try database.run(
      """
      INSERT INTO schedule_run (msg_id, schedule_id, occurrence, at, code, message, need_retry)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """, .message(run.id), .integer(run.schedule), .integer(run.occurrence.count), .time(run.at),
      .integer(run.code), .text(run.message), .integer(run.needsRetry ? 1 : 0))
  }

  /// Deletes a schedule of an app and what is known of its occurrences; false if the app has none of this name.
  public func deleteSchedule(app: AppID, uuid: String) throws(StorageError) -> Bool {
    try database.run("DELETE FROM schedule WHERE uuid = ? AND app_id = ?", .text(uuid), .app(app))
    return database.changes > 0
  }

  /// Deletes up to `limit` each of the runs with IDs below `id`, and of the schedules whose occurrences were all over
  /// before `time`; tells how many rows went.
  public func sweepSchedules(runsBelow id: MessageID, overBefore time: Timestamp, limit: Int)
    throws(StorageError) -> Int
  {
    try database.run(
      """
      DELETE FROM schedule_run WHERE msg_id IN (
        SELECT msg_id FROM schedule_run WHERE msg_id < ? ORDER BY msg_id LIMIT ?)
      """, .message(id), .integer(limit))
    let runs = database.changes
    // One that has yet to deal with its last occurrences keeps them.
    try database.run(
      """
      DELETE FROM schedule WHERE id IN (
        SELECT id FROM schedule WHERE last_at < ? AND (next_local IS NULL OR enabled = 0) ORDER BY last_at LIMIT ?)
      """, .time(time), .integer(limit))
    return runs + database.changes
  }

  /// Whether a push was made for an occurrence of a schedule.
  public func hasFired(schedule id: Int64, at occurrence: LocalTime) throws(StorageError) -> Bool {
    try database.first(
      "SELECT 1 FROM schedule_run WHERE schedule_id = ? AND occurrence = ? AND code = 0", .integer(id),
      .integer(occurrence.count)
    ) { _ in true } ?? false
  }
}
