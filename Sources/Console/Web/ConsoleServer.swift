import BorealisBase

/// The server that shows the console, for the page of the installation.
package struct ConsoleServer: Sendable {
  /// The version of its program.
  package let version: String
  package let startedAt: Timestamp
  /// Returns how many devices are connected to it, of any thread.
  let connections: @Sendable () -> Int
  /// The nodes of its cluster.
  let nodes: ConsoleNodes
  /// Whether it shows the documentation.
  package var servesDocs = true

  package init(
    version: String, startedAt: Timestamp, connections: @escaping @Sendable () -> Int,
    nodes: @escaping ConsoleNodes = { [] }
  ) {
    (self.version, self.startedAt) = (version, startedAt)
    (self.connections, self.nodes) = (connections, nodes)
  }
}

/// The state of the database, as far as the server sees it.
package struct ConsoleDatabase: Sendable {
  /// A file, and the room that its disk has left.
  package struct File: Sendable {
    /// Its size with its log, in bytes.
    package let bytes: Int64
    /// What a process of an ordinary user can still write to the disk, in bytes.
    package let freeBytes: Int64

    package init(bytes: Int64, freeBytes: Int64) { (self.bytes, self.freeBytes) = (bytes, freeBytes) }
  }

  /// Nil for a database on another server, and if the file system does not say.
  package let file: File?
  /// The name of its system.
  package let name: String
  /// Whether the last transactions were stored.
  package let isWritten: Bool

  package init(name: String, file: File?, isWritten: Bool) {
    (self.name, self.file, self.isWritten) = (name, file, isWritten)
  }
}
