import BorealisBase

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
      borealis, receivers: environment.options.connections ?? receivers, senders: AcceptedPushes.publishers)
    let client = try LoadClient()
    let count = environment.options.connections ?? receivers
    try system.connect(0..<count, client)
    try system.connectSender(client)
    // The first round warms up.
    _ = try AcceptedPushes(system, client, seconds: environment.options.seconds)
    var measured: [String: (costs: [Double], rates: [Double])] = [:]
    for number in 0..<2 * rounds {
      let name = number.isMultiple(of: 2) ? "off" : "on"
      _ = try ServerProcess.firstLine(
        environment.server, ["app", "seal", borealis.appKey.text, name, "--data", borealis.folder],
        executable: environment.executable, log: environment.workspace.path + "/servers.log")
      let round = try AcceptedPushes(system, client, seconds: environment.options.seconds)
      Report.progress(
        "sealing \(name): \(Report.number(round.cost)) us, \(Report.number(round.rate)) pushes/s")
      measured[name, default: ([], [])].costs.append(round.cost)
      measured[name, default: ([], [])].rates.append(round.rate)
    }
    for name in ["off", "on"] {
      guard let found = measured[name] else { continue }
      report.add(cost, "sealing \(name)", found.costs.sorted()[rounds / 2], "us")
      report.add(rate, "sealing \(name)", found.rates.sorted()[rounds / 2], "pushes/s")
    }
    system.stop()
  }
}
