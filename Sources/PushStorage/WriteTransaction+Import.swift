import PushBase

extension WriteTransaction {
  /// Adds registrations of other platforms to an app, without a device: until one comes for it, nobody can log in as one
  /// of them. What became of each, in order. A server that is running learns of them by `import_batch`.
  public func importRegistrations(
    app: AppID, _ imported: [ImportedRegistration], adoption: Adoption, at now: Timestamp
  ) throws(StorageError) -> [ImportOutcome] {
    var outcomes: [ImportOutcome] = []
    var first: RegistrationNumber?
    var count = 0
    for one in imported {
      if let obstacle = try obstacle(to: one, app) {
        outcomes.append(obstacle)
        continue
      }
      let tags = try tagNumbers(app: app, names: one.tags, create: true)
      guard !tags.contains(nil), tags.count <= 1000 else {
        outcomes.append(.tooManyTags)
        continue
      }
      guard let number = try nextNumber(app) else {
        outcomes.append(.numbersUsedUp)
        continue
      }
      try insert(one, tags: tags.compactMap { $0 }, app, number, adoption, now)
      outcomes.append(.added)
      if first == nil { first = number }
      count += 1
    }
    if let first {
      try database.run(
        "INSERT INTO import_batch (app_id, first, count) VALUES (?, ?, ?)", .app(app), .number(first),
        .integer(count))
    }
    return outcomes
  }

  /// Why a registration cannot be added, or need not.
  private func obstacle(
    to one: ImportedRegistration, _ app: AppID
  ) throws(StorageError) -> ImportOutcome? {
    let owner = try database.first(
      "SELECT app_id FROM registration WHERE registration_id = ?", .blob(one.registrationID.stored)
    ) { $0.app(0) }
    if let owner { return owner == app ? .known : .foreign }
    if !one.token.isEmpty {
      let holder = try database.first(
        "SELECT registration_id FROM registration WHERE app_id = ? AND apns_token = ?", .app(app),
        .blob(one.token)
      ) { RegistrationID(stored: $0.blob(0)) }
      if let holder { return .tokenTaken(by: holder) }
    }
    guard let alias = one.alias else { return nil }
    let holders = try database.first(
      "SELECT count(*) FROM registration WHERE app_id = ? AND alias = ?", .app(app), .text(alias)
    ) { $0.integer(0) }
    return holders ?? 0 < 10 ? nil : .aliasFull
  }

  private func insert(
    _ one: ImportedRegistration, tags: [UInt32], _ app: AppID, _ number: RegistrationNumber,
    _ adoption: Adoption, _ now: Timestamp
  ) throws(StorageError) {
    // The secret is one that nobody has. A token that was told at an unknown time is older than any word of Apple's.
    try database.run(
      """
      INSERT INTO registration (app_id, number, registration_id, secret_hash, platform, fingerprint, alias, tags,
        apns_environment, apns_token, mobile, created_at, last_seen_at, adoption)
      VALUES (?1, ?2, ?3, ?4, ?5, x'', ?6, ?7, ?8, ?9, ?10, ?11, 0, ?12)
      """, .app(app), .number(number), .blob(one.registrationID.stored), .blob(SystemRandom.bytes(16)),
      .integer(one.platform.rawValue), .optional(one.alias), .optional(TagList.encode(tags)),
      .integer(one.token.isEmpty ? 0 : one.environment.rawValue),
      one.token.isEmpty ? .null : .blob(one.token), .optional(one.mobile), .time(now),
      .integer(adoption.rawValue))
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
    return try database.first(
      "SELECT number FROM registration WHERE app_id = ? AND apns_token = ? AND platform = ? AND adoption > 0",
      .app(app), .blob(new.token), .integer(new.platform.rawValue)
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
      SELECT number, registration_id, secret_hash, platform, alias, tags, last_seen_at, apns_environment
      FROM registration WHERE app_id = ? AND number >= ? AND number - ? < ? ORDER BY number
      """, .app(batch.app), .number(batch.first), .number(batch.first), .integer(batch.count),
      map: Self.delivery)
  }

  /// One registration as deliveries need it.
  public func deliveryRow(app: AppID, number: RegistrationNumber) throws(StorageError) -> DeliveryRow? {
    try database.first(
      """
      SELECT number, registration_id, secret_hash, platform, alias, tags, last_seen_at, apns_environment
      FROM registration WHERE app_id = ? AND number = ?
      """, .app(app), .number(number), map: Self.delivery)
  }
}
