import PushBase

extension WriteTransaction {
  /// Adds registrations of other platforms to an app, without a device: until one comes for it, nobody can log in as one
  /// of them. What became of each, in order. A server that is running learns of them by `import_batch`.
  public func importRegistrations(
    app: AppID, _ imported: [ImportedRegistration], adoption: Adoption, at now: Timestamp
  ) throws(StorageError) -> [ImportOutcome] {
    let first = try database.first(
      "SELECT next_number FROM app WHERE id = ? AND deleted_at IS NULL", .app(app)
    ) { UInt32(truncatingIfNeeded: $0.integer(0)) }
    guard let first else { return imported.map { _ in .numbersUsedUp } }
    var outcomes: [ImportOutcome] = []
    outcomes.reserveCapacity(imported.count)
    var next = first
    var tagsByName: [String: UInt32] = [:]
    for one in imported {
      let outcome = try add(one, app, RegistrationNumber(next), adoption, now, &tagsByName)
      if outcome == .added { next += 1 }
      outcomes.append(outcome)
    }
    try database.run("UPDATE app SET next_number = ? WHERE id = ?", .integer(next), .app(app))
    // A server reads them piece by piece.
    for start in stride(from: first, to: next, by: Self.learnedAtOnce) {
      try database.run(
        "INSERT INTO import_batch (app_id, first, count) VALUES (?, ?, ?)", .app(app), .integer(start),
        .integer(min(next - start, UInt32(Self.learnedAtOnce))))
    }
    return outcomes
  }

  /// Registrations of which a server learns in one step.
  private static var learnedAtOnce: Int { 1000 }

  private func add(
    _ one: ImportedRegistration, _ app: AppID, _ number: RegistrationNumber, _ adoption: Adoption,
    _ now: Timestamp, _ known: inout [String: UInt32]
  ) throws(StorageError) -> ImportOutcome {
    guard number.rawValue < .max else { return try owned(one, app) ?? .numbersUsedUp }
    if let obstacle = try obstacle(to: one, app) { return try owned(one, app) ?? obstacle }
    guard let tags = try tagNumbers(one.tags, app, &known), tags.count <= 1000 else {
      return try owned(one, app) ?? .tooManyTags
    }
    try insert(one, tags: tags, app, number, adoption, now)
    return database.changes > 0 ? .added : try owned(one, app) ?? .numbersUsedUp
  }

  /// Whose a registration is that is there already; nil if it is not.
  private func owned(_ one: ImportedRegistration, _ app: AppID) throws(StorageError) -> ImportOutcome? {
    try database.first(
      "SELECT app_id FROM registration WHERE registration_id = ?", .blob(one.registrationID.stored)
    ) { $0.app(0) == app ? .known : .foreign }
  }

  /// The numbers of tags, made where there are none; nil if the app has too many. `known` holds those that were asked for
  /// before in this transaction.
  private func tagNumbers(
    _ names: [String], _ app: AppID, _ known: inout [String: UInt32]
  ) throws(StorageError) -> [UInt32]? {
    var numbers: [UInt32] = []
    for name in names {
      if let number = known[name] {
        numbers.append(number)
        continue
      }
      guard let number = try tagNumbers(app: app, names: [name], create: true).first ?? nil else {
        return nil
      }
      known[name] = number
      numbers.append(number)
    }
    return numbers
  }

  /// Why a registration cannot be added if it is new.
  private func obstacle(
    to one: ImportedRegistration, _ app: AppID
  ) throws(StorageError) -> ImportOutcome? {
    if !one.token.isEmpty {
      // Left to itself SQLite goes through all registrations of the app: it knows nothing of how many there are.
      let holder = try database.first(
        """
        SELECT registration_id FROM registration INDEXED BY registration_apns_token
        WHERE app_id = ? AND apns_token = ?
        """, .app(app), .blob(one.token)
      ) { RegistrationID(stored: $0.blob(0)) }
      if let holder { return .tokenTaken(by: holder) }
    }
    guard let alias = one.alias else { return nil }
    let holders = try database.first(
      "SELECT count(*) FROM registration WHERE app_id = ? AND alias = ?", .app(app), .text(alias)
    ) { $0.integer(0) }
    return holders ?? 0 < Self.devicesPerAlias ? nil : .aliasFull
  }

  private func insert(
    _ one: ImportedRegistration, tags: [UInt32], _ app: AppID, _ number: RegistrationNumber,
    _ adoption: Adoption, _ now: Timestamp
  ) throws(StorageError) {
    var times = TagTimes(tags: [], [], lost: [])
    times.change(added: tags, removed: [], at: now)
    // The secret is one that nobody has. A token that was told at an unknown time is older than any word of Apple's.
    try database.run(
      """
      INSERT INTO registration (app_id, number, registration_id, secret_hash, platform, fingerprint, alias, tags,
        apns_environment, apns_token, mobile, created_at, last_seen_at, adoption, alias_at, tag_times,
        token_since)
      VALUES (?1, ?2, ?3, ?4, ?5, x'', ?6, ?7, ?8, ?9, ?10, ?11, 0, ?12, ?11, ?13, ?11)
      ON CONFLICT (registration_id) DO NOTHING
      """, .app(app), .number(number), .blob(one.registrationID.stored), .blob(SystemRandom.bytes(16)),
      .integer(one.platform.rawValue), .optional(one.alias), .optional(TagList.encode(tags)),
      .integer(one.token.isEmpty ? 0 : one.environment.rawValue),
      one.token.isEmpty ? .null : .blob(one.token), .optional(one.mobile), .time(now),
      .integer(adoption.rawValue), .optional(times.times(of: Set(tags).sorted())))
  }

  /// The number of a new registration; nil if the app is unknown, deleted, or has used up its numbers.
  func nextNumber(_ app: AppID) throws(StorageError) -> RegistrationNumber? {
    try database.first(
      """
      UPDATE app SET next_number = next_number + 1
      WHERE id = ? AND next_number < 4294967295 AND deleted_at IS NULL RETURNING next_number - 1
      """, .app(app)
    ) { $0.number(0) }
  }

  // MARK: Adoption

  /// Gives an imported registration to the device that comes for it: number, ID, alias and tags stay, the secret is new,
  /// and whatever the device says of itself replaces what was imported. Nil if none is meant for it.
  func adopt(app: AppID, _ new: NewRegistration, at now: Timestamp) throws(StorageError)
    -> RegistrationNumber?
  {
    guard let number = try adoptable(app, new) else { return nil }
    try database.run(
      """
      UPDATE registration SET secret_hash = ?3, fingerprint = ?4, app_version = ?5, last_seen_at = ?6, adoption = 0,
        apns_environment = CASE WHEN ?7 IS NULL THEN apns_environment ELSE ?8 END,
        apns_token_at = CASE WHEN ?7 IS NULL THEN apns_token_at ELSE ?6 END,
        token_since = CASE WHEN ?7 IS NULL OR apns_token IS ?7 THEN token_since ELSE ?6 END,
        token_end = CASE WHEN ?7 IS NULL THEN token_end ELSE 0 END,
        apns_token = coalesce(?7, apns_token)
      WHERE app_id = ?1 AND number = ?2
      """, .app(app), .number(number), .blob(new.secretHash), .blob(new.fingerprint), .text(new.appVersion),
      .time(now), new.token.isEmpty ? .null : .blob(new.token), .integer(new.environment.rawValue))
    return number
  }

  private func adoptable(_ app: AppID, _ new: NewRegistration) throws(StorageError) -> RegistrationNumber? {
    if let imported = new.imported {
      let named = try database.first(
        """
        SELECT number FROM registration
        WHERE registration_id = ? AND app_id = ? AND platform = ? AND adoption = 2
        """, .blob(imported.stored), .app(app), .integer(new.platform.rawValue)
      ) { $0.number(0) }
      if let named { return named }
    }
    guard !new.token.isEmpty else { return nil }
    // The index has to be named, as above: every device that registers with a token comes here.
    return try database.first(
      """
      SELECT number FROM registration INDEXED BY registration_apns_token
      WHERE app_id = ? AND apns_token = ? AND platform = ? AND adoption > 0
      """, .app(app), .blob(new.token), .integer(new.platform.rawValue)
    ) { $0.number(0) }
  }
}

extension ReadTransaction {
  /// The latest import, 0 if there was none.
  public func lastImportBatch() throws(StorageError) -> Int64 {
    try database.first("SELECT coalesce(max(id), 0) FROM import_batch") { $0.integer(0) } ?? 0
  }

  /// The first import after one, nil if there is none.
  public func importBatch(after id: Int64) throws(StorageError) -> ImportBatch? {
    try database.first(
      "SELECT id, app_id, first, count FROM import_batch WHERE id > ? ORDER BY id LIMIT 1", .integer(id)
    ) { ImportBatch(id: $0.integer(0), app: $0.app(1), first: $0.number(2), count: Int($0.integer(3))) }
  }

  /// What is left of an import.
  public func deliveryRows(_ batch: ImportBatch) throws(StorageError) -> [DeliveryRow] {
    try database.all(
      """
      SELECT number, registration_id, secret_hash, platform, alias, tags, last_seen_at, apns_environment,
        last_end
      FROM registration WHERE app_id = ? AND number >= ? AND number - ? < ? ORDER BY number
      """, .app(batch.app), .number(batch.first), .number(batch.first), .integer(batch.count),
      map: Self.delivery)
  }

  /// One registration as deliveries need it.
  public func deliveryRow(app: AppID, number: RegistrationNumber) throws(StorageError) -> DeliveryRow? {
    try database.first(
      """
      SELECT number, registration_id, secret_hash, platform, alias, tags, last_seen_at, apns_environment,
        last_end
      FROM registration WHERE app_id = ? AND number = ?
      """, .app(app), .number(number), map: Self.delivery)
  }
}
