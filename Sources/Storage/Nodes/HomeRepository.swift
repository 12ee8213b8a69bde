import BorealisBase

/// Which home each app has, where there are several. A home alone keeps no such rows but one for all apps:
/// `beginHome`.
package struct HomeRepository<Access>: Repository {
  let database: Database
}

extension HomeRepository {
  /// The apps of a home by number, `AppID.installation` among them if it has what belongs to no app.
  package func apps(of home: Int64) throws(StorageError) -> [AppID] {
    try database.all("SELECT app_id FROM home WHERE fence = ? ORDER BY app_id", .integer(home)) { $0.app() }
  }

  /// An app's home; it may be gone. Nil if it never had one.
  package func home(of app: AppID) throws(StorageError) -> HomeRow? {
    try database.first("SELECT incarnation, epoch, fence FROM home WHERE app_id = ?", .app(app)) {
      HomeRow(
        incarnation: $0.integer("incarnation"), epoch: $0.integer("epoch"), fence: $0.integer("fence"))
    }
  }
}

extension HomeRepository {
  /// Where all apps have their homes, and with `AppID.installation` what belongs to none.
  package func all() throws(StorageError) -> [AppHomeRow] {
    try database.all(
      """
      SELECT home.app_id, app.app_key, app.deleted_at, home.incarnation, home.epoch, home.fence
      FROM home LEFT JOIN app ON app.id = home.app_id ORDER BY home.app_id
      """
    ) { row in
      AppHomeRow(
        app: row.app("app_id"), key: AppKey(row.text("app_key")),
        home: HomeRow(
          incarnation: row.integer("incarnation"), epoch: row.integer("epoch"), fence: row.integer("fence")),
        isDeleted: !row.isNull("deleted_at"))
    }
  }
}

/// Only PostgreSQL has several homes.
extension HomeRepository {
  /// Tells whether where apps have their homes, or what they share, is as it was.
  func mark() throws(StorageError) -> HomesMark {
    // Whatever changes of homes makes one of the first two larger: no row goes, and each change of one raises
    // its epoch. Of what apps share there is a sum of hashes of 40 bits.
    let mark = try database.first(
      """
      SELECT count(*) AS rows, CAST(coalesce(sum(epoch), 0) AS bigint) AS epochs,
        CAST((SELECT coalesce(sum(hashtextextended(shared.text, 0) >> 24), 0) FROM (
          SELECT 'g' || group_key || ':' || coalesce(CAST(app_id AS text), '') AS text
          FROM app_group LEFT JOIN app_group_member ON app_group_member.group_id = app_group.id
          UNION ALL
          SELECT 'p' || plan.name || ':' || app.id FROM app JOIN plan ON plan.name = app.plan
          WHERE plan.shares_speed = 1 AND plan.speed IS NOT NULL AND app.deleted_at IS NULL) AS shared
        ) AS bigint) AS sharing,
        (SELECT count(*) FROM app WHERE deleted_at IS NOT NULL) AS deleted
      FROM home
      """
    ) {
      HomesMark(
        rows: $0.integer("rows"), epochs: $0.integer("epochs"), sharing: $0.integer("sharing"),
        deleted: $0.integer("deleted"))
    }
    return mark ?? HomesMark(rows: 0, epochs: 0, sharing: 0, deleted: 0)
  }
}

extension HomeRepository {
  /// What apps share. Deleted ones share nothing.
  package func sharing() throws(StorageError) -> SharingApps {
    var sharing = SharingApps()
    for (key, app) in try database.all(
      """
      SELECT app_group.group_key, app.id FROM app_group
      LEFT JOIN app_group_member ON app_group_member.group_id = app_group.id
      LEFT JOIN app ON app.id = app_group_member.app_id AND app.deleted_at IS NULL
      ORDER BY app_group.id
      """,
      map: { (AppKey($0.text("group_key")), $0.isNull("id") ? nil : $0.app("id")) })
    {
      guard let key else { continue }
      if sharing.groups.last?.key != key { sharing.groups.append(.init(key: key, apps: [])) }
      if let app { sharing.groups[sharing.groups.count - 1].apps.insert(app) }
    }
    let plans = try database.all(
      """
      SELECT app.plan, app.id FROM app JOIN plan ON plan.name = app.plan
      WHERE plan.shares_speed = 1 AND plan.speed IS NOT NULL AND app.deleted_at IS NULL
      """
    ) { ($0.text("plan"), $0.app("id")) }
    sharing.plans = Dictionary(grouping: plans, by: \.0).sorted { $0.key < $1.key }.map {
      Set($0.value.map(\.1))
    }
    return sharing
  }
}

extension HomeRepository {
  /// The apps that no home has: none ever had them, or those that had them are gone with their fences.
  /// Deleted ones are among them as long as there is something to delete. With how many registrations each
  /// has had.
  package func homeless() throws(StorageError) -> [AppID: Int] {
    let rows = try database.all(
      """
      SELECT app.id, app.next_number FROM app
      WHERE NOT EXISTS (
        SELECT 1 FROM home JOIN fence ON fence.incarnation = home.fence WHERE home.app_id = app.id)
      """
    ) { ($0.app("id"), $0.count("next_number")) }
    return Dictionary(rows) { $1 }
  }

  /// The homes that there are, by the numbers of their fences, and their apps with how many registrations
  /// each has had. What belongs to no app is not among these, and neither are deleted apps, which stay where
  /// they are until nothing is left of them.
  package func loads() throws(StorageError) -> [Int64: [AppID: Int]] {
    var loads: [Int64: [AppID: Int]] = [:]
    for home in try database.all(
      "SELECT incarnation FROM fence WHERE slot IS NOT NULL", map: { $0.integer("incarnation") })
    {
      loads[home] = [:]
    }
    for (home, app, count) in try database.all(
      """
      SELECT home.fence, app.id, app.next_number FROM home JOIN app ON app.id = home.app_id
      WHERE app.deleted_at IS NULL
      """,
      map: { ($0.integer("fence"), $0.app("id"), $0.count("next_number")) })
    {
      loads[home]?[app] = count
    }
    return loads
  }
}

extension HomeRepository<Writing> {
  /// Gives an app that has no home, or one without a fence, to a home; its new epoch, which is above that of
  /// any home of all apps. Nil if another home has it.
  package func assign(_ app: AppID, to home: AssignedApps) throws(StorageError) -> Int64? {
    try assign(app, to: (home.node, home.home))
  }

  /// The same by the number of a home's node and of its fence, which may be another one's than that of this
  /// transaction. Nil also if there is no such fence.
  package func assign(_ app: AppID, to home: (node: Int64, home: Int64)) throws(StorageError) -> Int64? {
    try database.first(
      """
      INSERT INTO home (app_id, incarnation, epoch, fence)
        SELECT ?1, ?2, 1 + coalesce((SELECT epoch FROM home WHERE app_id = 0), 0), incarnation
        FROM fence WHERE incarnation = ?3 AND connection = 0
      ON CONFLICT (app_id) DO UPDATE SET
        incarnation = excluded.incarnation, fence = excluded.fence,
        epoch = CASE WHEN excluded.epoch > home.epoch THEN excluded.epoch ELSE home.epoch + 1 END
      WHERE NOT EXISTS (SELECT 1 FROM fence WHERE fence.incarnation = home.fence) RETURNING epoch
      """, .app(app), .integer(home.node), .integer(home.home)
    ) { $0.integer("epoch") }
  }

  /// Gives an app of this home to another one; its new epoch. From here on this home stores nothing more of
  /// it, whatever becomes of the transaction: if that fails, `AssignedApps.admit` takes it back. Nil, and
  /// nothing changed, if the app is not this home's, or the other one has no fence.
  package func handOver(_ app: AppID, to next: (node: Int64, home: Int64)) throws(StorageError) -> Int64? {
    guard let own = database.home else { return nil }
    let epoch = try database.first(
      """
      UPDATE home SET incarnation = ?1, epoch = epoch + 1, fence = ?2
      WHERE app_id = ?3 AND fence = ?4 AND EXISTS (SELECT 1 FROM fence WHERE fence.incarnation = ?2)
      RETURNING epoch
      """, .integer(next.node), .integer(next.home), .app(app), .integer(own.home)
    ) { $0.integer("epoch") }
    if epoch != nil { own.setLeft(app, true) }
    return epoch
  }

  /// Removes a home's fence, after which it commits nothing more. Waits for its transaction that is under
  /// way.
  package func removeFence(of home: Int64) throws(StorageError) {
    try database.run("DELETE FROM fence WHERE incarnation = ?", .integer(home))
  }
}
