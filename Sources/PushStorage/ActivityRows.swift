import PushBase

/// Hours or days of the installation's zone, counted from 1970-01-01.
public enum ActivityUnit: UInt8, Sendable {
  /// Hours.
  case hour = 1
  /// Days.
  case day = 2
}

/// What a set of registrations did.
public struct ActivityKind: Hashable, Sendable {
  /// What they run.
  public var platform: Platform
  /// Whether the app was in front of them; else that they were connected.
  public var isActive: Bool

  /// Names a set.
  public init(_ platform: Platform, isActive: Bool) {
    self.platform = platform
    self.isActive = isActive
  }

  var number: Int { Int(platform.rawValue) * 2 + (isActive ? 1 : 0) }

  init?(number: Int) {
    guard let platform = UInt8(exactly: number / 2).flatMap({ Platform(rawValue: $0) }) else { return nil }
    self.init(platform, isActive: number % 2 == 1)
  }
}

/// A set of registrations that did something in a period.
public struct ActivityRow: Sendable {
  /// The hour or the day.
  public var period: Int64
  /// What they did.
  public var kind: ActivityKind
  /// Who, in the router's encoding.
  public var targets: [UInt8]
}

/// Counts of one hour of an app.
public struct StatisticsRow: Sendable, Equatable {
  /// Pushes accepted, and their targets.
  public var pushes = 0, targets = 0
  /// Targets that acknowledged over our connection, that Apple took, and that Apple or we on the way there refused.
  public var acknowledged = 0, acceptedByAPNs = 0, refused = 0
  /// Receipts of each kind.
  public var shown = 0, tapped = 0
  /// Most devices connected at a time.
  public var online = 0
  /// Counts of latencies by step; all of the same length, or empty.
  public var latencies: [UInt32] = []

  /// All zero.
  public init() {}

  /// Adds counts of the same hour.
  public mutating func add(_ other: StatisticsRow) {
    pushes += other.pushes
    targets += other.targets
    acknowledged += other.acknowledged
    acceptedByAPNs += other.acceptedByAPNs
    refused += other.refused
    shown += other.shown
    tapped += other.tapped
    online = max(online, other.online)
    let longer = max(latencies.count, other.latencies.count)
    latencies += Array(repeating: 0, count: longer - latencies.count)
    for (index, count) in other.latencies.enumerated() {
      let (sum, isOver) = latencies[index].addingReportingOverflow(count)
      latencies[index] = isOver ? .max : sum
    }
  }
}

extension ReadTransaction {
  /// Who did something in a range of periods, by period.
  public func activity(
    app: AppID, _ unit: ActivityUnit, _ periods: Range<Int64>
  ) throws(StorageError) -> [ActivityRow] {
    var rows: [ActivityRow] = []
    // One search for each period: apps stand next to each other in a period.
    for period in periods {
      rows += try database.all(
        "SELECT kind, targets FROM activity WHERE unit = ? AND period = ? AND app_id = ?",
        .integer(unit.rawValue), .integer(period), .app(app)
      ) { row in
        ActivityKind(number: Int(row.integer(0))).map {
          ActivityRow(period: period, kind: $0, targets: row.blob(1))
        }
      }.compactMap { $0 }
    }
    return rows
  }

  /// Who did one thing in a period, in the router's encoding; nil for nobody.
  public func activity(
    app: AppID, _ unit: ActivityUnit, _ period: Int64, _ kind: ActivityKind
  ) throws(StorageError) -> [UInt8]? {
    try database.first(
      "SELECT targets FROM activity WHERE unit = ? AND period = ? AND app_id = ? AND kind = ?",
      .integer(unit.rawValue), .integer(period), .app(app), .integer(kind.number)
    ) { $0.blob(0) }
  }

  /// One search for each hour of a range: all apps stand next to each other in an hour.
  static let newcomersByHour: StaticString = """
    WITH RECURSIVE span (hour) AS (SELECT ?1 UNION ALL SELECT hour + 1 FROM span WHERE hour + 1 < ?2)
    SELECT newcomers.hour, platform, count
    FROM span CROSS JOIN newcomers ON newcomers.hour = span.hour AND app_id = ?3 ORDER BY span.hour
    """

  /// The same for what was counted.
  static let statisticsByHour: StaticString = """
    WITH RECURSIVE span (hour) AS (SELECT ?1 UNION ALL SELECT hour + 1 FROM span WHERE hour + 1 < ?2)
    SELECT statistics.hour, pushes, targets, acknowledged, accepted_by_apns, refused, shown, tapped, online, latencies
    FROM span CROSS JOIN statistics ON statistics.hour = span.hour AND app_id = ?3 ORDER BY span.hour
    """

  /// New registrations in a range of hours by hour and platform.
  public func newcomers(
    app: AppID, hours: Range<Int64>
  ) throws(StorageError) -> [(hour: Int64, platform: Platform, count: Int)] {
    guard !hours.isEmpty else { return [] }
    return try database.all(
      Self.newcomersByHour, .integer(hours.lowerBound), .integer(hours.upperBound), .app(app)
    ) { row in
      Platform(rawValue: row.integer(1, as: UInt8.self)).map { (row.integer(0), $0, Int(row.integer(2))) }
    }.compactMap { $0 }
  }

  /// Counts of an app's hours that have any, by hour.
  public func statistics(
    app: AppID, hours: Range<Int64>
  ) throws(StorageError) -> [(hour: Int64, row: StatisticsRow)] {
    guard !hours.isEmpty else { return [] }
    return try database.all(
      Self.statisticsByHour, .integer(hours.lowerBound), .integer(hours.upperBound), .app(app)
    ) { ($0.integer(0), Self.statistics($0, from: 1)) }
  }

  private static func statistics(_ row: Statement, from first: Int32) -> StatisticsRow {
    var found = StatisticsRow()
    func count(_ column: Int32) -> Int { Int(row.integer(first + column)) }
    (found.pushes, found.targets, found.acknowledged) = (count(0), count(1), count(2))
    (found.acceptedByAPNs, found.refused) = (count(3), count(4))
    (found.shown, found.tapped, found.online) = (count(5), count(6), count(7))
    var reader = ByteReader(row.blob(first + 8))
    while let latency = reader.read(UInt32.self) { found.latencies.append(latency) }
    return found
  }

  fileprivate func statistics(app: AppID, hour: Int64) throws(StorageError) -> StatisticsRow? {
    // A range of hours would be searched with the rows of all apps in it.
    try database.first(
      """
      SELECT pushes, targets, acknowledged, accepted_by_apns, refused, shown, tapped, online, latencies
      FROM statistics WHERE hour = ? AND app_id = ?
      """, .integer(hour), .app(app)
    ) { Self.statistics($0, from: 0) }
  }

  /// Pushes that are not counted in the statistics: those above the mark.
  public func uncountedPushes(
    each body: (_ app: AppID, _ id: MessageID, _ createdAt: Timestamp, _ targets: Int) -> Void
  ) throws(StorageError) {
    let statement = try database.statement(
      """
      SELECT app_id, msg_id, created_at, target_count FROM push
      WHERE msg_id > coalesce((SELECT through FROM statistics_mark), 0) ORDER BY msg_id
      """)
    try statement.each([]) { body($0.app(0), $0.message(1), $0.time(2), Int($0.integer(3))) }
  }

  /// IDs of stored pushes above one, ascending, at most `limit`.
  public func pushIDs(after id: MessageID, limit: Int) throws(StorageError) -> [MessageID] {
    try database.all(
      "SELECT msg_id FROM push WHERE msg_id > ? ORDER BY msg_id LIMIT ?", .message(id), .integer(limit)
    ) { $0.message(0) }
  }
}

extension WriteTransaction {
  /// Saves who did something in a period.
  public func saveActivity(
    app: AppID, _ unit: ActivityUnit, _ period: Int64, _ kind: ActivityKind, targets: [UInt8]
  ) throws(StorageError) {
    try database.run(
      """
      INSERT INTO activity (unit, period, app_id, kind, targets) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET targets = excluded.targets
      """, .integer(unit.rawValue), .integer(period), .app(app), .integer(kind.number), .blob(targets))
  }

  /// Counts a new registration.
  public func countNewcomer(app: AppID, _ platform: Platform, hour: Int64) throws(StorageError) {
    try database.run(
      """
      INSERT INTO newcomers (hour, app_id, platform, count) VALUES (?, ?, ?, 1)
      ON CONFLICT DO UPDATE SET count = count + 1
      """, .integer(hour), .app(app), .integer(platform.rawValue))
  }

  /// Adds counts to an app's hour.
  public func addStatistics(app: AppID, hour: Int64, _ counts: StatisticsRow) throws(StorageError) {
    var sum = try reading.statistics(app: app, hour: hour) ?? StatisticsRow()
    sum.add(counts)
    var latencies = ByteWriter(capacity: sum.latencies.count * 4)
    for count in sum.latencies { latencies.write(count) }
    try database.run(
      """
      INSERT OR REPLACE INTO statistics (hour, app_id, pushes, targets, acknowledged, accepted_by_apns, refused, shown,
        tapped, online, latencies)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .integer(hour), .app(app), .integer(sum.pushes), .integer(sum.targets), .integer(sum.acknowledged),
      .integer(sum.acceptedByAPNs), .integer(sum.refused), .integer(sum.shown), .integer(sum.tapped),
      .integer(sum.online), .blob(latencies.bytes))
  }

  /// Notes that all pushes up to one are counted in the statistics.
  public func markStatistics(through id: MessageID) throws(StorageError) {
    try database.run(
      "INSERT INTO statistics_mark (id, through) VALUES (1, ?) ON CONFLICT DO UPDATE SET through = excluded.through",
      .message(id))
  }

  /// Deletes what is below some periods, at most `limit` rows of each kind; tells whether a kind may have more.
  public func sweepActivity(
    hours: Int64, days: Int64, statistics: Int64, limit: Int
  ) throws(StorageError) -> Bool {
    var hasMore = false
    for (unit, period) in [(ActivityUnit.hour, hours), (.day, days)] {
      try database.run(
        """
        DELETE FROM activity WHERE (unit, period, app_id, kind) IN (
          SELECT unit, period, app_id, kind FROM activity WHERE unit = ? AND period < ? LIMIT ?)
        """, .integer(unit.rawValue), .integer(period), .integer(limit))
      hasMore = hasMore || database.changes >= limit
    }
    try database.run(
      """
      DELETE FROM newcomers WHERE (hour, app_id, platform) IN (
        SELECT hour, app_id, platform FROM newcomers WHERE hour < ? LIMIT ?)
      """, .integer(statistics), .integer(limit))
    hasMore = hasMore || database.changes >= limit
    try database.run(
      """
      DELETE FROM statistics WHERE (hour, app_id) IN (
        SELECT hour, app_id FROM statistics WHERE hour < ? LIMIT ?)
      """, .integer(statistics), .integer(limit))
    return hasMore || database.changes >= limit
  }
}
