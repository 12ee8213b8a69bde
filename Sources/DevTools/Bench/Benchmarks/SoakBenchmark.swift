import CLinux
import Glibc

/// The server's memory under a load that lasts: what is kept must reach its bound, and nothing else may grow.
enum SoakBenchmark {
  static let growth = "memory under a steady load, growth an hour in the last half"

  /// Pushes a second, each to one of the devices in turn, which acknowledge as the library does.
  static func run(_ environment: BenchEnvironment, _ report: Report) throws(BenchError) {
    let receivers = environment.options.connections ?? 1000
    let rate = environment.options.rate ?? 200
    let system = BorealisSystem(try BorealisServer(environment), receivers: receivers, senders: 8)
    let client = try LoadClient()
    try system.connect(0..<receivers, client)
    try system.connectSender(client)
    let period = 1_000_000_000 / UInt64(rate)
    let samples = 60
    let count = max(samples, rate * environment.options.seconds)
    var memory: [(seconds: Double, bytes: Double)] = []
    let start = cl_monotonic_ns()
    for number in 0..<count {
      let due = start + UInt64(number) * period
      while cl_monotonic_ns() < due { client.poll(until: due) }
      system.devices.aim(at: number % receivers)
      system.driver.broadcast(
        Payload.make(size: BroadcastBenchmark.payloadSize, time: cl_monotonic_ns()), client)
      guard number % (count / samples) == 0 else { continue }
      let bytes = Double(try ProcessUsage.memory(system.server.identifier))
      memory.append((Double(cl_monotonic_ns() - start) / 1e9, bytes))
      Report.progress("\(Int(memory.last?.seconds ?? 0)) s: \(Int(bytes / 1024)) KiB")
    }
    try system.poll(client, "the last pushes arrive", seconds: 20) { system.driver.board.arrivals >= count }
    try system.check()
    system.stop()
    let perHour = slope(Array(memory.suffix(samples / 2))) * 3600 / 1_048_576
    report.add("\(growth) (\(rate) pushes/s)", system.name, perHour, "MiB/h")
    report.goal("memory grows by <= 1 MiB/h", "\(growth) (\(rate) pushes/s)", atMost: 1)
  }

  /// Bytes a second: the slope of the line with the least squares.
  static func slope(_ samples: [(seconds: Double, bytes: Double)]) -> Double {
    let count = Double(samples.count)
    let (seconds, bytes) = (
      samples.reduce(0) { $0 + $1.seconds } / count, samples.reduce(0) { $0 + $1.bytes } / count
    )
    let (product, square) = samples.reduce((0.0, 0.0)) { sums, sample in
      let distance = sample.seconds - seconds
      return (sums.0 + distance * (sample.bytes - bytes), sums.1 + distance * distance)
    }
    return square > 0 ? product / square : 0
  }
}
