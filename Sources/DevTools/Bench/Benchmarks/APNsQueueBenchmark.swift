import BorealisCrypto
import CLinux

/// The cost of an APNs queue: memory, and the latency of another app's pushes. First the queue is one push to
/// many devices, then many pushes to one device each.
enum APNsQueueBenchmark {
  static let memory = "memory of the server"
  static let broadcastDrain = "one push to many, drained to Apple"
  static let singlesAccepted = "single pushes accepted while Apple answers nothing"
  static let singlesDrain = "single pushes, drained to Apple"
  /// What the names of the two ways of another app's pushes begin with.
  static let own = "another app's push to a device of ours"
  static let apple = "another app's push to Apple"

  /// Single pushes at most: as many as are accepted in some seconds.
  private static let mostSingles = 200_000
  /// The longest that a queue may take to drain, in seconds.
  private static let drainSeconds = 120
  /// What the server's memory may grow by, whatever waits, in MiB: most of it is SQLite's, 32 for each
  /// connection.
  private static let growthLimit = 64.0

  static func run(_ environment: BenchEnvironment, queue count: Int, _ report: Report) throws(BenchError) {
    guard !environment.options.onlyPeers else { return }
    let scene = try APNsQueueScene(environment, queue: count)
    let before = try scene.memory()
    report.add(memory, "before", before, "MiB")
    add(try scene.sample(seconds: environment.options.seconds), "idle", to: report)

    scene.gate.set(.held)
    try scene.postBroadcast()
    var held = try scene.sample(seconds: 2, toApple: false)
    report.add(memory, "broadcast, held", held.memory, "MiB")
    add(held, "broadcast, held", to: report)
    scene.gate.set(.slow)
    add(try scene.sample(seconds: environment.options.seconds), "broadcast, Apple slow", to: report)
    scene.gate.set(.open)
    var drained = try scene.drain(count, atMost: drainSeconds)
    add(drained, "broadcast, drain", to: report)
    report.add(broadcastDrain, Report.own, drained.rate, "notifications/s")
    report.add(memory, "broadcast, drain", drained.memory, "MiB")
    var most = max(held.memory, drained.memory)

    let singles = min(count, mostSingles)
    scene.gate.set(.held)
    report.add(singlesAccepted, Report.own, try scene.postSingles(singles), "pushes/s")
    held = try scene.sample(seconds: 2, toApple: false)
    report.add(memory, "singles, held", held.memory, "MiB")
    add(held, "singles, held", to: report)
    scene.gate.set(.open)
    drained = try scene.drain(singles, atMost: drainSeconds)
    add(drained, "singles, drain", to: report)
    report.add(singlesDrain, Report.own, drained.rate, "notifications/s")
    report.add(memory, "singles, drain", drained.memory, "MiB")
    most = max(most, held.memory, drained.memory)
    try scene.end()

    report.add(memory, Report.own, most, "MiB")
    report.add(memory + ", growth", Report.own, most - before, "MiB")
    report.goal("memory grows by at most \(Int(growthLimit)) MiB", memory + ", growth", atMost: growthLimit)
    for way in [own, apple] {
      let idle = report.value(way + ", p99", "idle") ?? 0
      for phase in ["broadcast, Apple slow", "broadcast, drain", "singles, drain"] {
        guard idle > 0, let value = report.value(way + ", p99", phase) else { continue }
        report.goal("\(way), p99 within twice idle: \(phase)", ratio: value / idle, atMost: 2)
      }
    }
  }

  private static func add(_ sample: APNsQueueScene.Sample, _ phase: String, to report: Report) {
    for (way, latencies) in [(own, sample.own), (apple, sample.apple)] {
      report.add(way + ", p50", phase, latencies.percentile(0.5), "us")
      report.add(way + ", p99", phase, latencies.percentile(0.99), "us")
    }
  }
}
