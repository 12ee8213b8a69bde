import BorealisBase
import CLinux
import Glibc

/// Runs benchmarks: starts servers, makes load, prints numbers.
package enum Bench {
  /// Runs the requested measurements and prints a table to standard output; progress goes to standard error.
  package static func run(_ options: BenchOptions) throws(BenchError) {
    var limit: UInt64 = 0
    _ = cl_set_nofile_limit(.max, &limit)
    signal(SIGPIPE, SIG_IGN)
    let report = Report()
    let others = OtherLoad()
    let own = try ownPath()
    let environment = BenchEnvironment(
      options: options, workspace: try Workspace(in: options.folder), executable: own,
      server: options.program ?? own[..<(own.lastIndex(of: "/") ?? own.startIndex)] + "/borealis")
    for name in BenchOptions.benchmarks
    where options.benchmark == name || options.benchmark == "all" && name != "soak" {
      try benchmark(name, environment, report)
    }
    let share = others.share
    if share > 0.03 {
      report.note(
        "other programs took \(Report.number(share * 100)) % of the processors meanwhile: measure again")
    }
    let table = Array(report.table.utf8)
    _ = table.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    if let path = options.json { try save(report.json(machine: machine()) + [10], path) }
  }

  private static func benchmark(
    _ name: String, _ environment: BenchEnvironment, _ report: Report
  ) throws(BenchError) {
    switch name {
    case "sqlite": try SQLiteBenchmark.run(environment, report)
    case "broadcast": try BroadcastBenchmark.run(environment, report)
    case "single": try SingleBenchmark.run(environment, report)
    case "seal": try SealBenchmark.run(environment, report)
    case "connect": try ConnectBenchmark.run(environment, report)
    case "idle": try IdleBenchmark.run(environment, report)
    case "restart": try RestartBenchmark.run(environment, report)
    case "soak": try SoakBenchmark.run(environment, report)
    case "console": try ConsoleBenchmark.run(environment, report)
    case "million": try MillionBenchmark.run(environment, report)
    case "callbacks": try CallbackBenchmark.run(environment, report)
    case "getui": try GetuiBenchmark.run(environment, report)
    case "cluster":
      do throws(BenchError) { try ClusterBenchmark.run(environment, report) } catch .notInstalled(let program)
      {
        report.note("the cluster is left out: \(program) is not installed")
      }
    case "channels":
      if !environment.options.onlyPeers { try ChannelBenchmark.run(environment, report) }
    case "apns":
      if let count = environment.options.queue {
        try APNsQueueBenchmark.run(environment, queue: count, report)
      } else {
        try APNsBenchmark.run(environment, report)
      }
    default: break
    }
  }

  private static func ownPath() throws(BenchError) -> String {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    guard count > 0 else { throw .system(call: "readlink /proc/self/exe", number: errno) }
    return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func machine() -> JSONValue {
    var system = utsname()
    uname(&system)
    let release = withUnsafeBytes(of: &system.release) {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
    return ["processors": .number(JSONNumber(cl_cpu_count())), "kernel": .string(release)]
  }

  private static func save(_ bytes: [UInt8], _ path: String) throws(BenchError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .system(call: "open \(path)", number: errno) }
    defer { close(descriptor) }
    guard bytes.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) == bytes.count else {
      throw .system(call: "write \(path)", number: errno)
    }
  }
}
