import BorealisBase
import CLinux

/// The cost of callbacks for every delivery: broadcasts to many, and single pushes at the same time, without
/// callbacks and with them.
enum CallbackBenchmark {
  static let broadcast = "a broadcast each second, until all have it, median"
  static let single = "single pushes at 200/s behind the broadcasts, p99"
  static let memory = "memory of the server, largest"
  static let rate = "events that the app server has taken"
  static let batch = "events in a request"

  private static let off = "no callbacks"
  private static let on = "callbacks"
  private static let singlesInSecond = 200

  static func run(_ environment: BenchEnvironment, _ report: Report) throws(BenchError) {
    guard !environment.options.onlyPeers else { return }
    let sink = try CallbackSink()
    defer { sink.stop() }
    try measure(environment, report, off, nil)
    try measure(environment, report, on, sink)
  }

  private static func measure(
    _ environment: BenchEnvironment, _ report: Report, _ name: String, _ sink: CallbackSink?
  ) throws(BenchError) {
    let receivers = environment.options.connections ?? 10_000
    let rounds = environment.options.seconds
    let server = try BorealisServer(
      environment, folder: sink == nil ? "plain" : "telling",
      arguments: ["--callback-networks", "127.0.0.0/8"]
    ) { app throws(BenchError) in
      guard let sink else { return }
      _ = try ServerProcess.firstLine(
        environment.server,
        [
          "app", "callback", "set", app.key.text, "--url", "http://127.0.0.1:\(sink.port)/", "--data",
          app.folder,
        ], executable: environment.executable, log: environment.workspace.path + "/servers.log")
    }
    let system = BorealisSystem(server, receivers: receivers, senders: 8)
    let client = try LoadClient()
    try system.connect(0..<receivers, client)
    try system.connectSender(client)
    client.rest(seconds: 2)
    var largest = try ProcessUsage.memory(system.server.identifier)
    let start = cl_monotonic_ns()
    let durations = try broadcasts(rounds, system, client, &largest)
    let singles = try singlePushes(rounds, system, client)
    report.add(broadcast, name, durations.percentile(0.5).map { $0 / 1000 }, "ms")
    report.add(single, name, singles.percentile(0.99), "us")
    if let sink {
      // Each device has two events: handed over, and delivered.
      let expected = 2 * (rounds * receivers + rounds * singlesInSecond)
      var sampled = cl_monotonic_ns()
      while sink.events < expected {
        client.rest(seconds: 0.05)
        guard cl_monotonic_ns() - start < 180_000_000_000 else {
          throw .timedOut("\(sink.events) of \(expected) events")
        }
        guard cl_monotonic_ns() - sampled > 500_000_000 else { continue }
        sampled = cl_monotonic_ns()
        largest = max(largest, try ProcessUsage.memory(system.server.identifier))
      }
      report.add(rate, name, Double(expected) / (Double(cl_monotonic_ns() - start) / 1e9), "events/s")
      report.add(batch, name, Double(sink.events) / Double(max(1, sink.requestCount)), "events")
    }
    report.add(memory, name, Double(largest) / 1_048_576, "MiB")
    try system.check()
    system.stop()
  }

  /// The time from each broadcast until all devices have it.
  private static func broadcasts(
    _ rounds: Int, _ system: BorealisSystem, _ client: LoadClient, _ largest: inout Int
  ) throws(BenchError) -> Latencies {
    var durations = Latencies()
    let board = system.driver.board
    for _ in 0..<rounds {
      let start = cl_monotonic_ns()
      let goal = board.completed + 1
      system.driver.broadcast(Payload.make(size: BroadcastBenchmark.payloadSize, time: start), client)
      try system.poll(client, "a broadcast arrives", seconds: 30) { board.completed >= goal }
      durations.add(cl_monotonic_ns() - start)
      largest = max(largest, try ProcessUsage.memory(system.server.identifier))
      while cl_monotonic_ns() < start + 1_000_000_000 { client.poll(until: start + 1_000_000_000) }
    }
    return durations
  }

  /// How long single pushes take to their devices while events of the broadcasts are still under way.
  private static func singlePushes(
    _ seconds: Int, _ system: BorealisSystem, _ client: LoadClient
  ) throws(BenchError) -> Latencies {
    let board = system.driver.board
    let total = board.arrivals + seconds * singlesInSecond
    board.recordsLatency = true
    let start = cl_monotonic_ns()
    let period = 1_000_000_000 / UInt64(singlesInSecond)
    for number in 0..<seconds * singlesInSecond {
      let due = start + UInt64(number) * period
      while cl_monotonic_ns() < due { client.poll(until: due) }
      system.devices.aim(at: number % SingleBenchmark.devices)
      system.driver.broadcast(
        Payload.make(size: BroadcastBenchmark.payloadSize, time: cl_monotonic_ns()), client)
    }
    try system.poll(client, "the last push arrives", seconds: 30) { board.arrivals >= total }
    board.recordsLatency = false
    return board.latencies
  }
}
