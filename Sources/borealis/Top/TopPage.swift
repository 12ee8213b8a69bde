import BorealisBase

/// The page of `borealis top`: two snapshots of a server as lines of text.
struct TopPage {
  /// Apps in each table.
  private static let appsInTable = 8
  /// The column in which figures begin.
  private static let margin = 12
  private static let unknown = "–"

  /// Nil if nothing was observed before: then there are no rates.
  private let before: ServerSnapshot?
  private let now: ServerSnapshot
  /// The pushes of apps then, by key.
  private let oldPushes: [String: Int]

  /// `before` counts only if it is of the same process, which has counted on since.
  init(before: ServerSnapshot?, now: ServerSnapshot) {
    let start = "process_start_time_seconds"
    self.now = now
    self.before = before.flatMap { before in
      before.metrics[start] == now.metrics[start] && before.clock < now.clock ? before : nil
    }
    oldPushes = Dictionary((self.before?.apps ?? []).map { ($0.appKey ?? "", $0["pushes"]) }) { $1 }
  }

  /// At most `rows` lines of at most `columns` columns. What has no room is left out.
  func lines(columns: Int, rows: Int = .max) -> [String] {
    var lines = [head]
    for (title, metrics) in Self.figures { lines += Self.wrapped(title, cells(title, metrics), columns) }
    lines += channelTable
    lines += appTable("busiest apps") { before == nil ? Double($0["pushes"]) : pushRate(of: $0) ?? 0 }
    lines += appTable("longest queues") { Double($0["queued"]) }
    return lines.prefix(max(0, rows)).map { Self.clipped($0, columns) }
  }

  // MARK: Figures

  private var head: String {
    let start = now.metrics["process_start_time_seconds"]
    let up = start.map { ", up " + Self.duration(Double(now.time) / 1000 - $0) } ?? ""
    let state = now.obstacle.map { "NOT READY: \($0)" } ?? "ready"
    return Log.visible("borealis \(now.version)\(up), \(state)")
  }

  /// The lines above the tables: titles, and metrics by what they are called there.
  private static let figures: KeyValuePairs<String, KeyValuePairs<String, String>> = [
    "process": ["apps": "borealis_apps", "open files": "process_open_fds", "file limit": "process_max_fds"],
    "devices": [
      "online": "borealis_devices_online", "connections": "borealis_device_open_connections",
      "logins": "borealis_device_logins_total", "opened": "borealis_device_connections_total",
      "WebSocket": "borealis_device_websockets_total", "refused": "borealis_device_turned_away_total",
      "TLS failures": "borealis_device_tls_failures_total",
    ],
    "pushes": [
      "accepted": "borealis_pushes_accepted_total", "refused": "borealis_pushes_refused_total",
      "sent to devices": "borealis_device_push_frames_total",
      "acknowledged": "borealis_device_acknowledgements_total",
    ],
    "HTTP": [
      "connections": "borealis_http_connections", "requests": "borealis_http_requests_total",
      "5xx": #"borealis_http_requests_total{class="5xx"}"#, "time": "borealis_http_request_seconds",
    ],
    "database": [
      "queue": "borealis_write_queue_jobs", "commits": "borealis_commits_total",
      "failed": "borealis_commits_failed_total", "time": "borealis_commit_seconds",
      "oldest unstored acknowledgement (s)": "borealis_acknowledgements_unstored_seconds",
    ],
    "waiting": [
      "for speed": "borealis_pushes_waiting_for_speed", "paced": "borealis_pushes_spreading",
      "callback batches": "borealis_callback_batches_waiting", "mails": "borealis_mail_waiting",
    ],
    "events": [
      "callbacks": "borealis_callback_events_total",
      "callbacks failed": #"borealis_callback_requests_total{result="failed"}"#,
      "schedules fired": "borealis_schedules_fired_total", "missed": "borealis_schedules_missed_total",
    ],
  ]

  private func cells(_ title: String, _ metrics: KeyValuePairs<String, String>) -> [String] {
    let listed = metrics.map { name, metric in
      if name == "time" { return "median \(percentile(metric, 0.5)), 99 % \(percentile(metric, 0.99))" }
      let isCounter = metric.contains("_total")
      return "\(name) " + (isCounter ? Self.text(rate(metric)) + "/s" : Self.text(sum(metric, in: now)))
    }
    switch title {
    case "process":
      let memory = now.metrics["process_resident_memory_bytes"].map { $0 / 1_048_576 }
      let cpu = rate("process_cpu_seconds_total").map { $0 * 100 }
      return ["memory \(Self.text(memory)) MiB", "CPU \(Self.text(cpu)) %"] + listed
    case "devices":
      // Whatever was opened, and is not open any more.
      let closed = rate("borealis_device_connections_total").flatMap { opened in
        change("borealis_device_open_connections").map { max(0, opened - $0) }
      }
      return listed + ["closed \(Self.text(closed))/s"]
    default: return listed
    }
  }

  // MARK: Tables

  private var channelTable: [String] {
    let label = /borealis_channel_targets_total\{channel="([^"]*)",/
    let counted = now.metrics.keys.compactMap { $0.prefixMatch(of: label).map { String($0.output.1) } }
    let names = Set(counted + now.channels.map(\.name)).sorted()
    guard !names.isEmpty else { return [] }
    let counts = ["pushes", "in_flight", "retrying", "stopped", "unreachable"]
    let titles = ["delivered/s", "failed/s"] + counts.map { $0.replacing("_", with: " ") }
    return ["", Self.row("channel", titles)]
      + names.map { name in
        let rates = ["delivered", "failed"].map { result in
          Self.text(rate(#"borealis_channel_targets_total{channel="\#(name)",result="\#(result)"}"#, from: 0))
        }
        let load = now.channels.first { $0.name == name }
        return Self.row(name, rates + (load.map { load in counts.map { String(load[$0]) } } ?? []))
      }
  }

  private func appTable(_ title: String, by count: (ServerSnapshot.Load) -> Double) -> [String] {
    let apps = now.apps.map { (app: $0, count: count($0)) }.filter { $0.count > 0 }
      .sorted { ($0.count, $1.app.appKey ?? "") > ($1.count, $0.app.appKey ?? "") }
    guard !apps.isEmpty else { return [] }
    let counts = ["queued", "waiting", "broadcasts", "online"]
    return ["", Self.row(title, ["pushes/s"] + counts)]
      + apps.prefix(Self.appsInTable).map { app, _ in
        Self.row(app.name, [Self.text(pushRate(of: app))] + counts.map { String(app[$0]) })
          + "  \(Log.visible(app.appKey ?? ""))"
      }
  }

  /// Pushes in a second; nil for an app that was not listed before.
  private func pushRate(of app: ServerSnapshot.Load) -> Double? {
    oldPushes[app.appKey ?? ""].flatMap { perSecond(Double(app["pushes"] - $0)) }
  }

  // MARK: Values

  /// The value of a metric; of one with labels their sum.
  private func sum(_ name: String, in snapshot: ServerSnapshot) -> Double? {
    if let value = snapshot.metrics[name] { return value }
    let values = snapshot.metrics.filter { $0.key.hasPrefix(name + "{") }.values
    return values.isEmpty ? nil : values.reduce(0, +)
  }

  private func perSecond(_ change: Double) -> Double? {
    guard let before else { return nil }
    return change / (Double(now.clock - before.clock) / 1e9)
  }

  /// How fast something has changed; nil if that was not observed. `start` is the value of what was not there
  /// yet.
  private func change(_ name: String, from start: Double? = nil) -> Double? {
    guard let before, let old = sum(name, in: before) ?? start, let new = sum(name, in: now) ?? start else {
      return nil
    }
    return perSecond(new - old)
  }

  /// The same of a counter.
  private func rate(_ name: String, from start: Double? = nil) -> Double? {
    change(name, from: start).flatMap { $0 < 0 ? nil : $0 }
  }

  /// The bound of the bucket in which a share of what came between the snapshots lies.
  private func percentile(_ name: String, _ share: Double) -> String {
    let label = name + "_bucket{le=\""
    let buckets = now.metrics.keys.compactMap { key -> (bound: Double, count: Double)? in
      guard key.hasPrefix(label), let count = change(key) else { return nil }
      let text = key.dropFirst(label.count).prefix { $0 != "\"" }
      return (text == "+Inf" ? .infinity : Double(text) ?? .infinity, count)
    }.sorted { $0.bound < $1.bound }
    guard let total = buckets.last?.count, total > 0,
      let found = buckets.first(where: { $0.count >= share * total })
    else { return Self.unknown }
    // Nothing says how long what is in the last one took.
    let bound = found.bound.isFinite ? found.bound : buckets.dropLast().last?.bound ?? 0
    let milliseconds = "\((bound * 1e6).rounded() / 1000)"
    let time =
      bound < 1
      ? (milliseconds.hasSuffix(".0") ? String(milliseconds.dropLast(2)) : milliseconds) + " ms"
      : Self.text(bound) + " s"
    return (found.bound.isFinite ? "≤ " : "> ") + time
  }

  // MARK: Text

  /// A number with one decimal if it is less than 10; a dash for what is not known.
  private static func text(_ value: Double?) -> String {
    guard let value, abs(value) < 1e15 else { return unknown }
    let tenths = Int((value * 10).rounded())
    if tenths == 0, value > 0 { return "<0.1" }
    guard abs(tenths) < 100, tenths % 10 != 0 else { return String(Int(value.rounded())) }
    return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }

  private static func duration(_ seconds: Double) -> String {
    let seconds = max(0, Int(exactly: seconds.rounded(.down)) ?? 0)
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60)
    if days > 0 { return "\(days) d \(hours) h" }
    return hours > 0 ? "\(hours) h \(minutes) min" : minutes > 0 ? "\(minutes) min" : "\(seconds) s"
  }

  /// A title and its cells, in as many lines as they need.
  private static func wrapped(_ title: String, _ cells: [String], _ columns: Int) -> [String] {
    var lines = [padded(title, margin)]
    for cell in cells {
      let last = lines.removeLast()
      let gap = last.count > margin ? "   " : ""
      let fits = gap.isEmpty || last.count + gap.count + cell.count <= columns
      lines += fits ? [last + gap + cell] : [last, padded("", margin) + cell]
    }
    return lines
  }

  /// A row of a table: a name and what is to the right of it.
  private static func row(_ name: String, _ cells: [String]) -> String {
    let cells = cells.map { String(repeating: " ", count: max(1, 12 - $0.count)) + $0 }
    return padded(clipped(Log.visible(name), 20), 20) + cells.joined()
  }

  private static func padded(_ text: String, _ columns: Int) -> String {
    text + String(repeating: " ", count: max(0, columns - text.unicodeScalars.reduce(0) { $0 + width($1) }))
  }

  /// Chinese characters and the like take two columns. What combines takes none, but counts.
  private static func width(_ scalar: Unicode.Scalar) -> Int { scalar.value < 0x2E80 ? 1 : 2 }

  /// The begin of a text, as much as fits so many columns.
  static func clipped(_ text: String, _ columns: Int) -> String {
    var (clipped, left) = (String.UnicodeScalarView(), columns)
    for scalar in text.unicodeScalars {
      left -= width(scalar)
      guard left >= 0 else { break }
      clipped.append(scalar)
    }
    return String(clipped)
  }
}
