/// Something that the server or a device library stores, and that may be about a person.
package struct StoredDatum: Sendable {
  /// Where something is stored.
  package enum Place: Sendable, Hashable {
    /// A column of a table of the database.
    case column(table: String, name: String)
    /// A record of the state file of the Swift and the Java library, by its number.
    case stateRecord(UInt8)
    /// A file that a library or an app of it writes.
    case deviceFile(String)
    /// A key of localStorage or sessionStorage, or a cookie.
    case browserKey(String)
    /// A table of IndexedDB, or a value in one.
    case browserTable(String)
    /// Fields of lines of the server's log.
    case log(String)
    /// A file in the data folder.
    case serverFile(String)
  }

  /// What it is.
  package let what: String
  /// What it is for.
  package let purpose: String
  package let places: [Place]
  /// Until when it is stored.
  package let end: String

  init(_ what: String, for purpose: String, in places: [Place]..., until end: String) {
    self.what = what
    self.purpose = purpose
    self.places = places.flatMap { $0 }
    self.end = end
  }
}

extension [StoredDatum.Place] {
  /// Columns of a table, with spaces between their names.
  static func columns(_ table: String, _ names: String) -> Self {
    names.split(separator: " ").map { .column(table: table, name: String($0)) }
  }

  static func records(_ kinds: UInt8...) -> Self { kinds.map { .stateRecord($0) } }
  static func files(_ names: String...) -> Self { names.map { .deviceFile($0) } }
  static func browser(_ names: String...) -> Self { names.map { .browserKey($0) } }
  static func tables(_ names: String...) -> Self { names.map { .browserTable($0) } }
  static func folder(_ names: String...) -> Self { names.map { .serverFile($0) } }

  /// The places in words, columns gathered by table.
  var text: String {
    var parts: [String] = []
    var tables: [(name: String, columns: [String])] = []
    for place in self {
      switch place {
      case .column(let table, let name):
        if tables.last?.name != table { tables.append((table, [])) }
        tables[tables.count - 1].columns.append("`\(name)`")
      case .stateRecord(let kind): parts.append("record \(kind) of the state file")
      case .deviceFile(let name): parts.append("file `\(name)` on the device")
      case .browserKey(let name): parts.append("`\(name)` in the browser")
      case .browserTable(let name): parts.append("IndexedDB, `\(name)`")
      case .log(let text): parts.append(text)
      case .serverFile(let name): parts.append("file `\(name)` in the data folder")
      }
    }
    return (tables.map { "table `\($0.name)`: \($0.columns.joined(separator: ", "))" } + parts)
      .joined(separator: "; ")
  }
}

/// All that the server and the device libraries store. Docs/privacy.md shows it, and a test compares it with
/// the schema and with the libraries.
package enum StoredData {
  /// Data of one kind of people.
  package struct Section: Sendable {
    package let title: String
    package let data: [StoredDatum]
  }

  /// The sections, in the order in which they are shown.
  package static let sections = [
    Section(title: "People with the app, on the server", data: people),
    Section(title: "People with the app, on their devices", data: devices),
    Section(title: "People who use the console", data: consoleUsers),
    Section(title: "Nothing about a person", data: others),
  ]

  /// The sections as Markdown.
  package static var page: String {
    sections.map { section in
      let rows = section.data.map { "| \($0.what) | \($0.purpose) | \($0.places.text) | \($0.end) |" }
      return """
        ### \(section.title)

        | what | what for | where | until |
        |---|---|---|---|
        \(rows.joined(separator: "\n"))

        """
    }.joined(separator: "\n")
  }
}
