import BorealisBase
import CPostgreSQL
import Glibc

/// Statements, and how their results come.
extension PostgresConnection {
  func prepare(_ sql: UnsafeBufferPointer<UInt8>) throws(StorageError) -> Statement {
    PostgresStatement(SQLText.numberParameters(of: sql), of: self)
  }

  func run(script: String, after: () throws(StorageError) -> Void) throws(StorageError) {
    try execute(script, within: nil)
    try after()
  }

  /// Runs statements in PostgreSQL's own words and drops their rows.
  func execute(_ sql: String) throws(StorageError) { try execute(sql, within: patience) }

  /// The same within so many milliseconds, nil for any number.
  func execute(_ sql: String, within patience: Int?) throws(StorageError) {
    try settle()
    PQclear(try request(within: patience) { PQsendQuery($0, sql) })
  }

  /// The same before what waits.
  func executeNow(_ sql: String) throws(StorageError) { PQclear(try request { PQsendQuery($0, sql) }) }

  /// Runs a statement in PostgreSQL's own words; the first column of the first row, as text.
  func value(_ sql: String) throws(StorageError) -> String? {
    try settle()
    let result = try request { PQsendQuery($0, sql) }
    defer { PQclear(result) }
    guard PQntuples(result) > 0, PQgetisnull(result, 0, 0) == 0 else { return nil }
    return String(cString: PQgetvalue(result, 0, 0))
  }

  /// Prepares a statement for parameters of some types; returns the name that it gets.
  func prepare(_ sql: String, _ types: [UInt32]) throws(StorageError) -> String {
    let name = newName()
    let wasFresh = isFresh
    defer { isFresh = wasFresh }
    PQclear(try request { PQsendPrepare($0, name, sql, Int32(types.count), types) })
    return name
  }

  /// A name that nothing else of this connection has.
  func newName() -> String {
    names += 1
    return "s\(names)"
  }

  /// Runs a prepared statement with binary values and results, behind what was postponed. The caller clears
  /// the result.
  func execute(_ name: String, _ values: [SQLValue]) throws(StorageError) -> OpaquePointer {
    let statement = try PreparedStatement(name, values)
    try jobs.queue()
    guard postponed.isEmpty, !mustOpen else {
      guard let result = try send([statement]).first?.release() else {
        throw StorageError(.other, "a statement without a result")
      }
      return result
    }
    let result = try request { statement.send(on: $0) }
    changes = PostgresResults.changes(of: result)
    return result
  }

  /// Runs prepared statements, behind what was postponed.
  func execute(_ statements: [PreparedStatement]) throws(StorageError) -> [FetchedResult] {
    try jobs.queue()
    return try send(statements)
  }

  /// Leaves a prepared statement to be sent with the next one.
  func postpone(_ statement: PreparedStatement) throws(StorageError) {
    try jobs.queue()
    postponed.append(statement)
    if postponed.count >= Self.mostPostponed { try settle() }
  }

  /// More statements or rows are not postponed.
  static let mostPostponed = 512

  func rollBack() {
    postponed.removeAll()
    jobs.reset()
    if !dropOpening() { try? execute("ROLLBACK") }
  }

  func settle() throws(StorageError) {
    try jobs.queue()
    if mustOpen || !postponed.isEmpty { _ = try send([]) }
  }

  /// The same within the usual time.
  private func request(_ send: (OpaquePointer) -> Int32) throws(StorageError) -> OpaquePointer {
    try request(within: patience, send)
  }

  /// Sends something and awaits what the server says to all of it: the last result, which the caller clears.
  /// Throws if any of it failed. The connection is given up if no answer comes.
  func request(
    within patience: Int?, _ send: (OpaquePointer) -> Int32
  ) throws(StorageError) -> OpaquePointer {
    guard let handle else { throw StorageError(.io, "not connected to the database") }
    isFresh = false
    guard send(handle) == 1 else { throw lost(handle) }
    var last: OpaquePointer?
    var failure: StorageError?
    while true {
      do throws(StorageError) {
        try PostgresResults.wait(on: handle, within: patience, isEnding: options.isEnding)
      } catch {
        if let last { PQclear(last) }
        dropSilent()
        throw failure ?? error
      }
      guard let next = PQgetResult(handle) else { break }
      if let last { PQclear(last) }
      last = next
      if failure == nil { failure = PostgresResults.failure(in: next) }
    }
    noteAnswer()
    if let failure {
      if let last { PQclear(last) }
      if !isConnected { drop() }
      throw failure
    }
    guard let last else { throw lost(handle) }
    return last
  }

  /// Sends the begin of the transaction if it waits, what was postponed and some more statements in one go,
  /// and awaits all results; gives those of the latter. Behind one that fails, the server carries out none
  /// (https://www.postgresql.org/docs/15/libpq-pipeline-mode.html). The last of them, `closing` in number,
  /// end the transaction.
  func send(_ more: [PreparedStatement], closing: Int = 0) throws(StorageError) -> [FetchedResult] {
    let opening = try claimOpening()
    guard let handle else { throw StorageError(.io, "not connected to the database") }
    let statements = opening + postponed + more
    if statements.count > opening.count { isFresh = false }
    postponed.removeAll(keepingCapacity: true)
    guard PQenterPipelineMode(handle) == 1 else { throw lost(handle) }
    let before = statements.count - closing
    var isSent = true
    for (index, statement) in statements.enumerated() where isSent {
      // How long the others took says nothing of how long the end may take.
      if closing > 0, index == before { isSent = PQsendFlushRequest(handle) == 1 }
      if isSent { isSent = statement.send(on: handle) == 1 }
    }
    guard isSent, PQpipelineSync(handle) == 1 else {
      defer { drop() }
      throw lost(handle)
    }
    var results: [FetchedResult] = []
    var failure: (error: StorageError, index: Int)?
    var ended = 0
    collecting: while true {
      do throws(StorageError) {
        let patience = closing > 0 && results.count >= before ? options.commitPatience : patience
        try PostgresResults.wait(on: handle, within: patience, isEnding: options.isEnding)
      } catch {
        dropSilent()
        throw failure?.error ?? error
      }
      guard let next = PQgetResult(handle) else {
        // Between two statements; more often than there are statements only on a connection that is lost.
        ended += 1
        if ended > statements.count + 1 { break }
        continue
      }
      let result = FetchedResult(next)
      switch PQresultStatus(next) {
      case PGRES_PIPELINE_SYNC: break collecting
      case PGRES_PIPELINE_ABORTED: break
      default:
        if failure == nil, let error = PostgresResults.failure(in: next) { failure = (error, results.count) }
        changes = PostgresResults.changes(of: next)
        results.append(result)
      }
    }
    let isOver = PQexitPipelineMode(handle) == 1
    noteAnswer()
    guard failure == nil, isOver, isConnected, results.count == statements.count else {
      let error = failure?.error ?? lost(handle)
      // Without an error of the server's nobody knows what it has done.
      if failure == nil || !isOver || !isConnected { drop() }
      guard let failure, failure.index < opening.count, self.handle != nil else { throw error }
      throw refuse(error, at: failure.index)
    }
    return results.suffix(more.count)
  }

  private func lost(_ handle: OpaquePointer) -> StorageError {
    let message = Self.line(PQerrorMessage(handle))
    if !isConnected { drop() }
    return StorageError(.io, message.isEmpty ? "the connection to the database is lost" : message)
  }

  /// Lets the open transaction wait for its next statement as long as it takes.
  func stayInTransaction() throws(StorageError) {
    try execute("SET LOCAL idle_in_transaction_session_timeout = 0")
  }

  /// Ends what else writes behind the fence of an incarnation.
  func endBackends(of incarnation: Int64) throws(StorageError) {
    try execute(
      """
      SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity
      WHERE application_name = 'borealis/\(incarnation)' AND pid <> pg_backend_pid()
        AND datname = current_database()
      """)
  }

  /// A message of libpq in one line.
  static func line(_ text: UnsafePointer<CChar>?) -> String {
    let lines = (text.map { String(cString: $0) } ?? "").split { $0.isNewline }
    return lines.map { $0.drop { $0.isWhitespace } }.joined(separator: "; ")
  }
}
