import BorealisBase
import PushTesting
import Testing

@testable import Storage

/// What a role, or a database, has set otherwise for everybody.
@Suite struct PostgresSettingsTests {
  private static let hostile = [
    ("client_min_messages", "error"), ("client_encoding", "'LATIN1'"), ("synchronous_commit", "off"),
    ("default_transaction_isolation", "serializable"), ("default_transaction_deferrable", "on"),
    ("default_transaction_read_only", "on"), ("standard_conforming_strings", "off"),
    ("transform_null_equals", "on"), ("bytea_output", "escape"), ("datestyle", "'German'"),
    ("intervalstyle", "iso_8601"), ("timezone", "'Asia/Shanghai'"), ("statement_timeout", "'5s'"),
    ("lock_timeout", "'5s'"), ("idle_in_transaction_session_timeout", "'4s'"),
    ("idle_session_timeout", "'4s'"), ("session_replication_role", "replica"), ("array_nulls", "off"),
    ("search_path", "nowhere, public, pg_catalog"), ("row_security", "on"), ("tcp_user_timeout", "'1s'"),
  ]

  private let cluster: PostgresCluster
  private let name: String

  init() throws {
    cluster = try .shared()
    name = try cluster.make()
    let role = "hostile_\(name)"
    try cluster.sql("CREATE ROLE \(role) SUPERUSER LOGIN")
    for (setting, value) in Self.hostile {
      try cluster.sql("ALTER ROLE \(role) IN DATABASE \(name) SET \(setting) = \(value)")
    }
  }

  /// The database as its owner sees it, and as that role does.
  private var urls: [String] {
    let url = cluster.url(of: name)
    return [url, url.replacing("borealis@", with: "hostile_\(name)@")]
  }

  @Test(arguments: [PostgresRole.reader, .writer, .server, .node])
  func `A session is set to the same whatever its role is set to`(role: PostgresRole) throws {
    var seen: [[String: String]] = []
    for url in urls {
      let connection = try PostgresConnection(url: url, role: role, PostgresOptions())
      defer { connection.close() }
      var settings: [String: String] = [:]
      for (setting, _) in Self.hostile { settings[setting] = try connection.value("SHOW \(setting)") }
      seen.append(settings)
    }
    // Readers, and what a node says of itself, depend on no trigger and wait for no standby.
    let exempt = role.isFenced ? [] : ["session_replication_role", "tcp_user_timeout"]
    for (setting, _) in Self.hostile where !exempt.contains(setting) {
      if role == .reader, setting == "synchronous_commit" { continue }
      #expect(seen[0][setting] == seen[1][setting], "\(setting)")
    }
    #expect(seen[1]["search_path"] == "public, pg_temp")
  }

  @Test func `A push is stored and found whatever the role is set to`() async throws {
    let store = try Store.open(.postgres(url: urls[1]), readers: 1, log: .silent)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    try await store.change { transaction throws(StorageError) in
      try transaction.pushes.insert(.single(7, app: app, target: 0, content: [0, 92, 255]))
    }
    let content = try await store.look { transaction throws(StorageError) in
      try transaction.pushes.find(id: MessageID(7))?.content
    }
    #expect(content == [0, 92, 255])
  }

  @Test(arguments: [
    ("off", true), ("local", true), ("remote_write", false), ("on", false), ("remote_apply", false),
  ])
  func `Commits wait for the disk and the standby`(commits: String, isChanged: Bool) {
    #expect((PostgresSettings.safeCommits(commits) != nil) == isChanged)
  }
}
