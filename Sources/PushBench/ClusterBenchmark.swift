import CLinux
import Glibc
import PushBase

/// What a cluster costs and brings: nodes on PostgreSQL and NATS beside one server on a file, on one machine.
enum ClusterBenchmark {
  static let accepted = "durable pushes accepted over 64 connections"
  static let acceptedCost = "the same, processor time of Borealis for each"
  static let latency = "single push at 1,000/s over all paths in turn"
  static let logins = "connect and log in, plain"
  static let back = "kill -9 of a node, until all of its devices are back at others"
  static let homeBack = "kill -9 of the home, until another node has accepted a push"

  /// Rounds of what is compared, one after the other, so that all meet the same machine.
  private static let rounds = 3
  private static let posted = 1000
  /// Logins under way at a time.
  private static let window = 1024

  private static let alone = "SQLite alone"
  private static let home = "one node"

  static func run(_ environment: BenchEnvironment, _ report: Report) throws(BenchError) {
    guard !environment.options.onlyPeers else { return }
    if let devices = environment.options.devices {
      return try CrowdBenchmark.run(
        environment, nodes: environment.options.nodes ?? 56, devices: devices, report)
    }
    let count = environment.options.nodes ?? 4
    let receivers = environment.options.connections ?? 10_000
    let population = Population(count: max(receivers, 4 * posted))
    let server = try BorealisServer(environment, folder: "data-alone") { app throws(BenchError) in
      try population.write(app)
    }
    let cluster = try BenchCluster(environment, population)
    try cluster.grow(to: count)
    let scene = Scene(
      environment: environment, report: report, population: population, server: server, cluster: cluster,
      client: try LoadClient(), count: count, receivers: receivers)
    try scene.measureAccepted()
    try scene.measurePaths()
    try scene.measureBroadcasts()
    try scene.measureLogins()
    try scene.measureLostNode()
    server.process.stop(SIGTERM)
    cluster.stop()
  }

  /// All that is measured in one run.
  private struct Scene {
    let environment: BenchEnvironment
    let report: Report
    let population: Population
    let server: BorealisServer
    let cluster: BenchCluster
    let client: LoadClient
    let count: Int
    let receivers: Int

    private var seconds: Int { environment.options.seconds }

    /// The server alone with its first devices.
    private func single(_ receivers: Int, senders: Int) -> BorealisSystem {
      let system = BorealisSystem(server, name: alone, receivers: receivers, senders: senders)
      system.adopt(population, 0..<receivers)
      return system
    }

    private func nodes(
      _ name: String, _ numbers: Range<Int>, posts: [Int], senders: Int, place: @escaping (Int) -> Int
    ) -> ClusterSystem {
      let system = ClusterSystem(
        cluster, name: name, receivers: numbers.count, posts: posts, senders: senders, place: place)
      system.adopt(population, numbers)
      return system
    }

    private func close(_ systems: [PushSystem]) {
      for system in systems {
        client.closeAll(of: system.devices)
        client.closeAll(of: system.sender)
      }
      client.rest(seconds: 0.5)
    }

    // MARK: Accepted pushes

    func measureAccepted() throws(BenchError) {
      let publishers = AcceptedPushes.publishers
      let systems = [
        single(posted, senders: publishers),
        nodes(home, 0..<posted, posts: [0], senders: publishers) { _ in 0 },
        nodes(Report.own, posted..<2 * posted, posts: [0, 1], senders: publishers) { $0 % 2 },
      ]
      for system in systems {
        try system.connect(0..<posted, client)
        try system.connectSender(client)
      }
      // The first round warms up.
      for round in 0...rounds {
        for (index, system) in systems.enumerated() {
          let first = index == 2 ? posted : 0
          let result = try AcceptedPushes(
            system, client, to: (first..<first + posted).map { population.id($0) },
            seconds: round == 0 ? 1 : seconds)
          guard round > 0 else { continue }
          report.add(accepted, system.name, result.rate, "pushes/s")
          report.add(acceptedCost, system.name, result.cost, "us")
        }
      }
      for metric in [accepted, acceptedCost] { report.keepMedians(of: metric) }
      report.goal("two nodes accept, of SQLite alone >= 0.7", accepted, over: alone, atLeast: 0.7)
      close(systems)
    }

    // MARK: Single pushes

    func measurePaths() throws(BenchError) {
      let (devices, senders) = (SingleBenchmark.devices, SingleBenchmark.senders)
      let far = count > 2 ? 2 : 0
      let systems = [
        single(devices, senders: senders),
        nodes(home, 0..<devices, posts: [0], senders: senders) { _ in 0 },
        nodes(Report.own, devices..<2 * devices, posts: [1], senders: senders) { _ in far },
      ]
      for system in systems {
        try system.connect(0..<devices, client)
        try system.connectSender(client)
      }
      client.rest(seconds: 0.2)
      let warmUp = SingleBenchmark.rate / 4
      let total = warmUp + SingleBenchmark.rate * seconds * rounds
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
        for system in systems {
          report.add(
            "\(latency), \(name)", system.name, system.devices.board.latencies.percentile(share), "us")
        }
        guard let own = report.value("\(latency), \(name)"),
          let near = report.value("\(latency), \(name)", home)
        else { continue }
        let most = share < 0.9 ? 300.0 : 2000
        report.goal(
          "to a device at another node, \(name) later than at one node by <= \(Report.number(most)) us",
          ratio: own - near, atMost: most)
      }
      close(systems)
    }

    // MARK: Broadcasts and logins

    func measureBroadcasts() throws(BenchError) {
      let shapes = [
        BroadcastBenchmark.Shape(name: "\(receivers) devices, eight publishers", publishers: 8),
        BroadcastBenchmark.Shape(name: "\(receivers) devices, next when all have the last", publishers: 1),
      ]
      let everywhere = Array(0..<count)
      for _ in 0..<rounds {
        let systems = [
          single(receivers, senders: 8), nodes(home, 0..<receivers, posts: [0], senders: 8) { _ in 0 },
          nodes(Report.own, 0..<receivers, posts: everywhere, senders: max(8, count)) { [count] in $0 % count
          },
        ]
        for system in systems {
          try system.connect(0..<receivers, client)
          try system.connectSender(client)
          client.rest(seconds: 0.5)
          for shape in shapes {
            try BroadcastBenchmark.measure(system, client, receivers, shape, seconds, report)
          }
          try system.check()
          close([system])
        }
      }
      for shape in shapes {
        report.keepMedians(of: shape.rate)
        report.keepMedians(of: shape.processorTime)
        report.goal("\(shape.rate), of one server >= 0.7", shape.rate, over: alone, atLeast: 0.7)
      }
    }

    func measureLogins() throws(BenchError) {
      for _ in 0..<rounds {
        let systems = [
          single(receivers, senders: 1), nodes(home, 0..<receivers, posts: [0], senders: 1) { _ in 0 },
          nodes(Report.own, 0..<receivers, posts: [0], senders: 1) { [count] in $0 % count },
        ]
        for system in systems {
          report.add(
            logins, system.name, try ConnectBenchmark.bestRate(system, client, receivers), "connects/s")
        }
      }
      report.keepMedians(of: logins)
      report.goal("logins, of one server >= 0.7", logins, over: alone, atLeast: 0.7)
    }

    // MARK: Lost nodes

    func measureLostNode() throws(BenchError) {
      let lost = count - 1
      let system = nodes(Report.own, 0..<receivers, posts: [0], senders: 1) { _ in lost }
      try system.connect(0..<receivers, client)
      try system.connectSender(client)
      client.rest(seconds: 1)
      var waiting = FIFO<Int>()
      let driver = system.devices
      driver.onClosed = { waiting.append($0) }
      var (next, ready) = (0, driver.readyCount)
      let goal = ready + receivers
      system.place = { [count] _ in
        next += 1
        return next % (count - 1)
      }
      let start = cl_monotonic_ns()
      cluster.kill(lost)
      var opened = 0
      while driver.readyCount < goal {
        let now = cl_monotonic_ns()
        guard now - start < 60_000_000_000 else {
          throw .timedOut("\(goal - driver.readyCount) devices are back")
        }
        ready = driver.readyCount - (goal - receivers)
        while opened - ready < window, let member = waiting.popFirst() {
          try system.open(member, client)
          opened += 1
        }
        client.poll(until: now + 1_000_000)
      }
      report.add(back, Report.own, Double(cl_monotonic_ns() - start) / 1e9, "s")
      report.goal("\(receivers) devices back after kill -9 of their node < 5 s", back, atMost: 5)
      driver.onClosed = nil
      driver.forgiveLosses()
      // Each of them is there.
      let before = driver.board.arrivals
      system.devices.broadcast(
        Payload.make(size: BroadcastBenchmark.payloadSize, time: cl_monotonic_ns()), client)
      try system.poll(client, "a broadcast arrives at all that are back", seconds: 10) {
        driver.board.arrivals >= before + receivers
      }
      close([system])
      if count > 2 { try measureLostHome() }
    }

    private func measureLostHome() throws(BenchError) {
      // Until the node that was killed before is forgotten: a new home waits for what each node knows of its devices.
      client.rest(seconds: 10)
      let sender = PushSender(appKey: cluster.appKey, secret: cluster.secret)
      try sender.connect(1, to: cluster.nodes[1].http, client)
      let start = cl_monotonic_ns()
      cluster.kill(0)
      while sender.acceptedCount == 0 {
        guard cl_monotonic_ns() - start < 60_000_000_000 else { throw .timedOut("another node is the home") }
        let refused = sender.refusedCount
        sender.push(
          to: PushSender.audience(registration: population.id(0)),
          Payload.make(size: BroadcastBenchmark.payloadSize, time: cl_monotonic_ns()), client)
        try client.poll("a push is answered", seconds: 30) {
          sender.acceptedCount > 0 || sender.refusedCount > refused
        }
      }
      report.add(homeBack, Report.own, Double(cl_monotonic_ns() - start) / 1e9, "s")
    }
  }
}
