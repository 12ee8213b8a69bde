import BorealisBase
import Storage

struct CopyCommand: Command {
  static let name = "copy"
  static let summary = "Moves an installation from a file to PostgreSQL, or back."
  static let details = """
    Copies everything that the database FROM holds into the database TO, and compares the two. One is "sqlite:DIR" with the data
    folder, the other one a URL of PostgreSQL, which --from-file, --to-file, BOREALIS_FROM and BOREALIS_TO may hold as well. Stop
    the server first; none can start on either before the copy has ended. TO must hold nothing, and holds nothing if the copy
    fails. FROM stays as it is. Files of the folder, such as the secret key, are not copied.

    Prints a line of JSON for each table with the number of its rows and a digest (SHA-256) of what is in them, read from TO and
    equal to what was read from FROM, and a last line with the sums. Without that line nothing was copied.
    """
  static let operands: [String] = []
  static let settings = [
    SettingDefinition(
      name: "from", valueName: "DATABASE", help: "What is copied: sqlite:DIR or postgres://...", kind: .secret
    ),
    SettingDefinition(
      name: "to", valueName: "DATABASE",
      help: "Where it goes, which must hold nothing: sqlite:DIR or postgres://...",
      kind: .secret),
  ]

  static func run(_ input: Input) throws(Failure) {
    let from = try folder(input, "from")
    let to = try folder(input, "to")
    guard from.holdsDatabase != to.holdsDatabase else {
      throw .usage("one of --from and --to has to be sqlite:DIR, the other one postgres://...")
    }
    if from.holdsDatabase { try from.expectDatabase() } else { try to.create() }
    let file = from.holdsDatabase ? from : to
    let tables = try file.whileUnserved { () throws(Failure) in try copy(from, to) }
    guard let tables else { throw .failed("another server uses \(file.path); stop it first") }
    for table in tables {
      Terminal.print([
        "table": .string(table.name), "rows": .number(JSONNumber(Int64(table.rows))),
        "sha256": .string(table.digest),
      ])
    }
    Terminal.print([
      "tables": .number(JSONNumber(Int64(tables.count))),
      "rows": .number(JSONNumber(Int64(tables.reduce(0) { $0 + $1.rows }))),
    ])
  }

  private static func folder(_ input: Input, _ name: String) throws(Failure) -> DataFolder {
    let text = try input.required(name)
    let mark = "sqlite:"
    if text.hasPrefix(mark), text.count > mark.count {
      return DataFolder(path: String(text.dropFirst(mark.count)))
    }
    guard let location = Store.Location(url: text) else {
      throw .usage(
        "--\(name): expected sqlite:DIR or a URL such as postgres://borealis@db.example.com/borealis")
    }
    return DataFolder(path: "", location: location)
  }

  private static func copy(_ from: DataFolder, _ to: DataFolder) throws(Failure) -> [DatabaseCopy.Table] {
    var tables: [DatabaseCopy.Table] = []
    do throws(StorageError) {
      try DatabaseCopy.run(from: from.location, to: to.location, log: Log(level: .warning)) {
        tables.append($0)
      }
    } catch {
      throw DataFolder.failure("cannot copy \(from.database) to \(to.database)", error)
    }
    return tables
  }
}
