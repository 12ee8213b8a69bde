extension MetricList {
  static let cluster = MetricGroup(
    "Cluster", perServer: true,
    [
      MetricPanel(
        "Home",
        .gauge(
          "borealis_node_is_home",
          """
          1 if this node is the home of the installation (with `--spread-apps=false`, of everything), 0 if \
          not
          """,
          unit: .flag,
          need: .cluster),
        .gauge(
          "borealis_node_may_be_home",
          """
          1 if a majority of nodes and this one reach each other, so that it may be the home of apps, 0 \
          if not
          """,
          unit: .flag,
          sign: "0 for a minute",
          need: .cluster)),
      MetricPanel(
        "Apps of each node",
        .gauge(
          "borealis_node_apps", "apps whose requests this node serves as their home",
          sign: """
            the sum over all nodes falls, and stays low for a minute: `borealis node status` counts apps \
            without a home
            """,
          need: .cluster)),
      MetricPanel(
        "Nodes",
        .gauge(
          "borealis_cluster_nodes", "nodes that are not known to be dead, as this one saw them last",
          sign: "less than you run",
          need: .cluster),
        .gauge(
          "borealis_node_unreached", "other nodes that this one does not reach for requests",
          need: .cluster)),
      MetricPanel(
        "Changes of homes",
        .gauge(
          "borealis_cluster_epoch", "grows with each new home of any app",
          sign: "grows without a deployment",
          need: .cluster)),
      MetricPanel(
        "Bus connected",
        .gauge(
          "borealis_bus_connected",
          """
          1 if this node has a connection to the bus, 0 if not: then its devices get nothing from other \
          nodes
          """,
          unit: .flag,
          need: .cluster)),
      MetricPanel(
        "Frames on the bus",
        .counter("borealis_bus_frames_sent_total", "frames given to the bus", need: .cluster),
        .counter("borealis_bus_frames_received_total", "frames that came over the bus", need: .cluster)),
      MetricPanel(
        "Faults of the bus",
        .counter(
          "borealis_bus_frames_lost_total",
          """
          frames that the bus did not take, or that came faster than they were read; what they said is \
          repeated
          """,
          sign: "grows",
          need: .cluster),
        .counter(
          "borealis_bus_frames_unsealed_total",
          "frames that came and were dropped, since no node of this installation has sealed them",
          sign: "any increase",
          need: .cluster),
        .counter(
          "borealis_bus_disconnections_total", "lost connections to the bus",
          sign: "grows",
          need: .cluster)),
      MetricPanel(
        "Requests not confirmed yet",
        .gauge(
          "borealis_bus_unconfirmed", "requests between gateways and the home that are not confirmed yet",
          sign: "over 10000 for a minute",
          need: .cluster)),
      MetricPanel(
        "Requests for the home",
        .counter(
          "borealis_forward_requests_total",
          """
          requests for the home that this node got (and questions to it whether a large body may come), \
          by `outcome`: `answered` by it, `refused` since there was none in time and they were not \
          carried out, `unknown` if they may have been
          """,
          by: "outcome",
          sign: "`refused` or `unknown` grows outside a change of the home",
          need: .cluster),
        .counter(
          "borealis_forward_waits_total", "requests that waited for a home or a connection to it",
          need: .cluster),
        .counter(
          "borealis_forward_repeats_total",
          "requests that were sent once more, since they were certainly not carried out",
          need: .cluster)),
      MetricPanel(
        "Requests that wait for the home",
        .gauge(
          "borealis_forward_waiting_requests", "requests that wait now",
          sign: "above 0 for 10 seconds",
          need: .cluster),
        .gauge("borealis_forward_connections", "connections to other nodes for requests", need: .cluster)),
      MetricPanel(
        "Duration of requests for the home",
        .histogram(
          "borealis_forward_seconds", "time from sending a request to the home to its complete answer",
          need: .cluster)),
    ])
}
