import CLinux

/// All that the benchmark `cluster` measures in one run.
struct ClusterScene {
  let environment: BenchEnvironment
  let report: Report
  let population: Population
  let server: BorealisServer
  let cluster: BenchCluster
  /// The cluster of a single node; the same one if its first node is the home of everything.
  let near: BenchCluster
  let client: LoadClient
  let count: Int
  let receivers: Int

  private static let alone = "SQLite alone"
  private static let home = "one node"
  /// Rounds of what is compared, one after the other, so that all meet the same machine.
  private static let rounds = 3
  /// Devices that get accepted pushes in turn.
  static let posted = 1000

  private var seconds: Int { environment.options.seconds }

  /// The server alone with its first devices.
  private func single(_ receivers: Int, senders: Int) -> BorealisSystem {
    let system = BorealisSystem(server, name: Self.alone, receivers: receivers, senders: senders)
    system.adopt(population, 0..<receivers)
    return system
  }

  /// Nodes of the cluster; `place` says at which each device is.
  func nodes(
    _ numbers: Range<Int>, posts: [Int], senders: Int, place: @escaping (Int) -> Int
  ) -> ClusterSystem {
    let system = ClusterSystem(
      cluster, name: Report.own, receivers: numbers.count, posts: posts, senders: senders, place: place)
    system.adopt(population, numbers)
    return system
  }

  /// A node that is the home of all apps.
  private func home(_ numbers: Range<Int>, senders: Int) -> ClusterSystem {
    let system = ClusterSystem(
      near, name: Self.home, receivers: numbers.count, posts: [0], senders: senders
    ) { _ in 0 }
    system.adopt(population, numbers)
    return system
  }

  /// Divides the devices of each app among so many nodes.
  private func among(_ nodes: Int) -> (Int) -> Int {
    let apps = population.apps
    return { $0 / apps % nodes }
  }

  /// Ends connections once their devices have acknowledged everything, so that no login brings old pushes
  /// with it.
  func close(_ systems: [PushSystem]) throws(BenchError) {
    for system in systems {
      try system.poll(client, "devices acknowledge", seconds: 10) { !system.devices.owesAcknowledgements }
    }
    client.rest(seconds: 0.2)
    for system in systems {
      client.closeAll(of: system.devices)
      client.closeAll(of: system.sender)
    }
    client.rest(seconds: 0.5)
  }

  // MARK: Accepted pushes

  func measureAccepted() throws(BenchError) {
    let (publishers, posted) = (AcceptedPushes.publishers, Self.posted)
    let systems = [
      single(posted, senders: publishers),
      home(0..<posted, senders: publishers),
      nodes(posted..<2 * posted, posts: [0, 1], senders: publishers, place: among(2)),
    ]
    for system in systems {
      try system.connect(0..<posted, client)
      try system.connectSender(client)
    }
    // The first round warms up.
    for round in 0...Self.rounds {
      for system in systems {
        let result = try AcceptedPushes(system, client, seconds: round == 0 ? 1 : seconds)
        guard round > 0 else { continue }
        report.add(ClusterBenchmark.accepted, system.name, result.rate, "pushes/s")
        report.add(ClusterBenchmark.acceptedCost, system.name, result.cost, "us")
      }
    }
    for metric in [ClusterBenchmark.accepted, ClusterBenchmark.acceptedCost] {
      report.keepMedians(of: metric)
    }
    report.goal(
      "two nodes accept, of SQLite alone >= 0.7", ClusterBenchmark.accepted, over: Self.alone, atLeast: 0.7)
    try close(systems)
  }

  // MARK: Single pushes

  func measurePaths() throws(BenchError) {
    // Each app has a device at each node.
    let devices = max(SingleBenchmark.devices, population.apps > 1 ? population.apps * count : 0)
    let senders = population.apps > 1 ? 2 * count : SingleBenchmark.senders
    let far = count > 2 ? 2 : 0
    let systems = [
      single(devices, senders: senders),
      home(0..<devices, senders: senders),
      population.apps > 1
        ? nodes(devices..<2 * devices, posts: Array(0..<count), senders: senders, place: among(count))
        : nodes(devices..<2 * devices, posts: [1], senders: senders) { _ in far },
    ]
    for system in systems {
      try system.connect(0..<devices, client)
      try system.connectSender(client)
    }
    client.rest(seconds: 0.2)
    let warmUp = SingleBenchmark.rate / 4
    let total = warmUp + SingleBenchmark.rate * seconds * Self.rounds
    let start = cl_monotonic_ns()
    for number in 0..<total {
      let due = start + UInt64(number) * 1_000_000_000 / UInt64(SingleBenchmark.rate)
      while cl_monotonic_ns() < due { client.poll(until: due) }
      if number == warmUp { for system in systems { system.devices.board.recordsLatency = true } }
      let system = systems[number % systems.count]
      system.devices.aim(at: number / systems.count % devices)
      system.devices.broadcast(
        Payload.make(size: BroadcastBenchmark.payloadSize, time: cl_monotonic_ns()), client)
    }
    try systems[2].poll(client, "the last pushes arrive", seconds: 20) {
      systems.reduce(0) { $0 + $1.devices.board.arrivals } >= total
    }
    for system in systems { try system.check() }
    for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
      let metric = "\(ClusterBenchmark.latency), \(name)"
      for system in systems {
        report.add(metric, system.name, system.devices.board.latencies.percentile(share), "us")
      }
      guard let own = report.value(metric), let near = report.value(metric, Self.home)
      else { continue }
      let most = share < 0.9 ? 300.0 : 2000
      let what = population.apps > 1 ? "over all paths" : "to a device at another node"
      report.goal(
        "\(what), \(name) later than at one node by <= \(Report.number(most)) us",
        ratio: own - near, atMost: most)
    }
    try close(systems)
  }

  // MARK: Broadcasts and logins

  func measureBroadcasts() throws(BenchError) {
    let shapes = [
      BroadcastBenchmark.Shape(name: "\(receivers) devices, eight publishers", publishers: 8),
      BroadcastBenchmark.Shape(name: "\(receivers) devices, next when all have the last", publishers: 1),
    ]
    // Each of eight publishers posts to all apps.
    let senders = 8 * population.apps
    for _ in 0..<Self.rounds {
      let systems = [
        single(receivers, senders: senders),
        home(0..<receivers, senders: senders),
        nodes(
          0..<receivers, posts: Array(0..<count), senders: max(senders, count), place: among(count)),
      ]
      for system in systems {
        try system.connect(0..<receivers, client)
        try system.connectSender(client)
        client.rest(seconds: 0.5)
        for shape in shapes {
          try BroadcastBenchmark.measure(system, client, receivers, shape, seconds, report)
        }
        try system.check()
        try close([system])
      }
    }
    for shape in shapes {
      report.keepMedians(of: shape.rate)
      report.keepMedians(of: shape.processorTime)
      report.goal("\(shape.rate), of one server >= 0.7", shape.rate, over: Self.alone, atLeast: 0.7)
    }
  }

  func measureLogins() throws(BenchError) {
    let metric = ClusterBenchmark.logins
    for _ in 0..<Self.rounds {
      let systems = [
        single(receivers, senders: 1), home(0..<receivers, senders: 1),
        nodes(0..<receivers, posts: [0], senders: 1, place: among(count)),
      ]
      for system in systems {
        report.add(
          metric, system.name, try ConnectBenchmark.bestRate(system, client, receivers), "connects/s")
      }
    }
    report.keepMedians(of: metric)
    report.goal("logins, of one server >= 0.7", metric, over: Self.alone, atLeast: 0.7)
  }
}
