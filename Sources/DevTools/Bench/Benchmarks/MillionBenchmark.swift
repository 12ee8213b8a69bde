import BorealisBase
import BorealisCrypto
import BorealisProtocol
import CLinux
import Glibc

/// A million registrations in the database, beside a second server with a thousand.
enum MillionBenchmark {
  static let start = "a million registrations, start until ready"
  static let memory = "a million registrations, user memory"
  static let accept = "push to one alias of many, p50 until accepted"
  static let arrive = "push to one alias, p50 from sending to arrival"
  static let tags = "tag expression over a million, p50 until accepted"
  static let tagsWorst = "tag expression over a million, longest"
  static let broadcast = "broadcast to a million offline devices, until accepted"
  static let growth = "broadcast to a million offline devices, growth of the data folder"
  private static let many = 1_000_000
  private static let few = 1000

  static func run(_ environment: BenchEnvironment, _ report: Report) throws(BenchError) {
    guard !environment.options.onlyPeers else { return }
    let small = try system(environment, few)
    let large = try system(environment, many)
    report.add(start, Report.own, large.borealis.startSeconds, "s")
    report.add(
      memory, Report.own, Double(try ProcessUsage.memory(large.server.identifier)) / 1_048_576, "MiB")
    let client = try LoadClient()
    for system in [small, large] {
      try system.connect(0..<1, client)
      try system.connectSender(client)
    }
    try measureAliases(small, large, client, report)
    try measureTags(large, client, report)
    try measureBroadcast(large, client, report)
    for system in [small, large] {
      try system.check()
      system.stop()
    }
    try RegistrationLoad.run(environment, report, in: "million")
    report.goal("start with a million < 5 s", start, atMost: 5)
    report.goal("alias, accepted, ratio to a thousand <= 1.2", accept, over: name(few), atMost: 1.2)
    report.goal("alias, arrival, ratio to a thousand <= 1.2", arrive, over: name(few), atMost: 1.2)
    report.goal("tag expression < 50 ms", tags, atMost: 50)
    report.goal("broadcast to a million accepted < 1 s", broadcast, atMost: 1)
    report.goal("growth for it < 5 MB", growth, atMost: 5_000_000)
  }

  private static func name(_ count: Int) -> String { count == many ? Report.own : "with 1,000" }

  /// A server whose database has this many registrations; device 0 is one of them.
  private static func system(
    _ environment: BenchEnvironment, _ count: Int
  ) throws(BenchError) -> BorealisSystem {
    let population = Population(count: count)
    let server = try BorealisServer(environment, folder: "data-\(count)") { app throws(BenchError) in
      try population.write(app)
    }
    let system = BorealisSystem(server, receivers: 1, senders: 1)
    system.devices.adopt(0, population.id(count / 2), population.secret)
    return system
  }

  /// One push after the other, in turn to each server.
  private static func measureAliases(
    _ small: BorealisSystem, _ large: BorealisSystem, _ client: LoadClient, _ report: Report
  ) throws(BenchError) {
    let counts = [few, many]
    var accepted = [Latencies(), Latencies()]
    for round in 0..<2000 {
      for (index, system) in [small, large].enumerated() {
        let target = (round &* 7919) % counts[index]
        accepted[index].add(try post(system, client, LoadSender.audience(alias: Population.alias(target))))
      }
    }
    for (index, system) in [small, large].enumerated() {
      report.add(accept, name(counts[index]), accepted[index].percentile(0.5), "us")
      system.devices.board.recordsLatency = true
      let alias = LoadSender.audience(alias: Population.alias(counts[index] / 2))
      let before = system.devices.board.arrivals
      for round in 1...1000 {
        _ = try post(system, client, alias)
        try system.poll(client, "a push arrives", seconds: 10) {
          system.devices.board.arrivals >= before + round
        }
      }
      report.add(arrive, name(counts[index]), system.devices.board.latencies.percentile(0.5), "us")
    }
  }

  private static func measureTags(
    _ system: BorealisSystem, _ client: LoadClient, _ report: Report
  ) throws(BenchError) {
    let expression =
      "{\"tag\":[\"second\",\"third\",\"seventh\"],\"tag_and\":[\"second\",\"fifth\"],\"tag_not\":[\"hundredth\"]}"
    var durations = Latencies()
    for _ in 0..<30 { durations.add(try post(system, client, expression)) }
    report.add(tags, system.name, durations.percentile(0.5).map { $0 / 1000 }, "ms")
    report.add(tagsWorst, system.name, durations.maximum.map { $0 / 1000 }, "ms")
  }

  private static func measureBroadcast(
    _ system: BorealisSystem, _ client: LoadClient, _ report: Report
  ) throws(BenchError) {
    client.closeAll(of: system.devices)
    client.rest(seconds: 0.5)
    let before = ProcessUsage.size(ofFolder: system.borealis.folder)
    let duration = try post(system, client, LoadSender.all)
    client.rest(seconds: 0.5)
    let after = ProcessUsage.size(ofFolder: system.borealis.folder)
    report.add(broadcast, system.name, Double(duration) / 1e9, "s")
    report.add(growth, system.name, Double(max(0, after - before)), "B")
  }

  /// Posts a push and waits for the answer; returns how long it took, in nanoseconds.
  private static func post(
    _ system: BorealisSystem, _ client: LoadClient, _ audience: String
  ) throws(BenchError) -> UInt64 {
    var answer: (status: Int, duration: UInt64)?
    system.sender.onReply = { status, duration, _ in answer = (status, duration) }
    defer { system.sender.onReply = nil }
    let payload = Payload.make(size: BroadcastBenchmark.payloadSize, time: cl_monotonic_ns())
    system.sender.push(to: audience, payload, client)
    try system.poll(client, "a push is answered", seconds: 30) { answer != nil }
    guard let answer, answer.status == 200 else {
      throw .unexpected("\(system.name): \(system.sender.firstRefusal ?? "no answer")")
    }
    return answer.duration
  }
}
