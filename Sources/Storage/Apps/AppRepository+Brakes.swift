import BorealisBase

/// What keeps a person from pushing to many devices alone, as an app has set it.
package struct BrakesRow: Sendable, Equatable {
  /// A push to more devices than this waits for the approval of a second person; 0 for none.
  package var approvalAbove: Int
  /// Whether that holds for the app's servers too, whose pushes are refused.
  package var includesServers: Bool
  /// Seconds for which a push that a person sends can be undone; 0 for none.
  package var undoSeconds: Int64

  /// Puts them together; without arguments there are none.
  package init(approvalAbove: Int = 0, includesServers: Bool = false, undoSeconds: Int64 = 0) {
    self.approvalAbove = approvalAbove
    self.includesServers = includesServers
    self.undoSeconds = undoSeconds
  }

  init(_ row: Row) {
    self.init(
      approvalAbove: row.count("approval_above"), includesServers: row.bool("approval_of_servers"),
      undoSeconds: row.integer("undo_seconds"))
  }
}

/// A looser brake that a person has asked for.
package struct AskedBrakesRow: Sendable, Equatable {
  /// What is to hold in the place of the app's `approvalAbove` and `includesServers`.
  package var approvalAbove: Int
  package var includesServers: Bool
  /// Who asked, and when.
  package var person: PersonID
  package var at: Timestamp

  /// Puts them together.
  package init(approvalAbove: Int, includesServers: Bool, person: PersonID, at: Timestamp) {
    self.approvalAbove = approvalAbove
    self.includesServers = includesServers
    self.person = person
    self.at = at
  }
}

extension AppRepository {
  /// The looser brake that somebody has asked for; nil if nobody has.
  package func askedBrakes(app: AppID) throws(StorageError) -> AskedBrakesRow? {
    try database.first(
      """
      SELECT asked_above, asked_of_servers, asked_by, asked_at FROM app
      WHERE id = ? AND deleted_at IS NULL AND asked_at IS NOT NULL
      """, .app(app)
    ) {
      AskedBrakesRow(
        approvalAbove: $0.count("asked_above"), includesServers: $0.bool("asked_of_servers"),
        person: PersonID($0.integer("asked_by")), at: $0.time("asked_at"))
    }
  }
}

extension AppRepository<Writing> {
  /// Sets an app's brakes, and forgets what was asked for; false for an unknown app.
  package func setBrakes(app: AppID, _ brakes: BrakesRow) throws(StorageError) -> Bool {
    try database.run(
      """
      UPDATE app SET approval_above = ?, approval_of_servers = ?, undo_seconds = ?, asked_above = NULL,
        asked_of_servers = NULL, asked_by = NULL, asked_at = NULL
      WHERE id = ? AND deleted_at IS NULL
      """, .integer(brakes.approvalAbove), .integer(brakes.includesServers ? 1 : 0),
      .integer(brakes.undoSeconds), .app(app))
    return database.changes > 0
  }

  /// Sets for how many seconds a push can be undone; false for an unknown app.
  package func setUndo(app: AppID, _ seconds: Int64) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE app SET undo_seconds = ? WHERE id = ? AND deleted_at IS NULL", .integer(seconds), .app(app))
    return database.changes > 0
  }

  /// Stores the looser brake that somebody asks for, in place of an earlier one; nil for none. False for an
  /// unknown app.
  package func setAskedBrakes(app: AppID, _ asked: AskedBrakesRow?) throws(StorageError) -> Bool {
    try database.run(
      """
      UPDATE app SET asked_above = ?, asked_of_servers = ?, asked_by = ?, asked_at = ?
      WHERE id = ? AND deleted_at IS NULL
      """, .optional(asked.map { Int64($0.approvalAbove) }),
      .optional(asked.map { $0.includesServers ? 1 : 0 }), .optional(asked?.person.rawValue),
      .optional(asked?.at.milliseconds), .app(app))
    return database.changes > 0
  }
}
