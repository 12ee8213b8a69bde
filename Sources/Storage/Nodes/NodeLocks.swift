/// The advisory locks by which nodes see one another in the database: each node holds its own as long as its
/// connection lasts.
struct NodeLocks {
  /// First number of the lock of each node; the second one is its incarnation.
  private static let nodes = 72_385_474
  /// The same of nodes that can be the home of some apps beside other homes.
  private static let spreading = 72_385_475

  /// What a node holds while it gets its place.
  private static let registration: Int64 = 72_385_476

  let database: Database

  /// Lets no other node get a place until the transaction ends.
  func beginRegistration() throws(StorageError) {
    try database.run("SELECT pg_advisory_xact_lock(?)", .integer(Self.registration))
  }

  /// Ends the connection on which a node holds its lock, with its transaction.
  func endConnection(of incarnation: Int64) throws(StorageError) {
    let node: Int64 = incarnation & 0xffff_ffff
    try database.run(
      """
      SELECT pg_terminate_backend(pid, 1000) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
        WHERE locktype = 'advisory' AND granted AND datname = current_database() AND objsubid = 2
          AND CAST(classid AS bigint) = ? AND CAST(objid AS bigint) = ? AND pid <> pg_backend_pid()
      """, .integer(Self.nodes), .integer(node))
  }

  /// Acquires the locks of a node until this connection ends.
  func acquire(for incarnation: Int64, spreadsApps: Bool) throws(StorageError) {
    for kind in spreadsApps ? [Self.nodes, Self.spreading] : [Self.nodes] {
      try database.run(
        "SELECT pg_try_advisory_lock(CAST(? AS integer), CAST(? AS integer))", .integer(kind),
        .integer(Int32(truncatingIfNeeded: incarnation)))
    }
  }

  /// The low 32 bits of the incarnations of nodes that are connected, and of those of them that can be the
  /// home of some apps.
  func held() throws(StorageError) -> (connected: Set<Int64>, spreading: Set<Int64>) {
    let locks = try database.all(
      """
      SELECT CAST(classid AS bigint) AS kind, CAST(objid AS bigint) AS node
        FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
        WHERE locktype = 'advisory' AND granted AND datname = current_database() AND objsubid = 2
          AND CAST(classid AS bigint) IN (?, ?)
      """, .integer(Self.nodes), .integer(Self.spreading)
    ) { (kind: $0.count("kind"), node: $0.integer("node")) }
    return (
      Set(locks.filter { $0.kind == Self.nodes }.map(\.node)),
      Set(locks.filter { $0.kind == Self.spreading }.map(\.node))
    )
  }

  /// Whether a node is connected.
  func isHeld(of incarnation: Int64) throws(StorageError) -> Bool {
    try isHeld(Int64(Self.nodes), incarnation & 0xffff_ffff, words: 2)
  }

  /// Whether no server holds the database.
  func isFree() throws(StorageError) -> Bool {
    let number = PostgresConnection.serverLockNumber
    return try !isHeld(number >> 32, number & 0xffff_ffff, words: 1)
  }

  /// Whether somebody holds an advisory lock of this database; one of two words has two numbers, one of one
  /// word has its halves.
  private func isHeld(_ high: Int64, _ low: Int64, words: Int64) throws(StorageError) -> Bool {
    let held = try database.first(
      """
      SELECT count(*) AS held FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
        WHERE locktype = 'advisory' AND granted AND datname = current_database() AND objsubid = ?
          AND CAST(classid AS bigint) = ? AND CAST(objid AS bigint) = ?
      """, .integer(words), .integer(high), .integer(low)
    ) { $0.count("held") }
    return held ?? 0 > 0
  }
}
