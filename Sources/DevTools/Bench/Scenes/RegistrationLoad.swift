import CLinux

/// Devices that register with an app beside those that it has, 10,000 or a million, and what a push beside
/// them waits.
enum RegistrationLoad {
  static let rate = "registrations of new devices, plain"
  static let cost = "a registration of a new device, plain"
  static let alone = "push, p99 until accepted"
  static let beside = "push beside 1,000 registrations/s, p99 until accepted"
  private static let (few, many) = (10_000, 1_000_000)
  /// Devices that register as fast as they can.
  private static let crowd = 7000
  /// For how long pushes follow one another, and how many devices register in a second meanwhile.
  private static let (seconds, inSecond) = (5, 1000)

  /// `folder` begins the names of the data folders.
  static func run(
    _ environment: BenchEnvironment, _ report: Report, in folder: String
  ) throws(BenchError) {
    for count in [few, many] { try measure(environment, report, "\(folder)-\(count)", count) }
    report.goal("registrations, a million there already >= 15,000/s", rate, atLeast: 15_000)
    report.goal(
      "a registration, ratio to an app of 10,000 <= 1.2", cost, over: name(few), atMost: 1.2)
    if let alone = report.value(alone), let beside = report.value(beside) {
      report.goal(
        "push beside 1,000 registrations/s, p99, ms longer <= 20", ratio: (beside - alone) / 1000, atMost: 20)
    }
  }

  private static func name(_ count: Int) -> String { count == many ? Report.own : "with 10,000" }

  private static func measure(
    _ environment: BenchEnvironment, _ report: Report, _ folder: String, _ count: Int
  ) throws(BenchError) {
    let population = Population(count: count)
    let server = try BorealisServer(environment, folder: folder) { app throws(BenchError) in
      try population.write(app)
    }
    let system = BorealisSystem(server, receivers: crowd + seconds * inSecond, senders: 1)
    let client = try LoadClient()
    try system.connectSender(client)
    let quiet = try pushes(system, client, count, registering: 0)
    report.add(alone, name(count), quiet.percentile(0.99), "us")
    let busy = try pushes(system, client, count, registering: inSecond)
    report.add(beside, name(count), busy.percentile(0.99), "us")
    let first = seconds * inSecond
    let start = cl_monotonic_ns()
    try system.connect(first..<first + crowd, client)
    let duration = Double(cl_monotonic_ns() - start)
    report.add(rate, name(count), Double(crowd) / (duration / 1e9), "registrations/s")
    report.add(cost, name(count), duration / Double(crowd) / 1000, "us")
    try system.check()
    system.stop()
  }

  /// Pushes one after the other, each to one device, while others register at a steady rate.
  private static func pushes(
    _ system: BorealisSystem, _ client: LoadClient, _ count: Int, registering rate: Int
  ) throws(BenchError) -> Latencies {
    var (latencies, isAnswered, opened) = (Latencies(), true, 0)
    system.sender.onReply = { _, duration, _ in
      latencies.add(duration)
      isAnswered = true
    }
    defer { system.sender.onReply = nil }
    let (start, before) = (cl_monotonic_ns(), system.driver.readyCount)
    while true {
      let now = cl_monotonic_ns()
      guard now - start < UInt64(seconds) * 1_000_000_000 else { break }
      while opened < Int((now - start) / 1_000_000) * rate / 1000 {
        try system.open(opened, client)
        opened += 1
      }
      if isAnswered {
        isAnswered = false
        let alias = Population.alias((latencies.count &* 7919) % count)
        let payload = Payload.make(size: BroadcastBenchmark.payloadSize, time: now)
        system.sender.push(to: LoadSender.audience(alias: alias), payload, client)
      }
      client.poll(until: now + 1_000_000)
    }
    try system.poll(client, "all devices are let in", seconds: 60) {
      isAnswered && system.driver.readyCount - before >= opened
    }
    return latencies
  }
}
