import BorealisBase
import PushTesting
import Testing

@testable import Storage

/// All that one kind of database holds goes into the other, and back.
@Suite(.serialized) struct PostgresCopyTests {
  private let cluster: PostgresCluster
  private let folder = TemporaryFolder()

  init() throws { cluster = try .shared() }

  /// Lengths of what has one.
  private static let lengths: [String: Int] = [
    "account.dev_key": 24, "account.secret_hash": 32, "app.secret_hash": 32, "registration.secret_hash": 16,
    "registration.registration_id": 10, "gone_registration.registration_id": 10, "app_group.secret_hash": 32,
    "credential.fingerprint": 32, "invitation.token_hash": 32, "console_session.token_hash": 32,
    "password_reset.token_hash": 32, "browser_key.key": 32, "recovery_code.code_hash": 32,
    "content_sealing_key.key_id": 8, "api_key.secret_hash": 32,
  ]

  /// Values of the two rows where not any will do.
  private static let special: [String: (SQLValue, SQLValue)] = [
    "account.plan": (.text("unlimited"), .text("free")), "app.plan": (.text("paid"), .text("free")),
    "credential.state": (.integer(2), .integer(0)), "person.language": (.text("en"), .text("zh")),
    "callback_setting.format": (.integer(1), .integer(0)), "group_push_member.code": (.null, .integer(7)),
    "person.incident_mail": (.integer(1), .integer(0)), "incident.is_settled": (.integer(1), .integer(0)),
  ]

  private static func value(
    _ row: Int, _ table: String, _ column: (name: String, kind: TableShape.Kind), isNeeded: Bool
  ) -> SQLValue {
    let name = "\(table).\(column.name)"
    if let (first, second) = special[name] { return row == 1 ? first : second }
    if row == 2, !isNeeded { return .null }
    switch (column.kind, lengths[name]) {
    case (.integer, _): return .integer(row)
    case (.text, let length?): return .text(String(repeating: "\(row)", count: length))
    case (.text, nil): return .text("好 \(row)")
    case (.bytes, let length): return .blob([UInt8](repeating: UInt8(row), count: length ?? 300 * (row - 1)))
    }
  }

  /// A file with two rows in each table, the second with NULL wherever that may be, and with what is large or
  /// odd.
  private func makeFile() throws -> String {
    let path = folder.path + "/borealis.sqlite"
    try Store.make(path: path)
    let file = try Database(path: path, mode: .create)
    defer { file.close() }
    try file.run(script: "PRAGMA foreign_keys = OFF; DELETE FROM account")
    for shape in try TableShape.all(in: file) {
      let needed = Set(
        try file.statement("SELECT name FROM pragma_table_xinfo(?) WHERE \"notnull\" OR pk").all(
          [.text(shape.name)]
        ) { $0.text() })
      let insert = try file.prepare(shape.insertion)
      for row in 1...(shape.name == "browser_key" ? 1 : 2) {
        try insert.run(
          shape.columns.map { Self.value(row, shape.name, $0, isNeeded: needed.contains($0.name)) })
      }
    }
    let values: [(Int64, [UInt8])] =
      (3...700).map { ($0, [UInt8($0 & 0xff)]) } + [
        (.min, []), (-1, [0]), (.max, [UInt8](repeating: 0xa7, count: 3 << 20)),
      ]
    for (id, targets) in values {
      try file.run("INSERT INTO delivered (msg_id, targets) VALUES (?, ?)", .integer(id), .blob(targets))
    }
    try file.run(
      "UPDATE mail SET subject = ?, body = ''", .text(String(repeating: "ä\\\t\n\"'", count: 1000)))
    try file.run(script: "UPDATE sqlite_sequence SET seq = 1000 WHERE name = 'audit'")
    #expect(try file.first("PRAGMA foreign_key_check") { $0.text() } == nil)
    return path
  }

  private func copy(
    _ source: DatabaseLocation, to target: DatabaseLocation
  ) throws(StorageError) -> [DatabaseCopy.Table] {
    var tables: [DatabaseCopy.Table] = []
    try DatabaseCopy.run(from: source, to: target, log: .silent) { tables.append($0) }
    return tables
  }

  @Test func `Everything goes there and back`() throws {
    let file = DatabaseLocation.sqlite(path: try makeFile())
    let name = try cluster.makeEmpty()
    let base = DatabaseLocation.postgres(url: cluster.url(of: name))
    let there = try copy(file, to: base)
    #expect(there.count >= 60)
    for table in there {
      let count = try cluster.sql("SELECT count(*) FROM \"\(table.name)\"", in: name)
      #expect(count == [["\(table.rows)"]])
      let expected =
        table.name == "delivered" ? 703 : table.name == "plan" ? 5 : table.name == "browser_key" ? 1 : 2
      #expect(table.rows == expected, "\(table.name)")
    }
    // It is no longer empty.
    let again = #expect(throws: StorageError.self) { try copy(file, to: base) }
    #expect(again?.kind == .constraint)
    let back = DatabaseLocation.sqlite(path: folder.path + "/back.sqlite")
    #expect(try copy(base, to: back) == there)
    let taken = #expect(throws: StorageError.self) { try copy(base, to: back) }
    #expect(taken?.kind == .constraint)
    // Numbers go on behind the highest that was ever given.
    let audit = "INSERT INTO audit (at, who, action, target, address) VALUES (1, '', '', '', '') RETURNING id"
    #expect(try cluster.sql(audit, in: name) == [["1001"]])
    let mail =
      "INSERT INTO mail (recipient, subject, body, created_at, next_at) VALUES ('', '', '', 1, 1) RETURNING id"
    #expect(try cluster.sql(mail, in: name) == [["3"]])
    let copied = try Database(path: folder.path + "/back.sqlite", mode: .create)
    #expect(try copied.prepare(audit).first([]) { $0.integer() } == 1001)
    copied.close()
    for location in [base, back] {
      try Store.open(location, readers: 1, log: .silent).close()
    }
  }

  @Test func `What fails leaves nothing`() throws {
    let path = try makeFile()
    let file = try Database(path: path, mode: .create)
    // No statement of ours stores a NUL, but an older version's may have.
    try file.run("UPDATE test_device SET name = CAST(x'610062' AS TEXT) WHERE app_id = 2")
    let name = try cluster.makeEmpty()
    let base = DatabaseLocation.postgres(url: cluster.url(of: name))
    let failure = #expect(throws: StorageError.self) { try copy(.sqlite(path: path), to: base) }
    #expect(failure?.message.contains("test_device") == true, "\(failure?.message ?? "")")
    #expect(try cluster.sql("SELECT count(*) FROM app", in: name) == [["0"]])
    #expect(try cluster.sql("SELECT count(*) FROM plan", in: name) == [["3"]])
    try file.run("UPDATE test_device SET name = 'ab' WHERE app_id = 2")
    file.close()
    #expect(try copy(.sqlite(path: path), to: base).count >= 60)
    // Back: the name of a file that cannot be made.
    #expect(throws: StorageError.self) { try copy(base, to: .sqlite(path: folder.path + "/none/x.sqlite")) }
    #expect(TemporaryFolder.files(folder.path).allSatisfy { !$0.contains("x.sqlite") })
  }

  @Test func `Only an empty database is filled`() throws {
    let path = try makeFile()
    let name = try cluster.makeEmpty()
    try cluster.sql("CREATE TABLE other (a int)", in: name)
    let failure = #expect(throws: StorageError.self) {
      try copy(.sqlite(path: path), to: .postgres(url: cluster.url(of: name)))
    }
    #expect(failure?.kind == .constraint && failure?.message.contains("other") == true)
  }
}
