import CPostgreSQL
import Glibc
import PushBase

/// One connection to PostgreSQL. It connects again when a transaction begins and the connection is lost. May move between threads,
/// but only one may use it at a time.
final class PostgresConnection: DatabaseConnection {
  typealias Role = PostgresRole

  let role: Role
  private let url: String
  let options: PostgresOptions
  /// Nil without a connection.
  private(set) var handle: OpaquePointer?
  /// How often it has connected: prepared statements end with a connection.
  private(set) var generation = 0
  var changes = 0
  /// Milliseconds in which the server has to answer, nil for any number; those of the options unless something special is done.
  private(set) var patience: Int?
  /// Statements that are sent with the next one.
  var postponed: [PreparedStatement] = []
  /// What jobs have left, to be sent after that.
  private(set) lazy var jobs = PostgresJobs(of: self)
  /// Whether nothing was done yet in the open transaction.
  var isFresh = false
  /// Names of statements that were given.
  var names = 0
  /// The connection that held the database against this server, and when it last did something.
  private var holder: String?
  /// Transactions that this connection has tried to commit.
  private var marks: Int64 = 0
  /// The last of them that is known to be committed; nil without a fence. It, or a later one, is there for good.
  private var confirmed: Int64?
  /// Whether a notice of the server says that something is not as it should be. It keeps its address for life.
  private let hasWarning: UnsafeMutablePointer<Bool>

  /// Keys of advisory locks: a server holds the first as long as it is connected, a transaction that writes the second. Homes share
  /// both with one another, and with nobody else.
  static let serverLockNumber: Int64 = 7_238_547_401
  private static let serverLock = "\(serverLockNumber)"
  private static let writeLock = "7238547402"
  /// Old marks are deleted after as many new ones.
  private static let marksKept: Int64 = 1000

  /// Connects. `.io` if there is no server to connect to, `.inUse` if another server of Borealis uses the database.
  init(url: String, role: Role, _ options: PostgresOptions) throws(StorageError) {
    self.url = url
    self.role = role
    self.options = options
    patience = role == .reader && !options.isLimited ? nil : options.statementPatience
    hasWarning = .allocate(capacity: 1)
    hasWarning.initialize(to: false)
    let start = SystemTime().monotonic()
    var seen: String?
    while true {
      let failure: StorageError
      do throws(StorageError) {
        try connect()
        return
      } catch { failure = error }
      var patience = options.patience
      if failure.kind == .inUse, patience > 0 {
        seen = seen ?? holder
        patience = holder == nil || seen == holder ? PostgresPatience.taken : PostgresPatience.busy
      }
      let waited = (SystemTime().monotonic() &- start) / 1_000_000
      guard waited < patience, failure.kind == .io || failure.kind == .inUse, !options.isEnding() else {
        throw failure
      }
      usleep(100_000)
    }
  }

  deinit {
    close()
    hasWarning.deallocate()
  }

  /// Commits nothing any more; an orderly end of a writer removes its fence.
  func close() {
    if handle != nil, role.isFenced, !isInTransaction {
      try? execute("DELETE FROM fence WHERE \(own)", within: PostgresPatience.ending)
    }
    drop()
  }

  func drop() {
    postponed.removeAll()
    jobs.reset()
    if let handle { PQfinish(handle) }
    handle = nil
  }

  // MARK: Connecting

  var isConnected: Bool { handle.map { PQstatus($0) == CONNECTION_OK } ?? false }

  /// A condition for the rows of this connection.
  private var own: String { "incarnation = \(options.incarnation) AND connection = 0" }

  private func connect(asServer: Bool = true) throws(StorageError) {
    drop()
    generation += 1
    // What stands before the URL may be overridden by it.
    let parameters = [
      ("connect_timeout", "2"), ("tcp_user_timeout", "5000"), ("keepalives_idle", "5"),
      ("keepalives_interval", "2"), ("keepalives_count", "3"),
      // A standby lags behind, also for those who only read.
      ("target_session_attrs", "primary"), ("dbname", url),
      ("client_encoding", "UTF8"),
      ("application_name", role.isFenced ? "borealis/\(options.incarnation)" : "borealis"),
    ]
    let names = parameters.map { strdup($0.0) }
    let values = parameters.map { strdup($0.1) }
    defer { for text in names + values { free(text) } }
    let opened = PQconnectdbParams(
      names.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 1)
    guard let opened else { throw StorageError(.io, "no memory for a connection") }
    guard PQstatus(opened) == CONNECTION_OK else {
      defer { PQfinish(opened) }
      throw StorageError(.io, Self.line(PQerrorMessage(opened)))
    }
    handle = opened
    PQsetnonblocking(opened, 1)
    PQsetNoticeReceiver(
      opened,
      { context, result in
        guard let severity = PQresultErrorField(result, Int32(UInt8(ascii: "V"))) else { return }
        if strcmp(severity, "WARNING") == 0 { context?.assumingMemoryBound(to: Bool.self).pointee = true }
      }, hasWarning)
    do throws(StorageError) { try prepareSession(asServer: asServer) } catch {
      drop()
      throw error
    }
  }

  private func prepareSession(asServer: Bool) throws(StorageError) {
    let usual = patience
    patience = PostgresPatience.session
    defer { patience = usual }
    guard let handle, PQserverVersion(handle) >= 140_000 else {
      throw StorageError(.other, "PostgreSQL 14 or later is needed")
    }
    guard try value("SHOW server_encoding") == "UTF8" else {
      throw StorageError(.other, "the database must have the encoding UTF8")
    }
    try execute("SET standard_conforming_strings = on; SET jit = off")
    switch role {
    case .reader: return try execute("SET statement_timeout = '\(options.isLimited ? "60s" : "0")'")
    case .node:
      // That a node is alive does not depend on standbys.
      return try execute(
        """
        SET idle_in_transaction_session_timeout = '5s'; SET lock_timeout = '1s'; SET statement_timeout = '2s';
        SET default_transaction_read_only = off; SET synchronous_commit = local
        """)
    case .writer, .server, .home: break
    }
    // Who stands still inside a transaction, or is gone, must not hold up others. But what is to be written is never cancelled.
    try execute(
      """
      SET idle_in_transaction_session_timeout = '5s'; SET lock_timeout = '10s'; SET statement_timeout = 0;
      SET default_transaction_read_only = off;
      SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3;
      SET tcp_user_timeout = '10s'
      """)
    let commits = try value("SHOW synchronous_commit")
    if commits == "off" { try execute("SET synchronous_commit = on") }
    // What a lost connection left behind may still be at work.
    try endBackends(of: options.incarnation)
    try expectMarks()
    guard role.serves, asServer else { return }
    if let replaced = options.replaces { try endBackends(of: replaced) }
    guard try value("SELECT pg_try_advisory_lock\(role.shares)(\(Self.serverLock))") == "t" else {
      holder = try value(
        """
        SELECT pid || ' ' || coalesce(state_change::text, '') FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE locktype = 'advisory' AND (classid::bigint << 32) + objid::bigint = \(Self.serverLock) AND objsubid = 1
          AND datname = current_database()
        """)
      throw StorageError(.inUse, "another server uses the database")
    }
  }

  /// Fails if transactions are gone that were committed: a standby that lagged behind has become the primary, or a backup was
  /// restored. What the program has in memory rests on them.
  private func expectMarks() throws(StorageError) {
    guard let confirmed else { return }
    let isThere = try value(
      """
      SELECT EXISTS (SELECT 1 FROM commit_mark WHERE \(own) AND number >= \(confirmed))
        OR NOT EXISTS (SELECT 1 FROM fence WHERE \(own))
      """)
    guard isThere != "t" else { return }
    throw StorageError(.commitsLost, "the database has lost transactions that it had confirmed")
  }

  /// Makes the fence of this process. A server deletes those of all others, which cannot commit any more then; a home deletes those
  /// of commands, and of the home that it replaces. `.inUse` if another home has its slot.
  func raiseFence() throws(StorageError) {
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
      others += " WHERE slot IS NULL OR incarnation = \(options.replaces ?? -1)"
    }
    do throws(StorageError) {
      try execute(
        """
        BEGIN; SELECT pg_advisory_xact_lock(\(Self.writeLock)); \(others);
        INSERT INTO fence (\(columns)) VALUES (\(values));
        INSERT INTO commit_mark VALUES (\(options.incarnation), 0, 0); COMMIT
        """)
    } catch {
      rollBack()
      guard case .home(let slot) = role, error.message.hasSuffix("(23505)") else { throw error }
      throw StorageError(.inUse, "another home gives message IDs of the slot \(slot.rawValue)")
    }
    confirmed = 0
  }

  /// Begins a transaction in which the schema is changed, for as long as that takes. Other processes that write wait, and lose their
  /// fences if the transaction is committed.
  func beginMigration() throws(StorageError) {
    patience = nil
    try execute(
      "BEGIN; SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(\(Self.writeLock))")
    guard confirmed != nil else { return }
    try execute(
      """
      SELECT 1 / count(*) FROM (SELECT 1 FROM fence WHERE \(own) FOR SHARE) AS own;
      DELETE FROM fence WHERE NOT (\(own))
      """)
  }

  /// Commits it, or ends it without its changes.
  func endMigration(_ word: StaticString) throws(StorageError) {
    defer { patience = options.statementPatience }
    try execute("\(word)")
  }

  // MARK: Transactions

  var isInTransaction: Bool {
    guard let handle else { return false }
    return [PQTRANS_INTRANS, PQTRANS_INERROR, PQTRANS_ACTIVE].contains(PQtransactionStatus(handle))
  }

  var undoesFailedStatements: Bool { false }

  /// Whether a statement of the open transaction has failed, so that the database refuses all others.
  var isBroken: Bool { handle.map { PQtransactionStatus($0) == PQTRANS_INERROR } ?? false }

  func begin(_ access: DatabaseAccess) throws(StorageError) {
    if isConnected {
      do throws(StorageError) { return try start(access) } catch {
        // A connection that was lost meanwhile: nothing was done yet.
        guard !isConnected else { throw error }
      }
    }
    do throws(StorageError) { try connect() } catch {
      guard error.kind == .inUse else { throw error }
      throw try hasFence() ? StorageError(.io, error.message) : Self.takenOver
    }
    try start(access)
  }

  private static var takenOver: StorageError {
    StorageError(.takenOver, "another server has taken the database over")
  }

  /// Whether another server that holds the database leaves this one its place; it does not for long.
  private func hasFence() throws(StorageError) -> Bool {
    try connect(asServer: false)
    defer { drop() }
    return try value("SELECT count(*) FROM fence WHERE \(own)") == "1"
  }

  private func start(_ access: DatabaseAccess) throws(StorageError) {
    jobs.reset()
    switch access {
    case .reading: try execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    case .writing where !role.isFenced: try execute("BEGIN ISOLATION LEVEL READ COMMITTED")
    case .writing:
      do throws(StorageError) {
        try execute(
          """
          BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock\(role.shares)(\(Self.writeLock));
          SELECT 1 / count(*) FROM (SELECT 1 FROM fence WHERE \(own) FOR SHARE) AS own
          """)
      } catch {
        rollBack()
        guard error.message.hasSuffix("(22012)") else { throw error }
        throw Self.takenOver
      }
      isFresh = true
    }
  }

  func commit() throws(StorageError) {
    try settle()
    guard !jobs.isSpoiled else { throw StorageError(.other, "the transaction lacks rows") }
    guard role.isFenced else { return try execute("COMMIT") }
    marks += 1
    let number = marks
    let sweep =
      number % Self.marksKept == 0 ? "DELETE FROM commit_mark WHERE \(own) AND number < \(number);" : ""
    hasWarning.pointee = false
    do throws(StorageError) {
      let ended = try request(within: options.commitPatience) {
        PQsendQuery(
          $0, "\(sweep)INSERT INTO commit_mark VALUES (\(options.incarnation), 0, \(number)); COMMIT")
      }
      defer { PQclear(ended) }
      // What has failed before is rolled back without an error.
      guard strcmp(PQcmdStatus(ended), "COMMIT") == 0 else {
        throw StorageError(.other, "the transaction was rolled back")
      }
    } catch {
      guard !isConnected else { throw error }
      return try resolve(number, error)
    }
    guard !hasWarning.pointee else {
      return try resolve(number, StorageError(.io, "a commit was interrupted"))
    }
    confirmed = number
  }

  /// Finds out whether the transaction with a mark was committed, however long that takes, and throws if it was not.
  private func resolve(_ number: Int64, _ cause: StorageError) throws(StorageError) {
    // A new connection for the next transaction, which also becomes the server again.
    defer {
      drop()
      options.onDoubt(nil)
    }
    options.onDoubt(cause)
    while true {
      let isStored: Bool?
      do throws(StorageError) {
        // Ends what the old connection left behind.
        try connect(asServer: false)
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
          "another server has taken the database over, and it is unknown whether the transaction was committed: \(cause.message)"
        )
      }
      guard isStored else { throw StorageError(.io, "the transaction was not committed: \(cause.message)") }
      return
    }
  }

  /// Whether the transaction with a mark is committed, and stays so. Nil if nobody knows: a mark without a fence is deleted when servers
  /// start.
  private func isCommitted(_ number: Int64) throws(StorageError) -> Bool? {
    let usual = patience
    patience = PostgresPatience.session
    defer { patience = usual }
    // A backend that still commits holds its share of the fence; its mark is not to be seen until it is done.
    try execute("BEGIN ISOLATION LEVEL READ COMMITTED")
    let hasFence =
      try value("SET LOCAL lock_timeout = '2s'; SELECT 1 FROM fence WHERE \(own) FOR UPDATE") == "1"
    let isThere =
      try value("SELECT count(*) FROM commit_mark WHERE \(own) AND number = \(number)") == "1"
    guard hasFence || isThere else {
      rollBack()
      return nil
    }
    marks += 1
    hasWarning.pointee = false
    // Once this one has reached the standbys, so has all before it.
    try execute(
      "INSERT INTO commit_mark VALUES (\(options.incarnation), 0, \(marks)); COMMIT",
      within: options.commitPatience)
    guard !hasWarning.pointee else { throw StorageError(.io, "a commit was interrupted") }
    confirmed = marks
    return isThere
  }
}
