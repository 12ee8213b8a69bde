import CLinux
import Glibc

/// What connections cost that do nothing.
enum IdleBenchmark {
  static let memory = "user memory of an idle connection, plain"
  static let memoryTLS = "user memory of an idle connection, TLS"
  static let processor = "processor time with a heartbeat a minute from each device"
  static let interval: UInt64 = 60_000_000_000

  static func run(_ environment: BenchEnvironment, _ report: Report) throws(BenchError) {
    let receivers = environment.options.connections ?? 15_000
    try environment.withSystems(report, receivers: receivers) { system throws(BenchError) in
      let client = try LoadClient()
      let bytes = try slope(system, client, receivers)
      report.add(memory, system.name, bytes, "B")
      let share = try processorShare(system, client, receivers, seconds: environment.options.seconds)
      report.add("\(processor) (\(receivers))", system.name, share * 100, "% of a core")
    }
    if !environment.options.onlyPeers {
      let system = BorealisSystem(
        try BorealisServer(environment), receivers: receivers, senders: 1, tls: try TLSClient())
      let bytes = try slope(system, try LoadClient(), receivers)
      report.add(memoryTLS, system.name, bytes, "B")
      system.stop()
    }
    report.goal("idle TLS connection <= 1 KB", memoryTLS, atMost: 1024)
    report.goal("idle plain connection <= 512 B", memory, atMost: 512)
    report.goal("\(receivers) idle devices < 1 % of a core", "\(processor) (\(receivers))", atMost: 1)
  }

  /// Growth of the server's memory for each connection, between a few connections and all.
  static func slope(
    _ system: SystemUnderTest, _ client: LoadClient, _ receivers: Int
  ) throws(BenchError) -> Double {
    let few = max(1, receivers / 15)
    try system.connect(0..<few, client)
    client.rest(seconds: 1.5)
    let before = try ProcessUsage.memory(system.server.identifier)
    try system.connect(few..<receivers, client)
    client.rest(seconds: 1.5)
    let after = try ProcessUsage.memory(system.server.identifier)
    return Double(after - before) / Double(max(1, receivers - few))
  }

  private static func processorShare(
    _ system: SystemUnderTest, _ client: LoadClient, _ receivers: Int, seconds: Int
  ) throws(BenchError) -> Double {
    let period = interval / UInt64(receivers)
    let before = try ProcessUsage.processorTime(system.server.identifier)
    let start = cl_monotonic_ns()
    let end = start + UInt64(max(seconds, 10)) * 1_000_000_000
    var member = 0
    while start + UInt64(member) * period < end {
      let due = start + UInt64(member) * period
      while cl_monotonic_ns() < due { client.poll(until: due) }
      system.beat(member % receivers, client)
      member += 1
    }
    let used = try ProcessUsage.processorTime(system.server.identifier) - before
    return Double(used) / Double(cl_monotonic_ns() - start)
  }
}
