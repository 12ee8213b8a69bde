import BorealisBase
import Model

extension RegistrationRepository<Writing> {
  /// Remembers registrations that are replaced by another, or deleted.
  func remember(
    _ gone: [ReplacedRegistration], of app: AppID, replacedBy successor: RegistrationID?, at now: Timestamp
  ) throws(StorageError) {
    if !gone.isEmpty { try noteGivenUp(gone.count, of: app) }
    for one in gone {
      // An earlier entry goes: the sweep takes the entries in the order in which they came.
      try database.run(
        "DELETE FROM gone_registration WHERE app_id = ? AND registration_id = ?", .app(app),
        .blob(one.registrationID.stored))
      try database.run(
        """
        INSERT INTO gone_registration (registration_id, app_id, number, platform, successor, at)
        VALUES (?, ?, ?, ?, ?, ?)
        """, .blob(one.registrationID.stored), .app(app), .number(one.number),
        .integer(one.platform.rawValue), successor.map { .blob($0.stored) } ?? .null, .time(now))
    }
  }

  /// Deletes registrations that were replaced before a time, out of the `limit` oldest; returns how many.
  package func sweepGone(before time: Timestamp, limit: Int, in rows: AppRows) throws(StorageError) -> Int {
    try database.run(
      """
      DELETE FROM gone_registration WHERE id IN (
        SELECT id FROM (SELECT id, app_id, at FROM gone_registration ORDER BY id LIMIT ?2) AS oldest
        WHERE at < ?1 AND {own oldest.app_id} LIMIT ?3)
      """, in: rows, .time(time), .integer(rows.depth(for: limit)), .integer(limit))
    return database.changes
  }

  /// The number of a new registration; nil if the app is unknown, deleted, or has used up its numbers.
  func nextNumber(_ app: AppID) throws(StorageError) -> RegistrationNumber? {
    try database.first(
      """
      UPDATE app SET next_number = next_number + 1
      WHERE id = ? AND next_number < 4294967295 AND deleted_at IS NULL RETURNING next_number - 1
      """, .app(app)
    ) { $0.number() }
  }

  /// Whether a device with a fingerprint was given a registration, or was there with one, after a moment and
  /// within so many nanoseconds of it. Times beyond that are those of a clock that was set back.
  package func isKnown(
    app: AppID, fingerprint: [UInt8], after moment: Timestamp, within nanoseconds: UInt64
  ) throws(StorageError) -> Bool {
    guard !fingerprint.isEmpty else { return false }
    let end = Timestamp(milliseconds: moment.milliseconds + Int64(nanoseconds / 1_000_000))
    return try database.first(
      """
      SELECT 1 FROM registration {sqlite INDEXED BY registration_fingerprint}
      WHERE app_id = ?1 AND fingerprint = ?2 AND fingerprint <> {bytes}
        AND (created_at > ?3 AND created_at <= ?4 OR last_seen_at > ?3 AND last_seen_at <= ?4)
      """, .app(app), .blob(fingerprint), .time(moment), .time(end)
    ) { _ in true } ?? false
  }

  /// Adds a registration, or gives the device an imported one that is meant for it, and deletes all others of
  /// the same app with the same fingerprint or one of the same tokens. A fingerprint that names a former ID
  /// is known to others than the device: by that only those are deleted that no device has logged in with.
  /// `.constraint` for an unknown app, a registration ID in use, a wrong size of the hash or used-up numbers.
  package func register(app: AppID, _ new: NewRegistration, at now: Timestamp) throws(StorageError)
    -> RegistrationOutcome
  {
    let adopted = try adopt(app: app, new, at: now)
    let kept = adopted.map { Int64($0.rawValue) } ?? -1
    let adoption: UInt8 = new.imported.isEmpty ? 0 : AdoptionState.newcomer
    // The index has to be named: with a bound on a second column SQLite's planner reads all registrations of
    // the app.
    var replaced = try database.all(
      """
      DELETE FROM registration {sqlite INDEXED BY registration_fingerprint}
      WHERE app_id = ?1 AND fingerprint = ?2 AND fingerprint <> {bytes} AND number <> ?3 AND adoption >= ?4
      RETURNING number, tags, registration_id, platform
      """, .app(app), .blob(new.fingerprint), .integer(kept), .integer(adoption), map: Self.replaced)
    for token in new.tokens {
      for holder in try transaction.tokens.holders(of: token, app: app) where holder != adopted {
        replaced += try database.all(
          """
          DELETE FROM registration WHERE app_id = ? AND number = ?
          RETURNING number, tags, registration_id, platform
          """, .app(app), .number(holder), map: Self.replaced)
      }
    }
    if let adopted {
      try setTokens(new.otherTokens, app: app, adopted, at: now)
      let row = try deliveryRow(app: app, number: adopted)
      if let row { try remember(replaced, of: app, replacedBy: row.registrationID, at: now) }
      return RegistrationOutcome(
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
        apns_environment, apns_token, app_version, created_at, last_seen_at, apns_token_at, token_since, adoption)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?10, ?10, ?11)
      """, .app(app), .number(number), .blob(new.registrationID.stored), .blob(new.secretHash),
      .integer(new.platform.rawValue), .blob(new.fingerprint),
      .integer(new.ownToken?.service.rawValue ?? 0), new.ownToken.map { .blob($0.bytes) } ?? .null,
      .text(new.appVersion), .time(now), .integer(adoption))
    try setTokens(new.otherTokens, app: app, number, at: now)
    let addedBefore = database.registrationsAdded[app] ?? 0
    if replaced.isEmpty { database.registrationsAdded[app] = addedBefore + 1 }
    return RegistrationOutcome(
      number: number, replaced: replaced.sorted { $0.number < $1.number }, addedBefore: addedBefore)
  }

  private func setTokens(
    _ tokens: [PushToken], app: AppID, _ number: RegistrationNumber, at now: Timestamp
  ) throws(StorageError) {
    // Nobody else has them any more.
    for token in tokens { _ = try transaction.tokens.set(app: app, number: number, token, at: now) }
  }

  private static func replaced(_ row: Row) -> ReplacedRegistration {
    ReplacedRegistration(
      number: row.number("number"), registrationID: RegistrationID(stored: row.blob("registration_id")),
      platform: Platform(rawValue: row.integer("platform", as: UInt8.self)) ?? .android,
      tags: TagList.decode(row, "tags"))
  }

  /// Deletes a registration, its alias and tags; nil if there is none.
  package func remove(
    app: AppID, number: RegistrationNumber, at now: Timestamp
  ) throws(StorageError) -> ReplacedRegistration? {
    let gone = try database.first(
      """
      DELETE FROM registration WHERE app_id = ? AND number = ?
      RETURNING number, tags, registration_id, platform
      """, .app(app), .number(number), map: Self.replaced)
    if let gone { try remember([gone], of: app, replacedBy: nil, at: now) }
    return gone
  }

  /// Deletes a registration whose device was not there since a time: another for those without a push token
  /// that no device used after the hour in which they were made. Imported ones whose device has not come
  /// count from the import, and never as that.
  package func removeUnused(
    app: AppID, number: RegistrationNumber, _ times: UnusedTimes, at now: Timestamp
  ) throws(StorageError) -> ReplacedRegistration? {
    let gone = try database.first(
      """
      DELETE FROM registration WHERE app_id = ?1 AND number = ?2
        AND ((last_seen_at < ?3 AND created_at < ?3)
          OR (last_seen_at < ?4 AND created_at < ?4 AND last_seen_at < created_at + 3600000
            AND adoption IN (0, 5) AND apns_token IS NULL
            AND NOT EXISTS (SELECT 1 FROM channel_token WHERE app_id = ?1 AND number = ?2 AND length(token) > 0)))
      RETURNING number, tags, registration_id, platform
      """, .app(app), .number(number), .time(times.others), .time(times.newcomers), map: Self.replaced)
    if let gone { try remember([gone], of: app, replacedBy: nil, at: now) }
    return gone
  }

  /// Counts registrations that were deleted: what is missing beyond that was lost.
  func noteGivenUp(_ count: Int, of app: AppID) throws(StorageError) {
    try database.run("UPDATE app SET given_up = given_up + ? WHERE id = ?", .integer(count), .app(app))
  }

  /// What `setAlias` would come to; changes nothing.
  package func checkAlias(
    app: AppID, number: RegistrationNumber, alias: String?, limit: Int
  ) throws(StorageError) -> AliasOutcome {
    let row = try database.first(
      "SELECT alias FROM registration WHERE app_id = ? AND number = ?", .app(app), .number(number)
    ) { $0.optionalText() }
    guard let previous = row else { return .unknownRegistration }
    guard let alias, previous?.hasSameBytes(as: alias) != true else { return .ok(previous: previous) }
    return try count(app: app, alias: alias) < limit ? .ok(previous: previous) : .full
  }

  /// Sets or removes an alias that at most `limit` registrations of the app may share.
  package func setAlias(
    app: AppID, number: RegistrationNumber, alias: String?, limit: Int, at now: Timestamp
  ) throws(StorageError) -> AliasOutcome {
    let outcome = try checkAlias(app: app, number: number, alias: alias, limit: limit)
    if case .ok(let previous) = outcome, previous.map({ ExactName($0) }) != alias.map({ ExactName($0) }) {
      try database.run(
        "UPDATE registration SET alias = ?, alias_at = ? WHERE app_id = ? AND number = ?", .optional(alias),
        .time(now), .app(app), .number(number))
    }
    return outcome
  }

  /// Removes an alias from all its holders, and returns them.
  package func removeAlias(
    app: AppID, alias: String, at now: Timestamp
  ) throws(StorageError) -> [RegistrationNumber] {
    try database.all(
      "UPDATE registration SET alias = NULL, alias_at = ?3 WHERE app_id = ?1 AND alias = ?2 RETURNING number",
      .app(app), .text(alias), .time(now)
    ) { $0.number() }.sorted()
  }

  /// Sets the number on the icon; false for an unknown registration.
  package func setBadge(app: AppID, number: RegistrationNumber, _ badge: Int64) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE registration SET badge = ? WHERE app_id = ? AND number = ?", .integer(badge), .app(app),
      .number(number))
    return database.changes > 0
  }

  /// Puts a registration on the black list, or takes it off with nil; the time of one that is on it stays.
  /// False for an unknown registration.
  package func setBlocked(
    app: AppID, number: RegistrationNumber, at now: Timestamp?
  ) throws(StorageError) -> Bool {
    try database.run(
      """
      UPDATE registration SET blocked_at = CASE WHEN CAST(?1 AS BIGINT) IS NULL THEN NULL ELSE coalesce(blocked_at, ?1) END
      WHERE app_id = ?2 AND number = ?3
      """, now.map { .time($0) } ?? .null, .app(app), .number(number))
    return database.changes > 0
  }

  /// Sets or removes the phone number; false for an unknown registration.
  package func setMobile(app: AppID, number: RegistrationNumber, _ mobile: String?) throws(StorageError)
    -> Bool
  {
    try database.run(
      "UPDATE registration SET mobile = ? WHERE app_id = ? AND number = ?", .optional(mobile), .app(app),
      .number(number))
    return database.changes > 0
  }

  /// Records when registrations were online, in whole seconds; unknown ones are skipped, a time never goes
  /// back.
  package func touch(_ seen: [LastContact]) throws(StorageError) {
    for one in seen {
      try database.run(
        """
        UPDATE registration SET last_seen_at = CASE WHEN last_seen_at > ?1 THEN last_seen_at ELSE ?1 END, last_end = ?4
        WHERE app_id = ?2 AND number = ?3 AND last_seen_at < ?1 + 1000
        """, .time(one.at), .app(one.app), .number(one.number), .integer(one.end.rawValue))
    }
  }
}

extension NewRegistration {
  /// The token that stands in the registration's own row.
  var ownToken: PushToken? { tokens.first(where: \.slot.isOfRegistration) }

  fileprivate var otherTokens: [PushToken] { tokens.filter { !$0.slot.isOfRegistration } }
}
