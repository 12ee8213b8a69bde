import BorealisBase

/// The audit log.
package struct AuditRepository<Access>: Repository {
  let database: Database
}

extension AuditRepository {
  private static var selectAudit: StaticString {
    """
    SELECT id, at, account_id, subject_app, person_id, who, action, target, address FROM audit
    """
  }

  /// What was done, newest first: at most `limit` entries, older than `before` if that is given.
  package func entries(
    _ scope: AuditScope, before: Int64?, limit: Int
  ) throws(StorageError) -> [(id: Int64, entry: AuditRow)] {
    let oldest: Int64 = before ?? .max
    switch scope {
    case .account(let account):
      return try database.all(
        Self.selectAudit, "WHERE account_id = ? AND id < ? ORDER BY id DESC LIMIT ?",
        .integer(account.rawValue), .integer(oldest), .integer(limit), map: Self.auditEntry)
    case .person(let person):
      return try database.all(
        Self.selectAudit, "WHERE person_id = ? AND id < ? ORDER BY id DESC LIMIT ?",
        .integer(person.rawValue), .integer(oldest), .integer(limit), map: Self.auditEntry)
    case .installation:
      // The index is named since without it the whole log might be looked through.
      return try database.all(
        """
        SELECT id, at, account_id, subject_app, person_id, who, action, target, address
        FROM audit {sqlite INDEXED BY audit_installation}
        WHERE (account_id IS NULL OR action {sqlite GLOB 'account.*'}{postgres LIKE 'account.%'}) AND id < ? ORDER BY id DESC LIMIT ?
        """, .integer(oldest), .integer(limit), map: Self.auditEntry)
    }
  }

  /// Entries that a call looks at, however few match.
  private static var looks: Int { 10_000 }

  /// Those of the entries that match a filter, with the apps that they are about.
  package func list(
    _ scope: AuditScope, _ filter: AuditFilter = AuditFilter(), before: Int64?, limit: Int
  ) throws(StorageError) -> AuditList {
    var (found, place, looks): ([(id: Int64, entry: AuditRow)], Int64?, Int) = ([], before, Self.looks)
    var hasMore = true
    // One more, to see whether there are older ones.
    while hasMore, looks > 0, found.count <= limit {
      let size = filter.step(limit + 1)
      let step = try entries(scope, before: place, limit: size)
      found += step.filter { filter.matches($0.entry) }
      (place, looks, hasMore) = (step.last?.id ?? place, looks - step.count, step.count == size)
    }
    var next = hasMore ? place : nil
    if found.count > limit {
      found = Array(found.prefix(limit))
      next = found.last?.id
    }
    var apps: [AppID: AppName] = [:]
    for app in Set(found.compactMap(\.entry.app)) { apps[app] = try appName(app, in: scope) }
    return AuditList(entries: found, next: next, apps: apps)
  }

  /// What an app is called, for those who may see the account it is in.
  private func appName(_ app: AppID, in scope: AuditScope) throws(StorageError) -> AppName? {
    let name: (Row) -> AppName? = { row in
      AppKey(row.text("app_key")).map { AppName(key: $0, name: row.text("name")) }
    }
    switch scope {
    case .installation:
      return try database.first("SELECT app_key, name FROM app WHERE id = ?", .app(app), map: name) ?? nil
    case .account(let account):
      return try database.first(
        "SELECT app_key, name FROM app WHERE id = ? AND account_id = ?", .app(app), .account(account),
        map: name)
        ?? nil
    case .person(let person):
      return try database.first(
        """
        SELECT app_key, name FROM app WHERE id = ?
          AND account_id IN (SELECT account_id FROM membership WHERE person_id = ?)
        """, .app(app), .integer(person.rawValue), map: name) ?? nil
    }
  }

  private static func auditEntry(_ row: Row) -> (id: Int64, entry: AuditRow) {
    (
      row.integer("id"),
      AuditRow(
        at: row.time("at"), account: row.optionalAccount("account_id"),
        app: row.optionalInteger("subject_app").map { AppID(UInt32(truncatingIfNeeded: $0)) },
        person: row.optionalInteger("person_id").map { PersonID($0) }, who: row.text("who"),
        action: row.text("action"),
        target: row.text("target"), address: row.text("address"))
    )
  }
}

extension AuditRepository<Writing> {
  /// Adds an entry.
  package func add(_ entry: AuditRow) throws(StorageError) {
    try database.run(
      """
      INSERT INTO audit (at, account_id, subject_app, person_id, who, action, target, address)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """, .time(entry.at), .optional(entry.account?.rawValue), .optional(entry.app?.rawValue),
      .optional(entry.person?.rawValue), .text(entry.who), .text(entry.action), .text(entry.target),
      .text(entry.address))
  }

  /// Deletes what was done before a moment, out of the `limit` oldest entries.
  package func sweep(before moment: Timestamp, limit: Int) throws(StorageError) {
    try database.run(
      "DELETE FROM audit WHERE id IN (SELECT id FROM audit ORDER BY id LIMIT ?2) AND at < ?1", .time(moment),
      .integer(limit))
  }
}
