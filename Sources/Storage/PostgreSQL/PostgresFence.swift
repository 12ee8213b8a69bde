import BorealisBase
import CPostgreSQL
import Glibc

/// What keeps a process that another one has replaced from writing, and tells afterwards whether a
/// transaction was committed: a row that each transaction locks at its begin, and one that it leaves at its
/// end.
final class PostgresFence {
  private unowned let connection: PostgresConnection
  private let role: PostgresRole
  private let options: PostgresOptions
  /// Transactions that this process has tried to commit.
  private var marks: Int64 = 0
  /// The last of them that is known to be committed; nil without a fence. It, or a later one, is there for
  /// good.
  private var confirmed: Int64?
  /// Statements that begin a transaction, and fail if the fence is gone.
  private let beginning: [PostgresStatement]
  private let expecting: PostgresStatement
  private let marking: PostgresStatement
  private let sweeping: PostgresStatement
  private let committing: PostgresStatement

  /// Old marks are deleted after as many new ones.
  private static let marksKept: Int64 = 1000
  /// What a transaction that writes holds, besides its fence.
  private static let writeLock = "7238547402"

  init(of connection: PostgresConnection) {
    self.connection = connection
    (role, options) = (connection.role, connection.options)
    func statement(_ sql: String) -> PostgresStatement { PostgresStatement(sql, of: connection) }
    let own = Self.own(options)
    beginning = [
      "BEGIN ISOLATION LEVEL READ COMMITTED",
      // Statements of their own: what is read behind the lock is as it was left by those who held it.
      "SELECT pg_advisory_xact_lock\(role.shares)(\(Self.writeLock))",
      "SELECT 1 / count(*) FROM (SELECT 1 FROM fence WHERE \(own) FOR SHARE) AS own",
    ].map(statement)
    expecting = statement(
      """
      SELECT 1 / CASE WHEN coalesce(string_agg(id::text, ',' ORDER BY id), '') = $1 THEN 1 ELSE 0 END
      FROM app WHERE seals_contents = 1
      """)
    marking = statement("INSERT INTO commit_mark VALUES (\(options.incarnation), 0, $1)")
    sweeping = statement("DELETE FROM commit_mark WHERE \(own) AND number < $1")
    committing = statement("COMMIT")
  }

  /// A condition for the rows of this process.
  private static func own(_ options: PostgresOptions) -> String {
    "incarnation = \(options.incarnation) AND connection = 0"
  }

  private var own: String { Self.own(options) }

  /// Whether it was raised.
  var isRaised: Bool { confirmed != nil }

  // MARK: Raising it

  /// Makes the fence of this process. A server deletes those of all others, which cannot commit any more
  /// then; a home deletes those that a server or a command has left behind, and that of the home that it
  /// replaces. `.inUse` if another home has its slot.
  func raise() throws(StorageError) {
    // The schema that a server or a command finds may be older than slots are.
    var (columns, values) = ("incarnation, connection", "\(options.incarnation), 0")
    var others = ""
    if role.serves {
      others = """
        DELETE FROM commit_mark
          WHERE NOT EXISTS (SELECT 1 FROM fence WHERE fence.incarnation = commit_mark.incarnation);
        DELETE FROM fence
        """
    }
    if case .home(let slot) = role {
      (columns, values) = (columns + ", slot", values + ", \(slot.rawValue)")
      // No server is there, and a command that is connected goes on: homes and it do not disturb each other.
      others += """
         WHERE incarnation = \(options.replaces ?? -1) OR slot IS NULL AND NOT EXISTS (
          SELECT 1 FROM pg_stat_activity
            WHERE application_name = 'borealis/' || fence.incarnation AND datname = current_database())
        """
    }
    do throws(StorageError) {
      try connection.execute(
        """
        BEGIN; SELECT pg_advisory_xact_lock(\(Self.writeLock)); \(others);
        INSERT INTO fence (\(columns)) VALUES (\(values));
        INSERT INTO commit_mark VALUES (\(options.incarnation), 0, 0); COMMIT
        """)
    } catch {
      connection.rollBack()
      guard case .home(let slot) = role, error.message.hasSuffix("(23505)") else { throw error }
      throw StorageError(.inUse, "another home gives message IDs of the slot \(slot.rawValue)")
    }
    confirmed = 0
  }

  /// Removes it, at an orderly end.
  func remove() {
    try? connection.execute("DELETE FROM fence WHERE \(own)", within: PostgresPatience.ending)
  }

  /// Takes the database for a transaction that has begun in another way than usual, which takes the fences of
  /// all others away.
  func holdAlone() throws(StorageError) {
    try connection.execute(
      "SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(\(Self.writeLock))")
    guard isRaised else { return }
    try connection.execute(
      """
      SELECT 1 / count(*) FROM (SELECT 1 FROM fence WHERE \(own) FOR SHARE) AS own;
      DELETE FROM fence WHERE NOT (\(own))
      """)
  }

  /// Whether it is there, for a connection that was just made.
  func isThere() throws(StorageError) -> Bool {
    try connection.value("SELECT count(*) FROM fence WHERE \(own)") == "1"
  }

  /// Fails if transactions are gone that were committed: a standby that lagged behind has become the primary,
  /// or a backup was restored. What the program has in memory rests on them.
  func expectMarks() throws(StorageError) {
    guard let confirmed else { return }
    let isThere = try connection.value(
      """
      SELECT EXISTS (SELECT 1 FROM commit_mark WHERE \(own) AND number >= \(confirmed))
        OR NOT EXISTS (SELECT 1 FROM fence WHERE \(own))
      """)
    guard isThere != "t" else { return }
    throw StorageError(.commitsLost, "the database has lost transactions that it had confirmed")
  }

  // MARK: Transactions

  /// The error of those whose fence is gone.
  static var takenOver: StorageError {
    StorageError(.takenOver, "another server has taken over the database")
  }

  /// What begins a transaction. One of these fails if the fence is gone, or if the apps that seal contents
  /// are not the expected ones.
  func opening(expecting apps: String?) throws(StorageError) -> [PreparedStatement] {
    var statements: [PreparedStatement] = []
    for statement in beginning { statements.append(try statement.prepared([])) }
    if let apps { statements.append(try expecting.prepared([.text(apps)])) }
    return statements
  }

  /// What it means that one of them has failed.
  func meaning(of error: StorageError, at index: Int) -> (error: StorageError, isOutdated: Bool) {
    guard error.message.hasSuffix("(22012)") else { return (error, false) }
    return index < beginning.count ? (Self.takenOver, false) : (error, true)
  }

  /// Has statements carried out behind all that waits, and what ends the transaction behind them: the mark
  /// and COMMIT. Throws only if nothing is stored. An error of a statement leaves the transaction open; none
  /// of those behind it was carried out.
  func commit(_ statements: [PreparedStatement]) throws(StorageError) {
    marks += 1
    let number = marks
    var closing = [try marking.prepared([.integer(number)]), try committing.prepared([])]
    if number % Self.marksKept == 0 { closing.insert(try sweeping.prepared([.integer(number)]), at: 0) }
    connection.hasWarning = false
    do throws(StorageError) {
      let ended = try connection.send(statements + closing, closing: closing.count).last
      // What has failed before is rolled back without an error.
      guard ended?.isCommit == true else {
        throw StorageError(.other, "the transaction was rolled back")
      }
    } catch {
      guard !connection.isConnected else { throw error }
      return try resolve(number, error)
    }
    guard !connection.hasWarning else {
      return try resolve(number, StorageError(.io, "a commit was interrupted"))
    }
    confirmed = number
  }

  // MARK: Doubt

  /// Finds out whether the transaction with a mark was committed, however long that takes, and throws if it
  /// was not.
  private func resolve(_ number: Int64, _ cause: StorageError) throws(StorageError) {
    // A new connection for the next transaction, which also becomes the server again.
    defer {
      connection.drop()
      options.onDoubt(nil)
    }
    options.onDoubt(cause)
    while true {
      let isStored: Bool?
      do throws(StorageError) {
        // Ends what the old connection left behind.
        try connection.connect(asServer: false)
        isStored = try isCommitted(number)
      } catch {
        guard error.kind != .commitsLost else { throw error }
        guard !options.isEnding() else {
          throw .inDoubt(.io, "it is unknown whether the transaction was committed: \(cause.message)")
        }
        usleep(200_000)
        continue
      }
      guard let isStored else {
        throw .inDoubt(
          .takenOver,
          "another server has taken over the database, and it is unknown whether the transaction was committed: \(cause.message)"
        )
      }
      guard isStored else { throw StorageError(.io, "the transaction was not committed: \(cause.message)") }
      return
    }
  }

  /// Whether the transaction with a mark is committed, and stays so. Nil if nobody knows: a mark without a
  /// fence is deleted when servers start.
  private func isCommitted(_ number: Int64) throws(StorageError) -> Bool? {
    try connection.withPatience(PostgresPatience.session) { () throws(StorageError) -> Bool? in
      // A backend that still commits holds its share of the fence; its mark is not to be seen until it is
      // done.
      try connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
      let hasFence =
        try connection.value("SET LOCAL lock_timeout = '2s'; SELECT 1 FROM fence WHERE \(own) FOR UPDATE")
        == "1"
      let isThere =
        try connection.value("SELECT count(*) FROM commit_mark WHERE \(own) AND number = \(number)") == "1"
      guard hasFence || isThere else {
        connection.rollBack()
        return nil
      }
      marks += 1
      connection.hasWarning = false
      // Once this one has reached the standbys, so has all before it.
      try connection.execute(
        "INSERT INTO commit_mark VALUES (\(options.incarnation), 0, \(marks)); COMMIT",
        within: options.commitPatience)
      guard !connection.hasWarning else { throw StorageError(.io, "a commit was interrupted") }
      confirmed = marks
      return isThere
    }
  }
}
