import BorealisBase
import Storage

/// The metrics of a node of a cluster.
enum ClusterMetrics {
  /// Registers them; they are computed when they are read.
  static func compute(_ metrics: Metrics, of service: ClusterService) {
    let (link, homes, reach) = (service.link, service.homes, service.reach)
    metrics.computed("borealis_node_may_be_home") { [weak service] in
      service?.reachReport.mayBeHome == true ? 1 : 0
    }
    metrics.computed("borealis_node_unreached") { Double(reach.problems.count) }
    metrics.computed("borealis_node_is_home") {
      homes?.hasInstallation ?? link.status.isLeading ? 1 : 0
    }
    metrics.computed("borealis_node_apps") {
      [weak service] in Double(service?.servedApps ?? 0)
    }
    metrics.computed("borealis_cluster_epoch") {
      homes.map { Double($0.epoch) } ?? Double(link.status.epoch.rawValue)
    }
    metrics.computed("borealis_cluster_nodes") {
      [weak service] in Double(service?.currentState.runner.view?.nodes.count ?? 0)
    }
    metrics.computed("borealis_bus_connected") {
      link.status.isBusConnected ? 1 : 0
    }
    metrics.computed("borealis_bus_frames_sent_total", isCounter: true) {
      Double(link.status.bus.published)
    }
    metrics.computed("borealis_bus_frames_received_total", isCounter: true) {
      Double(link.status.bus.received)
    }
    metrics.computed("borealis_bus_frames_lost_total", isCounter: true) {
      let counts = link.status.bus
      return Double(counts.refused + counts.dropped)
    }
    metrics.computed("borealis_bus_frames_unsealed_total", isCounter: true) {
      Double(link.status.bus.unsealed)
    }
    metrics.computed("borealis_bus_disconnections_total", isCounter: true) {
      Double(link.status.bus.disconnections)
    }
    metrics.computed("borealis_bus_unconfirmed") {
      Double(link.status.unconfirmed)
    }
  }
}
