import CLinux

/// 200 bytes to many connections, again and again.
enum BroadcastBenchmark {
  static let payloadSize = FloorServer.messageSize

  /// What is measured one after the other.
  struct Shape {
    let name: String
    /// Each publishes its next message when all receivers have its last one.
    let publishers: Int
    /// Whether devices acknowledge at once, instead of gathering as the device library does.
    var acknowledgesAtOnce = false

    var rate: String { "broadcast, \(name)" }
    var processorTime: String { "broadcast, \(name), processor time of the server for a million" }
  }

  static let alone = Shape(name: "next when all have the last", publishers: 1)
  static let eight = Shape(name: "eight publishers", publishers: 8)
  /// The server with devices over TLS, among the peers.
  private static let overTLS = "TLS"
  private static let aloneAtOnce = Shape(
    name: "next when all have the last, acknowledged at once", publishers: 1, acknowledgesAtOnce: true)
  private static let eightAtOnce = Shape(
    name: "eight publishers, acknowledged at once", publishers: 8, acknowledgesAtOnce: true)

  static func run(_ environment: BenchEnvironment, _ report: Report) throws(BenchError) {
    let receivers = environment.options.connections ?? 10_000
    try environment.withSystems(report, receivers: receivers, senders: 8) { system throws(BenchError) in
      let client = try LoadClient()
      try system.connect(0..<receivers, client)
      try system.connectSender(client)
      client.rest(seconds: 0.5)
      for shape in [alone, eight, aloneAtOnce, eightAtOnce] {
        // Peers' subscribers acknowledge nothing.
        guard let borealis = system as? BorealisSystem else {
          if !shape.acknowledgesAtOnce {
            try measure(system, client, receivers, shape, environment.options.seconds, report)
          }
          continue
        }
        borealis.devices.acknowledgesAtOnce = shape.acknowledgesAtOnce
        try measure(system, client, receivers, shape, environment.options.seconds, report)
      }
      try system.check()
    }
    if !environment.options.onlyPeers {
      let system = BorealisSystem(
        try BorealisServer(environment), name: overTLS, receivers: receivers, senders: 8, tls: try TLSClient()
      )
      let client = try LoadClient()
      try system.connect(0..<receivers, client)
      try system.connectSender(client)
      client.rest(seconds: 0.5)
      for shape in [alone, eight] {
        try measure(system, client, receivers, shape, environment.options.seconds, report)
      }
      try system.check()
      system.stop()
    }
    report.goal("one at a time, plain to TLS <= 1.25", alone.rate, over: overTLS, atMost: 1.25)
    report.goal("one at a time, ratio to the floor >= 0.9", alone.rate, over: "floor", atLeast: 0.9)
    report.goal("one at a time, ratio to mosquitto >= 3", alone.rate, over: "mosquitto", atLeast: 3)
    report.goal("one at a time, a million <= 10 s", aloneAtOnce.processorTime, atMost: 10)
    report.goal("eight publishers, ratio to redis >= 1", eight.rate, over: "redis", atLeast: 1)
    report.goal("eight publishers, a million <= 4 s", eightAtOnce.processorTime, atMost: 4)
  }

  /// Measures one shape for so many seconds and reports it.
  static func measure(
    _ system: SystemUnderTest, _ client: LoadClient, _ receivers: Int, _ shape: Shape, _ seconds: Int,
    _ report: Report
  ) throws(BenchError) {
    let driver = system.driver
    driver.board.byPublisher = Array(repeating: 0, count: shape.publishers)
    var published = Array(repeating: 0, count: shape.publishers)
    func publish(until end: UInt64) {
      while cl_monotonic_ns() < end {
        for publisher in 0..<shape.publishers
        where driver.board.byPublisher[publisher] == published[publisher] * receivers {
          driver.broadcast(
            Payload.make(size: payloadSize, time: cl_monotonic_ns(), publisher: publisher), client)
          published[publisher] += 1
        }
        client.poll(until: end)
      }
    }
    publish(until: cl_monotonic_ns() + 500_000_000)
    let start = cl_monotonic_ns()
    let used = try system.processorTime()
    let before = driver.board.arrivals
    publish(until: start + UInt64(seconds) * 1_000_000_000)
    let arrived = Double(driver.board.arrivals - before)
    report.add(
      shape.rate, system.name, arrived / (Double(cl_monotonic_ns() - start) / 1e9), "deliveries/s")
    // Nanoseconds for one are milliseconds for a million.
    let time = Double(try system.processorTime() - used) / arrived
    report.add(shape.processorTime, system.name, time / 1000, "s")
    try system.poll(client, "the last broadcasts arrive", seconds: 10) {
      driver.board.byPublisher == published.map { $0 * receivers }
    }
    driver.board.byPublisher = []
  }
}
