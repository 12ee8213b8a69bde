import PushBase
import PushDomain

extension WriteTransaction {
  /// What `register` did.
  public struct Registered: Sendable {
    /// The new number.
    public var number: RegistrationNumber
    /// Registrations that this one replaced, ascending; their rows are gone, aliases and tags with them.
    public var replaced: [Replaced]
    /// What was imported, if the device has taken that over.
    public var adopted: DeliveryRow?
  }

  /// A registration that is gone.
  public struct Replaced: Sendable, Equatable {
    /// Its number.
    public var number: RegistrationNumber
    /// Its public name.
    public var registrationID: RegistrationID
    /// What its device ran.
    public var platform: Platform
    /// The tags that it had, ascending.
    public var tags: [UInt32]
  }

  /// How a change of an alias ended.
  public enum AliasOutcome: Sendable, Equatable {
    /// Done; the alias that the registration had before.
    case ok(previous: String?)
    /// As many registrations as allowed have the alias; nothing was changed.
    case full
    /// The app has no such registration.
    case unknownRegistration
  }

  /// Adds a registration, or gives the device an imported one that is meant for it, and deletes all others of the same app
  /// with the same fingerprint or the same token.
  /// `.constraint` for an unknown app, a registration ID in use, a wrong size of the hash or used-up numbers.
  public func register(app: AppID, _ new: NewRegistration, at now: Timestamp) throws(StorageError)
    -> Registered
  {
    let adopted = try adopt(app: app, new, at: now)
    let kept = adopted.map { Int64($0.rawValue) } ?? -1
    let replaced = try database.all(
      """
      DELETE FROM registration WHERE app_id = ?1 AND number <> ?4 AND number IN (
        SELECT number FROM registration WHERE app_id = ?1 AND fingerprint = ?2 AND fingerprint <> x''
        UNION SELECT number FROM registration WHERE app_id = ?1 AND apns_token = ?3)
      RETURNING number, tags, registration_id, platform
      """, .app(app), .blob(new.fingerprint), new.token.isEmpty ? .null : .blob(new.token),
      .integer(kept)
    ) {
      Replaced(
        number: $0.number(0), registrationID: RegistrationID(stored: $0.blob(2)),
        platform: Platform(rawValue: $0.integer(3, as: UInt8.self)) ?? .android, tags: TagList.decode($0, 1))
    }
    if let adopted {
      let row = try reading.deliveryRow(app: app, number: adopted)
      if let row { try remember(replaced, of: app, replacedBy: row.registrationID, at: now) }
      return Registered(
        number: adopted, replaced: replaced.sorted { $0.number < $1.number },
        adopted: row)
    }
    try remember(replaced, of: app, replacedBy: new.registrationID, at: now)
    guard let number = try nextNumber(app) else {
      throw StorageError(.constraint, "the app is unknown or has used up its numbers")
    }
    try database.run(
      """
      INSERT INTO registration (app_id, number, registration_id, secret_hash, platform, fingerprint,
        apns_environment, apns_token, app_version, created_at, last_seen_at, apns_token_at, token_since)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?10, ?10)
      """, .app(app), .number(number), .blob(new.registrationID.stored), .blob(new.secretHash),
      .integer(new.platform.rawValue), .blob(new.fingerprint),
      .integer(new.token.isEmpty ? 0 : new.environment.rawValue),
      new.token.isEmpty ? .null : .blob(new.token), .text(new.appVersion), .time(now))
    return Registered(number: number, replaced: replaced.sorted { $0.number < $1.number })
  }

  /// Deletes a registration, its alias and tags; false if there is none.
  public func unregister(app: AppID, number: RegistrationNumber) throws(StorageError) -> Bool {
    try database.run("DELETE FROM registration WHERE app_id = ? AND number = ?", .app(app), .number(number))
    return database.changes > 0
  }

  /// Devices that may have the same alias.
  public static let devicesPerAlias = 10

  /// What `setAlias` would come to; changes nothing.
  public func checkAlias(
    app: AppID, number: RegistrationNumber, alias: String?, limit: Int = WriteTransaction.devicesPerAlias
  )
    throws(StorageError) -> AliasOutcome
  {
    let row = try database.first(
      "SELECT alias FROM registration WHERE app_id = ? AND number = ?", .app(app), .number(number)
    ) { $0.optionalText(0) }
    guard let previous = row else { return .unknownRegistration }
    guard let alias, alias != previous else { return .ok(previous: previous) }
    let holders = try database.first(
      "SELECT count(*) FROM registration WHERE app_id = ? AND alias = ?", .app(app), .text(alias)
    ) { $0.integer(0) }
    return holders ?? 0 < limit ? .ok(previous: previous) : .full
  }

  /// Sets or removes an alias that at most `limit` registrations of the app may share.
  public func setAlias(
    app: AppID, number: RegistrationNumber, alias: String?, limit: Int = WriteTransaction.devicesPerAlias,
    at now: Timestamp
  ) throws(StorageError) -> AliasOutcome {
    let outcome = try checkAlias(app: app, number: number, alias: alias, limit: limit)
    if case .ok(let previous) = outcome, previous != alias {
      try database.run(
        "UPDATE registration SET alias = ?, alias_at = ? WHERE app_id = ? AND number = ?", .optional(alias),
        .time(now), .app(app), .number(number))
    }
    return outcome
  }

  /// Takes an alias from all its holders, and tells whom.
  public func removeAlias(
    app: AppID, alias: String, at now: Timestamp
  ) throws(StorageError) -> [RegistrationNumber] {
    try database.all(
      "UPDATE registration SET alias = NULL, alias_at = ?3 WHERE app_id = ?1 AND alias = ?2 RETURNING number",
      .app(app), .text(alias), .time(now)
    ) { $0.number(0) }.sorted()
  }

  /// Sets the number on the icon; false for an unknown registration.
  public func setBadge(app: AppID, number: RegistrationNumber, _ badge: Int64) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE registration SET badge = ? WHERE app_id = ? AND number = ?", .integer(badge), .app(app),
      .number(number))
    return database.changes > 0
  }

  /// Sets or removes the phone number; false for an unknown registration.
  public func setMobile(app: AppID, number: RegistrationNumber, _ mobile: String?) throws(StorageError)
    -> Bool
  {
    try database.run(
      "UPDATE registration SET mobile = ? WHERE app_id = ? AND number = ?", .optional(mobile), .app(app),
      .number(number))
    return database.changes > 0
  }

  /// When a registration was online, and how its connection ended.
  public struct LastContact: Sendable {
    /// Its app.
    public var app: AppID
    /// Its number.
    public var number: RegistrationNumber
    /// When.
    public var at: Timestamp
    /// How it ended; `connected` if it was there then.
    public var end: ConnectionEnd

    /// All fields.
    public init(app: AppID, number: RegistrationNumber, at: Timestamp, end: ConnectionEnd) {
      self.app = app
      self.number = number
      self.at = at
      self.end = end
    }
  }

  /// Notes when registrations were online, in whole seconds; unknown ones are skipped, a time never goes back.
  public func touch(_ seen: [LastContact]) throws(StorageError) {
    for one in seen {
      try database.run(
        """
        UPDATE registration SET last_seen_at = max(last_seen_at, ?1), last_end = ?4
        WHERE app_id = ?2 AND number = ?3 AND last_seen_at < ?1 + 1000
        """, .time(one.at), .app(one.app), .number(one.number), .integer(one.end.rawValue))
    }
  }
}
