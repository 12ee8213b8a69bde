import Glibc

/// What a cluster costs and brings: nodes on PostgreSQL and NATS beside one server on a file, on one machine.
/// Several apps have homes of their own; then app servers post to any node, as behind a load balancer, and
/// each app has devices at all nodes.
enum ClusterBenchmark {
  static let accepted = "durable pushes accepted over 64 connections"
  static let acceptedCost = "the same, processor time of Borealis for each"
  static let latency = "single push at 1,000/s over all paths in turn"
  static let logins = "connect and log in, plain"
  static let back = "kill -9 of a node, until all of its devices are back at others"
  static let homeBack = "kill -9 of the home, until another node has accepted a push"
  static let homesBack = "kill -9 of a home of some apps, until a push for each app is accepted"

  static func run(_ environment: BenchEnvironment, _ report: Report) throws(BenchError) {
    guard !environment.options.onlyPeers else { return }
    if let devices = environment.options.devices {
      return try CrowdBenchmark.run(
        environment, nodes: environment.options.nodes ?? 56, devices: devices, report)
    }
    let count = environment.options.nodes ?? 4
    let apps = environment.options.apps ?? 1
    let receivers = environment.options.connections ?? 10_000
    let population = Population(count: max(receivers, 4 * ClusterScene.posted), apps: apps)
    let server = try BorealisServer(
      environment,
      apps: try population.makeApps(environment, folder: environment.workspace.path + "/data-alone"))
    let cluster = try BenchCluster(environment, population)
    // Apps go to all nodes that there are, so that a single node has a database of its own.
    let near = apps > 1 ? try BenchCluster(environment, population, name: "one") : cluster
    try near.grow(to: 1)
    let scene = ClusterScene(
      environment: environment, report: report, population: population, server: server, cluster: cluster,
      near: near, client: try LoadClient(), count: count, receivers: receivers)
    try cluster.grow(to: apps > 1 ? 2 : count)
    try scene.measureAccepted()
    try cluster.grow(to: count)
    try scene.measurePaths()
    try scene.measureBroadcasts()
    try scene.measureLogins()
    server.process.stop(SIGTERM)
    if apps > 1 { near.stop() }
    try scene.measureLostNode()
    cluster.stop()
  }
}
