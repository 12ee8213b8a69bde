import Core
import PushTesting
import Testing

@testable import Storage

/// The list of what is stored (`StoredData`) against what the server and the libraries store.
@Suite struct PrivacyTests {
  private static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/"

  private static func text(_ path: String) -> String { TemporaryFolder.read(root + path) }

  private static let places = StoredData.sections.flatMap(\.data).flatMap(\.places)

  /// What a pattern captures in the first group, wherever it matches.
  private static func names(_ pattern: String, in text: String) throws -> Set<String> {
    Set(try text.matches(of: Regex(pattern)).compactMap { $0.output[1].substring.map(String.init) })
  }

  private static func expectSame(_ listed: Set<String>, _ stored: Set<String>, _ what: String) {
    #expect(!stored.isEmpty, "\(what): nothing found to compare with")
    for name in stored.subtracting(listed).sorted() {
      Issue.record("\(what): \(name) is stored, and has no entry in StoredData")
    }
    for name in listed.subtracting(stored).sorted() {
      Issue.record("\(what): \(name) has an entry in StoredData, and is not stored")
    }
  }

  @Test func `Every column of the database has one entry`() throws {
    let folder = TemporaryFolder()
    try Store.make(path: folder.database)
    let file = try Store.Location.sqlite(path: folder.database).openToRead()
    var stored = Set(
      try TableShape.all(in: file).flatMap { table in
        table.columns.map { "\(table.name).\($0.name)" }
      })
    for name in ["version", "name", "sha256", "applied_at"] { stored.insert("schema_migration.\(name)") }
    // The tables that only PostgreSQL has; a test of Storage compares all others with SQLite's.
    stored.formUnion(["incarnation", "connection", "slot"].map { "fence.\($0)" })
    stored.formUnion(["incarnation", "connection", "number"].map { "commit_mark.\($0)" })
    var listed: Set<String> = []
    for case .column(let table, let name) in Self.places {
      #expect(listed.insert("\(table).\(name)").inserted, "\(table).\(name) has two entries")
    }
    Self.expectSame(listed, stored, "columns")
  }

  @Test func `Every record of the state file has an entry`() throws {
    let listed = Set(
      Self.places.compactMap { if case .stateRecord(let kind) = $0 { "\(kind)" } else { nil } })
    let swift = Self.text("Sources/BorealisDevice/Storage/StateRecord.swift")
    let kinds = swift.split(separator: "private var kind: UInt8 {")[1].prefix { $0 != "}" }
    Self.expectSame(listed, try Self.names(#": (\d+)\n"#, in: String(kinds)), "records of the Swift library")
    let java = try Self.names(
      #"\n  static final int [A-Z_]+ = (\d+);"#,
      in: Self.text("Sources/android/core/src/main/java/io/borealis/push/StateRecord.java"))
    // The Java library has none of what only iOS stores.
    Self.expectSame(listed.subtracting(["7"]), java, "records of the Java library")
  }

  @Test func `Every file on a device has an entry`() throws {
    let listed = Set(Self.places.compactMap { if case .deviceFile(let name) = $0 { name } else { nil } })
    let swift = ["Borealis", "SharedFolder", "Device+Apple"].map {
      Self.text("Sources/BorealisDevice/Apple/\($0).swift")
    }.joined()
    let java = [
      "library/src/main/java/io/borealis/push/android/Borealis",
      "facade/src/main/java/io/borealis/push/facade/PushHost",
    ]
    .map { Self.text("Sources/android/\($0).java") }.joined()
    let stored = try Self.names(#"appendingPathComponent\("([a-zA-Z/.\\()]+\.[a-z]+)"\)"#, in: swift)
      .union(try Self.names(#"static let (?:un)?reported = "([a-z]+-)""#, in: swift))
      .union(try Self.names(#"getNoBackupFilesDir\(\), "([^"]+)""#, in: java))
    let known = Set(
      listed.map { name in
        switch name {
        case "Borealis/APPKEY.state": #"Borealis/\(appKey.text).state"#
        default:
          String(name.hasSuffix("-ID") ? name.dropFirst("Borealis/".count).dropLast(2) : name[...])
            .replacing("Borealis/", with: "")
        }
      })
    Self.expectSame(known, stored, "files on devices")
  }

  @Test func `Every key in a browser has an entry`() throws {
    let keys = Set(Self.places.compactMap { if case .browserKey(let name) = $0 { name } else { nil } })
    let library = ["device", "webpush", "worker", "store", "borealis", "encryption"].map {
      Self.text("Sources/web/\($0).js")
    }.joined()
    let console = Self.text("Sources/Console/Assets/console.js")
    let cookies = ["PageCall", "FlashMessage"].map { Self.text("Sources/Console/Web/\($0).swift") }.joined()
    var stored = try Self.names(#"Cookie = "([a-z_]+)""#, in: cookies)
    stored.formUnion(try Self.names(#"KEPT = "([a-z.]+)""#, in: console))
    stored.formUnion(try Self.names(#"const key = `([a-z.]+) "#, in: console))
    #expect(library.contains("name = `borealis.${appKey}`"))
    // `key`, `${key}.pushes` and so on.
    let names = try Self.names(#"this\.names = \{([^}]*(?:\}[^}]*)*?) \};"#, in: library).first ?? ""
    for name in names.split(separator: ", ") {
      let suffix = name.split(separator: "${key}").dropFirst().first?.prefix { $0 != "`" } ?? ""
      stored.insert("borealis.APPKEY" + suffix)
    }
    #expect(library.contains("name = `borealis.${appKey}`"))
    Self.expectSame(keys, stored, "keys in browsers")
    // Whoever stores in another way is to add it here.
    for call in ["localStorage.setItem(", "sessionStorage.setItem(", "document.cookie", "caches.open("] {
      #expect(
        library.split(separator: call).count - 1 == (call == "localStorage.setItem(" ? 1 : 0), "\(call)")
    }
    let tables = Set(Self.places.compactMap { if case .browserTable(let name) = $0 { name } else { nil } })
    let facts = try Self.names(#"setFact\("([a-z]+)""#, in: library).map { "facts: \($0)" }
    let made = try Self.names(#"createObjectStore\("([a-z]+)""#, in: library).subtracting(["facts"])
    Self.expectSame(tables, made.union(facts), "tables in browsers")
  }

  @Test func `The page shows the list`() {
    let page = Self.text("Docs/privacy.md")
    let parts = page.split(separator: "<!-- the list: borealis privacy -->\n")
    #expect(parts.count == 3)
    #expect(
      parts.count == 3 && parts[1] == StoredData.page, "replace the list by what `borealis privacy` prints")
  }
}
