import BorealisBase

/// The plans that apps are on.
package struct PlanRepository<Access>: Repository {
  let database: Database
}

extension PlanRepository {
  /// All plans, by name.
  package func all() throws(StorageError) -> [PlanRow] {
    try database.all(
      """
      SELECT name, push_calls, device_calls, report_calls, schedule_calls, file_calls, broadcasts,
        max_time_to_live, speed, shares_speed, registrations FROM plan ORDER BY name
      """
    ) { PlanRow($0) }
  }

  /// Whether there is a plan of a name.
  package func contains(_ name: String) throws(StorageError) -> Bool {
    try database.first("SELECT 1 FROM plan WHERE name = ?", .text(name)) { _ in true } ?? false
  }
}

extension PlanRepository<Writing> {
  /// Adds a plan, or replaces the one of the same name.
  package func set(_ plan: PlanRow) throws(StorageError) {
    try database.run(
      """
      INSERT INTO plan (name, push_calls, device_calls, report_calls, schedule_calls, file_calls, broadcasts,
        max_time_to_live, speed, shares_speed, registrations)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (name) DO UPDATE SET push_calls = excluded.push_calls, device_calls = excluded.device_calls,
        report_calls = excluded.report_calls, schedule_calls = excluded.schedule_calls,
        file_calls = excluded.file_calls, broadcasts = excluded.broadcasts,
        max_time_to_live = excluded.max_time_to_live, speed = excluded.speed,
        shares_speed = excluded.shares_speed, registrations = excluded.registrations
      """, .text(plan.name), .limit(plan.pushCalls), .limit(plan.deviceCalls), .limit(plan.reportCalls),
      .limit(plan.scheduleCalls), .limit(plan.fileCalls), .limit(plan.broadcasts),
      .limit(plan.maxTimeToLive), .limit(plan.speed), .integer(plan.sharesSpeed ? 1 : 0),
      .limit(plan.registrations))
  }
}

extension SQLValue {
  fileprivate static func limit(_ value: Int?) -> SQLValue { .optional(value.map { Int64($0) }) }
}
