import CLinux

/// One message to one connection.
enum SingleBenchmark {
  static let rate = 1000
  static let median = "single at 1,000/s, p50 from sending to arrival"
  static let tail = "single at 1,000/s, p99 from sending to arrival"

  static func run(_ environment: BenchEnvironment, _ report: Report) throws(BenchError) {
    try environment.withSystems(report, receivers: 1) { system throws(BenchError) in
      let client = try LoadClient()
      try system.connect(0..<1, client)
      try system.connectSender(client)
      (system as? BorealisSystem)?.devices.aim(at: 0)
      client.rest(seconds: 0.2)
      try measureLatency(system, client, seconds: environment.options.seconds, report)
    }
    report.goal("single push p50 <= 300 us", median, atMost: 300)
    report.goal("single push p99 <= 3 ms", tail, atMost: 3000)
  }

  private static func measureLatency(
    _ system: SystemUnderTest, _ client: LoadClient, seconds: Int, _ report: Report
  ) throws(BenchError) {
    let driver = system.driver
    let warmUp = rate / 4
    let total = warmUp + rate * seconds
    let period = 1_000_000_000 / UInt64(rate)
    let start = cl_monotonic_ns()
    for number in 0..<total {
      // A message that is slow does not hold back the next ones.
      let due = start + UInt64(number) * period
      while cl_monotonic_ns() < due { client.poll(until: due) }
      if number == warmUp { driver.board.recordsLatency = true }
      driver.broadcast(
        Payload.make(size: BroadcastBenchmark.payloadSize, time: cl_monotonic_ns()), client)
    }
    try system.poll(client, "the last message arrives", seconds: 10) {
      driver.board.arrivals >= total
    }
    try system.check()
    report.add(median, system.name, driver.board.latencies.percentile(0.5), "us")
    report.add(tail, system.name, driver.board.latencies.percentile(0.99), "us")
  }
}
