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
  public func next(after id: Int64, in rows: AppRows) throws(StorageError) -> ImportBatch? {
    try database.first(
      """
      SELECT id, app_id, first, count FROM import_batch
      WHERE id > ? /* own: AND own(import_batch.app_id) */ ORDER BY id LIMIT 1
      """, in: rows, .integer(id)
    ) {
      ImportBatch(
        id: $0.integer("id"), app: $0.app("app_id"), first: $0.number("first"), count: $0.count("count"))
    }
  }

  /// Whether there is an import into an app after one.
  public func hasNext(after id: Int64, into app: AppID) throws(StorageError) -> Bool {
    try database.first(
      "SELECT 1 FROM import_batch WHERE id > ? AND app_id = ? LIMIT 1", .integer(id), .app(app)
    ) { _ in true } ?? false
  }
}

extension ImportRepository<Writing> {
  /// The number that the next registration of an app gets; nil for an unknown or deleted app.
  public func firstNumber(app: AppID) throws(StorageError) -> RegistrationNumber? {
    try database.first("SELECT next_number FROM app WHERE id = ? AND deleted_at IS NULL", .app(app)) {
      $0.number()
    }
  }

  /// Notes that the numbers from `first` up to `next` are taken by imported registrations. A server that is running learns of them
  /// in steps of `step`.
  public func noteTaken(
    app: AppID, from first: RegistrationNumber, to next: RegistrationNumber, step: Int
  ) throws(StorageError) {
    try database.run("UPDATE app SET next_number = ? WHERE id = ?", .number(next), .app(app))
    for start in stride(from: Int(first.rawValue), to: Int(next.rawValue), by: step) {
      try database.run(
        "INSERT INTO import_batch (app_id, first, count) VALUES (?, ?, ?)", .app(app), .integer(start),
        .integer(min(Int(next.rawValue) - start, step)))
    }
  }

  /// The app of the registration with an ID, nil if there is none.
  public func owner(of id: RegistrationID) throws(StorageError) -> AppID? {
    try database.first("SELECT app_id FROM registration WHERE registration_id = ?", .blob(id.stored)) {
      $0.app()
    }
  }

  /// The registration of an app with a token, nil if there is none.
  public func holder(of token: PushToken, app: AppID) throws(StorageError) -> RegistrationID? {
    guard let number = try transaction.tokens.holders(of: token, app: app).first else { return nil }
    return try transaction.registrations.find(app: app, number: number)?.registrationID
  }

  /// Adds a registration of another platform under a number, without a device: until one comes for it, nobody can log in
  /// as it. There must be none with its ID.
  public func insert(
    _ one: ImportedRegistration, tags: [UInt32], app: AppID, number: RegistrationNumber,
    adoption: Adoption, at now: Timestamp
  ) throws(StorageError) {
    var times = TagTimes(tags: [], [], lost: [])
    times.change(added: tags, removed: [], at: now)
    database.tagWork.noteGiven(tags, in: app)
    let own = one.tokens.first(where: \.slot.isOfRegistration)
    // The secret is one that nobody has. A token that was told at an unknown time is older than any word of its service.
    try database.run(
      """
      INSERT INTO registration (app_id, number, registration_id, secret_hash, platform, fingerprint, alias, tags,
        apns_environment, apns_token, mobile, created_at, last_seen_at, adoption, alias_at, tag_times,
        token_since)
      VALUES (?1, ?2, ?3, ?4, ?5, x'', ?6, ?7, ?8, ?9, ?10, ?11, 0, ?12, ?11, ?13, ?11)
      """, .app(app), .number(number), .blob(one.registrationID.stored), .blob(SystemRandom.bytes(16)),
      .integer(one.platform.rawValue), .optional(one.alias), .optional(TagList.encode(tags)),
      .integer(own?.service.rawValue ?? 0), own.map { .blob($0.bytes) } ?? .null,
      .optional(one.mobile), .time(now),
      .integer(adoption.rawValue), .optional(times.times(of: Set(tags).sorted())))
    for token in one.tokens where !token.slot.isOfRegistration {
      try database.run(
        """
        INSERT INTO channel_token (app_id, number, channel, kind, name, service, token, told_at, since)
        VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?)
        """, .app(app), .number(number), .integer(token.slot.channel.rawValue), .integer(token.slot.kind),
        .text(token.slot.name), .integer(token.service.rawValue), .blob(token.bytes), .time(now))
    }
  }
}
