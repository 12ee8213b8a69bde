import BorealisBase

/// A node that was taken for dead and has not started again.
package struct DeadNode: Sendable, Hashable {
  package let name: String
  /// Where other nodes reached it.
  package let address: String
  /// The version of its program.
  package let version: String
  /// Its last sign of life.
  package let seenAt: Timestamp
}

/// The table of nodes that were taken for dead. It came with the columns for what nodes reach: an older
/// schema, which nodes of a version before may still use, has neither.
struct DeadNodes {
  /// Seconds for which a node is listed, and how many are.
  private static let stay: Int64 = 7 * 86_400
  private static let most: Int64 = 100

  let database: Database

  /// Whether the schema has the table.
  func isThere() throws(StorageError) -> Bool {
    try database.first("SELECT to_regclass('dead_node') IS NOT NULL AS is_there") { $0.bool("is_there") }
      ?? false
  }

  /// Notes when a node was alive last.
  func note(_ node: NodeRow, _ seenAt: Timestamp) throws(StorageError) {
    guard try isThere() else { return }
    try database.run(
      """
      INSERT INTO dead_node (name, address, version, seen_at) VALUES (?, ?, ?, ?)
        ON CONFLICT (name) DO UPDATE SET address = excluded.address, version = excluded.version,
          seen_at = excluded.seen_at
      """, .text(node.name), .text(node.address), .text(node.version), .integer(seenAt.milliseconds))
    try database.run(
      """
      DELETE FROM dead_node WHERE seen_at < ?1
        OR name IN (
          SELECT name FROM dead_node ORDER BY seen_at DESC, name LIMIT 9223372036854775807 OFFSET ?2)
      """, .integer(seenAt.adding(seconds: -Self.stay).milliseconds), .integer(Self.most))
  }

  /// A node of this name has started.
  func forget(_ name: String) throws(StorageError) {
    try database.run("DELETE FROM dead_node WHERE name = ?", .text(name))
  }

  /// All, the last one first.
  func all() throws(StorageError) -> [DeadNode] {
    guard try isThere() else { return [] }
    return try database.all(
      "SELECT name, address, version, seen_at FROM dead_node ORDER BY seen_at DESC, name"
    ) {
      DeadNode(
        name: $0.text("name"), address: $0.text("address"), version: $0.text("version"),
        seenAt: Timestamp(milliseconds: $0.integer("seen_at")))
    }
  }
}
