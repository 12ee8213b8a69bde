import BorealisBase
import CPostgreSQL
import Glibc

/// One connection to PostgreSQL. It connects again when a transaction begins and the connection is lost. May
/// move between threads, but only one may use it at a time.
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
  /// Milliseconds in which the server has to answer, nil for any number; those of the options unless
  /// something special is done.
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
  /// What it writes behind.
  private(set) lazy var fence = PostgresFence(of: self)
  /// Whether the server has not answered although whoever uses the connection is about to end: it is not
  /// waited for once more.
  private var isGivenUp = false
  /// What became of the begin of the transaction.
  private var opening = Opening.sent
  /// Whether the transaction could not begin because other apps than the expected ones seal their contents.
  private(set) var isOutdated = false
  /// Which apps seal their contents, for what begins a transaction to check: their numbers, as
  /// `PostgresFence` compares them. Nil for any.
  var expectedSealing: String?
  /// When the server last answered, by a clock that never jumps, in nanoseconds.
  private var answeredAt: UInt64 = 0
  /// How often something was sent and answered.
  private(set) var roundTrips = 0
  /// Whether a notice of the server says that something is not as it should be. It keeps its address for
  /// life.
  private let warning: UnsafeMutablePointer<Bool>
  var hasWarning: Bool {
    get { warning.pointee }
    set { warning.pointee = newValue }
  }

  /// The begin of a transaction that writes goes with its first statements.
  private enum Opening {
    case sent
    case waiting
    /// The server has refused it, and the transaction is over.
    case refused(StorageError)

    var isWaiting: Bool { if case .waiting = self { true } else { false } }
  }

  /// Keys of advisory locks: a server holds the first as long as it is connected, a transaction that writes
  /// the second. Homes share both with one another, and with nobody else.
  static let serverLockNumber: Int64 = 7_238_547_401
  private static let serverLock = "\(serverLockNumber)"
  /// After so many nanoseconds without an answer a connection may be lost without a sign of it.
  private static let livelyTime: UInt64 = 1_000_000_000

  /// Connects. `.io` if there is no server to connect to, `.inUse` if another server of Borealis uses the
  /// database.
  init(url: String, role: Role, _ options: PostgresOptions) throws(StorageError) {
    self.url = url
    self.role = role
    self.options = options
    patience = role == .reader && !options.isLimited ? nil : options.statementPatience
    warning = .allocate(capacity: 1)
    warning.initialize(to: false)
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
    warning.deallocate()
  }

  /// Commits nothing any more; an orderly end of a writer removes its fence.
  func close() {
    if case .refused = opening {
      postponed.removeAll()
      opening = .sent
    }
    if handle != nil, role.isFenced, !isInTransaction { fence.remove() }
    drop()
  }

  func drop() {
    postponed.removeAll()
    jobs.reset()
    opening = .sent
    if let handle { PQfinish(handle) }
    handle = nil
  }

  /// Drops the connection to a server that does not answer.
  func dropSilent() {
    if options.isEnding() { isGivenUp = true }
    drop()
  }

  // MARK: Connecting

  var isConnected: Bool { handle.map { PQstatus($0) == CONNECTION_OK } ?? false }

  /// Does something for which the server has another time to answer, in milliseconds.
  func withPatience<Value>(
    _ other: Int, _ body: () throws(StorageError) -> Value
  ) throws(StorageError) -> Value {
    let usual = patience
    patience = other
    defer { patience = usual }
    return try body()
  }

  func connect(asServer: Bool = true) throws(StorageError) {
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
      }, warning)
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
    let version = PQserverVersion(handle)
    try execute(PostgresSettings(for: role, isLimited: options.isLimited, version: version).sql)
    guard role.isFenced else { return }
    if let change = PostgresSettings.safeCommits(try value("SHOW synchronous_commit")) { try execute(change) }
    // Foreign keys are watched over by triggers. To set it takes more rights than a server needs.
    if try value("SHOW session_replication_role") != "origin" {
      try execute("SET session_replication_role = origin")
    }
    // What a lost connection left behind may still be at work.
    try endBackends(of: options.incarnation)
    try fence.expectMarks()
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

  /// Begins a transaction in which the schema is changed, for as long as that takes. Other processes that
  /// write wait, and lose their fences if the transaction is committed.
  func beginMigration() throws(StorageError) {
    patience = nil
    try execute("BEGIN")
    try fence.holdAlone()
  }

  /// Commits it, or ends it without its changes.
  func endMigration(_ word: StaticString) throws(StorageError) {
    defer { patience = options.statementPatience }
    try execute("\(word)")
  }

  // MARK: Transactions

  var isInTransaction: Bool {
    guard let handle else { return false }
    return opening.isWaiting
      || [PQTRANS_INTRANS, PQTRANS_INERROR, PQTRANS_ACTIVE].contains(PQtransactionStatus(handle))
  }

  var undoesFailedStatements: Bool { false }

  /// Whether a statement of the open transaction has failed, so that the database refuses all others.
  var isBroken: Bool { handle.map { PQtransactionStatus($0) == PQTRANS_INERROR } ?? false }

  func begin(_ access: DatabaseAccess) throws(StorageError) {
    guard !isGivenUp else { throw StorageError(.io, "the database does not answer") }
    if isConnected {
      do throws(StorageError) { return try start(access) } catch {
        // A connection that was lost meanwhile: nothing was done yet.
        guard !isConnected else { throw error }
      }
    }
    do throws(StorageError) { try connect() } catch {
      guard error.kind == .inUse else {
        dropSilent()
        throw error
      }
      throw try hasFence() ? StorageError(.io, error.message) : PostgresFence.takenOver
    }
    try start(access)
  }

  /// Whether another server that holds the database leaves this one its place; it does not for long.
  private func hasFence() throws(StorageError) -> Bool {
    try connect(asServer: false)
    defer { drop() }
    return try fence.isThere()
  }

  private func start(_ access: DatabaseAccess) throws(StorageError) {
    jobs.reset()
    // What a transaction left that did not begin.
    postponed.removeAll()
    (opening, isOutdated) = (.sent, false)
    switch access {
    case .reading: try execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    case .writing where !role.isFenced: try execute("BEGIN ISOLATION LEVEL READ COMMITTED")
    case .writing:
      // Prepared while nothing has begun.
      _ = try fence.opening(expecting: expectedSealing)
      (opening, isFresh) = (.waiting, true)
      // Whatever goes with the commit is in doubt if it is lost: what is not known to be alive is tried
      // before.
      if !isLively { _ = try send([]) }
    }
  }

  /// Whether the connection can be expected to work: the server has answered just now, and has said nothing
  /// since, as it does before it closes a connection.
  private var isLively: Bool {
    guard let handle, SystemTime().monotonic() &- answeredAt < Self.livelyTime else { return false }
    var look = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
    return poll(&look, 1, 0) == 0
  }

  /// Notes an answer of the server.
  func noteAnswer() {
    roundTrips += 1
    answeredAt = SystemTime().monotonic()
  }

  /// Returns the statements that begin the transaction, once: none if they were sent. Throws if it was
  /// refused.
  func claimOpening() throws(StorageError) -> [PreparedStatement] {
    switch opening {
    case .sent: return []
    case .refused(let error): throw error
    case .waiting:
      let statements = try fence.opening(expecting: expectedSealing)
      opening = .sent
      return statements
    }
  }

  /// Whether the transaction has not begun.
  var mustOpen: Bool { if case .sent = opening { false } else { true } }

  /// Ends the transaction because one of the statements that begin it has failed; the error for all that
  /// comes yet.
  func refuse(_ error: StorageError, at index: Int) -> StorageError {
    let (error, isOutdated) = fence.meaning(of: error, at: index)
    self.isOutdated = isOutdated
    if isInTransaction { rollBack() }
    if handle != nil { opening = .refused(error) }
    return error
  }

  /// Forgets that the transaction was to begin, or could not; false if it has begun.
  func dropOpening() -> Bool {
    if case .sent = opening { return false }
    opening = .sent
    return true
  }

  /// Sends statements behind all that waits, and ends the transaction. Throws only if nothing is stored.
  func end(with statements: [PreparedStatement]) throws(StorageError) {
    guard !role.isFenced else { return try fence.commit(statements) }
    if !statements.isEmpty { _ = try send(statements) }
    try execute("COMMIT")
  }

  func commit() throws(StorageError) { _ = try jobs.commit() }
}
