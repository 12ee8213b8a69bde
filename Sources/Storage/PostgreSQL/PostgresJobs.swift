/// A row that waits to be sent with others.
struct WaitingRow {
  let statement: PostgresStatement
  let form: PostgresRowForm
  let values: [SQLValue]

  /// About what it takes in memory, in bytes.
  var size: Int {
    values.reduce(64) { sum, value in
      switch value {
      case .null, .integer: sum + 16
      case .text(let text): sum + 32 + text.utf8.count
      case .blob(let bytes): sum + 32 + bytes.count
      }
    }
  }
}

/// Rows that one statement writes.
struct RowGroup {
  let statement: PostgresStatement
  private(set) var rows: [[SQLValue]]
  /// Of each value, 0 if it is NULL in all rows.
  private(set) var types: [UInt32]
  private let form: PostgresRowForm
  private var keys: Set<[SQLValue]> = []

  init(_ row: WaitingRow) {
    (statement, form) = (row.statement, row.form)
    rows = [row.values]
    types = row.values.map { PostgresType.number(of: $0) }
    if let key = form.key(of: row.values) { keys.insert(key) }
  }

  /// Adds a row; false if it needs a statement of its own.
  mutating func add(_ row: WaitingRow) -> Bool {
    guard row.statement === statement else { return false }
    for (index, value) in row.values.enumerated() {
      let type = PostgresType.number(of: value)
      guard type != types[index], type != 0 else { continue }
      guard types[index] == 0 else { return false }
      types[index] = type
    }
    if let key = form.key(of: row.values) {
      guard keys.insert(key).inserted else { return false }
    }
    rows.append(row.values)
    return true
  }

  /// The types of many values; nil if there is none of one of them, or more than one.
  static func types(of rows: [[SQLValue]]) -> [UInt32]? {
    var types: [UInt32] = []
    for row in rows {
      let own = row.map { PostgresType.number(of: $0) }
      if types.isEmpty { types = own }
      guard own == types, !own.contains(0) else { return nil }
    }
    return types
  }

  /// Puts rows into as few statements as there can be. Those on one table stay in their order.
  static func groups(of rows: [WaitingRow]) -> [RowGroup] {
    var groups: [RowGroup] = []
    var last: [String: Int] = [:]
    for row in rows {
      if let index = last[row.form.table], groups[index].add(row) { continue }
      last[row.form.table] = groups.count
      groups.append(RowGroup(row))
    }
    return groups
  }
}

/// What the jobs of a transaction leave to be sent. A job that does nothing but write rows needs no savepoint
/// of its own: its rows go with those of others.
final class PostgresJobs {
  /// A job that has left only rows.
  private struct Ended {
    let number: Int
    let rows: [WaitingRow]
  }

  /// A job of which it turned out behind its end that it had failed.
  typealias Failure = (number: Int, error: StorageError)

  private unowned let connection: PostgresConnection
  /// Rows that wait, in their order: of the job that runs, or of nobody.
  private var rows: [WaitingRow] = []
  /// The number of the job that runs, if nothing of it has been sent.
  private var unsent: Int?
  /// Whether the job that runs has a savepoint once something of it is sent.
  private var isMarked = false
  private var ended: [Ended] = []
  private var failures: [Failure] = []
  /// Of all rows that wait: their number and about their bytes.
  private var count = 0
  private var size = 0
  /// Whether the transaction lacks rows and must not be committed.
  private(set) var isSpoiled = false
  private let marking: PostgresStatement
  private let releasing: PostgresStatement

  /// More bytes do not wait.
  private static let mostBytes = 1 << 20

  init(of connection: PostgresConnection) {
    self.connection = connection
    marking = PostgresStatement("SAVEPOINT job", of: connection)
    releasing = PostgresStatement("RELEASE SAVEPOINT job", of: connection)
  }

  /// Forgets everything: the transaction is over.
  func reset() {
    (rows, ended, failures, unsent, isMarked, isSpoiled) = ([], [], [], nil, false, false)
    (count, size) = (0, 0)
  }

  /// Leaves a row to be sent with others.
  func leave(_ row: WaitingRow) throws(StorageError) {
    for case .text(let text) in row.values { _ = try text.storable() }
    rows.append(row)
    count += 1
    size += row.size
    if count >= PostgresConnection.mostPostponed || size >= Self.mostBytes { try connection.settle() }
  }

  // MARK: Jobs

  /// As `Database.beginJob`.
  func begin(_ number: Int, isMarked: Bool) {
    unsent = number
    self.isMarked = isMarked
  }

  /// As `Database.endJob`.
  func end() throws(StorageError) {
    if let number = unsent {
      unsent = nil
      if !rows.isEmpty { ended.append(Ended(number: number, rows: rows)) }
      rows = []
      return
    }
    try connection.settle()
    // The body may have caught what PostgreSQL does not forgive.
    guard !connection.isBroken else { throw StorageError(.other, "a statement failed unnoticed") }
    if isMarked { connection.postponed.append(try releasing.prepared([])) }
  }

  /// As `Database.undoJob`.
  func undo() throws(StorageError) {
    rows = []
    guard unsent == nil else {
      unsent = nil
      return
    }
    // The savepoint itself may not have been sent yet. What else fails is undone in any case.
    try? connection.settle()
    guard !isMarked else { return try undoSavepoint() }
    connection.rollBack()
    try connection.begin(.writing)
  }

  /// As `Database.commit`. What waits goes with the commit; a transaction that has left nothing but rows is
  /// one message. If a row is refused, nothing of that is done, and the rows are sent again, a job at a time,
  /// and then the commit.
  func commit() throws(StorageError) -> [Failure] {
    guard !isSpoiled else { throw StorageError(.other, "the transaction lacks rows") }
    if rows.isEmpty, !ended.isEmpty {
      let (jobs, isFirst, known) = (ended, connection.isFresh, failures)
      ended = []
      do throws(StorageError) {
        try connection.end(with: try statements(for: jobs, isFirst: isFirst))
        return known
      } catch {
        guard connection.isInTransaction, !error.kind.isStoreFailure else { throw error }
      }
      try sendAgain(jobs, isFirst: isFirst)
    } else {
      try queue()
    }
    let known = failures
    try connection.end(with: [])
    return known
  }

  // MARK: Sending

  /// Puts all that waits in front of what is sent or postponed next.
  func queue() throws(StorageError) {
    let isUnsent = unsent != nil
    unsent = nil
    (count, size) = (0, 0)
    if !ended.isEmpty { try sendEnded() }
    if isUnsent, isMarked { connection.postponed.append(try marking.prepared([])) }
    guard !rows.isEmpty else { return }
    let waiting = rows
    rows = []
    connection.postponed += try Self.statements(for: waiting)
  }

  private static func statements(for rows: [WaitingRow]) throws(StorageError) -> [PreparedStatement] {
    var statements: [PreparedStatement] = []
    for group in RowGroup.groups(of: rows) { statements.append(try group.statement.prepared(group)) }
    return statements
  }

  /// Sends the rows of jobs that left nothing else. If one of them fails, all are sent again, a job at a
  /// time.
  private func sendEnded() throws(StorageError) {
    let jobs = ended
    ended = []
    let isFirst = connection.isFresh
    do throws(StorageError) {
      do throws(StorageError) {
        _ = try connection.send(try statements(for: jobs, isFirst: isFirst))
        return
      } catch {
        guard connection.isInTransaction, !error.kind.isStoreFailure else { throw error }
      }
      try sendAgain(jobs, isFirst: isFirst)
    } catch {
      isSpoiled = true
      throw error
    }
  }

  /// The rows of jobs in as few statements as there can be, to be undone together.
  private func statements(for jobs: [Ended], isFirst: Bool) throws(StorageError) -> [PreparedStatement] {
    let statements = try Self.statements(for: jobs.flatMap(\.rows))
    // What comes first has the transaction to itself.
    return isFirst ? statements : [try marking.prepared([])] + statements + [try releasing.prepared([])]
  }

  private func sendAgain(_ jobs: [Ended], isFirst: Bool) throws(StorageError) {
    if isFirst {
      // What waits is of the job that runs.
      let waiting = (rows, isMarked)
      connection.rollBack()
      try connection.begin(.writing)
      (rows, isMarked) = waiting
    } else {
      try undoSavepoint()
    }
    for job in jobs {
      var statements = [try marking.prepared([])]
      for row in job.rows { statements.append(try row.statement.prepared(row.values)) }
      statements.append(try releasing.prepared([]))
      do throws(StorageError) { _ = try connection.send(statements) } catch {
        guard connection.isInTransaction, !error.kind.isStoreFailure else { throw error }
        try undoSavepoint()
        failures.append((job.number, error))
      }
    }
  }

  private func undoSavepoint() throws(StorageError) {
    try connection.executeNow("ROLLBACK TO SAVEPOINT job; RELEASE SAVEPOINT job")
  }
}
