import PushBase
import PushDomain

/// Registrations that come from other platforms.
public struct ImportRepository<Access>: Repository {
  let database: Database
}

extension ImportRepository {
  /// The latest import, 0 if there was none.
  public func last() throws(StorageError) -> Int64 {
    try database.first("SELECT coalesce(max(id), 0) FROM import_batch") { $0.integer() } ?? 0
  }

  /// The first import after one, nil if there is none.
  public func next(after id: Int64) throws(StorageError) -> ImportBatch? {
    try database.first(
      "SELECT id, app_id, first, count FROM import_batch WHERE id > ? ORDER BY id LIMIT 1", .integer(id)
    ) {
      ImportBatch(
        id: $0.integer("id"), app: $0.app("app_id"), first: $0.number("first"), count: $0.count("count"))
    }
  }
}

extension ImportRepository<Writing> {
  /// Adds registrations of other platforms to an app, without a device: until one comes for it, nobody can log in as one
  /// of them. The outcome of each, in order. A server that is running learns of them by `import_batch`.
  public func add(
    app: AppID, _ imported: [ImportedRegistration], adoption: Adoption, at now: Timestamp
  ) throws(StorageError) -> [ImportOutcome] {
    let first = try database.first(
      "SELECT next_number FROM app WHERE id = ? AND deleted_at IS NULL", .app(app)
    ) { UInt32(truncatingIfNeeded: $0.integer()) }
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
    guard let tags = try tagNumbers(one.tags, app, &known), tags.count <= RegistrationLimits.tags else {
      return try owned(one, app) ?? .tooManyTags
    }
    try insert(one, tags: tags, app, number, adoption, now)
    return database.changes > 0 ? .added : try owned(one, app) ?? .numbersUsedUp
  }

  /// Whose a registration is that is there already; nil if it is not.
  private func owned(_ one: ImportedRegistration, _ app: AppID) throws(StorageError) -> ImportOutcome? {
    try database.first(
      "SELECT app_id FROM registration WHERE registration_id = ?", .blob(one.registrationID.stored)
    ) { $0.app() == app ? .known : .foreign }
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
      guard
        let number = try transaction.tags.numbers(
          app: app, names: [name], creatingUpTo: RegistrationLimits.tagsPerApp
        ).first ?? nil
      else {
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
    if let token = one.token {
      // Left to itself SQLite goes through all registrations of the app: it knows nothing of how many there are.
      let holder = try database.first(
        """
        SELECT registration_id FROM registration INDEXED BY registration_apns_token
        WHERE app_id = ? AND apns_token = ?
        """, .app(app), .blob(token.bytes)
      ) { RegistrationID(stored: $0.blob()) }
      if let holder { return .tokenTaken(by: holder) }
    }
    guard let alias = one.alias else { return nil }
    let holders = try database.first(
      "SELECT count(*) FROM registration WHERE app_id = ? AND alias = ?", .app(app), .text(alias)
    ) { $0.integer() }
    return holders ?? 0 < RegistrationLimits.devicesPerAlias ? nil : .aliasFull
  }

  private func insert(
    _ one: ImportedRegistration, tags: [UInt32], _ app: AppID, _ number: RegistrationNumber,
    _ adoption: Adoption, _ now: Timestamp
  ) throws(StorageError) {
    var times = TagTimes(tags: [], [], lost: [])
    times.change(added: tags, removed: [], at: now)
    // The secret is one that nobody has. A token that was told at an unknown time is older than any word of its service.
    try database.run(
      """
      INSERT INTO registration (app_id, number, registration_id, secret_hash, platform, fingerprint, alias, tags,
        apns_environment, apns_token, mobile, created_at, last_seen_at, adoption, alias_at, tag_times,
        token_since)
      VALUES (?1, ?2, ?3, ?4, ?5, x'', ?6, ?7, ?8, ?9, ?10, ?11, 0, ?12, ?11, ?13, ?11)
      ON CONFLICT (registration_id) DO NOTHING
      """, .app(app), .number(number), .blob(one.registrationID.stored), .blob(SystemRandom.bytes(16)),
      .integer(one.platform.rawValue), .optional(one.alias), .optional(TagList.encode(tags)),
      .integer(one.token?.service.rawValue ?? 0), one.token.map { .blob($0.bytes) } ?? .null,
      .optional(one.mobile), .time(now),
      .integer(adoption.rawValue), .optional(times.times(of: Set(tags).sorted())))
  }
}
