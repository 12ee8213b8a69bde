import CLinux

/// One message to one connection.
enum SingleBenchmark {
  static let rate = 1000
  /// Devices that get pushes in turn: a single device may only have a limited number of unstored
  /// acknowledgements.
  static let devices = 16
  /// HTTP connections, so that a slow push delays only the next one on the same connection.
  static let senders = 8
  static let median = "single at 1,000/s, p50 from sending to arrival"
  static let tail = "single at 1,000/s, p99 from sending to arrival"
  static let worst = "single at 1,000/s, p99.9 from sending to arrival"

  static let cost = "single at 1,000/s, processor time of the server for each"

  static let throughput = "single pushes accepted over 64 keep-alive connections"
  static let throughputCost = "single pushes accepted, processor time of the server for each"
  static let acceptMedian = "p50 of an answer meanwhile"

  static func run(_ environment: BenchEnvironment, _ report: Report) throws(BenchError) {
    try environment.withSystems(report, receivers: 1, ownReceivers: devices, senders: senders) {
      system throws(BenchError) in
      let client = try LoadClient()
      try system.connect(0..<(system is BorealisSystem ? devices : 1), client)
      try system.connectSender(client)
      client.rest(seconds: 0.2)
      try measureLatency(system, client, seconds: environment.options.seconds, report)
    }
    if !environment.options.onlyPeers { try measureThroughput(environment, report) }
    report.goal("single push <= 200 us of processor time", cost, atMost: 200)
    report.goal("accepted push <= 60 us of processor time", throughputCost, atMost: 60)
    report.goal("accepted over 64 connections >= 20,000/s", throughput, atLeast: 20_000)
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
    var used: UInt64 = 0
    for number in 0..<total {
      // A message that is slow does not hold back the next ones.
      let due = start + UInt64(number) * period
      while cl_monotonic_ns() < due { client.poll(until: due) }
      (system as? BorealisSystem)?.devices.aim(at: number % devices)
      if number == warmUp {
        driver.board.recordsLatency = true
        used = try system.processorTime()
      }
      driver.broadcast(
        Payload.make(size: BroadcastBenchmark.payloadSize, time: cl_monotonic_ns()), client)
    }
    try system.poll(client, "the last message arrives", seconds: 10) {
      driver.board.arrivals >= total
    }
    try system.check()
    let time = try system.processorTime() - used
    report.add(cost, system.name, Double(time) / 1000 / Double(total - warmUp), "us")
    report.add(median, system.name, driver.board.latencies.percentile(0.5), "us")
    report.add(tail, system.name, driver.board.latencies.percentile(0.99), "us")
    report.add(worst, system.name, driver.board.latencies.percentile(0.999), "us")
  }

  /// The devices are online.
  private static func measureThroughput(
    _ environment: BenchEnvironment, _ report: Report
  ) throws(BenchError) {
    let receivers = environment.options.connections ?? 1000
    let system = BorealisSystem(
      try BorealisServer(environment), receivers: receivers, senders: AcceptedPushes.publishers)
    let client = try LoadClient()
    try system.connect(0..<receivers, client)
    try system.connectSender(client)
    let accepted = try AcceptedPushes(system, client, seconds: environment.options.seconds)
    report.add(throughputCost, system.name, accepted.cost, "us")
    report.add(throughput, system.name, accepted.rate, "pushes/s")
    report.add(acceptMedian, system.name, accepted.durations.percentile(0.5), "us")
    system.stop()
  }
}
