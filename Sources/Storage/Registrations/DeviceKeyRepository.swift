import BorealisBase
import Model

/// The public key of a registration.
package struct DeviceKeyRow: Sendable, Equatable {
  /// Whose it is.
  package let number: RegistrationNumber
  package let kind: DeviceKeyKind
  /// The point, then 16 bytes that go into every content's key.
  package let bytes: [UInt8]
  /// When the device reported it.
  package let reportedAt: Timestamp
}

/// Keys for contents that only devices read.
package struct DeviceKeyRepository<Access>: Repository {
  let database: Database
}

extension DeviceKeyRepository {
  /// The keys of registrations, in their order; those without a key are left out.
  package func find(app: AppID, of numbers: [RegistrationNumber]) throws(StorageError) -> [DeviceKeyRow] {
    var rows: [DeviceKeyRow] = []
    for number in numbers {
      let row = try database.first(
        "SELECT kind, key, told_at FROM device_key WHERE app_id = ? AND number = ?", .app(app),
        .number(number)
      ) { row in
        DeviceKeyKind(rawValue: row.integer("kind", as: UInt8.self)).map {
          DeviceKeyRow(number: number, kind: $0, bytes: row.blob("key"), reportedAt: row.time("told_at"))
        }
      }
      if case .some(.some(let row)) = row { rows.append(row) }
    }
    return rows
  }

  /// A key that an app server shares with a registration, enciphered for it; nil if there is none of that
  /// name.
  package func shared(
    app: AppID, with number: RegistrationNumber, _ id: ContentKeyID
  ) throws(StorageError) -> [UInt8]? {
    try database.first(
      "SELECT sealed FROM content_key WHERE app_id = ? AND number = ? AND key_id = ?", .app(app),
      .number(number), .integer(Int64(bitPattern: id.rawValue))
    ) { $0.blob("sealed") }
  }
}

extension DeviceKeyRepository<Writing> {
  /// Sets the key of a registration, empty for none; false if the app has no such registration.
  package func set(
    app: AppID, number: RegistrationNumber, kind: DeviceKeyKind, _ bytes: [UInt8], at now: Timestamp
  ) throws(StorageError) -> Bool {
    guard try transaction.registrations.contains(app: app, number) else { return false }
    guard !bytes.isEmpty else {
      try database.run(
        "DELETE FROM device_key WHERE app_id = ? AND number = ?", .app(app), .number(number))
      return true
    }
    try database.run(
      """
      INSERT INTO device_key (app_id, number, kind, key, told_at) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (app_id, number) DO UPDATE SET
        kind = excluded.kind, key = excluded.key, told_at = excluded.told_at
      """, .app(app), .number(number), .integer(kind.rawValue), .blob(bytes), .time(now))
    return true
  }

  /// Stores a key that is shared with a registration, which keeps the newest `limit` of them; false if the
  /// app has no such registration.
  package func share(
    app: AppID, with number: RegistrationNumber, _ id: ContentKeyID, sealed: [UInt8], limit: Int,
    at now: Timestamp
  ) throws(StorageError) -> Bool {
    guard try transaction.registrations.contains(app: app, number) else { return false }
    try database.run(
      """
      INSERT INTO content_key (app_id, number, key_id, sealed, published_at) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (app_id, number, key_id) DO UPDATE SET
        sealed = excluded.sealed, published_at = excluded.published_at
      """, .app(app), .number(number), .integer(Int64(bitPattern: id.rawValue)), .blob(sealed), .time(now))
    try database.run(
      """
      DELETE FROM content_key WHERE app_id = ?1 AND number = ?2 AND key_id IN (
        SELECT key_id FROM content_key WHERE app_id = ?1 AND number = ?2
        ORDER BY published_at DESC, key_id LIMIT 9223372036854775807 OFFSET ?3)
      """, .app(app), .number(number), .integer(limit))
    return true
  }

  /// Deletes some keys that were published before a time; returns how many.
  package func sweep(before: Timestamp, limit: Int, in rows: AppRows) throws(StorageError) -> Int {
    try database.run(
      """
      DELETE FROM content_key WHERE (app_id, number, key_id) IN (
        SELECT app_id, number, key_id FROM content_key
        WHERE published_at < ? AND {own content_key.app_id} ORDER BY published_at LIMIT ?)
      """, in: rows, .time(before), .integer(limit))
    return database.changes
  }
}
