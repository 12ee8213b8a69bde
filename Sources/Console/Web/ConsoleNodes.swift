import BorealisBase

/// A node of a cluster, as the home knows it.
package struct ConsoleNode: Sendable {
  package let name: String
  /// `HOST:PORT` where other nodes reach it.
  package let address: String
  /// The version of its program.
  package let version: String
  /// Whether it is the home of all apps, or of what belongs to no app: the one that shows this page.
  package let isHome: Bool
  /// Of how many apps it is the home; nil if one home has all.
  package let apps: Int?
  /// Whether it has said that it is about to end.
  package let isDraining: Bool
  /// Connections of devices that it has said it has; nil if it has said nothing yet.
  package let connections: Int?
  /// When it started, by its own clock; nil if unknown.
  package let startedAt: Timestamp?
  /// Whether too few nodes and it reach each other for requests, so that it may not be a home.
  package var isOutOfReach = false
  /// When it was seen last, if it was taken for dead since and has not started again.
  package var lastSeenAt: Timestamp?

  package init(
    name: String, address: String, version: String, isHome: Bool, apps: Int? = nil, isDraining: Bool,
    connections: Int?, startedAt: Timestamp?
  ) {
    (self.name, self.address, self.version) = (name, address, version)
    (self.isHome, self.apps, self.isDraining) = (isHome, apps, isDraining)
    (self.connections, self.startedAt) = (connections, startedAt)
  }
}

/// Returns the nodes of a cluster, the dead ones of the last week among them, of any thread; empty for a
/// server that is alone.
package typealias ConsoleNodes = @Sendable () -> [ConsoleNode]
