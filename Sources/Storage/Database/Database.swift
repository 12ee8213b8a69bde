import BorealisBase

/// What a transaction does.
enum DatabaseAccess {
  case reading
  case writing
}

/// What the two kinds of databases do each in their way. May move between threads, but only one may use it at
/// a time.
protocol DatabaseConnection: AnyObject {
  /// Prepares a statement in the SQL that both databases have in common.
  func prepare(_ sql: UnsafeBufferPointer<UInt8>) throws(StorageError) -> Statement
  /// Runs a script in the database's own SQL; `after` is called behind each statement, or behind the whole.
  func run(script: String, after: () throws(StorageError) -> Void) throws(StorageError)
  /// Begins a transaction. All that it reads is of one moment.
  func begin(_ access: DatabaseAccess) throws(StorageError)
  /// Ends it. Throws only if its changes are not stored.
  func commit() throws(StorageError)
  /// Ends it without its changes.
  func rollBack()
  /// Whether a transaction is open; it may have ended by itself after a failure.
  var isInTransaction: Bool { get }
  /// Whether a statement that fails leaves the transaction as it was before. Else nothing but going back to a
  /// savepoint, or to the begin, helps.
  var undoesFailedStatements: Bool { get }
  /// Whether a statement has failed in the open transaction, so that the database refuses all others.
  var isBroken: Bool { get }
  /// Rows changed by the last statement.
  var changes: Int { get }
  /// Sends what `Statement.runLater` has left, and waits for all of it; throws what failed.
  func settle() throws(StorageError)
  /// Closes the connection; nothing may use it afterwards.
  func close()
}

/// One connection to the database, with its statements. May move between threads, but only one may use it at
/// a time.
final class Database {
  typealias Mode = SQLiteConnection.Mode

  private struct Joined: Hashable {
    let start: UInt
    let rest: UInt
    let rows: AppRows.Kind?
  }

  private let connection: any DatabaseConnection
  /// Opens and seals contents.
  var vault = ContentVault(.none)
  /// The apps of the home that writes here; nil for all.
  var home: AssignedApps?
  /// Of the transaction that is open.
  var sealing = SealingMemory()
  /// Of the transaction that is open.
  var tagWork = TagWork()
  /// The same for values of facts.
  var factWork = TagWork()
  /// How many registrations the open transaction has added to each app, including those of jobs that were
  /// undone.
  var registrationsAdded: [AppID: Int] = [:]
  /// The apps that seal their contents as the last transaction of the writer left them. The next one takes it
  /// to be so, which saves a question to PostgreSQL for each, and does not begin if it is not: other
  /// processes may change it.
  private var knownSealing: Set<AppID>?
  /// More apps are asked for each time.
  private static let mostExpected = 64
  /// Of the job that runs: what is done after the commit.
  var committed: [() -> Void] = []
  private var isJobMarked = false
  /// Keyed by the address of the SQL text, which is a constant of the program.
  private var statements: [UInt: Statement] = [:]
  /// The same for texts of two constants, and for the rows of some apps.
  private var joinedStatements: [Joined: Statement] = [:]

  /// Takes over a connection.
  init(_ connection: any DatabaseConnection) {
    self.connection = connection
    postgres = connection as? PostgresConnection
  }

  /// Opens a file of SQLite, in mode `create` also a new one that only its owner may read.
  convenience init(path: String, mode: Mode) throws(StorageError) {
    self.init(try SQLiteConnection(path: path, mode: mode))
  }

  /// The connection, if it is one to a file of SQLite.
  var sqlite: SQLiteConnection? { connection as? SQLiteConnection }

  /// The connection, if it is one to PostgreSQL.
  let postgres: PostgresConnection?

  deinit { close() }

  /// Closes the connection now and not when the last one to know it lets go of it, for those who tell others
  /// that it is closed: SQLite removes the log with the last connection, if that one may write. Nothing may
  /// use it afterwards.
  func close() {
    statements.removeAll()
    joinedStatements.removeAll()
    connection.close()
  }

  /// The statement of a constant SQL text, prepared once.
  func statement(_ sql: StaticString) throws(StorageError) -> Statement {
    let key = UInt(bitPattern: sql.utf8Start)
    if let known = statements[key] { return known }
    let statement = try prepare("\(sql)")
    statements[key] = statement
    return statement
  }

  /// The same for a text of two constants with a space between, such as columns and table, which several
  /// statements have in common, and the rest; or for a text that goes over the rows of some apps. Those for
  /// one app alone are not kept.
  func statement(
    _ start: StaticString, _ rest: StaticString? = nil, in rows: AppRows? = nil
  ) throws(StorageError) -> Statement {
    let key = Joined(
      start: UInt(bitPattern: start.utf8Start), rest: rest.map { UInt(bitPattern: $0.utf8Start) } ?? 0,
      rows: rows?.kind)
    if let known = joinedStatements[key] { return known }
    let statement = try prepare(rest.map { "\(start) \($0)" } ?? "\(start)", in: rows)
    if case .app = rows?.kind {} else { joinedStatements[key] = statement }
    return statement
  }

  /// A statement that the program has put together, of names that it knows; it is not kept.
  func prepare(_ sql: String, in rows: AppRows? = nil) throws(StorageError) -> Statement {
    let text = try SQLText.expand(sql, for: postgres == nil ? .sqlite : .postgres, in: rows)
    return try Array(text.utf8).withUnsafeBufferPointer { text throws(StorageError) in
      try connection.prepare(text)
    }
  }

  /// Runs a constant statement and drops its rows.
  func run(_ sql: StaticString, _ values: SQLValue...) throws(StorageError) {
    try statement(sql).run(values)
  }

  /// Runs a constant statement without rows, perhaps only with the next one, which saves a message to a
  /// database on another machine. What fails then is an error of the next statement, or of the job. `changes`
  /// does not tell of it. Statements that insert a row or delete one may change places with those on other
  /// tables: nothing of them may depend on that.
  func runLater(_ sql: StaticString, _ values: SQLValue...) throws(StorageError) {
    try statement(sql).runLater(values)
  }

  /// Waits for what `runLater` has left; throws what failed of it.
  func settle() throws(StorageError) { try connection.settle() }

  /// Runs a constant statement for each of the values and maps the first row of each run, nil where there is
  /// none. To a database on another machine all of them go in one message.
  func firsts<Value>(
    _ sql: StaticString, _ all: [[SQLValue]], map: (Row) -> Value
  ) throws(StorageError) -> [Value?] {
    try statement(sql).firsts(all, map)
  }

  /// Runs a constant statement that goes over some apps' rows, and drops what it returns.
  func run(_ sql: StaticString, in rows: AppRows, _ values: SQLValue...) throws(StorageError) {
    try statement(sql, in: rows).run(values)
  }

  /// Runs a constant statement that goes over some apps' rows, and maps its first row; nil if there is none.
  func first<Value>(
    _ sql: StaticString, in rows: AppRows, _ values: SQLValue..., map: (Row) -> Value
  ) throws(StorageError) -> Value? {
    try statement(sql, in: rows).first(values, map)
  }

  /// Runs a constant statement that goes over some apps' rows, and maps all its rows.
  func all<Value>(
    _ sql: StaticString, in rows: AppRows, _ values: SQLValue..., map: (Row) -> Value
  ) throws(StorageError) -> [Value] {
    try statement(sql, in: rows).all(values, map)
  }

  /// Inserts one row with a statement that ends in `RETURNING` and a number; gives that number.
  func insert(_ sql: StaticString, _ values: SQLValue...) throws(StorageError) -> Int64 {
    guard let number = try statement(sql).first(values, { $0.integer() }) else {
      throw StorageError(.other, "an insert returned no row")
    }
    return number
  }

  /// Runs a constant statement and maps its first row, nil if there is none.
  func first<Value>(
    _ sql: StaticString, _ values: SQLValue..., map: (Row) -> Value
  ) throws(StorageError) -> Value? {
    try statement(sql).first(values, map)
  }

  /// Runs a statement of two constants and maps its first row, nil if there is none.
  func first<Value>(
    _ start: StaticString, _ rest: StaticString, _ values: SQLValue..., map: (Row) -> Value
  ) throws(StorageError) -> Value? {
    try statement(start, rest).first(values, map)
  }

  /// Runs a statement of two constants and maps all its rows.
  func all<Value>(
    _ start: StaticString, _ rest: StaticString, _ values: SQLValue..., map: (Row) -> Value
  ) throws(StorageError) -> [Value] {
    try statement(start, rest).all(values, map)
  }

  /// Runs a constant statement and maps all its rows.
  func all<Value>(
    _ sql: StaticString, _ values: SQLValue..., map: (Row) -> Value
  ) throws(StorageError) -> [Value] {
    try statement(sql).all(values, map)
  }

  /// Runs every statement of a script in turn; `after` is called behind each.
  func run(script: String, after: () throws(StorageError) -> Void = {}) throws(StorageError) {
    try connection.run(script: script, after: after)
  }

  /// Begins a transaction. All that it reads is of one moment.
  func begin(_ access: DatabaseAccess) throws(StorageError) {
    sealing = SealingMemory()
    tagWork = TagWork()
    factWork = TagWork()
    registrationsAdded = [:]
    if access == .writing, let postgres {
      sealing.apps = knownSealing
      postgres.expectedSealing = knownSealing?.map(\.rawValue).sorted().map(String.init).joined(
        separator: ",")
      knownSealing = nil
    }
    try connection.begin(access)
  }

  /// Ends the transaction; tells which of the jobs that have ended turned out to have failed. Throws only if
  /// its changes are not stored.
  @discardableResult
  func commit() throws(StorageError) -> [(number: Int, error: StorageError)] {
    guard let postgres else {
      try connection.commit()
      return []
    }
    let failed = try postgres.jobs.commit()
    if let apps = sealing.apps, apps.count <= Self.mostExpected { knownSealing = apps }
    return failed
  }

  /// Whether the transaction did not begin because the database was not as it was expected to be: it is to be
  /// tried again, with everything that was done for it.
  var isOutdated: Bool { postgres?.isOutdated ?? false }

  /// Ends an open transaction without its changes.
  func rollBack() {
    if isInTransaction { connection.rollBack() }
  }

  // MARK: Jobs that share a transaction

  /// Begins a job. One that is marked can be undone alone; else it is the first one, and has the transaction
  /// to itself.
  func beginJob(_ number: Int, isMarked: Bool) throws(StorageError) {
    isJobMarked = isMarked
    if let postgres {
      postgres.jobs.begin(number, isMarked: isMarked)
    } else if isMarked {
      try run("SAVEPOINT job")
    }
  }

  /// Ends it. What it did stays, unless it turns out at the end of the transaction that it has failed.
  func endJob() throws(StorageError) {
    if let postgres { try postgres.jobs.end() } else if isJobMarked { try run("RELEASE SAVEPOINT job") }
  }

  /// Ends it without its changes.
  func undoJob() throws(StorageError) {
    if let postgres {
      try postgres.jobs.undo()
    } else if isJobMarked {
      try run("ROLLBACK TO SAVEPOINT job")
      try run("RELEASE SAVEPOINT job")
    } else {
      rollBack()
      try begin(.writing)
    }
  }

  /// Whether a transaction is open; the database ends it by itself after some failures.
  var isInTransaction: Bool { connection.isInTransaction }

  /// Whether a statement that fails undoes itself and leaves the transaction open for others.
  var undoesFailedStatements: Bool { connection.undoesFailedStatements }

  /// Whether the open transaction takes no more statements, because one has failed.
  var isBroken: Bool { connection.isBroken }

  /// Rows changed by the last statement.
  var changes: Int { connection.changes }
}
