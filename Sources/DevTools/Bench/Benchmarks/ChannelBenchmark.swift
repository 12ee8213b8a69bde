import BorealisBase
import BorealisCrypto
import CLinux
import Glibc

/// Vendors' channels: how many notifications a second go to services that take them at once, what each costs
/// the server, and what a service that takes none costs others.
enum ChannelBenchmark {
  static let rate = "notifications"
  static let cost = "processor time of the sender for a notification"
  static let direct = "another app's push over the direct connection"
  static let memory = "memory of the server"

  private static let devices = 2000
  private static let batchDevices = 20_000
  /// Single pushes that wait for a dead service, unless the options say how many.
  private static let waiting = 100_000
  /// Requests under way at a time that the server has to a service for an app, and so do those it is compared
  /// with.
  private static let streams = 100

  static func run(_ environment: BenchEnvironment, _ report: Report) throws(BenchError) {
    for vendor in ChannelScene.Vendor.allCases {
      let scene = try ChannelScene(
        environment, vendor, devices: vendor.batch > 1 ? batchDevices : devices)
      let (rateName, costName) = ("\(rate) over \(vendor.name)", "\(cost) over \(vendor.name)")
      // The first round warms up.
      _ = try scene.measure(seconds: 1)
      let own = try scene.measure(seconds: environment.options.seconds)
      report.add(rateName, Report.own, own.rate, "notifications/s")
      report.add(costName, Report.own, own.cost, "us")
      scene.beat()
      let floor = try floor(environment, report, vendor, scene.sink)
      if let floor {
        report.add(rateName, "h2load", floor.rate, "notifications/s")
        report.add(costName, "h2load", floor.cost, "us")
      }
      scene.beat()
      if let kind = vendor.transport {
        let alone = "\(vendor.name), the client alone"
        try measureTransport(environment, report, scene, kind, alone)
        if let floor {
          report.add(alone, "h2load", floor.rate, "requests/s")
          report.goal("\(alone), ratio to h2load >= 0.7", alone, over: "h2load", atLeast: 0.7)
        }
      } else {
        let text = "\(vendor.name), which takes batches: at most 50 us for each, 20,000/s a core"
        report.goal(text, ratio: own.cost, atMost: 50)
      }
      if vendor == .webpush {
        try measureTransport(
          environment, report, scene, .sealed, "\(vendor.name), the client alone with encryption")
        report.add(costName, "encryption", try encryption(), "us")
      }
      if vendor == .fcm { try measureTrouble(environment, report, scene) }
      scene.end()
    }
  }

  /// What the client of vendors' channels does without a server around it.
  private static func measureTransport(
    _ environment: BenchEnvironment, _ report: Report, _ scene: ChannelScene, _ kind: ChannelLoad.Kind,
    _ metric: String
  ) throws(BenchError) {
    let seconds = environment.options.seconds
    let client = try environment.start(
      environment.executable,
      [
        BenchHelper.name, BenchHelper.channelLoad, scene.sink.url, scene.authorities, "\(seconds)",
        "\(streams)",
        kind.rawValue,
      ])
    let words = try client.readLine(seconds: seconds + 20).split(separator: " ").compactMap { Double($0) }
    guard words.count == 3 else { throw .unexpected("the load generator says something else") }
    report.add(metric, Report.own, words[0], "requests/s")
    report.add(metric + ", processor time", Report.own, words[1], "us")
    if words[2] > 0 { report.note("\(metric): \(Int(words[2])) requests were not taken") }
    scene.beat()
  }

  /// Microseconds that the encryption of a notification for a browser takes (RFC 8291), with a key of its own
  /// for each.
  private static func encryption() throws(BenchError) -> Double {
    let message = [UInt8](repeating: UInt8(ascii: "x"), count: 200)
    let rounds = 2000
    do {
      let key = try DevicePrivateKey(.p256).publicKey
      let start = cl_monotonic_ns()
      for _ in 0..<rounds { _ = try key.seal(message) }
      return Double(cl_monotonic_ns() - start) / 1000 / Double(rounds)
    } catch {
      throw .unexpected("\(error)")
    }
  }

  /// Pushes of another app beside a service in trouble, and what waits for it.
  private static func measureTrouble(
    _ environment: BenchEnvironment, _ report: Report, _ scene: ChannelScene
  ) throws(BenchError) {
    let seconds = environment.options.seconds
    let before = try scene.memory()
    add(try scene.directLatencies(seconds: seconds), "idle", to: report)
    for (pace, name) in [(VendorSink.Pace.throttled, "429"), (.held, "no answers")] {
      scene.sink.set(pace)
      for _ in 0..<ChannelScene.publishers { scene.post(to: LoadSender.all) }
      add(try scene.directLatencies(seconds: seconds), "vendor: \(name)", to: report)
    }
    let count = environment.options.queue ?? waiting
    report.add(memory, "before", before, "MiB")
    let start = cl_monotonic_ns()
    try scene.postSingles(count)
    report.add(
      "single pushes accepted while the vendor answers nothing", Report.own,
      Double(count) / (Double(cl_monotonic_ns() - start) / 1e9), "pushes/s")
    let after = try scene.memory()
    report.add(memory, "\(count) pushes wait", after, "MiB")
    report.add(
      memory + " for each push that waits", Report.own, (after - before) * 1_048_576 / Double(count), "bytes")
    // The queue is in the database; in memory are SQLite's caches.
    report.goal(
      "memory grows by at most 64 MiB, however many pushes wait: \(count)", ratio: after - before, atMost: 64)
    add(try scene.directLatencies(seconds: seconds), "\(count) pushes wait", to: report)
    scene.sink.set(.open)
  }

  private static func add(_ latencies: Latencies, _ phase: String, to report: Report) {
    let (half, most) = (direct + ", p50", direct + ", p99")
    report.add(half, phase, latencies.percentile(0.5), "us")
    report.add(most, phase, latencies.percentile(0.99), "us")
    guard phase != "idle", let idle = report.value(most, "idle"), idle > 0,
      let value = report.value(most, phase)
    else { return }
    report.goal("\(most), at most 1.2 of idle: \(phase)", ratio: value / idle, atMost: 1.2)
  }

  /// h2load on the same sink, with bodies of the same size and as many requests under way over one
  /// connection; nil if it is not there.
  private static func floor(
    _ environment: BenchEnvironment, _ report: Report, _ vendor: ChannelScene.Vendor, _ sink: VendorSink
  ) throws(BenchError) -> (rate: Double, cost: Double)? {
    let path = vendor.transport?.path ?? "/huawei/v1/\(ChannelScene.app)/messages:send"
    let size = vendor.transport?.bodySize ?? 20_000
    let fields = vendor.transport?.fields ?? ["Authorization: Bearer bench"]
    let body = try environment.workspace.write(
      "body-\(vendor.rawValue)", String(repeating: "x", count: size))
    let (before, used) = (sink.requests, childrenTime())
    let client = try environment.start(
      "h2load",
      [
        "-c1", "-t1", "-m\(streams)", "-D\(environment.options.seconds)", "-d", body,
      ] + fields.flatMap { ["-H", $0] } + ["\(sink.url)\(path)"])
    guard client.waitForEnd(seconds: environment.options.seconds + 30) else { throw .timedOut("h2load ends") }
    let count = Double((sink.requests - before) * vendor.batch)
    guard count > 0 else {
      report.note("h2load is left out: it is not installed")
      return nil
    }
    return (count / Double(environment.options.seconds), (childrenTime() - used) * 1e6 / count)
  }

  /// Processor time of the programs that have ended, in seconds.
  private static func childrenTime() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
  }
}
