import BorealisBase
import Core
import Storage

struct BackupCommand: Command {
  static let name = "backup"
  static let summary = "Copies the database to a file; the server may keep running."
  static let details = """
    Copies a snapshot of the database to FILE, which must not exist yet. A server on the folder keeps running. The copy is
    one file; to restore it, stop the server, remove borealis.sqlite-wal and borealis.sqlite-shm, and replace
    DIR/borealis.sqlite with the copy.
    """
  static let operands = ["FILE"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let folder = try DataFolder(input)
    guard folder.holdsDatabase else {
      throw .usage("\(folder.database) is in PostgreSQL: \"pg_dump\" makes a backup of it")
    }
    try folder.expectDatabase()
    let target = input.operands[0]
    do throws(StorageError) {
      try Store.backup(from: folder.file, to: target)
    } catch {
      throw DataFolder.failure("cannot copy to \(target)", error)
    }
    Terminal.print(["backup": .string(target)])
  }
}

struct CheckCommand: Command {
  static let name = "check"
  static let summary = "Checks the database for damage."
  static let details = """
    Reads the whole database, compares its tables, changes nothing, and prints the results as JSON: damage to the file and
    its indexes, dangling references, and data lost with missing rows. Exits with 0 if the database is sound, with 1 if it
    is not. Works while a server runs on the folder.
    """
  static let operands: [String] = []
  static let settings = DataFolder.settings + [SecretKeyFile.setting]

  static func run(_ input: Input) throws(Failure) {
    let folder = try DataFolder(input)
    let keys = SecretKeyFile(input.settings, folder: folder)
    try folder.expectDatabase()
    let report: Store.CheckReport
    do throws(StorageError) {
      report = try Store.check(folder.location, secretKeys: keys.source) { transaction throws(StorageError) in
        try TargetAudit.problems(in: transaction, at: SystemTime().now())
      }
    } catch {
      throw DataFolder.failure("cannot read \(folder.database)", error)
    }
    guard report.schemaVersion > 0 || !report.problems.isEmpty else { throw folder.emptyFailure }
    Terminal.print([
      "schema_version": .number(JSONNumber(Int64(report.schemaVersion))),
      "tables_compared": .bool(report.comparesTables),
      "problems": .array(report.problems.map { .string($0) }),
    ])
    guard report.problems.isEmpty else { throw .failed("the database is damaged") }
    guard !report.comparesTables else { return }
    Terminal.complain(
      "borealis: the tables were not compared, since an older version of Borealis wrote them; \"borealis serve\" migrates them"
    )
  }
}
