import CLinux
import Glibc

/// How busy other programs keep the machine while the bench runs: their work spoils every number here.
struct OtherLoad {
  private let start = Self.now()

  /// The share of all processors' time that went to others since this was made, 0...1. All servers must have
  /// ended.
  var share: Double {
    let end = Self.now()
    let passed = Double(end.time - start.time) / 1e9 * Double(max(1, cl_cpu_count()))
    guard passed > 0 else { return 0 }
    return max(0, (end.busy - start.busy) - (end.own - start.own)) / passed
  }

  /// Seconds of processor time that were used by all and by the bench with its children, and a clock.
  private static func now() -> (time: UInt64, busy: Double, own: Double) {
    var own = 0.0
    for who in [RUSAGE_SELF, RUSAGE_CHILDREN] {
      var usage = rusage()
      getrusage(__rusage_who_t(who.rawValue), &usage)
      for time in [usage.ru_utime, usage.ru_stime] { own += Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    }
    // user, nice, system, idle, iowait, irq, softirq: in ticks (proc(5)).
    let line = (try? ProcessUsage.text(of: "/proc/stat"))?.split(separator: "\n").first ?? ""
    let ticks = line.split(separator: " ").dropFirst().compactMap { Double($0) }
    let busy = ticks.enumerated().reduce(0.0) { [0, 1, 2, 5, 6].contains($1.offset) ? $0 + $1.element : $0 }
    return (cl_monotonic_ns(), busy / Double(sysconf(Int32(_SC_CLK_TCK))), own)
  }
}
