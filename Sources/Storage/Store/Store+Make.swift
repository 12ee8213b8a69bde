import BorealisBase
import Glibc

extension Store {
  /// Makes a new database with this program's schema unless there is one. It appears under its name only when
  /// it is whole, so that an empty file of that name is never a new database, but one that lost what it held.
  /// `.corrupt` if only a log is there: it belongs to a database that is gone, and SQLite would write its
  /// pages into the new one.
  package static func make(path: String, time: any TimeSource = SystemTime()) throws(StorageError) {
    guard access(path, F_OK) != 0 else { return }
    _ = try SQLiteFile.make(path: path, time: time)
  }
}

extension Store {
  /// Throws `.newerThanProgram`, `.olderThanProgram` or `.migrationChanged` unless a file of SQLite has
  /// this program's schema. Changes nothing; a server may be using the file.
  package static func expectSchema(ofFile path: String) throws(StorageError) {
    let location = Location.sqlite(path: path)
    let database = try location.openToRead()
    defer { database.close() }
    try Migrator.expectNewest(database, of: location.migrations)
  }
}

/// A file of SQLite that appears under its name when it is whole.
enum SQLiteFile {
  /// Makes a new database with this program's schema and what `fill` puts into it. False if another one has
  /// come meanwhile.
  static func make(
    path: String, time: any TimeSource = SystemTime(),
    _ fill: (Database) throws(StorageError) -> Void = { _ in }
  ) throws(StorageError) -> Bool {
    let log = path + "-wal"
    guard access(log, F_OK) != 0 else {
      throw StorageError(
        .corrupt,
        "it is gone, but its log \(log) is there: restore it from a backup, or remove the log to begin anew")
    }
    // A name that no other thread or process has; two may do this at once.
    let partial = "\(path).\(Hex.encode(SystemRandom.bytes(8)))"
    defer { for end in ["", "-journal"] { unlink(partial + end) } }
    do {
      let database = try Database(path: partial, mode: .copy)
      try Migrator.migrate(database, to: embeddedMigrations, at: time.now())
      try fill(database)
    }
    // Unlike rename, link never replaces a file that appeared in the meantime.
    let isNew = link(partial, path) == 0
    guard isNew || errno == EEXIST else {
      throw StorageError(errno == ENOSPC ? .diskFull : .io, "cannot make it (errno \(errno))")
    }
    try synchronizeFolder(of: path)
    return isNew
  }

  /// A new name is safe on disk only once its folder is.
  static func synchronizeFolder(of path: String) throws(StorageError) {
    let end = path.lastIndex(of: "/")
    let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StorageError(.io, "cannot open the target's folder") }
    defer { Glibc.close(descriptor) }
    guard fsync(descriptor) == 0 else { throw StorageError(.io, "cannot sync the target's folder") }
  }
}
