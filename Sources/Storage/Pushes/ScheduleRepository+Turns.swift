import BorealisBase

/// Occurrences: what has become of each, and whose turn has come.
extension ScheduleRepository {
  /// Whether an occurrence of a schedule has had an outcome; 0 stands for a push.
  package func hasRun(
    schedule id: Int64, at occurrence: LocalTime, code: Int = 0
  ) throws(StorageError) -> Bool {
    try database.first(
      "SELECT 1 FROM schedule_run WHERE schedule_id = ? AND occurrence = ? AND code = ?", .integer(id),
      .integer(occurrence.count), .integer(code)
    ) { _ in true } ?? false
  }

  /// How far an occurrence has come around the earth; nil before it begins, and when it is over.
  package func turn(of schedule: Int64, at occurrence: LocalTime) throws(StorageError) -> ScheduleTurnRow? {
    try database.first(
      "SELECT skipped_until, passed FROM schedule_turn WHERE schedule_id = ? AND occurrence = ?",
      .integer(schedule), .integer(occurrence.count)
    ) {
      ScheduleTurnRow(
        schedule: schedule, occurrence: occurrence,
        skippedUntil: $0.optionalInteger("skipped_until").map { Timestamp(milliseconds: $0) },
        passed: $0.blob("passed"))
    }
  }
}

extension ScheduleRepository<Writing> {
  /// Keeps how far an occurrence has come around the earth.
  package func setTurn(_ row: ScheduleTurnRow) throws(StorageError) {
    try database.run(
      """
      INSERT INTO schedule_turn (schedule_id, occurrence, skipped_until, passed) VALUES (?, ?, ?, ?)
      ON CONFLICT (schedule_id, occurrence)
      DO UPDATE SET skipped_until = excluded.skipped_until, passed = excluded.passed
      """, .integer(row.schedule), .integer(row.occurrence.count),
      .optional(row.skippedUntil?.milliseconds), .blob(row.passed))
  }

  /// Forgets whose turn has come in occurrences of a schedule up to one that is over everywhere.
  package func endTurns(of schedule: Int64, through occurrence: LocalTime) throws(StorageError) {
    try database.run(
      "DELETE FROM schedule_turn WHERE schedule_id = ? AND occurrence <= ?", .integer(schedule),
      .integer(occurrence.count))
  }
}
