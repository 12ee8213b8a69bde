import CLinux

/// How many devices a second come back: connect and login.
enum ConnectBenchmark {
  static let plain = "connect and log in, plain"

  static func run(_ environment: BenchEnvironment, _ report: Report) throws(BenchError) {
    let receivers = environment.options.connections ?? 10_000
    try environment.withSystems(report, receivers: receivers, subscribes: false) {
      system throws(BenchError) in
      let client = try LoadClient()
      try measure(system, client, receivers, plain, report)
    }
    report.goal("logins of known devices, plain >= 20,000/s", plain, atLeast: 20_000)
  }

  /// The best of three rounds: each connects all devices, and then lets them go.
  private static func measure(
    _ system: SystemUnderTest, _ client: LoadClient, _ receivers: Int, _ metric: String, _ report: Report
  ) throws(BenchError) {
    var best = 0.0
    for _ in 0..<3 {
      let start = cl_monotonic_ns()
      try system.connect(0..<receivers, client)
      best = max(best, Double(receivers) / (Double(cl_monotonic_ns() - start) / 1e9))
      client.closeAll(of: system.driver)
      client.rest(seconds: 0.3)
    }
    report.add(metric, system.name, best, "connects/s")
  }
}
