import CSQLite
import Glibc

/// Why the database refused something.
package struct StorageError: Error, Sendable, CustomStringConvertible {
  /// What a caller can act on.
  package enum Kind: Sendable, Hashable {
    /// The disk or the allowed size is used up; later attempts may succeed.
    case diskFull
    /// The file or the folder cannot be written.
    case readOnly
    /// The file is damaged or no database.
    case corrupt
    /// Another process holds the database.
    case busy
    /// Another server uses the database.
    case inUse
    /// Another server has taken the database over; this one can never write again.
    case takenOver
    /// The database has lost what it had confirmed; this program rests on that and can never write again.
    case commitsLost
    /// A newer program wrote this database.
    case newerThanProgram(found: Int, known: Int)
    /// The database lacks what this program needs, and was not to be changed.
    case olderThanProgram(found: Int, known: Int)
    /// A migration that was applied is not the one that this program carries.
    case migrationChanged(version: Int)
    /// The secret key is not there that contents are sealed with.
    case noSecretKey
    /// A rule of the schema refused the change.
    case constraint
    /// Reading or writing the file failed, or it cannot be opened.
    case io
    /// The app has another home by now; nothing was changed.
    case movedAway
    /// Too many jobs wait; nothing was changed.
    case overloaded
    /// The store is closed; nothing was changed.
    case closed
    /// Anything else: a fault of the program.
    case other
  }

  /// What a caller can act on.
  package let kind: Kind
  /// SQLite's extended result code, 0 if it did not come from SQLite.
  package let code: Int32
  /// For the log, never for an API's answer.
  package let message: String
  /// Whether the job was refused before any of it was done.
  private(set) var isRefusal = false

  /// Whether nobody can say now if it was done.
  package private(set) var isInDoubt = false

  /// Whether nothing was done, and the same may succeed soon, here or at the server that has the database or
  /// the app now: the caller may repeat it.
  package var isPassing: Bool {
    switch kind {
    case .overloaded, .movedAway: true
    // The transaction is undone, and an operator makes room.
    case .diskFull: !isInDoubt
    default: isRefusal
    }
  }

  /// Makes an error that SQLite did not report.
  package init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.code = 0
    self.message = message
  }

  /// Makes the error of a system call that failed with an `errno`.
  static func ofSystem(_ number: Int32, _ what: String) -> StorageError {
    let reason = strerror(number).map { String(cString: $0) } ?? "error \(number)"
    return StorageError(number == ENOSPC || number == EDQUOT ? .diskFull : .io, "\(what): \(reason)")
  }

  /// Makes the error of a job that was not begun.
  static func refusal(_ message: String) -> StorageError {
    var error = StorageError(.io, message)
    error.isRefusal = true
    return error
  }

  /// The error of a commit of which nobody knows what became.
  static func inDoubt(_ kind: Kind, _ message: String) -> StorageError {
    var error = StorageError(kind, message)
    error.isInDoubt = true
    return error
  }

  /// The same error, of a transaction of PostgreSQL that was not committed: it may be repeated if it failed
  /// for want of a connection, of a lock, or of the right to write.
  var uncommitted: StorageError {
    guard [.io, .busy, .takenOver].contains(kind), !isInDoubt else { return self }
    var error = self
    error.isRefusal = true
    return error
  }

  /// Makes an error of one of SQLite's result codes (https://sqlite.org/rescode.html).
  init(code: Int32, message: String) {
    self.code = code
    self.message = message
    kind =
      switch code & 0xff {
      case SQLITE_FULL: .diskFull
      case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .readOnly
      case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: .corrupt
      case SQLITE_BUSY, SQLITE_LOCKED: .busy
      case SQLITE_CONSTRAINT, SQLITE_TOOBIG, SQLITE_MISMATCH: .constraint
      case SQLITE_IOERR, SQLITE_CANTOPEN: .io
      default: .other
      }
  }

  /// Kind, code and message in one line.
  package var description: String { "\(kind) (\(code)): \(message)" }
}
