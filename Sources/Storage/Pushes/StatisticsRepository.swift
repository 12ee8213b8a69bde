import BorealisBase
import Model

/// Counts by hour.
package struct StatisticsRepository<Access>: Repository {
  let database: Database
}

extension StatisticsRepository {
  /// New registrations in a range of hours by hour and platform.
  package func newcomers(
    app: AppID, hours: Range<Int64>
  ) throws(StorageError) -> [(hour: Int64, platform: Platform, count: Int)] {
    guard !hours.isEmpty else { return [] }
    return try database.all(
      HourStatements.newcomers, .integer(hours.lowerBound), .integer(hours.upperBound), .app(app)
    ) { row in
      Platform(rawValue: row.integer("platform", as: UInt8.self)).map {
        (row.integer("hour"), $0, row.count("count"))
      }
    }.compactMap { $0 }
  }

  /// Counts of an app's hours that have any, by hour.
  package func find(
    app: AppID, hours: Range<Int64>
  ) throws(StorageError) -> [(hour: Int64, row: StatisticsRow)] {
    guard !hours.isEmpty else { return [] }
    return try database.all(
      HourStatements.statistics, .integer(hours.lowerBound), .integer(hours.upperBound), .app(app)
    ) { ($0.integer("hour"), Self.statistics($0)) }
  }

  private static func statistics(_ row: Row) -> StatisticsRow {
    var found = StatisticsRow()
    found.pushes = row.count("pushes")
    found.targets = row.count("targets")
    found.acknowledged = row.count("acknowledged")
    for entry in row.text("accepted").split(separator: " ") {
      let parts = entry.split(separator: "=")
      // What arrived stands there under the number of the channel with a mark, and what receipts deny under
      // the negative one.
      let isArrived = parts.first?.first == "a"
      guard parts.count == 2, let number = Int(parts[0].dropFirst(isArrived ? 1 : 0)),
        let count = Int(parts[1]),
        let channel = UInt8(exactly: number.magnitude).map({ ChannelID(rawValue: $0) })
      else { continue }
      if isArrived {
        found.arrived[channel] = count
      } else if number < 0 {
        found.denied[channel] = count
      } else {
        found.accepted[channel] = count
      }
    }
    found.refused = row.count("refused")
    found.shown = row.count("shown")
    found.tapped = row.count("tapped")
    found.online = row.count("online")
    var reader = ByteReader(row.blob("latencies"))
    while let latency = reader.read(UInt32.self) { found.latencies.append(latency) }
    return found
  }

  fileprivate func statistics(app: AppID, hour: Int64) throws(StorageError) -> StatisticsRow? {
    // A range of hours would be searched with the rows of all apps in it.
    try database.first(
      """
      SELECT pushes, targets, acknowledged, accepted, refused, shown, tapped, online, latencies
      FROM statistics WHERE hour = ? AND app_id = ?
      """, .integer(hour), .app(app)
    ) { Self.statistics($0) }
  }

  /// An app's pushes that are not counted in its statistics: those above its mark.
  package func uncountedPushes(
    of app: AppID, each body: (_ id: MessageID, _ createdAt: Timestamp, _ targets: Int) -> Void
  ) throws(StorageError) {
    let statement = try database.statement(UncountedPushes.sql)
    try statement.each([.app(app)]) {
      body($0.message("msg_id"), $0.time("created_at"), $0.count("target_count"))
    }
  }
}

extension StatisticsRepository<Writing> {
  /// Counts a new registration.
  package func countNewcomer(app: AppID, _ platform: Platform, hour: Int64) throws(StorageError) {
    try database.run(
      """
      INSERT INTO newcomers (hour, app_id, platform, count) VALUES (?, ?, ?, 1)
      ON CONFLICT (hour, app_id, platform) DO UPDATE SET count = newcomers.count + 1
      """, .integer(hour), .app(app), .integer(platform.rawValue))
  }

  /// Adds counts to an app's hour.
  package func add(app: AppID, hour: Int64, _ counts: StatisticsRow) throws(StorageError) {
    var sum = try statistics(app: app, hour: hour) ?? StatisticsRow()
    sum.add(counts)
    var latencies = ByteWriter(capacity: sum.latencies.count * 4)
    for count in sum.latencies { latencies.write(count) }
    func texts(_ counts: [ChannelID: Int], _ sign: String) -> [String] {
      counts.sorted { $0.key < $1.key }.map { "\(sign)\($0.key.rawValue)=\($0.value)" }
    }
    let accepted = texts(sum.accepted, "") + texts(sum.denied, "-") + texts(sum.arrived, "a")
    try database.run(
      """
      INSERT INTO statistics (hour, app_id, pushes, targets, acknowledged, accepted, refused, shown,
        tapped, online, latencies)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (hour, app_id) DO UPDATE SET pushes = excluded.pushes, targets = excluded.targets,
        acknowledged = excluded.acknowledged, accepted = excluded.accepted, refused = excluded.refused,
        shown = excluded.shown, tapped = excluded.tapped, online = excluded.online, latencies = excluded.latencies
      """, .integer(hour), .app(app), .integer(sum.pushes), .integer(sum.targets), .integer(sum.acknowledged),
      .text(accepted.joined(separator: " ")), .integer(sum.refused), .integer(sum.shown),
      .integer(sum.tapped),
      .integer(sum.online), .blob(latencies.bytes))
  }

  /// Records that all of an app's pushes up to one are counted in its statistics.
  package func mark(app: AppID, through id: MessageID) throws(StorageError) {
    try database.run(
      """
      INSERT INTO counted_push (app_id, through) VALUES (?, ?)
      ON CONFLICT (app_id) DO UPDATE SET through = excluded.through
      """, .app(app), .message(id))
  }
}

/// What finds an app's pushes above its mark, by the index of its pushes.
enum UncountedPushes {
  static let sql: StaticString = """
    SELECT msg_id, created_at, target_count FROM push {sqlite INDEXED BY push_app}
    WHERE app_id = ?1 AND msg_id > coalesce((SELECT through FROM counted_push WHERE app_id = ?1), 0)
    ORDER BY msg_id
    """
}

/// What finds the rows of an app in a range of hours: `?1` up to `?2`, of `?3`.
enum HourStatements {
  /// One query for each hour of a range: the rows of apps are adjacent within an hour.
  static let newcomers: StaticString = """
    WITH RECURSIVE span (hour) AS (SELECT CAST(?1 AS BIGINT) UNION ALL SELECT hour + 1 FROM span WHERE hour + 1 < ?2)
    SELECT newcomers.hour, platform, count
    FROM span {sqlite CROSS} JOIN newcomers ON newcomers.hour = span.hour AND app_id = ?3 ORDER BY span.hour
    """

  /// The same for what was counted.
  static let statistics: StaticString = """
    WITH RECURSIVE span (hour) AS (SELECT CAST(?1 AS BIGINT) UNION ALL SELECT hour + 1 FROM span WHERE hour + 1 < ?2)
    SELECT statistics.hour, pushes, targets, acknowledged, accepted, refused, shown, tapped, online, latencies
    FROM span {sqlite CROSS} JOIN statistics ON statistics.hour = span.hour AND app_id = ?3 ORDER BY span.hour
    """
}
