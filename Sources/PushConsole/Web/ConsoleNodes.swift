import PushBase

/// A node of a cluster, as the home knows it.
public struct ConsoleNode: Sendable {
  /// Its name.
  public let name: String
  /// `HOST:PORT` where other nodes reach it.
  public let address: String
  /// The version of its program.
  public let version: String
  /// Whether it is the home, which is the only one to show pages.
  public let isHome: Bool
  /// Whether it has said that it is about to end.
  public let isDraining: Bool
  /// Connections of devices that it has said it has; nil if it has said nothing yet.
  public let connections: Int?
  /// When it started, by its own clock; nil if unknown.
  public let startedAt: Timestamp?

  /// All fields.
  public init(
    name: String, address: String, version: String, isHome: Bool, isDraining: Bool, connections: Int?,
    startedAt: Timestamp?
  ) {
    (self.name, self.address, self.version) = (name, address, version)
    (self.isHome, self.isDraining) = (isHome, isDraining)
    (self.connections, self.startedAt) = (connections, startedAt)
  }
}

/// Returns the nodes of a cluster that are not known to be dead, of any thread; empty for a server that is alone.
public typealias ConsoleNodes = @Sendable () -> [ConsoleNode]
