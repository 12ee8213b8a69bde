import BorealisBase
import CLinux
import Glibc

/// As many live connections as the machine bears, over many nodes: a process may have 20,000 open files, so
/// that devices need as many processes as servers.
enum CrowdBenchmark {
  static let connected = "devices connected at a time"
  static let logins = "a crowd logs in"
  static let memory = "user memory of the nodes for each device"
  static let kernelMemory = "kernel's objects for each connection, both ends"
  static let broadcast = "a broadcast to a crowd"
  static let back = "kill -9 of one of the nodes, until its devices are back at others"

  /// Devices of one node and of one generator.
  private static let most = 18_000
  /// Generators that log in at a time.
  private static let atOnce = 4
  private static let broadcasts = 3

  static func run(
    _ environment: BenchEnvironment, nodes count: Int, devices: Int, _ report: Report
  ) throws(BenchError) {
    let each = (devices + count - 1) / count
    guard each <= most else {
      throw .usage("\(devices) devices need \((devices + most - 1) / most) nodes: a process has 20,000 files")
    }
    let cluster = try BenchCluster(
      environment, Population(count: devices),
      // Devices ask for a minute; here they say nothing.
      arguments: ["--loops", "1", "--max-http-connections", "64", "--heartbeat-min", "30m"])
    Report.progress("\(devices) registrations are in the database")
    try cluster.grow(to: count)
    Report.progress("\(count) nodes are ready")
    let before = (memory: try cluster.memory(), kernel: try slabs())
    let (start, used) = (cl_monotonic_ns(), try cluster.processorTime())
    let crowd = try connect(environment, cluster, nodes: count, devices: devices, report)
    let there = crowd.reduce(0) { $0 + $1.count }
    guard there > 0 else { throw .unexpected("there is no memory for any device") }
    report.add(connected, Report.own, Double(there), "devices")
    report.add(logins, Report.own, Double(there) / (Double(cl_monotonic_ns() - start) / 1e9), "logins/s")
    report.add(
      logins + ", processor time of the nodes for each", Report.own,
      Double(try cluster.processorTime() - used) / 1000 / Double(there), "us")
    report.add(
      memory, Report.own, Double(try cluster.memory() - before.memory) / Double(there), "B")
    report.add(
      kernelMemory, Report.own, Double(try slabs() - before.kernel) / Double(there), "B")
    report.add(
      "user memory of the home", Report.own,
      Double(try ProcessUsage.memory(cluster.nodes[0].process.identifier)) / 1_048_576, "MiB")
    try measureIdle(environment, cluster, report)
    try measureBroadcasts(cluster, crowd.map(\.process), there, report)
    if count > 2, crowd.count == count {
      let start = cl_monotonic_ns()
      cluster.kill(count - 1)
      let ended = try line(of: crowd[count - 1].process, "ready", after: start, seconds: 120)
      report.add(
        "\(back) (\(crowd[count - 1].count))", Report.own, ended - Double(start) / 1e9, "s")
    }
    for one in crowd { one.process.stop(SIGKILL) }
    cluster.stop()
  }

  /// Connects devices from as many processes as there are nodes, as far as there is memory.
  private static func connect(
    _ environment: BenchEnvironment, _ cluster: BenchCluster, nodes count: Int, devices: Int,
    _ report: Report
  ) throws(BenchError) -> [(process: ServerProcess, count: Int)] {
    let each = (devices + count - 1) / count
    var crowd: [(process: ServerProcess, count: Int)] = []
    let ports = cluster.nodes.map { "\($0.device.port)" }
    while crowd.count < count {
      guard try hasRoom() else {
        report.note(
          "stopped at \(crowd.reduce(0) { $0 + $1.count }) devices: a quarter of the memory is left")
        break
      }
      var group: [(process: ServerProcess, count: Int)] = []
      for index in crowd.count..<min(count, crowd.count + atOnce) {
        let first = index * each
        let number = min(each, devices - first)
        guard number > 0 else { break }
        let words =
          [BenchHelper.name, BenchHelper.crowd, cluster.appKey.text, "\(first)", "\(number)", "\(index)"]
          + ports
        group.append((try environment.start(environment.executable, words), number))
      }
      guard !group.isEmpty else { break }
      for one in group { _ = try line(of: one.process, "ready", seconds: 300) }
      crowd += group
      Report.progress("\(crowd.reduce(0) { $0 + $1.count }) devices are connected")
    }
    return crowd
  }

  /// Nobody says anything: what nodes tell each other remains.
  private static func measureIdle(
    _ environment: BenchEnvironment, _ cluster: BenchCluster, _ report: Report
  ) throws(BenchError) {
    let seconds = max(10, environment.options.seconds)
    func times() throws(BenchError) -> [UInt64] {
      var times: [UInt64] = []
      for process in [cluster.nodes[0].process, cluster.bus] {
        times.append(try ProcessUsage.processorTime(process.identifier))
      }
      return times + [try cluster.processorTime()]
    }
    let before = try times()
    sleep(UInt32(seconds))
    let after = try times()
    for (index, name) in ["the home", "NATS", "all nodes"].enumerated() {
      report.add(
        "processor time while nobody says anything, \(name)", Report.own,
        Double(after[index] - before[index]) / Double(seconds) / 1e7, "% of a core")
    }
  }

  private static func measureBroadcasts(
    _ cluster: BenchCluster, _ crowd: [ServerProcess], _ count: Int, _ report: Report
  ) throws(BenchError) {
    let client = try LoadClient()
    let sender = LoadSender(appKey: cluster.appKey, secret: cluster.secret)
    try sender.connect(1, to: cluster.nodes[cluster.nodes.count > 1 ? 1 : 0].http, client)
    for number in 1...broadcasts {
      let (start, used) = (cl_monotonic_ns(), try cluster.processorTime())
      sender.push(
        to: LoadSender.all, Payload.make(size: BroadcastBenchmark.payloadSize, time: start), client)
      try client.poll("the broadcast is accepted", seconds: 30) {
        sender.acceptedCount == number || sender.refusedCount > 0
      }
      if let refusal = sender.firstRefusal { throw .unexpected("a broadcast was refused: \(refusal)") }
      report.add("\(broadcast), accepted", Report.own, Double(cl_monotonic_ns() - start) / 1e6, "ms")
      var ends: [Double] = []
      for process in crowd {
        ends.append(try line(of: process, "all \(number)", seconds: 120) - Double(start) / 1e9)
      }
      report.add("\(broadcast), all have it", Report.own, ends.max(), "s")
      report.add("\(broadcast), the first node's devices have it", Report.own, ends.min(), "s")
      report.add(
        "\(broadcast), processor time of the nodes for a million", Report.own,
        Double(try cluster.processorTime() - used) / 1000 / Double(count), "s")
      // Acknowledgements are collected for a second.
      client.rest(seconds: 3)
    }
    for metric in ["accepted", "all have it", "the first node's devices have it"] {
      report.keepMedians(of: "\(broadcast), \(metric)")
    }
    report.keepMedians(of: "\(broadcast), processor time of the nodes for a million")
  }

  /// The moment in the next line of a generator that begins with a word, in seconds of the monotonic clock;
  /// nothing that was before.
  private static func line(
    of process: ServerProcess, _ word: String, after: UInt64 = 0, seconds: Int
  ) throws(BenchError) -> Double {
    let end = cl_monotonic_ns() + UInt64(seconds) * 1_000_000_000
    while cl_monotonic_ns() < end {
      let text = try process.readLine(seconds: seconds)
      guard text.hasPrefix(word + " ") else { continue }
      guard let moment = text.split(separator: " ").last.flatMap({ Double($0) }) else { break }
      if moment > Double(after) / 1e9 { return moment }
    }
    throw .timedOut("a generator says \(word)")
  }

  /// Whether more than a quarter of the machine's memory is free.
  private static func hasRoom() throws(BenchError) -> Bool {
    try kibibytes("MemAvailable:") * 4 > kibibytes("MemTotal:")
  }

  /// What the kernel holds in small objects, sockets before all, in bytes.
  private static func slabs() throws(BenchError) -> Int { try kibibytes("Slab:") * 1024 }

  private static func kibibytes(_ name: String) throws(BenchError) -> Int {
    for line in try ProcessUsage.text(of: "/proc/meminfo").split(separator: "\n") where line.hasPrefix(name) {
      if let number = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) { return number }
    }
    throw .unexpected("no \(name) in /proc/meminfo")
  }
}
