import BorealisBase
import Model

/// What `register` did.
package struct RegistrationOutcome: Sendable {
  /// The new number.
  package var number: RegistrationNumber
  /// Registrations that this one replaced, ascending; their rows are gone, aliases and tags with them.
  package var replaced: [ReplacedRegistration]
  /// What was imported, if the device has taken that over.
  package var adopted: DeliveryRow?
  /// How many registrations earlier jobs of the transaction have added to the app, of which memory does not
  /// know yet.
  package var addedBefore = 0
}

/// A registration that is gone.
package struct ReplacedRegistration: Sendable, Equatable {
  package var number: RegistrationNumber
  /// Its public name.
  package var registrationID: RegistrationID
  /// What its device ran.
  package var platform: Platform
  /// The tags that it had, ascending.
  package var tags: [UInt32]

  package init(number: RegistrationNumber, registrationID: RegistrationID, platform: Platform, tags: [UInt32])
  {
    self.number = number
    self.registrationID = registrationID
    self.platform = platform
    self.tags = tags
  }
}

/// Since when a device must not have been there for its registration to count as unused.
package struct UnusedTimes: Sendable {
  /// For those that no device used after the hour in which they were made.
  package let newcomers: Timestamp
  /// For all.
  package let others: Timestamp

  /// Nil for none; nil if both are.
  package init?(newcomers: Timestamp?, others: Timestamp?) {
    guard newcomers != nil || others != nil else { return nil }
    let never = Timestamp(milliseconds: .min)
    (self.newcomers, self.others) = (newcomers ?? never, others ?? never)
  }

  /// Whoever was there since then is not meant.
  package var latest: Timestamp { max(newcomers, others) }
}

/// How a change of an alias ended.
package enum AliasOutcome: Sendable, Equatable {
  /// Done; the alias that the registration had before.
  case ok(previous: String?)
  /// As many registrations as allowed have the alias; nothing was changed.
  case full
  /// The app has no such registration.
  case unknownRegistration
}

/// When a registration was online, and how its connection ended.
package struct LastContact: Sendable {
  package var app: AppID
  package var number: RegistrationNumber
  /// When.
  package var at: Timestamp
  /// How it ended; `connected` if it was open then.
  package var end: ConnectionEnd

  package init(app: AppID, number: RegistrationNumber, at: Timestamp, end: ConnectionEnd) {
    self.app = app
    self.number = number
    self.at = at
    self.end = end
  }
}

/// Registrations of apps: one for each install on a device.
package struct RegistrationRepository<Access>: Repository {
  let database: Database
}

extension RegistrationRepository {
  /// What `delivery` reads.
  private static var deliveries: StaticString {
    """
    SELECT number, registration_id, secret_hash, platform, alias, tags, last_seen_at, apns_environment,
      last_end, blocked_at, adoption, facts, created_at FROM registration
    """
  }

  /// What `registration` reads.
  private static var registrations: StaticString {
    """
    SELECT app_id, number, registration_id, secret_hash, platform, fingerprint, alias, tags, badge, mobile,
      app_version, created_at, last_seen_at FROM registration
    """
  }

  /// When things of a registration came and went, nil if the app has none of that number.
  package func history(app: AppID, number: RegistrationNumber) throws(StorageError) -> RegistrationHistory? {
    try database.first(
      """
      SELECT alias_at, tags, tag_times, lost_tags, blocked_at FROM registration WHERE app_id = ? AND number = ?
      """, .app(app), .number(number)
    ) { row in
      let tags = TagList.decode(row, "tags")
      let times = TagTimes(tags: tags, row.blob("tag_times"), lost: row.blob("lost_tags"))
      return RegistrationHistory(
        aliasAt: row.notedTime("alias_at"),
        tags: tags.map { TimedTag(number: $0, seconds: times.bound[$0] ?? 0) },
        lostTags: times.lost, blockedAt: row.notedTime("blocked_at"))
    }
  }

  /// A replaced registration of an app, nil if it is unknown or forgotten.
  package func gone(_ id: RegistrationID, app: AppID) throws(StorageError) -> GoneRegistration? {
    try database.first(
      """
      SELECT registration_id, number, platform, successor, at FROM gone_registration
      WHERE app_id = ? AND registration_id = ?
      """, .app(app), .blob(id.stored), map: Self.gone)
  }

  /// Replaced registrations of an app, of a range of numbers.
  package func gone(
    of app: AppID, from first: RegistrationNumber, through last: RegistrationNumber
  ) throws(StorageError) -> [GoneRegistration] {
    try database.all(
      """
      SELECT registration_id, number, platform, successor, at FROM gone_registration
      WHERE app_id = ? AND number BETWEEN ? AND ? ORDER BY id
      """, .app(app), .number(first), .number(last), map: Self.gone)
  }

  private static func gone(_ row: Row) -> GoneRegistration {
    GoneRegistration(
      registrationID: RegistrationID(stored: row.blob("registration_id")), number: row.number("number"),
      platform: Platform(rawValue: row.integer("platform", as: UInt8.self)) ?? .android,
      successor: row.optionalBlob("successor").map { RegistrationID(stored: $0) }, at: row.time("at"))
  }

  /// The IDs that registrations of an app had on the platform that they were imported from, where they are
  /// not the registration IDs.
  package func formerIDs(
    app: AppID, of numbers: [RegistrationNumber]
  ) throws(StorageError) -> [RegistrationNumber: String] {
    var found: [RegistrationNumber: String] = [:]
    for number in numbers {
      found[number] = try database.first(
        """
        SELECT imported_id FROM registration
        WHERE app_id = ? AND number = ? AND imported_id IS NOT NULL
        """, .app(app), .number(number)
      ) { $0.text() }
    }
    return found
  }

  /// The same of one registration, by its ID; nil if there is none.
  package func formerID(of id: RegistrationID, app: AppID) throws(StorageError) -> String? {
    try database.first(
      """
      SELECT imported_id FROM registration
      WHERE registration_id = ? AND app_id = ? AND imported_id IS NOT NULL
      """, .blob(id.stored), .app(app)
    ) { $0.text() }
  }

  /// Whether an app has a registration of a number.
  func contains(app: AppID, _ number: RegistrationNumber) throws(StorageError) -> Bool {
    try database.first(
      "SELECT 1 FROM registration WHERE app_id = ? AND number = ?", .app(app), .number(number)
    ) { _ in true } == true
  }

  /// How many registrations an app has.
  package func count(app: AppID) throws(StorageError) -> Int {
    try database.first("SELECT count(*) FROM registration WHERE app_id = ?", .app(app)) {
      $0.count()
    } ?? 0
  }

  /// Aliases of an app in order, from a text on, at most `limit`.
  package func aliases(app: AppID, from text: String, limit: Int) throws(StorageError) -> [String] {
    try database.all(
      "SELECT DISTINCT alias FROM registration WHERE app_id = ? AND alias >= ? ORDER BY alias LIMIT ?",
      .app(app), .text(text), .integer(limit)
    ) { $0.text() }
  }

  /// How many registrations of an app have an alias.
  package func count(app: AppID, alias: String) throws(StorageError) -> Int {
    try database.first(
      "SELECT count(*) FROM registration WHERE app_id = ? AND alias = ?", .app(app), .text(alias)
    ) { $0.count() } ?? 0
  }

  /// Calls `body` for each registration of an app, by number, with what deliveries need of it: several times
  /// as fast as `registrations`.
  package func deliveryRows(app: AppID, each body: (DeliveryRow) -> Void) throws(StorageError) {
    let statement = try database.statement(Self.deliveries, "WHERE app_id = ? ORDER BY number")
    try statement.each([.app(app)]) { body(Self.delivery($0)) }
  }

  /// Calls `body` for each registration of an app, by number, without holding them all.
  package func all(app: AppID, each body: (RegistrationRow) -> Void) throws(StorageError) {
    let statement = try database.statement(Self.registrations, "WHERE app_id = ? ORDER BY number")
    try statement.each([.app(app)]) { body(Self.registration($0)) }
  }

  /// One registration, nil if the app has none of that number.
  package func find(app: AppID, number: RegistrationNumber) throws(StorageError) -> RegistrationRow? {
    try database.first(
      Self.registrations, "WHERE app_id = ? AND number = ?", .app(app), .number(number),
      map: Self.registration)
  }

  static func delivery(_ row: Row) -> DeliveryRow {
    DeliveryRow(
      number: row.number("number"),
      registrationID: RegistrationID(
        high: row.bigEndian("registration_id", at: 0), low: row.bigEndian("registration_id", at: 8)),
      secretHash: (row.bigEndian("secret_hash", at: 0), row.bigEndian("secret_hash", at: 8)),
      platform: Platform(rawValue: row.integer("platform", as: UInt8.self)) ?? .android,
      alias: row.optionalText("alias"), tags: TagList.decode(row, "tags"),
      lastSeenAt: row.time("last_seen_at"), createdAt: row.time("created_at"),
      token: ServiceID(rawValue: row.integer("apns_environment", as: UInt8.self)),
      lastEnd: ConnectionEnd(rawValue: row.integer("last_end", as: UInt8.self)) ?? .unknown,
      isBlocked: !row.isNull("blocked_at"),
      isUnconfirmed: row.integer("adoption", as: UInt8.self) >= AdoptionState.given,
      isAwaited: Adoption(rawValue: row.integer("adoption", as: UInt8.self)) != nil,
      facts: TagList.decode(row, "facts"))
  }

  private static func registration(_ row: Row) -> RegistrationRow {
    RegistrationRow(
      app: row.app("app_id"), number: row.number("number"),
      registrationID: RegistrationID(stored: row.blob("registration_id")),
      secretHash: row.blob("secret_hash"),
      platform: Platform(rawValue: row.integer("platform", as: UInt8.self)) ?? .android,
      fingerprint: row.blob("fingerprint"), alias: row.optionalText("alias"),
      tags: TagList.decode(row.blob("tags")),
      badge: row.integer("badge"), mobile: row.optionalText("mobile"), appVersion: row.text("app_version"),
      createdAt: row.time("created_at"), lastSeenAt: row.time("last_seen_at"))
  }

  /// What is left of an import.
  package func deliveryRows(_ batch: ImportBatch) throws(StorageError) -> [DeliveryRow] {
    try database.all(
      Self.deliveries, "WHERE app_id = ? AND number BETWEEN ? AND ? ORDER BY number", .app(batch.app),
      .number(batch.first), .number(batch.last), map: Self.delivery)
  }

  /// One registration as deliveries need it.
  package func deliveryRow(app: AppID, number: RegistrationNumber) throws(StorageError) -> DeliveryRow? {
    try database.first(
      Self.deliveries, "WHERE app_id = ? AND number = ?", .app(app), .number(number), map: Self.delivery)
  }
}

extension Row {
  /// A time; nil for NULL and for 0, which both mean that nobody noted it.
  func notedTime(_ column: StaticString) -> Timestamp? {
    let milliseconds = integer(column)
    return milliseconds == 0 ? nil : Timestamp(milliseconds: milliseconds)
  }
}
