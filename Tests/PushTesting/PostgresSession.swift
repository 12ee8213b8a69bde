import CPostgreSQL

/// A connection of a test's own, for what lasts longer than a statement.
package final class PostgresSession {
  private var connection: OpaquePointer?

  /// Connects to a database.
  package init(_ cluster: PostgresCluster, in database: String) throws {
    connection = PQconnectdb(cluster.url(of: database))
  }

  deinit { close() }

  /// Runs statements; the rows of the last.
  @discardableResult
  package func sql(_ text: String) throws -> [[String]] {
    let result = PQexec(connection, text)
    defer { PQclear(result) }
    guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
      let reason = String(cString: PQerrorMessage(connection))
      throw PostgresCluster.Failure(description: "\(text): \(reason)")
    }
    return (0..<PQntuples(result)).map { row in
      (0..<PQnfields(result)).map { String(cString: PQgetvalue(result, row, $0)) }
    }
  }

  /// Ends it, with what it holds.
  package func close() {
    PQfinish(connection)
    connection = nil
  }
}
