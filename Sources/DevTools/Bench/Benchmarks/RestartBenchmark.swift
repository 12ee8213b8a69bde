import CLinux
import Glibc

/// How long until all devices are back when the server starts again, and whether others feel it.
enum RestartBenchmark {
  static let killed = "restart after kill -9"
  static let drained = "restart after SIGTERM"
  /// Logins under way at a time.
  private static let window = 1024
  /// Pushes a second to a device that is back already, while the others come back.
  private static let probeRate: UInt64 = 100

  static func run(_ environment: BenchEnvironment, _ report: Report) throws(BenchError) {
    guard !environment.options.onlyPeers else { return }
    let receivers = environment.options.connections ?? 15_000
    let system = BorealisSystem(try BorealisServer(environment), receivers: receivers, senders: 8)
    let client = try LoadClient()
    try system.connect(0..<receivers, client)
    for (metric, signal) in [(killed, SIGKILL), (drained, SIGTERM)] {
      try restart(system, client, receivers, signal, metric, report)
      report.goal(
        "\(receivers) devices back after \(signal == SIGKILL ? "kill -9" : "SIGTERM") < 3 s", back(metric),
        atMost: 3)
    }
    system.stop()
  }

  private static func back(_ metric: String) -> String { metric + ", from its start until all are back" }

  private static func restart(
    _ system: BorealisSystem, _ client: LoadClient, _ receivers: Int, _ signal: Int32, _ metric: String,
    _ report: Report
  ) throws(BenchError) {
    kill(system.server.identifier, signal)
    let asked = cl_monotonic_ns()
    try client.poll("\(system.name): connections end", seconds: 60) {
      system.devices.lostCount == receivers
    }
    system.server.stop(signal)
    if signal != SIGKILL {
      report.add(metric + ", time to end", system.name, Double(cl_monotonic_ns() - asked) / 1e9, "s")
    }
    client.closeAll(of: system.sender)
    system.sender.forgetConnections()
    system.devices.forgiveLosses()
    let start = cl_monotonic_ns()
    try system.restart()
    report.add(metric + ", until it is ready", system.name, Double(cl_monotonic_ns() - start) / 1e9, "s")
    try comeBack(system, client, receivers)
    report.add(back(metric), system.name, Double(cl_monotonic_ns() - start) / 1e9, "s")
    let latencies = system.devices.board.latencies
    report.add(metric + ", push meanwhile, p50", system.name, latencies.percentile(0.5), "us")
    report.add(metric + ", push meanwhile, p99", system.name, latencies.percentile(0.99), "us")
    system.devices.board = ArrivalBoard(receivers: receivers)
    client.rest(seconds: 1)
    try system.check()
  }

  /// Logs all devices in while one that is back gets pushes at a steady rate.
  private static func comeBack(
    _ system: BorealisSystem, _ client: LoadClient, _ receivers: Int
  ) throws(BenchError) {
    let driver = system.devices
    try system.connect(0..<1, client)
    try system.connectSender(client)
    driver.aim(at: 0)
    driver.board.recordsLatency = true
    let before = driver.readyCount
    var opened = 1
    var probe = cl_monotonic_ns()
    var probes = 0
    let limit = probe + 60_000_000_000
    while driver.readyCount - before < receivers - 1 {
      let now = cl_monotonic_ns()
      guard now < limit else { throw .timedOut("devices come back") }
      if now >= probe {
        driver.broadcast(Payload.make(size: BroadcastBenchmark.payloadSize, time: now), client)
        probes += 1
        probe += 1_000_000_000 / probeRate
      }
      if opened < receivers, opened - 1 - (driver.readyCount - before) < window {
        try system.open(opened, client)
        opened += 1
        // Many connects in a row would make the probe late.
        guard opened % 16 == 0 else { continue }
        client.poll(until: now)
      } else {
        client.poll(until: probe)
      }
    }
    let arrivals = driver.board.arrivals
    try system.poll(client, "the last push arrives", seconds: 60) {
      driver.board.arrivals >= min(probes, arrivals + 1)
    }
  }
}
