import BorealisBase
import Storage

/// What makes a process a node of a certain cluster.
package struct ClusterConfiguration: Sendable {
  /// Who the node is.
  package struct Node: Sendable {
    package let cluster: ClusterName
    package let name: String
    /// Where other nodes reach it.
    package let address: String
    /// Where devices reach it and no other node; empty if there is no such address.
    package let deviceAddress: String
    /// The version of the program.
    package let program: String
    /// Whether each app has a home of its own.
    package let spreadsApps: Bool

    package init(
      cluster: ClusterName, name: String, address: String, deviceAddress: String, program: String,
      spreadsApps: Bool
    ) {
      (self.cluster, self.name, self.address) = (cluster, name, address)
      (self.deviceAddress, self.program, self.spreadsApps) = (deviceAddress, program, spreadsApps)
    }
  }

  package let node: Node
  package let bus: BusSettings
  /// For requests between nodes; nil if all are on this machine.
  package let tls: NodeTLS?
  /// How many event loops the process has.
  package let loops: Int
  package let log: Log

  package init(_ node: Node, bus: BusSettings, tls: NodeTLS?, loops: Int, log: Log) {
    (self.node, self.bus, self.tls, self.loops, self.log) = (node, bus, tls, loops, log)
  }

  /// The node as the database has it.
  var row: NodeRegistry.Node {
    .init(
      cluster: node.cluster.text, name: node.name, address: node.address, version: node.program,
      spreadsApps: node.spreadsApps)
  }

  /// How long things take: nobody else sees by the server's lock that a node is gone if many hold it.
  var timing: Membership.Timing {
    var timing = Membership.Timing()
    if node.spreadsApps { timing.lostAfter = NodeRegistry.lostAfter }
    return timing
  }
}
