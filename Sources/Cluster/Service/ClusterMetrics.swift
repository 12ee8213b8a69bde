import BorealisBase
import Storage

/// The metrics of a node of a cluster.
enum ClusterMetrics {
  /// Registers them; they are computed when they are read.
  static func compute(_ metrics: Metrics, of service: ClusterService) {
    let (link, homes, reach) = (service.link, service.homes, service.reach)
    metrics.computed(
      "borealis_node_may_be_home",
      "1 if a majority of nodes and this one reach each other, so that it may be the home of apps, 0 if not"
    ) { [weak service] in service?.reachReport.mayBeHome == true ? 1 : 0 }
    metrics.computed(
      "borealis_node_unreached", "Other nodes that this one does not reach for requests"
    ) { Double(reach.problems.count) }
    metrics.computed(
      "borealis_node_is_home",
      "1 if this node is the home of all apps, or of what belongs to no app, 0 if not"
    ) {
      homes?.hasInstallation ?? link.status.isLeading ? 1 : 0
    }
    metrics.computed("borealis_node_apps", "Apps whose requests this node serves as their home") {
      [weak service] in Double(service?.servedApps ?? 0)
    }
    metrics.computed("borealis_cluster_epoch", "Grows with each new home") {
      homes.map { Double($0.epoch) } ?? Double(link.status.epoch.rawValue)
    }
    metrics.computed("borealis_cluster_nodes", "Nodes in the database, as this one saw it last") {
      [weak service] in Double(service?.currentState.runner.view?.nodes.count ?? 0)
    }
    metrics.computed("borealis_bus_connected", "1 if the bus said last that it can be used, 0 if not") {
      link.status.isBusConnected ? 1 : 0
    }
    metrics.computed("borealis_bus_frames_sent_total", "Frames given to the bus", isCounter: true) {
      Double(link.status.bus.published)
    }
    metrics.computed("borealis_bus_frames_received_total", "Frames that came over the bus", isCounter: true) {
      Double(link.status.bus.received)
    }
    metrics.computed(
      "borealis_bus_frames_lost_total", "Frames that the bus rejected, or that arrived too fast",
      isCounter: true
    ) {
      let counts = link.status.bus
      return Double(counts.refused + counts.dropped)
    }
    metrics.computed(
      "borealis_bus_frames_unsealed_total",
      "Frames that came and were dropped, since no node of this installation has sealed them", isCounter: true
    ) { Double(link.status.bus.unsealed) }
    metrics.computed("borealis_bus_disconnections_total", "Lost connections to the bus", isCounter: true) {
      Double(link.status.bus.disconnections)
    }
    metrics.computed("borealis_bus_unconfirmed", "Requests to or from the home that nobody has confirmed yet")
    {
      Double(link.status.unconfirmed)
    }
  }
}
