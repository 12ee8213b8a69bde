import BorealisBase
import Glibc
import Synchronization

/// A node's place in its cluster's database, on a connection of its own without a fence: it writes rows of
/// nodes, takes the fences of dead ones away, and writes nothing else. All functions wait for the database,
/// some seconds at most. Safe to use from any thread.
package final class NodeRegistry: Sendable {
  /// Why a node cannot have a place.
  package enum Problem: Error, Sendable {
    /// The database fails.
    case storage(StorageError)
    /// Another node has the name, and is alive; with its address.
    case nameInUse(address: String)
    /// A node that is alive belongs to a cluster of another name.
    case otherCluster(String)
  }

  /// What a node tells of itself.
  package struct Node: Sendable {
    let cluster: String
    let name: String
    let address: String
    let version: String
    let spreadsApps: Bool

    /// All fields; `address` is `HOST:PORT`, and `spreadsApps` says that it can be the home of some apps
    /// beside other homes.
    package init(
      cluster: String, name: String, address: String, version: String, spreadsApps: Bool = false
    ) {
      self.cluster = cluster
      self.name = name
      self.address = address
      self.version = version
      self.spreadsApps = spreadsApps
    }
  }

  /// The connection, and what belongs to it.
  private struct Session {
    let database: Database
    /// The node whose lock is held, and on which connection of the database.
    var locked: (incarnation: Int64, generation: Int)?
    /// Whether the node can be the home of some apps beside other homes.
    var spreadsApps = false
    /// What the database has of the nodes that this one reaches.
    var reaches: Set<Int64>?
  }

  /// Nanoseconds after which a node whose beat stands still is taken for dead.
  package static let deadAfter: UInt64 = 6_000_000_000
  /// The same for one that has no connection to the database any more.
  package static let lostAfter: UInt64 = 2_500_000_000

  private let session: Mutex<Session>

  /// Connects to a database of PostgreSQL, and tries that again for some milliseconds. `.io` if it cannot be
  /// reached.
  package init(_ location: DatabaseLocation, patience: Int = 10_000) throws(StorageError) {
    session = Mutex(Session(database: try Self.connect(location, patience), locked: nil))
  }

  private static func connect(
    _ location: DatabaseLocation, _ patience: Int
  ) throws(StorageError) -> sending Database {
    guard case .postgres(let url) = location else {
      throw StorageError(.other, "nodes share a database of PostgreSQL")
    }
    var options = PostgresOptions()
    options.patience = patience
    options.statementPatience = 2_000
    return Database(try PostgresConnection(url: url, role: .node, options))
  }

  // MARK: The schema

  /// Whether the database has a place for nodes, and names the secret key that a server has to have.
  package func isPrepared() throws(StorageError) -> Bool {
    try use { database, _ throws(StorageError) in
      let isThere = try database.first("SELECT to_regclass('home') IS NOT NULL AS is_there") {
        $0.bool("is_there")
      }
      guard isThere == true else { return false }
      return try !ReadTransaction(database).credentials.allSealed().isEmpty
    }
  }

  /// Fails if the database has a schema that this program does not know, so that it cannot be its server.
  package func expectKnownSchema() throws(StorageError) {
    try use { database, _ throws(StorageError) in
      _ = try Migrator.verify(database, against: DatabaseLocation.postgres(url: "").migrations)
    }
  }

  /// Whether the database has this program's schema, or an older one. Fails if it has one that this program
  /// does not know.
  package func isCurrent() throws(StorageError) -> Bool {
    let migrations = DatabaseLocation.postgres(url: "").migrations
    return try use { database, _ throws(StorageError) in
      try Migrator.verify(database, against: migrations) == migrations.count
    }
  }

  /// All that is sealed, to learn with which keys.
  package func sealed() throws(StorageError) -> [[UInt8]] {
    try use { database, _ throws(StorageError) in try ReadTransaction(database).credentials.allSealed() }
  }

  /// What tells this database from others for as long as it exists: the key of its first account, which
  /// nobody can change or delete.
  package func databaseID() throws(StorageError) -> String {
    try use { database, _ throws(StorageError) in
      try database.first("SELECT dev_key FROM account ORDER BY id LIMIT 1") { $0.text("dev_key") } ?? ""
    }
  }

  // MARK: Nodes

  /// Gives a node a place; gives its incarnation. Waits some seconds for the end of another node of the same
  /// name, or of another cluster, that may be dead. `clock` has to count while the machine is suspended.
  package func register(
    _ node: Node, at now: Timestamp, clock: () -> UInt64
  ) throws(Problem) -> Int64 {
    var seen: [Int64: (beat: Int64, since: UInt64)] = [:]
    while true {
      let attempt: Attempt
      do throws(StorageError) { attempt = try register(node, at: now) } catch { throw .storage(error) }
      switch attempt {
      case .registered(let incarnation): return incarnation
      case .hindered(let other, let problem, let isConnected):
        let moment = clock()
        let last = seen[other.incarnation] ?? (other.beat, moment)
        seen[other.incarnation] = last
        guard last.beat == other.beat else { throw problem }
        if moment &- last.since > (isConnected ? Self.deadAfter : Self.lostAfter) {
          do throws(StorageError) { _ = try remove(other, seenAt: now) } catch { throw .storage(error) }
        }
        usleep(200_000)
      }
    }
  }

  private enum Attempt {
    case registered(Int64)
    case hindered(by: NodeRow, Problem, isConnected: Bool)
  }

  private func register(_ node: Node, at now: Timestamp) throws(StorageError) -> Attempt {
    try change { database, session throws(StorageError) in
      // One after the other: two clusters could begin at once. Beats of others do not wait for a node that is
      // slow.
      try NodeLocks(database: database).beginRegistration()
      let other = try database.first(
        """
        SELECT incarnation, name, address, version, is_draining, beat, started_at, cluster FROM node
          WHERE name = ?1 OR cluster <> ?2 ORDER BY incarnation LIMIT 1
        """, .text(node.name), .text(node.cluster)
      ) { (NodeRow($0), cluster: $0.text("cluster")) }
      if let (row, cluster) = other {
        return .hindered(
          by: row, cluster == node.cluster ? .nameInUse(address: row.address) : .otherCluster(cluster),
          isConnected: try NodeLocks(database: database).isHeld(of: row.incarnation))
      }
      let incarnation = try database.insert(
        """
        INSERT INTO node (cluster, name, address, version, started_at) VALUES (?, ?, ?, ?, ?)
          RETURNING incarnation
        """, .text(node.cluster), .text(node.name), .text(node.address), .text(node.version),
        .integer(now.milliseconds))
      (session.spreadsApps, session.reaches) = (node.spreadsApps, nil)
      let dead = DeadNodes(database: database)
      if try dead.isThere() {
        try database.run(
          "UPDATE node SET capabilities = ? WHERE incarnation = ?",
          .integer(NodeCapabilities.own.rawValue), .integer(incarnation))
        try dead.forget(node.name)
      }
      try Self.lock(incarnation, &session)
      return .registered(incarnation)
    }
  }

  /// What the database knows of the cluster; nil if the node is not among those that are alive. `beats` also
  /// shows that it is alive, and `reaches` tells which nodes it reaches.
  package func look(
    as incarnation: Int64, beats: Bool, reaches: Set<Int64>? = nil
  ) throws(StorageError) -> ClusterView? {
    try change { database, session throws(StorageError) in
      try Self.lock(incarnation, &session)
      if beats {
        try database.run("UPDATE node SET beat = beat + 1 WHERE incarnation = ?", .integer(incarnation))
      }
      if let reaches, reaches != session.reaches, try DeadNodes(database: database).isThere() {
        try database.run(
          "UPDATE node SET reaches = ? WHERE incarnation = ?", .text(NodeRow.text(reaches)),
          .integer(incarnation))
        session.reaches = reaches
      }
      let view = try Self.view(of: database)
      return view.nodes.contains { $0.incarnation == incarnation } ? view : nil
    }
  }

  /// What the database knows of the cluster, for those who are no node; nil if it has no place for nodes.
  package func look() throws(StorageError) -> ClusterView? {
    try use { database, _ throws(StorageError) in
      let isThere = try database.first("SELECT to_regclass('node') IS NOT NULL AS is_there") {
        $0.bool("is_there")
      }
      return isThere == true ? try Self.view(of: database) : nil
    }
  }

  private static func view(of database: Database) throws(StorageError) -> ClusterView {
    let locks = NodeLocks(database: database)
    let (connected, spreading) = try locks.held()
    // Older schemas lack some columns. A home's fence has the number of its node.
    let homes = Set(
      try database.all("SELECT incarnation FROM fence WHERE to_jsonb(fence) ->> 'slot' IS NOT NULL") {
        $0.integer("incarnation")
      })
    let nodes = try database.all(
      """
      SELECT incarnation, name, address, version, is_draining, beat, started_at,
          coalesce(CAST(to_jsonb(node) ->> 'capabilities' AS bigint), 0) AS capabilities,
          to_jsonb(node) ->> 'reaches' AS reaches
        FROM node ORDER BY incarnation
      """
    ) { row in
      var node = NodeRow(row)
      node.capabilities = NodeCapabilities(rawValue: row.integer("capabilities"))
      node.reaches = row.isNull("reaches") ? nil : NodeRow.nodes(row.text("reaches"))
      node.isConnected = connected.contains(node.incarnation & 0xffff_ffff)
      node.isHome = homes.contains(node.incarnation)
      node.spreadsApps = node.isHome || spreading.contains(node.incarnation & 0xffff_ffff)
      return node
    }
    let home = try database.first("SELECT incarnation, epoch, fence FROM home WHERE app_id = 0") {
      HomeRow(
        incarnation: $0.integer("incarnation"), epoch: $0.integer("epoch"), fence: $0.integer("fence"))
    }
    return ClusterView(nodes: nodes, home: home, isFree: try locks.isFree())
  }

  /// Tells that a node is about to end.
  package func setDraining(_ incarnation: Int64) throws(StorageError) {
    try change { database, _ throws(StorageError) in
      try database.run("UPDATE node SET is_draining = 1 WHERE incarnation = ?", .integer(incarnation))
    }
  }

  /// Asks a node to end in an orderly way; it looks each second whether it is asked. False if there is no
  /// node of this name.
  package func askToDrain(_ name: String) throws(StorageError) -> Bool {
    try change { database, _ throws(StorageError) in
      try database.run("UPDATE node SET is_draining = 1 WHERE name = ?", .text(name))
      return database.changes > 0
    }
  }

  /// Removes a node whose beat stands still since a moment; false if it has moved.
  package func remove(_ node: NodeRow, seenAt: Timestamp) throws(StorageError) -> Bool {
    try change { database, _ throws(StorageError) in
      // One whose row is locked is about to move: nobody waits for it, since that would stop this node's own
      // beat.
      try database.run(
        """
        DELETE FROM node WHERE incarnation IN (
          SELECT incarnation FROM node WHERE incarnation = ? AND beat = ? FOR UPDATE SKIP LOCKED)
        """, .integer(node.incarnation), .integer(node.beat))
      guard database.changes > 0 else { return false }
      try DeadNodes(database: database).note(node, seenAt)
      return true
    }
  }

  /// Removes a node that others do not reach, though it shows signs of life; false if it is gone already, if
  /// `own` has no place any more, or if `judges` finds in what the nodes tell now that the node may stay:
  /// whoever was cut off from the database knows only what was true before.
  package func expel(
    _ node: NodeRow, by own: Int64, at now: Timestamp, if judges: ([NodeRow]) -> Bool
  ) throws(StorageError) -> Bool {
    try change { database, _ throws(StorageError) in
      let nodes = try Self.view(of: database).nodes
      guard nodes.contains(where: { $0.incarnation == own }), judges(nodes) else { return false }
      // It may hold its row locked for seconds.
      try NodeLocks(database: database).endConnection(of: node.incarnation)
      try database.run("DELETE FROM node WHERE incarnation = ?", .integer(node.incarnation))
      guard database.changes > 0 else { return false }
      try DeadNodes(database: database).note(node, now)
      return true
    }
  }

  /// The nodes that were taken for dead in the last week and have not started again, the last one first.
  package func deadNodes() throws(StorageError) -> [DeadNode] {
    try use { database, _ throws(StorageError) in try DeadNodes(database: database).all() }
  }

  /// Ends a node's place.
  package func leave(_ incarnation: Int64) throws(StorageError) {
    try change { database, _ throws(StorageError) in
      try database.run("DELETE FROM node WHERE incarnation = ?", .integer(incarnation))
    }
  }

  // MARK: Homes of some apps

  /// Where apps have their homes and what they share, unless that is as it was when `mark` was returned.
  package func homes(since mark: HomesMark? = nil) throws(StorageError) -> HomesReading? {
    try use { database, _ throws(StorageError) in
      let homes = ReadTransaction(database).homes
      let now = try homes.mark()
      guard now != mark else { return nil }
      return HomesReading(rows: try homes.all(), sharing: try homes.sharing(), mark: now)
    }
  }

  /// How many apps the home on each node has, and how many apps have none, if there are homes of some apps
  /// each; nil if one home has all apps, as in schemas that know nothing else.
  package func shares() throws(StorageError) -> (apps: [Int64: Int], homeless: Int)? {
    try use { database, _ throws(StorageError) in
      let knowsSlots = try database.first(
        """
        SELECT EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = current_schema()
          AND table_name = 'fence' AND column_name = 'slot') AS is_there
        """
      ) { $0.bool("is_there") }
      guard knowsSlots == true else { return nil }
      let homes = ReadTransaction(database).homes
      let loads = try homes.loads()
      guard !loads.isEmpty else { return nil }
      return (loads.mapValues(\.count), try homes.homeless().count)
    }
  }

  /// A slot for message IDs that no home has at the moment; another one may get it first. Nil if there is
  /// none.
  package func freeSlot() throws(StorageError) -> MessageSlot? {
    try use { database, _ throws(StorageError) in
      let taken = try database.all("SELECT slot FROM fence WHERE slot IS NOT NULL") { $0.integer("slot") }
      // Nodes that start at the same time should not want the same one.
      return (0...127).filter { !taken.contains(Int64($0)) }.randomElement().flatMap { MessageSlot($0) }
    }
  }

  /// Ends homes whose nodes are gone, which have the numbers of their nodes as those of their fences: their
  /// connections end, and nothing of them is committed any more. Their apps can be given to others then.
  /// Returns the numbers.
  package func endDeadHomes() throws(StorageError) -> [Int64] {
    try change { database, _ throws(StorageError) in
      let dead = try database.all(
        """
        SELECT incarnation FROM fence
        WHERE slot IS NOT NULL AND NOT EXISTS (SELECT 1 FROM node WHERE node.incarnation = fence.incarnation)
        ORDER BY incarnation
        """
      ) { $0.integer("incarnation") }
      for home in dead { try Self.end(home, database) }
      return dead
    }
  }

  /// The same for one home.
  package func endHome(_ home: Int64) throws(StorageError) {
    try change { database, _ throws(StorageError) in try Self.end(home, database) }
  }

  private static func end(_ home: Int64, _ database: Database) throws(StorageError) {
    try database.postgres?.endBackends(of: home)
    try database.run("DELETE FROM fence WHERE incarnation = ?", .integer(home))
  }

  /// Closes the connection; the next call fails or opens another one.
  package func close() { session.withLock { $0.database.close() } }

  // MARK: Transactions and locks

  private func use<Value: Sendable>(
    _ body: (Database, inout Session) throws(StorageError) -> Value
  ) throws(StorageError) -> Value {
    try session.withLock { session throws(StorageError) in
      defer { session.database.rollBack() }
      try session.database.begin(.reading)
      return try body(session.database, &session)
    }
  }

  private func change<Value: Sendable>(
    _ body: (Database, inout Session) throws(StorageError) -> Value
  ) throws(StorageError) -> Value {
    try session.withLock { session throws(StorageError) in
      defer { session.database.rollBack() }
      try session.database.begin(.writing)
      let value = try body(session.database, &session)
      try session.database.commit()
      return value
    }
  }

  /// Holds a node's lock as long as the connection lasts: others see by it that the node is connected.
  private static func lock(_ incarnation: Int64, _ session: inout Session) throws(StorageError) {
    let generation = session.database.postgres?.generation ?? 0
    if let locked = session.locked, locked == (incarnation, generation) { return }
    try NodeLocks(database: session.database).acquire(for: incarnation, spreadsApps: session.spreadsApps)
    session.locked = (incarnation, generation)
  }
}
