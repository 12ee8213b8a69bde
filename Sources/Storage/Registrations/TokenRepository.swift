import BorealisBase
import Model

/// Tokens of registrations, of any channel.
package struct TokenRepository<Access>: Repository {
  let database: Database
}

extension TokenSlot {
  /// The token that stands in `registration` itself, where it was before there were other channels. All
  /// others are in `channel_token`.
  static let ofRegistration = TokenSlot(ChannelID(rawValue: 2), kind: 1)

  var isOfRegistration: Bool { self == Self.ofRegistration }

  /// Reads the columns that name a token.
  fileprivate init(_ row: Row) {
    self.init(
      ChannelID(rawValue: row.integer("channel", as: UInt8.self)), kind: row.integer("kind", as: UInt8.self),
      name: row.text("name"))
  }
}

extension Row {
  fileprivate func service() -> ServiceID { ServiceID(rawValue: integer("service", as: UInt8.self)) }

  fileprivate func tokenEnd() -> TokenEnd {
    TokenEnd(rawValue: integer("token_end", as: UInt8.self)) ?? .none
  }
}

extension TokenRepository {
  /// One kind of tokens of registrations, ascending by number; those without such a token are left out.
  package func find(
    app: AppID, of numbers: [RegistrationNumber], as slot: TokenSlot
  ) throws(StorageError) -> [TokenRow] {
    var rows: [TokenRow] = []
    rows.reserveCapacity(numbers.count)
    for number in numbers {
      let row = slot.isOfRegistration ? try token(app: app, number) : try token(app: app, number, as: slot)
      if let row { rows.append(row) }
    }
    return rows
  }

  private func token(app: AppID, _ number: RegistrationNumber) throws(StorageError) -> TokenRow? {
    try database.first(
      """
      SELECT number, apns_environment AS service, apns_token AS token, apns_token_at AS told_at, badge
      FROM registration
      WHERE app_id = ? AND number = ? AND apns_token IS NOT NULL
      """, .app(app), .number(number), map: Self.token)
  }

  private func token(
    app: AppID, _ number: RegistrationNumber, as slot: TokenSlot
  ) throws(StorageError) -> TokenRow? {
    try database.first(
      """
      SELECT number, service, token, told_at, 0 AS badge FROM channel_token
      WHERE app_id = ? AND number = ? AND channel = ? AND kind = ? AND name = ? AND token IS NOT NULL
      """, .app(app), .number(number), .integer(slot.channel.rawValue), .integer(slot.kind),
      .text(slot.name), map: Self.token)
  }

  private static func token(_ row: Row) -> TokenRow {
    TokenRow(
      number: row.number("number"), service: row.service(), token: row.blob("token"),
      tokenAt: row.time("told_at"), badge: row.integer("badge"))
  }

  /// All that is known of the tokens of a registration, by channel, kind and name: those that it has, and
  /// those that it had.
  package func all(app: AppID, of number: RegistrationNumber) throws(StorageError) -> [TokenHistory] {
    let own = try database.all(
      """
      SELECT 2 AS channel, 1 AS kind, '' AS name, apns_environment AS service, apns_token AS token,
        apns_token_at AS told_at, token_since AS since, token_end
      FROM registration WHERE app_id = ? AND number = ? AND (apns_token IS NOT NULL OR token_end <> 0)
      """, .app(app), .number(number), map: Self.history)
    let others = try database.all(
      """
      SELECT channel, kind, name, service, token, told_at, since, token_end FROM channel_token
      WHERE app_id = ? AND number = ? ORDER BY channel, kind, name
      """, .app(app), .number(number), map: Self.history)
    let split = others.firstIndex { $0.token.slot.channel >= TokenSlot.ofRegistration.channel }
    return others[..<(split ?? others.count)] + own + others[(split ?? others.count)...]
  }

  private static func history(_ row: Row) -> TokenHistory {
    TokenHistory(
      token: PushToken(TokenSlot(row), row.service(), row.blob("token")), since: row.notedTime("since"),
      reportedAt: row.notedTime("told_at"), end: row.tokenEnd())
  }

  /// Calls `body` for each token of an app that does not stand in `RegistrationRepository.deliveryRows`.
  package func others(app: AppID, each body: (HeldToken) -> Void) throws(StorageError) {
    let statement = try database.statement(
      """
      SELECT number, channel, kind, name, service FROM channel_token
      WHERE app_id = ? AND token IS NOT NULL ORDER BY number
      """)
    try statement.each([.app(app)]) { row in
      body(HeldToken(number: row.number("number"), slot: TokenSlot(row), service: row.service()))
    }
  }

  /// The tokens of imported registrations that do not stand in `RegistrationRepository.deliveryRows`.
  package func others(_ batch: ImportBatch) throws(StorageError) -> [HeldToken] {
    try database.all(
      """
      SELECT number, channel, kind, name, service FROM channel_token
      WHERE app_id = ? AND number BETWEEN ? AND ? AND token IS NOT NULL
      """, .app(batch.app), .number(batch.first), .number(batch.last)
    ) { HeldToken(number: $0.number("number"), slot: TokenSlot($0), service: $0.service()) }
  }

  /// The registration of an app that has a token, of whatever channel.
  package func holder(ofToken token: [UInt8], app: AppID) throws(StorageError) -> RegistrationNumber? {
    try database.first(
      """
      SELECT number FROM registration WHERE app_id = ?1 AND apns_token = ?2
      UNION ALL SELECT number FROM channel_token WHERE app_id = ?1 AND token = ?2 LIMIT 1
      """, .app(app), .blob(token)
    ) { $0.number() }
  }

  /// The registrations of an app that have a token, whatever kind of their channel's tokens they told it as.
  package func holders(of token: PushToken, app: AppID) throws(StorageError) -> [RegistrationNumber] {
    let others = try database.all(
      "SELECT number FROM channel_token WHERE app_id = ? AND token = ? AND channel = ?", .app(app),
      .blob(token.bytes), .integer(token.slot.channel.rawValue)
    ) { $0.number() }
    guard token.slot.channel == TokenSlot.ofRegistration.channel else { return others }
    // The index has to be named: SQLite knows nothing of how many registrations there are.
    return try others
      + database.all(
        "SELECT number FROM registration {sqlite INDEXED BY registration_apns_token} WHERE app_id = ? AND apns_token = ?",
        .app(app), .blob(token.bytes)
      ) { $0.number() }
  }
}

extension TokenRepository<Writing> {
  /// Sets a token, empty for none, as told now; tells where the same token went: from other registrations of
  /// the app, and from other kinds of the channel's tokens. Nil if the app has no such registration.
  package func set(
    app: AppID, number: RegistrationNumber, _ token: PushToken, at now: Timestamp
  ) throws(StorageError) -> [HeldToken]? {
    if token.slot.isOfRegistration { return try setOfRegistration(app: app, number: number, token, at: now) }
    let isKnown = try database.first(
      "SELECT 1 FROM registration WHERE app_id = ? AND number = ?", .app(app), .number(number)
    ) { _ in true }
    guard isKnown == true else { return nil }
    let slot = token.slot
    guard !token.bytes.isEmpty else {
      try end([HeldToken(number: number, slot: slot, service: .none)], app: app, .byDevice, at: now)
      return []
    }
    let others = try endOthers(token, of: number, app: app, at: now)
    try database.run(
      """
      INSERT INTO channel_token (app_id, number, channel, kind, name, service, token, told_at, since)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)
      ON CONFLICT (app_id, number, channel, kind, name) DO UPDATE SET
        since = CASE WHEN channel_token.token IS NOT DISTINCT FROM excluded.token THEN channel_token.since
          ELSE excluded.since END,
        service = excluded.service, token = excluded.token, told_at = excluded.told_at, token_end = 0
      """, .app(app), .number(number), .integer(slot.channel.rawValue), .integer(slot.kind),
      .text(slot.name), .integer(token.service.rawValue), .blob(token.bytes), .time(now))
    return others
  }

  private func setOfRegistration(
    app: AppID, number: RegistrationNumber, _ token: PushToken, at now: Timestamp
  ) throws(StorageError) -> [HeldToken]? {
    let stored: SQLValue = token.bytes.isEmpty ? .null : .blob(token.bytes)
    let end: TokenEnd = token.bytes.isEmpty ? .byDevice : .none
    try database.run(
      """
      UPDATE registration SET apns_environment = ?1, apns_token = ?2, apns_token_at = ?3,
        token_since = CASE WHEN apns_token IS NOT DISTINCT FROM ?2 THEN token_since ELSE ?3 END,
        token_end = CASE WHEN apns_token IS NOT DISTINCT FROM ?2 THEN token_end ELSE ?6 END
      WHERE app_id = ?4 AND number = ?5
      """, .integer(token.service.rawValue), stored, .time(now), .app(app), .number(number),
      .integer(end.rawValue))
    guard database.changes > 0 else { return nil }
    return token.bytes.isEmpty ? [] : try endOthers(token, of: number, app: app, at: now)
  }

  /// Takes a token from all slots but the one that a registration has told it for.
  private func endOthers(
    _ token: PushToken, of number: RegistrationNumber, app: AppID, at now: Timestamp
  ) throws(StorageError) -> [HeldToken] {
    let slot = token.slot
    let others = try database.all(
      """
      SELECT number, channel, kind, name FROM channel_token
      WHERE app_id = ?1 AND token = ?2 AND channel = ?3 AND (number <> ?4 OR kind <> ?5 OR name <> ?6)
      """, .app(app), .blob(token.bytes), .integer(slot.channel.rawValue), .number(number),
      .integer(slot.kind), .text(slot.name), map: Self.lost)
    try end(others, app: app, .taken, at: now)
    guard slot.channel == TokenSlot.ofRegistration.channel else { return others }
    // Of a registration that told it as another kind, its own row has it no more either.
    return try others
      + database.all(
        """
        UPDATE registration SET apns_environment = 0, apns_token = NULL, token_since = ?4, token_end = ?5
        WHERE app_id = ?1 AND apns_token = ?2 AND number <> ?3 RETURNING number
        """, .app(app), .blob(token.bytes),
        slot.isOfRegistration ? .number(number) : .integer(-1), .time(now),
        .integer(TokenEnd.taken.rawValue)
      ) { HeldToken(number: $0.number(), slot: .ofRegistration, service: .none) }
  }

  /// Takes tokens away. Those with names leave nothing: they come and go.
  private func end(
    _ tokens: [HeldToken], app: AppID, _ end: TokenEnd, at now: Timestamp
  ) throws(StorageError) {
    for token in tokens {
      let slot = token.slot
      if slot.name.isEmpty {
        try database.run(
          """
          UPDATE channel_token SET service = 0, token = NULL, since = ?, token_end = ?
          WHERE app_id = ? AND number = ? AND channel = ? AND kind = ? AND name = '' AND token IS NOT NULL
          """, .time(now), .integer(end.rawValue), .app(app), .number(token.number),
          .integer(slot.channel.rawValue), .integer(slot.kind))
      } else {
        try database.run(
          """
          DELETE FROM channel_token
          WHERE app_id = ? AND number = ? AND channel = ? AND kind = ? AND name = ?
          """, .app(app), .number(token.number), .integer(slot.channel.rawValue), .integer(slot.kind),
          .text(slot.name))
      }
    }
  }

  /// Removes a registration's tokens with names of the channel of `told` but `count`: those that were told
  /// the longest ago; never `told` itself, which was told just now, whatever the clock says. Tells which
  /// went.
  package func removeNamed(
    app: AppID, number: RegistrationNumber, but told: TokenSlot, keeping count: Int
  ) throws(StorageError) -> [HeldToken] {
    try database.all(
      """
      DELETE FROM channel_token WHERE app_id = ?1 AND number = ?2 AND channel = ?3 AND (kind, name) IN (
        SELECT kind, name FROM channel_token WHERE app_id = ?1 AND number = ?2 AND channel = ?3 AND name <> ''
        ORDER BY (kind = ?5 AND name = ?6) DESC, told_at DESC, kind, name LIMIT 9223372036854775807 OFFSET ?4)
      RETURNING number, channel, kind, name
      """, .app(app), .number(number), .integer(told.channel.rawValue),
      .integer(count), .integer(told.kind), .text(told.name), map: Self.lost)
  }

  private static func lost(_ row: Row) -> HeldToken {
    HeldToken(number: row.number("number"), slot: TokenSlot(row), service: .none)
  }

  /// Takes a token with which its service found a fault from its registration, unless the device has told it
  /// anew after `moment`; true if it was taken.
  package func retire(
    app: AppID, number: RegistrationNumber, _ token: PushToken, _ end: TokenEnd,
    unlessReportedAfter moment: Timestamp, at now: Timestamp
  ) throws(StorageError) -> Bool {
    let slot = token.slot
    guard slot.isOfRegistration else {
      let isThere = try database.first(
        """
        SELECT 1 FROM channel_token
        WHERE app_id = ? AND number = ? AND channel = ? AND kind = ? AND name = ? AND token = ? AND told_at <= ?
        """, .app(app), .number(number), .integer(slot.channel.rawValue), .integer(slot.kind),
        .text(slot.name), .blob(token.bytes), .time(moment)
      ) { _ in true }
      guard isThere == true else { return false }
      try self.end([HeldToken(number: number, slot: slot, service: .none)], app: app, end, at: now)
      return true
    }
    try database.run(
      """
      UPDATE registration SET apns_environment = 0, apns_token = NULL, token_since = ?5, token_end = ?6
      WHERE app_id = ?1 AND number = ?2 AND apns_token = ?3 AND apns_token_at <= ?4
      """, .app(app), .number(number), .blob(token.bytes), .time(moment), .time(now),
      .integer(end.rawValue))
    return database.changes > 0
  }

  /// Notes that a token belongs to another service of its channel, `token.service`; false if the registration
  /// has another token by now.
  package func move(
    app: AppID, number: RegistrationNumber, _ token: PushToken
  ) throws(StorageError) -> Bool {
    let slot = token.slot
    if slot.isOfRegistration {
      try database.run(
        "UPDATE registration SET apns_environment = ? WHERE app_id = ? AND number = ? AND apns_token = ?",
        .integer(token.service.rawValue), .app(app), .number(number), .blob(token.bytes))
    } else {
      try database.run(
        """
        UPDATE channel_token SET service = ?
        WHERE app_id = ? AND number = ? AND channel = ? AND kind = ? AND name = ? AND token = ?
        """, .integer(token.service.rawValue), .app(app), .number(number), .integer(slot.channel.rawValue),
        .integer(slot.kind), .text(slot.name), .blob(token.bytes))
    }
    return database.changes > 0
  }
}
