import BorealisBase
import BorealisCrypto
import BorealisNet
import CLinux
import Console
import Core
import DeviceGateway
import Glibc
import HTTP
import Storage

/// The metrics of a server. Docs/operations/monitoring.md explains each, with those of the modules below.
struct ServerMetrics: Sendable {
  let http: HTTPServerMetrics
  let devices: PassthroughMetrics
  let deviceConnections: Gauge
  let proxyFailures: Counter
  let spans: SpanMetrics
  /// Connections of all kinds.
  var connections: Int { http.openConnections + Int(clamping: deviceConnections.value) }
  private let startedAt = SystemTime().now()
  private let commits: Counter
  private let committedJobs: Counter
  private let commitSeconds: Histogram

  init(_ metrics: Metrics) {
    http = HTTPServerMetrics(in: metrics)
    devices = PassthroughMetrics(metrics)
    deviceConnections = metrics.gauge("borealis_device_open_connections")
    proxyFailures = metrics.counter("borealis_device_proxy_failures_total")
    spans = SpanMetrics(metrics)
    commits = metrics.counter("borealis_commits_total")
    committedJobs = metrics.counter("borealis_committed_jobs_total")
    commitSeconds = metrics.histogram("borealis_commit_seconds")
  }

  /// What the console says of this process.
  func console(nodes: @escaping ConsoleNodes = { [] }) -> ConsoleServer {
    ConsoleServer(
      version: Program.version, startedAt: startedAt,
      connections: { [deviceConnections] in Int(clamping: deviceConnections.value) }, nodes: nodes)
  }

  /// The report of the store after each commit.
  var onCommit: @Sendable (Int, UInt64) -> Void {
    { [commits, committedJobs, commitSeconds] jobs, microseconds in
      commits.add()
      committedJobs.add(UInt64(jobs))
      commitSeconds.observe(microseconds: microseconds)
    }
  }

  /// Registers metrics of a home that are computed only when they are read.
  static func compute(_ metrics: Metrics, store: Store, router: Router) {
    metrics.computed("borealis_commits_failed_total", isCounter: true) {
      Double(store.statistics.failedCommits)
    }
    metrics.computed("borealis_write_queue_jobs") {
      Double(store.statistics.waiting)
    }
    metrics.computed("borealis_acknowledgements_unstored_seconds") { router.deliveries.unstoredSeconds }
    metrics.computed("borealis_devices_online") {
      Double(router.apps.all.reduce(0) { $0 + $1.directory.onlineCount })
    }
    metrics.computed("borealis_registrations") {
      Double(router.apps.all.reduce(0) { $0 + $1.directory.registrationCount })
    }
    metrics.computed("borealis_pushes_waiting_for_speed") {
      Double(router.pushesWaitingForSpeed)
    }
    metrics.computed("borealis_pushes_spreading") {
      Double(router.apps.all.reduce(0) { $0 + $1.directory.pacedPushCount })
    }
    metrics.computed("borealis_request_log_dropped_total", isCounter: true) {
      Double(router.requestLog.dropped)
    }
    metrics.computed("borealis_apps") { Double(router.apps.all.count) }
    let audit = router.audit
    metrics.computed("borealis_push_targets") {
      let totals = audit.totals
      return [
        ("delivered", totals.delivered), ("expired", totals.expired), ("failed", totals.failed),
        ("pending", totals.pending), ("recalled", totals.recalled),
      ].map { (labels: "end=\"\($0.0)\"", value: Double($0.1)) }
    }
    metrics.computed("borealis_push_targets_unaccounted") { Double(audit.totals.unaccounted) }
  }

  /// Registers metrics of a process that are computed only when they are read. `obstacle` returns why it is
  /// not ready, nil if it is.
  static func compute(
    _ metrics: Metrics, certificates: Certificates?, renewal: CertificateRenewal?,
    obstacle: @escaping @Sendable () -> String?
  ) {
    metrics.computed("borealis_ready") { obstacle() == nil ? 1 : 0 }
    metrics.computed("borealis_build_info", labels: "version=\"\(Program.version)\"") { 1 }
    if let certificates {
      metrics.computed("borealis_certificate_end_timestamp_seconds") {
        Double(certificates.info.notAfter.milliseconds) / 1000
      }
      metrics.computed("borealis_acme_failed_attempts") { Double(renewal?.failures ?? 0) }
    }
    metrics.computed("borealis_log_lines_dropped_total", isCounter: true) {
      Double(OutputQueue.standardError.droppedLines)
    }
    process(metrics)
  }

  /// The names that Prometheus' own client libraries use.
  private static func process(_ metrics: Metrics) {
    let start = Double(cl_wall_ms()) / 1000
    metrics.computed("process_start_time_seconds") { start }
    metrics.computed("process_resident_memory_bytes") { Double(cl_resident_bytes()) }
    metrics.computed("process_open_fds") { Double(openDescriptors()) }
    metrics.computed("process_max_fds") {
      var granted: UInt64 = 0
      return cl_set_nofile_limit(0, &granted) < 0 ? 0 : Double(granted)
    }
    metrics.computed("process_cpu_seconds_total", isCounter: true) {
      var used = timespec()
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used)
      return Double(used.tv_sec) + Double(used.tv_nsec) / 1e9
    }
  }

  private static func openDescriptors() -> Int {
    guard let folder = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(folder) }
    // Besides the descriptors: "." and "..", and the folder itself.
    var count = -3
    while readdir(folder) != nil { count += 1 }
    return max(0, count)
  }
}
