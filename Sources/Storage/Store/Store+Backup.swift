import BorealisBase
import Glibc

extension Store {
  /// Copies a snapshot of the database to a new file while the store is in use. Blocks the calling thread, so
  /// never call it on an event loop. The write-ahead log cannot be reused in the meantime. `.io` if the
  /// target exists.
  package func backup(to target: String) throws(StorageError) {
    guard case .sqlite(let path) = location else { throw StorageError(.other, "use pg_dump for PostgreSQL") }
    try Self.backup(from: path, to: target)
  }

  /// Copies a database that this or another process may be serving. The copy is one file that only its owner
  /// may read; it exists under its name only if the copy is complete and sound.
  package static func backup(from path: String, to target: String) throws(StorageError) {
    let source = try SQLiteConnection(path: path, mode: .readOnly)
    // An open read transaction pins one state: else every commit would make the copy start again.
    try source.begin(.reading)
    try source.run(script: "SELECT count(*) FROM sqlite_schema")
    guard access(target, F_OK) != 0 else { throw StorageError(.io, "the target exists") }
    // A name that no other backup has, nor one that was killed.
    let partial = "\(target).\(Hex.encode(SystemRandom.bytes(8))).partial"
    defer { for end in ["", "-journal"] { unlink(partial + end) } }
    try fill(partial, from: source)
    // Unlike rename, link never replaces a file that appeared in the meantime.
    guard link(partial, target) == 0 else {
      let number = errno
      throw number == EEXIST
        ? StorageError(.io, "the target exists") : .ofSystem(number, "cannot give the copy its name")
    }
    try SQLiteFile.synchronizeFolder(of: target)
  }

  private static func fill(_ partial: String, from source: SQLiteConnection) throws(StorageError) {
    let target = try SQLiteConnection(path: partial, mode: .copy)
    let copy = Database(target)
    try source.copy(to: target, pages: 256)
    // The log can be reused from here on.
    source.rollBack()
    // One file is easier to carry away than a database with its log; the next start turns the log on again.
    try copy.run(script: "PRAGMA journal_mode = DELETE")
    let found = try copy.first("PRAGMA integrity_check(1)") { $0.text() }
    guard found == "ok" else {
      throw StorageError(.corrupt, "the copy is damaged, and so may be the database: \(found ?? "")")
    }
  }
}
