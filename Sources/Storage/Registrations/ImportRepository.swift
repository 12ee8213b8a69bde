import BorealisBase
import Model

/// Registrations that come from other platforms.
package struct ImportRepository<Access>: Repository {
  let database: Database
}

extension ImportRepository {
  /// The latest import, 0 if there was none.
  package func last() throws(StorageError) -> Int64 {
    try database.first("SELECT coalesce(max(id), 0) FROM import_batch") { $0.integer() } ?? 0
  }

  /// The first import after one, nil if there is none.
  package func next(after id: Int64, in rows: AppRows) throws(StorageError) -> ImportBatch? {
    try database.first(
      """
      SELECT id, app_id, first, count, removed FROM import_batch
      WHERE id > ? AND {own import_batch.app_id} ORDER BY id LIMIT 1
      """, in: rows, .integer(id)
    ) {
      ImportBatch(
        id: $0.integer("id"), app: $0.app("app_id"), first: $0.number("first"), count: $0.count("count"),
        removed: TagList.decode($0, "removed"))
    }
  }

  /// Whether there is an import into an app after one.
  package func hasNext(after id: Int64, into app: AppID) throws(StorageError) -> Bool {
    try database.first(
      "SELECT 1 FROM import_batch WHERE id > ? AND app_id = ? LIMIT 1", .integer(id), .app(app)
    ) { _ in true } ?? false
  }
}

extension ImportRepository {
  /// The number that the next registration of an app gets; nil for an unknown or deleted app.
  package func firstNumber(app: AppID) throws(StorageError) -> RegistrationNumber? {
    try database.first("SELECT next_number FROM app WHERE id = ? AND deleted_at IS NULL", .app(app)) {
      $0.number()
    }
  }

  /// The registration of an app with an ID, nil if there is none.
  package func find(_ id: RegistrationID, app: AppID) throws(StorageError) -> ImportedBefore? {
    try database.first(
      Self.columns, "WHERE app_id = ? AND registration_id = ?", .app(app), .blob(id.stored), map: Self.known)
  }

  /// The registration of an app with a number, nil if there is none.
  package func find(_ number: RegistrationNumber, app: AppID) throws(StorageError) -> ImportedBefore? {
    try database.first(
      Self.columns, "WHERE app_id = ? AND number = ?", .app(app), .number(number), map: Self.known)
  }

  /// The registration of the only device of an app that named an ID by a fingerprint, and has logged in; nil
  /// if there is none, or if there are several.
  package func device(
    naming fingerprint: [UInt8], on platform: Platform, app: AppID
  ) throws(StorageError) -> ImportedBefore? {
    let found = try database.all(
      Self.columns,
      """
      {sqlite INDEXED BY registration_fingerprint}
      WHERE app_id = ? AND fingerprint = ? AND fingerprint <> {bytes} AND platform = ? AND adoption = 0 LIMIT 2
      """, .app(app), .blob(fingerprint), .integer(platform.rawValue), map: Self.known)
    return found.count == 1 ? found.first : nil
  }

  /// What `known` reads.
  private static var columns: StaticString {
    "SELECT number, registration_id, platform, alias, tags, mobile, adoption FROM registration"
  }

  private static func known(_ row: Row) -> ImportedBefore {
    ImportedBefore(
      number: row.number("number"), registrationID: RegistrationID(stored: row.blob("registration_id")),
      platform: Platform(rawValue: row.integer("platform", as: UInt8.self)) ?? .android,
      alias: row.optionalText("alias"), tags: TagList.decode(row, "tags"), mobile: row.optionalText("mobile"),
      adoption: Adoption(rawValue: row.integer("adoption", as: UInt8.self)))
  }

  /// The registration of an app with a token, nil if there is none.
  package func holder(of token: PushToken, app: AppID) throws(StorageError) -> RegistrationNumber? {
    try transaction.tokens.holders(of: token, app: app).first
  }
}

extension ImportRepository<Writing> {
  /// Notes that the numbers from `first` up to `next` are taken by imported registrations. A server that is
  /// running learns of them in steps of `step`.
  package func noteImported(
    app: AppID, from first: RegistrationNumber, to next: RegistrationNumber, step: Int
  ) throws(StorageError) {
    try database.run("UPDATE app SET next_number = ? WHERE id = ?", .number(next), .app(app))
    for start in stride(from: Int(first.rawValue), to: Int(next.rawValue), by: step) {
      try database.run(
        "INSERT INTO import_batch (app_id, first, count) VALUES (?, ?, ?)", .app(app), .integer(start),
        .integer(min(Int(next.rawValue) - start, step)))
    }
  }

  /// Notes what was changed of a registration that was there, for a server that is running: the tags that it
  /// has no more, of a deleted one all.
  package func noteChanged(
    _ number: RegistrationNumber, removed: [UInt32] = [], in app: AppID
  ) throws(StorageError) {
    try database.run(
      "INSERT INTO import_batch (app_id, first, count, removed) VALUES (?, ?, 1, ?)", .app(app),
      .number(number), .optional(TagList.encode(Set(removed))))
  }

  /// The same for registrations that lost no tags, of which a server learns in steps of `step`.
  package func noteChanged(
    _ numbers: [RegistrationNumber], in app: AppID, step: Int
  ) throws(StorageError) {
    var run: ClosedRange<UInt32>?
    for number in Set(numbers.map(\.rawValue)).sorted() {
      if let known = run, number == known.upperBound + 1, known.count < step {
        run = known.lowerBound...number
      } else {
        try note(run, in: app)
        run = number...number
      }
    }
    try note(run, in: app)
  }

  private func note(_ run: ClosedRange<UInt32>?, in app: AppID) throws(StorageError) {
    guard let run else { return }
    try database.run(
      "INSERT INTO import_batch (app_id, first, count) VALUES (?, ?, ?)", .app(app),
      .number(RegistrationNumber(run.lowerBound)), .integer(run.count))
  }

  /// Sets how the device of an imported registration adopts it, if it has not come.
  package func setAdoption(
    _ adoption: Adoption, of number: RegistrationNumber, app: AppID
  ) throws(StorageError) {
    try database.run(
      "UPDATE registration SET adoption = ? WHERE app_id = ? AND number = ? AND adoption IN (1, 2)",
      .integer(adoption.rawValue), .app(app), .number(number))
  }

  /// Deletes an imported registration whose device has come before as another, and has that remembered in its
  /// place.
  package func remove(
    _ one: ImportedBefore, app: AppID, replacedBy successor: RegistrationID, at now: Timestamp
  ) throws(StorageError) {
    try database.run(
      "DELETE FROM registration WHERE app_id = ? AND number = ?", .app(app), .number(one.number))
    let gone = ReplacedRegistration(
      number: one.number, registrationID: one.registrationID, platform: one.platform, tags: one.tags)
    try transaction.registrations.remember([gone], of: app, replacedBy: successor, at: now)
    try noteChanged(one.number, removed: one.tags, in: app)
  }

  /// Notes the ID that a registration had on its former platform, unless one is known.
  package func noteFormerID(_ former: String, of id: RegistrationID, app: AppID) throws(StorageError) {
    try database.run(
      "UPDATE registration SET imported_id = ? WHERE app_id = ? AND registration_id = ? AND imported_id IS NULL",
      .text(former), .app(app), .blob(id.stored))
  }

  /// Adds a registration of another platform under a number, without a device: until one comes for it, nobody
  /// can log in as it. There must be none with its ID.
  package func insert(
    _ one: ImportedRegistration, tags: [UInt32], app: AppID, number: RegistrationNumber,
    adoption: Adoption, at now: Timestamp
  ) throws(StorageError) {
    var times = TagTimes(tags: [], [], lost: [])
    times.change(added: tags, removed: [], at: now)
    database.tagWork.noteGiven(tags, in: app)
    let own = one.tokens.first(where: \.slot.isOfRegistration)
    // The secret is one that nobody has. A token that was told at an unknown time is older than any word of
    // its service.
    try database.run(
      """
      INSERT INTO registration (app_id, number, registration_id, secret_hash, platform, fingerprint, alias, tags,
        apns_environment, apns_token, mobile, created_at, last_seen_at, adoption, alias_at, tag_times,
        token_since, imported_id)
      VALUES (?1, ?2, ?3, ?4, ?5, {bytes}, ?6, ?7, ?8, ?9, ?10, ?11, 0, ?12, ?11, ?13, ?11, ?14)
      """, .app(app), .number(number), .blob(one.registrationID.stored), .blob(SystemRandom.bytes(16)),
      .integer(one.platform.rawValue), .optional(one.alias), .optional(TagList.encode(tags)),
      .integer(own?.service.rawValue ?? 0), own.map { .blob($0.bytes) } ?? .null,
      .optional(one.mobile), .time(now),
      .integer(adoption.rawValue), .optional(times.times(of: Set(tags).sorted())),
      .optional(one.formerID))
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
