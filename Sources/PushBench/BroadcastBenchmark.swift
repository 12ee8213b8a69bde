import CLinux

/// 200 bytes to many connections, again and again.
enum BroadcastBenchmark {
  static let payloadSize = FloorServer.messageSize
  static let alone = "broadcast, next when all have the last"
  static let eight = "broadcast, eight in flight"

  static func run(_ environment: BenchEnvironment, _ report: Report) throws(BenchError) {
    let receivers = environment.options.connections ?? 10_000
    try environment.withSystems(report, receivers: receivers, senders: 8) { system throws(BenchError) in
      let client = try LoadClient()
      try system.connect(0..<receivers, client)
      try system.connectSender(client)
      client.rest(seconds: 0.5)
      for (metric, inFlight) in [(alone, 1), (eight, 8)] {
        let rate = try measure(system, client, inFlight, Double(environment.options.seconds))
        report.add(metric, system.name, rate, "deliveries/s")
      }
      try system.check()
    }
    report.goal("one at a time, ratio to the floor >= 0.8", alone, over: "floor", atLeast: 0.8)
    report.goal("one at a time, ratio to mosquitto >= 3", alone, over: "mosquitto", atLeast: 3)
    report.goal("eight in flight, ratio to redis >= 1", eight, over: "redis", atLeast: 1)
  }

  /// Deliveries per second while so many broadcasts are under way.
  private static func measure(
    _ system: SystemUnderTest, _ client: LoadClient, _ inFlight: Int, _ seconds: Double
  ) throws(BenchError) -> Double {
    let driver = system.driver
    let base = driver.board.completed
    var published = base
    func publish(until end: UInt64) {
      while cl_monotonic_ns() < end {
        while published - driver.board.completed < inFlight {
          driver.broadcast(Payload.make(size: payloadSize, time: cl_monotonic_ns()), client)
          published += 1
        }
        client.poll(until: end)
      }
    }
    publish(until: cl_monotonic_ns() + 500_000_000)
    let start = cl_monotonic_ns()
    let before = driver.board.arrivals
    publish(until: start + UInt64(seconds * 1e9))
    let elapsed = Double(cl_monotonic_ns() - start) / 1e9
    let rate = Double(driver.board.arrivals - before) / elapsed
    try system.poll(client, "the last broadcasts arrive", seconds: 10) {
      driver.board.completed == published
    }
    return rate
  }
}
