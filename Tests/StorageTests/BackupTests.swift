import BorealisBase
import Glibc
import PushTesting
import Testing

@testable import Storage

@Suite(.onSQLite) struct BackupTests {
  let folder = TemporaryFolder()

  /// A copy made while writes go on is sound, holds a prefix of the commits, is one file of its owner's, and
  /// serves.
  @Test func backupWhileServing() async throws {
    let store = try Store.testing(folder)
    let app = try await store.addApp()
    let before = 300 as UInt64
    for number in 1...before {
      store.write { transaction throws(StorageError) in
        try transaction.pushes.insert(
          .single(number, app: app, target: 0, content: Array(repeating: 3, count: 4000)))
      } completion: { _ in
      }
    }
    _ = try await store.change { _ in 0 }
    for number in (before + 1)...(before + 300) {
      store.write { transaction throws(StorageError) in
        try transaction.pushes.insert(.single(number, app: app, target: 0))
      } completion: { _ in
      }
    }
    let target = folder.path + "/copy.sqlite"
    try store.backup(to: target)
    store.close()
    #expect(folder.names.filter { $0.hasPrefix("copy") } == ["copy.sqlite"])
    var info = stat()
    #expect(stat(target, &info) == 0 && info.st_mode & 0o777 == 0o600)
    #expect(
      try Store.check(.sqlite(path: target))
        == Store.CheckReport(schemaVersion: embeddedMigrations.count, comparesTables: true, problems: []))
    let copy = try Store.open(path: target, log: .silent)
    let contents = try await copy.look { transaction throws(StorageError) in
      try transaction.pushes.contents(of: (1...600).map { MessageID($0) })
    }
    copy.close()
    let held = contents.prefix { $0 != nil }.count
    #expect(held >= 300 && contents.dropFirst(held).allSatisfy { $0 == nil })
  }

  /// An existing file is never replaced, and a missing source makes no file.
  @Test func refusals() throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let target = folder.path + "/copy.sqlite"
    try store.backup(to: target)
    #expect(throws: StorageError.self) { try store.backup(to: target) }
    #expect(throws: StorageError.self) { try store.backup(to: folder.database) }
    #expect(throws: StorageError.self) {
      try Store.backup(from: folder.path + "/missing", to: folder.path + "/other")
    }
    #expect(throws: StorageError.self) { try store.backup(to: folder.path + "/missing/other") }
    #expect(access(folder.path + "/other", F_OK) != 0 && access(folder.path + "/missing", F_OK) != 0)
  }

  /// What a backup leaves that is killed has a name of its own; these are of an older version, which had one
  /// for all.
  @Test func `A backup that was interrupted keeps none from being made`() throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let target = folder.path + "/copy.sqlite"
    for end in [".partial", ".partial-journal"] { try TemporaryFolder.write("x", to: target + end) }
    try store.backup(to: target)
    #expect(try Store.check(.sqlite(path: target)).problems == [])
    #expect(folder.names.count { $0.hasPrefix("copy") } == 3)
  }

  @Test func `A backup says what keeps it from being made`() throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let error = #expect(throws: StorageError.self) { try store.backup(to: folder.path + "/missing/other") }
    #expect(error?.message.hasSuffix(".partial: No such file or directory") == true)
  }

  /// Orphans and changed migrations are named, each in its own sentence.
  @Test func checkFindsOrphans() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp(registrations: 1)
    #expect(try Store.check(.sqlite(path: folder.database)).problems == [])
    try await store.change { transaction throws(StorageError) in
      try transaction.pushes.insert(.single(1, app: AppID(55), target: 0))
      try transaction.deliveries.insertPending(id: MessageID(2), app: app, target: nil, expiresAt: .start)
      try transaction.database.run(
        script: "INSERT INTO delivered VALUES (3, x'00'); UPDATE app SET next_number = 0")
    }
    #expect(try Store.check(.sqlite(path: folder.database)).problems.count == 5)
    try await store.change { transaction throws(StorageError) in
      try transaction.database.run(script: "UPDATE schema_migration SET sha256 = 'other'")
    }
    let report = try Store.check(.sqlite(path: folder.database))
    #expect(report.problems.count == 1 && report.problems.first?.contains("migration 1") == true)
  }

  @Test func `A newer schema is no damage, and the tables of an older one are not compared`() throws {
    do {
      let database = try Database(path: folder.database, mode: .create)
      try Migrator.migrate(database, to: Array(embeddedMigrations.prefix(12)), at: .start)
    }
    #expect(
      try Store.check(.sqlite(path: folder.database))
        == Store.CheckReport(schemaVersion: 12, comparesTables: false, problems: []))
    do {
      let database = try Database(path: folder.database, mode: .create)
      try database.run(script: "PRAGMA user_version = 9999")
    }
    let error = #expect(throws: StorageError.self) { try Store.check(.sqlite(path: folder.database)) }
    #expect(error?.kind == .newerThanProgram(found: 9999, known: embeddedMigrations.count))
  }

  /// The row is there, and so is every page of the index; only what the index says of the row is wrong.
  @Test func `A damaged index is found, and not copied`() async throws {
    let store = try Store.testing(folder)
    _ = try await store.addApp()
    let page = try await store.look { transaction throws(StorageError) in
      try transaction.database.first(
        "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_app_1'"
      ) { $0.integer() }
    }
    store.close()
    // The first entry of a page is at its end, and ends with the key of the app.
    let last = try off_t(#require(page)) * 4096 - 1
    let file = open(folder.database, O_RDWR | O_CLOEXEC)
    var digit: UInt8 = 0
    #expect(pread(file, &digit, 1, last) == 1)
    digit ^= 1
    #expect(pwrite(file, &digit, 1, last) == 1)
    close(file)
    let report = try Store.check(.sqlite(path: folder.database))
    #expect(report.problems == ["row 1 missing from index sqlite_autoindex_app_1"])
    #expect(!report.comparesTables)
    let error = #expect(throws: StorageError.self) {
      try Store.backup(from: folder.database, to: folder.path + "/copy")
    }
    #expect(error?.kind == .corrupt && error?.message.contains("sqlite_autoindex_app_1") == true)
    #expect(!folder.names.contains { $0.hasPrefix("copy") })
  }

  /// A damaged page is found.
  @Test func checkFindsDamage() async throws {
    let store = try Store.testing(folder)
    let app = try await store.addApp()
    try await store.change { transaction throws(StorageError) in
      for number in 1...2000 as ClosedRange<UInt64> {
        try transaction.pushes.insert(
          .single(number, app: app, target: 0, content: Array(repeating: 1, count: 100)))
      }
    }
    store.close()
    let file = try #require(fopen(folder.database, "r+"))
    for page in 15..<30 {
      fseek(file, page * 4096, SEEK_SET)
      fputs(String(repeating: "damage", count: 300), file)
    }
    fclose(file)
    #expect(try !Store.check(.sqlite(path: folder.database)).problems.isEmpty)
  }
}
