import CSQLite
import Glibc

/// One connection to a database file of SQLite. May move between threads, but only one may use it at a time.
final class SQLiteConnection: DatabaseConnection {
  enum Mode {
    /// The store's own: writes, in WAL mode; the file is made if it is missing.
    case create
    /// Reads only; the file must exist.
    case readOnly
    /// Moves the log into the file, which must exist; changes nothing else.
    case checkpoint
    /// A new file for a copy; it must not exist.
    case copy
  }

  /// Settings of the library, made once.
  private static let settings: Int32 = csqlite_count_no_memory()

  /// Milliseconds that a statement waits for the locks of other connections.
  private static let busyTimeout: Int32 = 5000

  let handle: OpaquePointer
  /// Pages in the write-ahead log after the last commit of this connection; SQLite writes it.
  private let logPages: UnsafeMutablePointer<Int32>
  private var isClosed = false
  private var beginReading, beginWriting, ofCommit, ofRollback, ofVersion: Statement?
  private let path: String
  private var pageCleaner: PageCleaner?

  /// Opens the file, in mode `create` also a new one that only its owner may read.
  init(path: String, mode: Mode) throws(StorageError) {
    if mode == .create || mode == .copy {
      // Before SQLite creates it: the files beside it inherit its permissions.
      let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
      if descriptor >= 0 {
        Glibc.close(descriptor)
      } else if mode == .create {
        chmod(path, 0o600)
      } else {
        throw .ofSystem(errno, "cannot make \(path)")
      }
    }
    _ = Self.settings
    self.path = path
    let flags =
      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
      | (mode == .readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE)
    var opened: OpaquePointer?
    let status = sqlite3_open_v2(path, &opened, flags, nil)
    guard let opened else { throw StorageError(code: status, message: "cannot open the database") }
    handle = opened
    logPages = .allocate(capacity: 1)
    logPages.initialize(to: 0)
    guard status == SQLITE_OK else { throw failure(status) }
    sqlite3_busy_timeout(handle, Self.busyTimeout)
    try configure(mode)
  }

  deinit {
    close()
    logPages.deallocate()
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    (beginReading, beginWriting, ofCommit, ofRollback, ofVersion) = (nil, nil, nil, nil, nil)
    sqlite3_close_v2(handle)
  }

  private func configure(_ mode: Mode) throws(StorageError) {
    try run(script: "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF")
    guard mode == .create else { return }
    // The default of Debian's library: deleted rows are overwritten with zeros.
    try run(script: "PRAGMA secure_delete = ON")
    // KiB of pages. The default of 2000 makes a large transaction search the whole cache for each page that
    // it spills.
    try run(script: "PRAGMA cache_size = -32768")
    try turnLogOn()
    try run(script: "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864")
    // Also turns automatic checkpoints off: they would hold up the commit that triggers them.
    sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        context?.assumingMemoryBound(to: Int32.self).pointee = pages
        return SQLITE_OK
      }, logPages)
  }

  /// Tries for as long as the busy timeout, which SQLite does not apply here: while another connection turns
  /// the log on in the same file, a new one or a restored backup, it refuses at once.
  private func turnLogOn() throws(StorageError) {
    let pause: UInt32 = 10_000
    for _ in 0..<(UInt32(Self.busyTimeout) * 1000 / pause) {
      do throws(StorageError) { return try run(script: "PRAGMA journal_mode = WAL") } catch {
        guard error.kind == .busy else { throw error }
      }
      usleep(pause)
    }
    try run(script: "PRAGMA journal_mode = WAL")
  }

  func prepare(_ sql: UnsafeBufferPointer<UInt8>) throws(StorageError) -> Statement {
    var prepared: OpaquePointer?
    let status = sql.withMemoryRebound(to: CChar.self) {
      sqlite3_prepare_v3(
        handle, $0.baseAddress, Int32($0.count), UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    }
    guard status == SQLITE_OK, let prepared else { throw failure(status) }
    return SQLiteStatement(prepared, of: handle)
  }

  /// Runs every statement of a script in turn; `after` is called behind each.
  func run(script: String, after: () throws(StorageError) -> Void) throws(StorageError) {
    let text = Array(script.utf8CString)
    var offset = 0
    while offset < text.count - 1 {
      var prepared: OpaquePointer?
      var length = 0
      let status = text.withUnsafeBufferPointer { buffer -> Int32 in
        guard let base = buffer.baseAddress else { return SQLITE_MISUSE }
        var tail: UnsafePointer<CChar>?
        let status = sqlite3_prepare_v3(
          handle, base + offset, Int32(buffer.count - offset), 0, &prepared, &tail)
        length = tail.map { $0 - (base + offset) } ?? 0
        return status
      }
      guard status == SQLITE_OK, length > 0 else { throw failure(status) }
      offset += length
      // White space or a comment at the end prepares to nothing.
      guard let prepared else { continue }
      try SQLiteStatement(prepared, of: handle).run([])
      try after()
    }
  }

  /// Runs every statement of a script in turn.
  func run(script: String) throws(StorageError) { try run(script: script) {} }

  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  var changes: Int { Int(sqlite3_changes(handle)) }

  var undoesFailedStatements: Bool { true }

  var isBroken: Bool { false }

  func begin(_ access: DatabaseAccess) throws(StorageError) {
    switch access {
    case .reading: try control("BEGIN", &beginReading)
    case .writing: try control("BEGIN IMMEDIATE", &beginWriting)
    }
  }

  func commit() throws(StorageError) { try control("COMMIT", &ofCommit) }

  func rollBack() { try? control("ROLLBACK", &ofRollback) }

  /// Nothing is left for later.
  func settle() {}

  /// Runs a statement that is prepared once.
  private func control(_ sql: StaticString, _ statement: inout Statement?) throws(StorageError) {
    let prepared: Statement
    if let statement {
      prepared = statement
    } else {
      prepared = try prepare(UnsafeBufferPointer(start: sql.utf8Start, count: sql.utf8CodeUnitCount))
    }
    statement = prepared
    try prepared.run([])
  }

  /// Pages in the write-ahead log after this connection's last commit.
  var pagesInLog: Int { Int(logPages.pointee) }

  /// How far a checkpoint goes.
  enum Checkpoint {
    /// Checkpoints the pages that no reader needs.
    case passive
    /// Moves everything and waits for readers, so that the log is written from the start again.
    case restart
    /// The same, and empties the file.
    case truncate
  }

  /// Moves the write-ahead log into the database; waits for others at most `patience` milliseconds.
  func checkpoint(_ checkpoint: Checkpoint, patience: Int32 = busyTimeout) throws(StorageError) {
    sqlite3_busy_timeout(handle, patience)
    defer { sqlite3_busy_timeout(handle, Self.busyTimeout) }
    let mode =
      switch checkpoint {
      case .passive: SQLITE_CHECKPOINT_PASSIVE
      case .restart: SQLITE_CHECKPOINT_RESTART
      case .truncate: SQLITE_CHECKPOINT_TRUNCATE
      }
    let status = sqlite3_wal_checkpoint_v2(handle, nil, mode, nil, nil)
    guard status == SQLITE_OK else { throw failure(status) }
  }

  /// Changes with each commit of another connection.
  func dataVersion() throws(StorageError) -> Int64 {
    let statement: Statement
    if let ofVersion {
      statement = ofVersion
    } else {
      let text: StaticString = "PRAGMA data_version"
      statement = try prepare(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
    ofVersion = statement
    return try statement.all([]) { $0.integer() }.first ?? 0
  }

  /// Lets go of the pages in memory that no transaction has changed.
  func releaseMemory() { _ = sqlite3_db_release_memory(handle) }

  /// What overwrites unused parts of the file.
  func cleaner() throws(StorageError) -> PageCleaner {
    if let pageCleaner { return pageCleaner }
    let made = try PageCleaner(path: path)
    pageCleaner = made
    return made
  }

  /// Copies everything into another connection, `pages` at a time.
  func copy(to target: SQLiteConnection, pages: Int32) throws(StorageError) {
    guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
      throw target.failure(sqlite3_extended_errcode(target.handle))
    }
    var status = SQLITE_OK
    while status == SQLITE_OK { status = sqlite3_backup_step(backup, pages) }
    let finished = sqlite3_backup_finish(backup)
    guard status == SQLITE_DONE, finished == SQLITE_OK else {
      throw StorageError(code: status == SQLITE_DONE ? finished : status, message: "copying failed")
    }
  }

  private func failure(_ code: Int32) -> StorageError {
    StorageError(code: code, message: String(cString: sqlite3_errmsg(handle)))
  }
}
