import CLinux
import PushBase

/// What sealing costs: single pushes to one app, whose contents are sealed in every second round.
enum SealBenchmark {
  static let cost = "single pushes accepted, processor time of the server for each, median of the rounds"
  static let rate = "single pushes accepted over 64 keep-alive connections, median of the rounds"

  /// Rounds of each kind, one kind after the other, so that both meet the same machine.
  private static let rounds = 5
  private static let receivers = 1000

  static func run(_ environment: BenchEnvironment, _ report: Report) throws(BenchError) {
    guard !environment.options.onlyPeers else { return }
    let borealis = try BorealisServer(environment)
    let system = BorealisSystem(
      borealis, receivers: environment.options.connections ?? receivers, senders: 64)
    let client = try LoadClient()
    let count = environment.options.connections ?? receivers
    try system.connect(0..<count, client)
    try system.connectSender(client)
    let payload = Payload.make(size: BroadcastBenchmark.payloadSize, time: cl_monotonic_ns())
    let requests = (0..<count).compactMap { system.devices.registration(of: $0) }
      .map { system.sender.request(to: PushSender.audience(registration: $0), payload) }
    // The first round warms up.
    _ = try round(environment.options.seconds, system, client, requests)
    var measured: [String: (costs: [Double], rates: [Double])] = [:]
    for number in 0..<2 * rounds {
      let name = number.isMultiple(of: 2) ? "off" : "on"
      _ = try ServerProcess.firstLine(
        environment.executable, ["app", "seal", borealis.appKey.text, name, "--data", borealis.folder],
        executable: environment.executable, log: environment.workspace.path + "/servers.log")
      let (cost, rate) = try round(environment.options.seconds, system, client, requests)
      Report.progress("sealing \(name): \(Report.number(cost)) us, \(Report.number(rate)) pushes/s")
      measured[name, default: ([], [])].costs.append(cost)
      measured[name, default: ([], [])].rates.append(rate)
    }
    for name in ["off", "on"] {
      guard let found = measured[name] else { continue }
      report.add(cost, "sealing \(name)", found.costs.sorted()[rounds / 2], "us")
      report.add(rate, "sealing \(name)", found.rates.sorted()[rounds / 2], "pushes/s")
    }
    system.stop()
  }

  /// Each connection posts its next push when the last one is answered.
  private static func round(
    _ seconds: Int, _ system: BorealisSystem, _ client: LoadClient, _ requests: [[UInt8]]
  ) throws(BenchError) -> (cost: Double, rate: Double) {
    let (sender, board) = (system.sender, system.devices.board)
    let (accepted, arrived) = (sender.acceptedCount, board.arrivals)
    var posted = 0
    let used = try ProcessUsage.processorTime(system.server.identifier)
    let start = cl_monotonic_ns()
    let end = start + UInt64(seconds) * 1_000_000_000
    func post(_ client: LoadClient) {
      sender.post(requests[posted % requests.count], client)
      posted += 1
    }
    sender.onReply = { _, _, client in
      if cl_monotonic_ns() < end { post(client) }
    }
    for _ in 0..<64 { post(client) }
    while cl_monotonic_ns() < end { client.poll(until: end) }
    let rate = Double(sender.acceptedCount - accepted) / (Double(cl_monotonic_ns() - start) / 1e9)
    try system.poll(client, "all accepted pushes arrive", seconds: 20) {
      sender.acceptedCount == accepted + posted && board.arrivals == arrived + posted
    }
    sender.onReply = nil
    try system.check()
    let time = try ProcessUsage.processorTime(system.server.identifier) - used
    return (Double(time) / 1000 / Double(posted), rate)
  }
}
