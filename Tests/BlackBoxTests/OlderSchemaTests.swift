import BorealisBase
import Glibc
import PushTesting
import Testing

@testable import Storage

/// Commands beside a database of an older version, whose server may have stopped for a moment only: they
/// leave it as it is.
@Suite struct OlderSchemaTests {
  private static let commands = [
    ["app", "list"], ["app", "create", "A"], ["account", "list"],
    ["plan", "set", "free", "--broadcasts", "1"], ["person", "list"], ["group", "list"], ["reseal"],
    ["app", "apns", "list", "0123456789abcdef01234567"],
  ]

  let folder = TemporaryFolder()
  private var data: String { folder.path + "/data" }

  private func expectRefusals(_ version: Int, environment: [String: String] = [:]) throws {
    for command in Self.commands {
      let refused = try RunningProgram.run(command + ["--data", data], environment: environment)
      #expect(refused.status == 2, "\(command)")
      #expect(refused.output.isEmpty && refused.errors.split(separator: "\n").count == 1)
      #expect(
        refused.errors.hasSuffix(
          ": an older version of Borealis wrote it (schema \(version); this version needs \(version + 1)). "
            + "Use that version, or upgrade it with \"borealis serve\" of this one\n"), "\(refused.errors)")
    }
  }

  @Test(.onSQLite) func `Only a server migrates a file`() throws {
    #expect(mkdir(data, 0o700) == 0)
    let location = Store.Location.sqlite(path: data + "/borealis.sqlite")
    let older = embeddedMigrations.count - 1
    do {
      let database = try Database(path: data + "/borealis.sqlite", mode: .create)
      try Migrator.migrate(database, to: Array(embeddedMigrations.prefix(older)), at: SystemTime().now())
    }
    try expectRefusals(older)
    #expect(try RunningProgram.run(["check", "--data", data]).status == 0)
    #expect(try Store.check(location).schemaVersion == older)
    _ = try TestServer(data: data)
    #expect(try Store.check(location).schemaVersion == older + 1)
    #expect(try RunningProgram.run(["app", "list", "--data", data]).status == 0)
  }

  @Test func `Only a server migrates a database of PostgreSQL`() throws {
    let cluster = try PostgresCluster.shared()
    let name = try cluster.makeEmpty()
    let environment = ["BOREALIS_STORE": cluster.url(of: name)]
    _ = try TestServer.makeApp(data: data, environment: environment)
    try cluster.sql(
      """
      DELETE FROM schema_migration WHERE version = (SELECT max(version) FROM schema_migration);
      ALTER TABLE node DROP COLUMN capabilities, DROP COLUMN reaches;
      DROP TABLE dead_node
      """, in: name)
    let older = embeddedPostgresMigrations.count - 1
    try expectRefusals(older, environment: environment)
    let copied = try RunningProgram.run([
      "copy", "--from", cluster.url(of: name), "--to", "sqlite:\(folder.path)/copy",
    ])
    #expect(copied.status == 2)
    #expect(copied.errors.contains("an older version of Borealis wrote it (schema \(older);"))
    let location = Store.Location.postgres(url: cluster.url(of: name))
    #expect(try Store.check(location).schemaVersion == older)
    _ = try TestServer(data: data, environment: environment)
    #expect(try Store.check(location).schemaVersion == older + 1)
    let listed = try RunningProgram.run(["app", "list", "--data", data], environment: environment)
    #expect(listed.documents.count == 1)
  }
}
