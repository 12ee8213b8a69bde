import CLinux

/// How many devices a second come back: connect and login.
enum ConnectBenchmark {
  static let plain = "connect and log in, plain"
  static let full = "connect and log in, TLS, full handshakes"
  static let resumed = "connect and log in, TLS, resumed sessions"
  static let registering = "connect, register and log in, plain"

  static func run(_ environment: BenchEnvironment, _ report: Report) throws(BenchError) {
    let receivers = environment.options.connections ?? 10_000
    try environment.withSystems(report, receivers: receivers, subscribes: false) {
      system throws(BenchError) in
      let client = try LoadClient()
      if let own = system as? BorealisSystem { try register(own, client, receivers, report) }
      report.add(plain, system.name, try bestRate(system, client, receivers), "connects/s")
    }
    if !environment.options.onlyPeers {
      try measureTLS(environment, min(receivers, 5000), report)
      try RegistrationLoad.run(environment, report, in: "connect")
    }
    report.goal("logins of known devices, plain >= 20,000/s", plain, atLeast: 20_000)
  }

  /// Lets all devices register, which the later rounds need.
  private static func register(
    _ system: BorealisSystem, _ client: LoadClient, _ receivers: Int, _ report: Report
  ) throws(BenchError) {
    let start = cl_monotonic_ns()
    try system.connect(0..<receivers, client)
    let seconds = Double(cl_monotonic_ns() - start) / 1e9
    report.add(registering, system.name, Double(receivers) / seconds, "registrations/s")
    client.closeAll(of: system.driver)
    client.rest(seconds: 0.5)
  }

  private static func measureTLS(
    _ environment: BenchEnvironment, _ receivers: Int, _ report: Report
  ) throws(BenchError) {
    let tls = try TLSClient()
    let system = BorealisSystem(
      try BorealisServer(environment), receivers: receivers, senders: 1, tls: tls)
    let client = try LoadClient()
    try system.connect(0..<receivers, client)
    client.closeAll(of: system.driver)
    report.add(full, system.name, try bestRate(system, client, receivers), "connects/s")
    tls.resumes = true
    let before = tls.resumedCount
    report.add(resumed, system.name, try bestRate(system, client, receivers), "connects/s")
    guard tls.resumedCount - before == rounds * receivers else {
      throw .unexpected("only \(tls.resumedCount - before) of \(rounds * receivers) sessions were resumed")
    }
    system.stop()
  }

  private static let rounds = 3

  /// The best round: each connects all devices and then lets them go.
  static func bestRate(
    _ system: SystemUnderTest, _ client: LoadClient, _ receivers: Int
  ) throws(BenchError) -> Double {
    var best = 0.0
    for _ in 0..<rounds {
      let start = cl_monotonic_ns()
      try system.connect(0..<receivers, client)
      best = max(best, Double(receivers) / (Double(cl_monotonic_ns() - start) / 1e9))
      client.closeAll(of: system.driver)
      client.rest(seconds: 0.3)
    }
    try system.check()
    return best
  }
}
