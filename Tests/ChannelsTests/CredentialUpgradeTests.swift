import BorealisBase
import BorealisCrypto
import Core
import Model
import PushTesting
import Testing

@testable import Channels
@testable import Storage

/// Credentials of a database that has a table for APNs and one for other channels.
@Suite struct CredentialUpgradeTests {
  private static let huawei = ChannelID(rawValue: 5)
  private static let fcm = ChannelID(rawValue: 3)
  private static let migration = "credential"
  private let folder = TemporaryFolder()

  private func context(_ app: AppID, _ purpose: StaticString) -> SealingKeys.Context {
    SealingKeys.Context(app: app, purpose: purpose)
  }

  /// What the version before has written.
  private func fill(_ database: Database, _ keys: SealingKeys) throws {
    try database.run(script: "PRAGMA foreign_keys = OFF")
    try database.run(
      """
      INSERT INTO app (id, app_key, name, secret_hash, created_at, account_id)
      VALUES (1, '000000000000000000000001', 'a', ?, 1, 1), (2, '000000000000000000000002', 'b', ?, 1, 1)
      """, .blob([UInt8](repeating: 0, count: 32)), .blob([UInt8](repeating: 0, count: 32)))
    let apns = keys.seal(Array("pem".utf8), for: context(AppID(1), "apns credential"))
    for (id, key, state, newer) in [(3, "OLD", 1, 4), (4, "NEW", 0, nil)] as [(Int, String, Int, Int?)] {
      try database.run(
        """
        INSERT INTO apns_credential (id, app_id, kind, environment, topic, team_id, key_id, fingerprint, expires_at,
          created_at, state, reason, changed_at, replaced_by, sealed)
        VALUES (?, 1, 1, 2, 'com.example.app', 'TEAM', ?, ?, NULL, 10, ?, NULL, 11, ?, ?)
        """, .integer(id), .text(key), .blob([UInt8](repeating: 5, count: 32)), .integer(state),
        .optional(newer.map { Int64($0) }), .blob(apns))
    }
    try database.run("UPDATE sqlite_sequence SET seq = 9 WHERE name = 'apns_credential'")
    for (app, channel, id, reason) in [
      (1, Self.huawei, "aa", nil), (1, Self.fcm, "bb", "by zoe"), (2, Self.huawei, "cc", nil),
    ] as [(UInt32, ChannelID, String, String?)] {
      let sealed = keys.seal(
        [channel.rawValue] + Array(id.utf8), for: context(AppID(app), "channel credential"))
      try database.run(
        "INSERT INTO channel_credential VALUES (?, ?, ?, 'subject', 'name', 20, ?, 21, ?)", .integer(app),
        .integer(channel.rawValue), .text(id), .optional(reason), .blob(sealed))
    }
    try database.run(
      script: """
        INSERT INTO token_proof VALUES (1, 2, 2, '4', 1, x'', x''), (1, 5, 1, 'aa', 1, x'', x''), (2, 5, 1, 'old', 1, x'', x'')
        """)
  }

  @Test func `All are kept, can be opened, and have proven what they had`() async throws {
    let keys = try SealingKeys(text: SealingKeys.makeLine())
    let path = folder.database
    do {
      let database = try Database(path: path, mode: .create)
      defer { database.close() }
      let before = embeddedMigrations.prefix { $0.name != Self.migration }
      #expect(before.count < embeddedMigrations.count)
      try Migrator.migrate(database, to: Array(before), at: Timestamp(milliseconds: 0))
      try fill(database, keys)
      try Migrator.migrate(database, to: embeddedMigrations, at: Timestamp(milliseconds: 0))
      #expect(try database.first("PRAGMA foreign_key_check") { _ in true } == nil)
      let proofs = try database.all(
        "SELECT app_id, channel, credential FROM token_proof ORDER BY app_id, channel"
      ) { "\($0.integer("app_id")) \($0.integer("channel")) \($0.text("credential"))" }
      // One of a credential that is no longer the app's stays that.
      #expect(proofs == ["1 2 4", "1 5 11", "2 5 old"])
    }
    let store = try Store.open(.sqlite(path: path), readers: 1, log: .silent)
    defer { store.close() }
    let (rows, sealed, next) = try await store.change { transaction throws(StorageError) in
      let rows = try transaction.credentials.all(in: .all)
      var sealed: [CredentialID: [UInt8]] = [:]
      for row in rows { sealed[row.id] = try transaction.credentials.sealed(app: row.app, id: row.id) }
      let new = NewCredential(channel: Self.fcm, subject: "s", sealed: [])
      return (
        rows, sealed, try transaction.credentials.add(app: AppID(2), new, at: Timestamp(milliseconds: 0))
      )
    }
    #expect(rows.map(\.id.rawValue) == [3, 4, 10, 11, 12] && next == CredentialID(13))
    #expect(rows.map(\.channel) == [.apns, .apns, Self.fcm, Self.huawei, Self.huawei])
    #expect(rows[0].state == .retiring && rows[0].replacedBy == rows[1].id && rows[1].state == .active)
    #expect(rows[1].environment == .sandbox && rows[1].topic == "com.example.app" && rows[1].keyID == "NEW")
    let paused = try #require(rows.first { $0.channel == Self.fcm })
    #expect(paused.state == .paused("by zoe") && paused.subject == "subject" && paused.name == "name")
    for row in rows {
      let secret = try CredentialSecret.open(try #require(sealed[row.id]), of: row, with: keys)
      let text = String(decoding: secret, as: UTF8.self)
      #expect(row.channel == .apns ? text == "pem" : ["aa", "bb", "cc"].contains(text))
      // Sealed anew it can be opened as well.
      let again = try CredentialSecret.reseal(try #require(sealed[row.id]), of: row, with: keys)
      #expect(try CredentialSecret.open(again, of: row, with: keys) == secret)
    }
  }
}
