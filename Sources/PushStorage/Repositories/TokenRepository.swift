import PushBase
import PushDomain

/// Apple's tokens of registrations.
public struct TokenRepository<Access>: Repository {
  let database: Database
}

extension TokenRepository {
  /// One kind of tokens of registrations, ascending by number; those without such a token are left out.
  public func find(
    app: AppID, of numbers: [RegistrationNumber], as slot: APNsTokenSlot = .device
  ) throws(StorageError) -> [TokenRow] {
    var rows: [TokenRow] = []
    rows.reserveCapacity(numbers.count)
    for number in numbers {
      let row = slot == .device ? try token(app: app, number) : try token(app: app, number, as: slot)
      if let row { rows.append(row) }
    }
    return rows
  }

  private func token(app: AppID, _ number: RegistrationNumber) throws(StorageError) -> TokenRow? {
    try database.first(
      """
      SELECT number, apns_environment AS environment, apns_token AS token, apns_token_at AS told_at, badge
      FROM registration
      WHERE app_id = ? AND number = ? AND apns_token IS NOT NULL
      """, .app(app), .number(number), map: Self.token)
  }

  private func token(
    app: AppID, _ number: RegistrationNumber, as slot: APNsTokenSlot
  ) throws(StorageError) -> TokenRow? {
    try database.first(
      """
      SELECT number, environment, token, told_at, 0 AS badge FROM apns_token
      WHERE app_id = ? AND number = ? AND kind = ? AND name = ?
      """, .app(app), .number(number), .integer(slot.kind.rawValue), .text(slot.name), map: Self.token)
  }

  private static func token(_ row: Row) -> TokenRow {
    TokenRow(
      number: row.number("number"), environment: environment(row), token: row.blob("token"),
      tokenAt: row.time("told_at"),
      badge: row.integer("badge"))
  }

  private static func environment(_ row: Row) -> APNsEnvironment {
    APNsEnvironment(rawValue: row.integer("environment", as: UInt8.self)) ?? .none
  }

  /// Calls `body` for each token for calls and Live Activities of an app.
  public func others(app: AppID, each body: (OtherTokenRow) -> Void) throws(StorageError) {
    let statement = try database.statement(
      "SELECT number, kind, name, environment FROM apns_token WHERE app_id = ? ORDER BY number")
    try statement.each([.app(app)]) { row in
      guard let slot = Self.slot(row) else { return }
      body(OtherTokenRow(number: row.number("number"), slot: slot, environment: Self.environment(row)))
    }
  }

  /// Kind and name of a token.
  private static func slot(_ row: Row) -> APNsTokenSlot? {
    APNsTokenKind(rawValue: row.integer("kind", as: UInt8.self))
      .flatMap { APNsTokenSlot($0, name: row.text("name")) }
  }

  /// The registration of an app that has one of Apple's tokens, whatever it is for.
  public func holder(ofToken token: [UInt8], app: AppID) throws(StorageError) -> RegistrationNumber? {
    try database.first(
      """
      SELECT number FROM registration WHERE app_id = ?1 AND apns_token = ?2
      UNION ALL SELECT number FROM apns_token WHERE app_id = ?1 AND token = ?2 LIMIT 1
      """, .app(app), .blob(token)
    ) { $0.number() }
  }
}

extension TokenRepository<Writing> {
  /// Sets one of Apple's tokens, empty for none, as told now; tells which other tokens of the app's registrations went:
  /// the same token elsewhere, and the oldest of too many for Live Activities. Nil if the app has no such registration.
  public func set(
    app: AppID, number: RegistrationNumber, as slot: APNsTokenSlot = .device, environment: APNsEnvironment,
    token: [UInt8], at now: Timestamp
  ) throws(StorageError) -> [OtherTokenRow]? {
    let isGone = token.isEmpty || environment == .none
    if slot == .device {
      return try setDeviceToken(
        app: app, number: number, environment: isGone ? .none : environment, isGone ? nil : token, at: now)
    }
    let isKnown = try database.first(
      "SELECT 1 FROM registration WHERE app_id = ? AND number = ?", .app(app), .number(number)
    ) { _ in true }
    guard isKnown == true else { return nil }
    if isGone {
      try removeToken(app: app, number: number, slot)
      return []
    }
    let others = try database.all(
      """
      DELETE FROM apns_token WHERE app_id = ?1 AND token = ?2 AND (number <> ?3 OR kind <> ?4 OR name <> ?5)
      RETURNING number, kind, name
      """, .app(app), .blob(token), .number(number), .integer(slot.kind.rawValue), .text(slot.name),
      map: Self.lost)
    try database.run(
      """
      INSERT INTO apns_token (app_id, number, kind, name, environment, token, told_at) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (app_id, number, kind, name) DO UPDATE SET
        environment = excluded.environment, token = excluded.token, told_at = excluded.told_at
      """, .app(app), .number(number), .integer(slot.kind.rawValue), .text(slot.name),
      .integer(environment.rawValue), .blob(token), .time(now))
    let oldest = slot.kind.isNamed ? try removeOldestTokens(app: app, number: number) : []
    return (others + oldest).compactMap { $0 }
  }

  private func setDeviceToken(
    app: AppID, number: RegistrationNumber, environment: APNsEnvironment, _ token: [UInt8]?, at now: Timestamp
  ) throws(StorageError) -> [OtherTokenRow]? {
    let stored = SQLValue.optional(token)
    let end: TokenEnd = token == nil ? .byDevice : .none
    try database.run(
      """
      UPDATE registration SET apns_environment = ?1, apns_token = ?2, apns_token_at = ?3,
        token_since = CASE WHEN apns_token IS ?2 THEN token_since ELSE ?3 END,
        token_end = CASE WHEN apns_token IS ?2 THEN token_end ELSE ?6 END
      WHERE app_id = ?4 AND number = ?5
      """, .integer(environment.rawValue), stored, .time(now), .app(app), .number(number),
      .integer(end.rawValue))
    guard database.changes > 0 else { return nil }
    return try database.all(
      """
      UPDATE registration SET apns_environment = 0, apns_token = NULL, token_since = ?4, token_end = ?5
      WHERE app_id = ?1 AND apns_token = ?2 AND number <> ?3 RETURNING number
      """, .app(app), stored, .number(number), .time(now), .integer(TokenEnd.taken.rawValue)
    ) { OtherTokenRow(number: $0.number(), slot: .device, environment: .none) }
  }

  private func removeToken(
    app: AppID, number: RegistrationNumber, _ slot: APNsTokenSlot
  ) throws(StorageError) {
    try database.run(
      "DELETE FROM apns_token WHERE app_id = ? AND number = ? AND kind = ? AND name = ?", .app(app),
      .number(number), .integer(slot.kind.rawValue), .text(slot.name))
  }

  /// Those beyond `RegistrationLimits.activityTokens` that were told the longest ago.
  private func removeOldestTokens(
    app: AppID, number: RegistrationNumber
  ) throws(StorageError) -> [OtherTokenRow?] {
    try database.all(
      """
      DELETE FROM apns_token WHERE app_id = ?1 AND number = ?2 AND (kind, name) IN (
        SELECT kind, name FROM apns_token WHERE app_id = ?1 AND number = ?2 AND kind IN (3, 4)
        ORDER BY told_at DESC, kind, name LIMIT -1 OFFSET ?3)
      RETURNING number, kind, name
      """, .app(app), .number(number), .integer(RegistrationLimits.activityTokens), map: Self.lost)
  }

  private static func lost(_ row: Row) -> OtherTokenRow? {
    Self.slot(row).map {
      OtherTokenRow(number: row.number("number"), slot: $0, environment: .none)
    }
  }

  /// Takes a token with which Apple found a fault from its registration, unless the device has told it anew after
  /// `moment`; true if it was taken.
  public func retire(
    app: AppID, number: RegistrationNumber, as slot: APNsTokenSlot = .device, token: [UInt8],
    for fault: APNsTokenFault = .unregistered, unlessToldAfter moment: Timestamp, at now: Timestamp
  ) throws(StorageError) -> Bool {
    if slot == .device {
      try database.run(
        """
        UPDATE registration SET apns_environment = 0, apns_token = NULL, token_since = ?5, token_end = ?6
        WHERE app_id = ?1 AND number = ?2 AND apns_token = ?3 AND apns_token_at <= ?4
        """, .app(app), .number(number), .blob(token), .time(moment), .time(now),
        .integer(TokenEnd(fault).rawValue))
    } else {
      try database.run(
        """
        DELETE FROM apns_token
        WHERE app_id = ? AND number = ? AND kind = ? AND name = ? AND token = ? AND told_at <= ?
        """, .app(app), .number(number), .integer(slot.kind.rawValue), .text(slot.name), .blob(token),
        .time(moment))
    }
    return database.changes > 0
  }

  /// Notes that a token works at the other of Apple's services; false if the registration has another token by now.
  public func move(
    app: AppID, number: RegistrationNumber, as slot: APNsTokenSlot = .device, token: [UInt8],
    to environment: APNsEnvironment
  ) throws(StorageError) -> Bool {
    if slot == .device {
      try database.run(
        "UPDATE registration SET apns_environment = ? WHERE app_id = ? AND number = ? AND apns_token = ?",
        .integer(environment.rawValue), .app(app), .number(number), .blob(token))
    } else {
      try database.run(
        """
        UPDATE apns_token SET environment = ?
        WHERE app_id = ? AND number = ? AND kind = ? AND name = ? AND token = ?
        """, .integer(environment.rawValue), .app(app), .number(number), .integer(slot.kind.rawValue),
        .text(slot.name), .blob(token))
    }
    return database.changes > 0
  }
}
