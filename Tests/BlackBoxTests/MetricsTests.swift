import BorealisBase
import Glibc
import PushTesting
import Testing

/// A row of the list.
private struct ListedMetric {
  let name: String
  let labels: Set<String>
  let kind: String
  let meaning: String

  /// Whether a server needs something before it serves the metric.
  var isConditional: Bool { meaning.hasSuffix("; only with TLS") || isOfCluster }
  var isOfCluster: Bool { meaning.hasSuffix("; only in a cluster") }
  var isOfChannel: Bool { meaning.hasSuffix("; no value before a channel is used") }
}

/// The list of metrics against the server, the page, Prometheus, and what a dashboard asks for.
@Suite struct MetricsTests {
  let folder = TemporaryFolder()
  private static let toolPath = "/usr/bin/promtool"
  private static let hasPromtool = access(toolPath, X_OK) == 0

  private static func printed(_ command: String, _ options: String...) throws -> String {
    let ending = try RunningProgram.run(["metrics", command] + options)
    #expect(ending.status == 0 && ending.errors.isEmpty, "\(ending.errors)")
    return ending.output
  }

  private static func rows() throws -> [ListedMetric] {
    let row =
      /\| `(?<name>[a-z_]+)`(?: by (?<labels>[^|]+))? \| (?<kind>[a-z]+) \| (?<meaning>.*) \| .*\|/
    return try printed("list").split(separator: "\n").compactMap { $0.wholeMatch(of: row) }.map {
      let labels = ($0.labels ?? "").matches(of: /`([a-z]+)`/).map { String($0.output.1) }
      return ListedMetric(
        name: String($0.name), labels: Set(labels), kind: String($0.kind), meaning: String($0.meaning))
    }
  }

  private static func alerts(in rules: String) -> [String] {
    rules.matches(of: /- alert: (\w+)\n/).map { String($0.output.1) }
  }

  /// The names and the types that a server gives.
  private static func types(in metrics: String) -> [String: String] {
    let lines = metrics.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
    let pairs = lines.map { $0.split(separator: " ") }.map { (String($0[2]), String($0[3])) }
    return Dictionary(pairs) { first, _ in first }
  }

  /// Expects that each value has the labels that the list says.
  private static func expectLabels(in metrics: String, of rows: [ListedMetric]) {
    for line in metrics.split(separator: "\n") where !line.hasPrefix("#") {
      guard let name = line.prefixMatch(of: /[a-z_]+/)?.output, let end = line.lastIndex(of: " ") else {
        Issue.record("\(line)")
        continue
      }
      let labels = Set(line[..<end].matches(of: /([a-z]+)="/).map { String($0.output.1) })
      let isHistogram = !labels.isDisjoint(with: ["le"])
      let listed = rows.first { row in
        row.name == name
          || row.kind == "histogram" && ["_bucket", "_sum", "_count"].contains { row.name + $0 == name }
      }
      #expect(listed?.labels == labels.subtracting(isHistogram ? ["le"] : []), "\(line)")
    }
  }

  private static func metrics(of server: TestServer) throws -> String {
    let answer = try server.call("GET", "/metrics")
    #expect(answer.status == 200)
    return answer.body
  }

  /// The names in an expression of PromQL; that of a histogram has an ending there.
  private static func names(in expression: some StringProtocol) -> Set<String> {
    Set(
      String(expression).matches(of: /(?:borealis|process)_[a-z_]+/).map {
        String($0.output.hasSuffix("_bucket") ? $0.output.dropLast(7) : $0.output)
      })
  }

  @Test func `The page shows the list`() throws {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let page = TemporaryFolder.read("/\(root)/Docs/operations/monitoring.md")
    let parts = page.split(
      separator: "<!-- the list: borealis metrics list -->\n", omittingEmptySubsequences: false)
    let list = try Self.printed("list")
    #expect(
      parts.count == 3 && parts[1] == list, "replace the list by what `borealis metrics list` prints")
  }

  @Test func `The list has what a server serves, and nothing else`() throws {
    let rows = try Self.rows()
    #expect(rows.count > 90 && Set(rows.map(\.name)).count == rows.count)
    let plain = try TestServer(data: folder.path + "/plain")
    let secure = try TestServer(data: folder.path + "/secure", ["--http-tls", "127.0.0.1:0"])
    let world = try ClusterWorld(["a"], arguments: ["--http-tls", "127.0.0.1:0"])
    let isServed: [(TestServer, (ListedMetric) -> Bool)] = [
      (plain, { !$0.isConditional }), (secure, { !$0.isOfCluster }), (try world.node("a"), { _ in true }),
    ]
    for (server, condition) in isServed {
      let metrics = try Self.metrics(of: server)
      let given = Self.types(in: metrics)
      for name in given.keys { #expect(metrics.contains("# HELP \(name) "), "\(name) has no text") }
      let expected = Dictionary(uniqueKeysWithValues: rows.filter(condition).map { ($0.name, $0.kind) })
      #expect(Set(given.keys).subtracting(expected.keys) == [], "served, but not in the list")
      #expect(Set(expected.keys).subtracting(given.keys) == [], "in the list, but not served")
      #expect(given == expected)
      Self.expectLabels(in: metrics, of: rows)
    }
    for row in rows { #expect(row.name.hasSuffix("_total") == (row.kind == "counter"), "\(row.name)") }
  }

  /// Prometheus cannot tell a metric without a value from one that does not exist.
  @Test func `All have a value from the start, but those of channels`() throws {
    let server = try TestServer(data: folder.path + "/data", ["--http-tls", "127.0.0.1:0"])
    let lines = try Self.metrics(of: server).split(separator: "\n").filter { !$0.hasPrefix("#") }
    let valued = Set(lines.map { String($0.prefix { $0 != " " && $0 != "{" }) })
    for row in try Self.rows() where !row.isOfCluster {
      let hasValue = valued.contains(row.kind == "histogram" ? row.name + "_bucket" : row.name)
      #expect(hasValue != row.isOfChannel, "\(row.name)")
    }
  }

  @Test func `Channels in use have the labels of the list`() throws {
    let rows = try Self.rows()
    let apple = try APNsWorld()
    #expect(try apple.end(of: try apple.push()) == .delivered)
    let google = try FCMWorld()
    try google.setKey()
    let id = try google.push(to: [try google.device("anna:APA91"), try google.device("bert:APA91")])
    #expect(try google.results(of: id, 2) == ["delivered": 2])
    for (server, some) in [
      (apple.server, "borealis_apns_results_total{"), (google.server, "borealis_vendor_requests_total{"),
    ] {
      var metrics = ""
      let isCounted = try RunningProgram.eventually {
        metrics = try Self.metrics(of: server)
        return metrics.contains(some) && metrics.contains("borealis_channel_targets_total{")
      }
      #expect(isCounted)
      Self.expectLabels(in: metrics, of: rows)
    }
  }

  @Test func `The dashboard shows every metric once`() throws {
    let ending = try RunningProgram.run(["metrics", "dashboard"])
    let dashboard = try #require(ending.documents.first ?? nil)
    let open = try #require(dashboard["panels"]?.array)
    let panels = open + open.flatMap { $0["panels"]?.array ?? [] }
    var shown: [String] = []
    for panel in panels {
      let expressions = (panel["targets"]?.array ?? []).compactMap { $0["expr"]?.string }
      shown += expressions.reduce(into: Set<String>()) { $0.formUnion(Self.names(in: $1)) }
    }
    #expect(try shown.sorted() == Self.rows().map(\.name).sorted())
    let identifiers = panels.compactMap { $0["id"]?.int64 }
    #expect(identifiers.count == panels.count && Set(identifiers).count == panels.count)
    let titles = open.filter { $0["type"] == "row" }.map { $0["title"]?.string }
    let groups = try Self.printed("list").matches(of: /\n### (.+)\n/).map { String($0.output.1) }
    #expect(titles == groups)
    #expect(dashboard["templating"]?["list"]?.array?.first?["type"] == "datasource")
  }

  @Test func `Alerts are about metrics of the list, and link to pages that the server has`() throws {
    let server = try TestServer(data: folder.path + "/data")
    let rules = try Self.printed("rules", "--public-url", "http://\(server.http)/")
    let alerts = Self.alerts(in: rules)
    #expect(10...20 ~= alerts.count && Set(alerts).count == alerts.count)
    let labels = Dictionary(uniqueKeysWithValues: try Self.rows().map { ($0.name, $0.labels) })
    let added: Set = ["job", "instance"]
    let found = rules.matches(of: /expr: (.+)\n(?:.*\n)*?.*summary: (.+)\n/).map(\.output)
    #expect(found.count == alerts.count)
    for rule in found {
      let names = Self.names(in: rule.1)
      #expect(names.isSubset(of: labels.keys), "\(rule.1)")
      for chosen in rule.1.matches(of: /([a-z_]+)\{([^}]*)\}/).map(\.output) where chosen.1 != "up" {
        let asked = chosen.2.matches(of: /([a-z]+)=/).map { String($0.output.1) }
        #expect(added.union(labels[String(chosen.1)] ?? []).isSuperset(of: asked), "\(rule.1)")
      }
      let shown = rule.2.matches(of: /\$labels\.([a-z]+)/).map { String($0.output.1) }
      #expect(!shown.isEmpty && names.allSatisfy { added.union(labels[$0] ?? []).isSuperset(of: shown) })
    }
    let links = rules.matches(of: /runbook_url: 'http:\/\/[^\/]+(\/docs\/[^#']+)#[^']+'\n/)
    #expect(links.count == alerts.count)
    for path in Set(links.map { String($0.output.1) }) {
      #expect(try server.call("GET", path).status == 200, "\(path)")
    }
    // Without an address they name the page in the repository.
    let plain = try Self.printed("rules")
    #expect(plain.contains("runbook: 'Docs/operations/install.md#start-and-stop'\n"))
    #expect(!plain.contains("runbook_url"))
    let wrong = try RunningProgram.run(["metrics", "rules", "--public-url", "ftp://push.example.com"])
    #expect(wrong.status == 2 && wrong.output.isEmpty && wrong.errors.contains("--public-url"))
  }

  // MARK: With Prometheus' own tool

  private func promtool(_ arguments: String..., input: String = "") throws {
    let ending = try RunningProgram(arguments, of: Self.toolPath, input: input).end(patience: 300)
    #expect(ending.status == 0, "\(arguments): \(ending.output)\(ending.errors)")
  }

  @Test(.enabled(if: hasPromtool, "promtool is missing"))
  func `Prometheus takes the metrics, the rules and what the dashboard asks for`() throws {
    let server = try TestServer(data: folder.path + "/data", ["--http-tls", "127.0.0.1:0"])
    try promtool("check", "metrics", input: try Self.metrics(of: server))
    let rules = folder.file("rules.yml")
    try TemporaryFolder.write(try Self.printed("rules"), to: rules)
    try promtool("check", "rules", rules)
    // As rules that record the results, with what Grafana puts in place of its variable.
    let dashboard = try Self.printed("dashboard")
    let expressions = dashboard.matches(of: /"expr":("(?:[^"\\]|\\.)*")/).map(\.output.1)
    #expect(expressions.count > 90)
    let recorded = expressions.enumerated().map { "  - {record: panel\($0), expr: \($1)}\n" }.joined()
    try TemporaryFolder.write(
      "groups:\n- name: panels\n  rules:\n" + recorded.replacing("$__rate_interval", with: "5m"), to: rules)
    try promtool("check", "rules", rules)
  }

  /// What servers give for 90 minutes while all is well, in promtool's notation, one sample a minute.
  private static let well: [String: String] = [
    "up": "1x90", "up{instance='b'}": "1x90", "process_start_time_seconds": "1x90",
    "process_open_fds": "800x90", "process_max_fds": "1000x90", "borealis_ready": "1x74 0x15",
    "borealis_http_requests_total{class='2xx'}": "0+100x90",
    "borealis_http_requests_total{class='5xx'}": "0+1x90",
    "borealis_devices_online": "1000x60 700x30",
    "borealis_certificate_end_timestamp_seconds": "9000000x90", "borealis_acme_failed_attempts": "0x30 1x60",
    "borealis_commits_failed_total": "0x60 3x30", "borealis_write_queue_jobs": "5000x90",
    "borealis_push_targets_unaccounted": "0x90",
    "borealis_channel_reachable{app='1',channel='fcm',service=''}": "1x90",
    "borealis_channel_reachable{app='2',channel='fcm',service=''}": "0x90",
    "borealis_apns_credential_expiry_seconds{app='1',environment='production'}": "9000000x90",
    "borealis_apns_credential_expiry_seconds{app='2',environment='production'}": "-900000x90",
    "borealis_callback_batches_dead_total": "3x90", "borealis_node_is_home": "1x90",
    "borealis_node_is_home{instance='b'}": "0x90", "borealis_bus_connected": "1x90",
    "borealis_node_unreached": "0x90",
    // Another installation.
    "up{job='staging'}": "0x90", "borealis_ready{job='staging'}": "0x90",
    "borealis_node_is_home{job='staging'}": "1x90", "borealis_devices_online{job='staging'}": "1000x60 0x30",
  ]

  /// Other samples, and the alerts that fire after 75 minutes.
  private static let cases: [(samples: [String: String], alerts: [String])] = [
    ([:], []),
    (["up": "0x90"], ["BorealisDown"]),
    (["borealis_ready": "0x90"], ["BorealisNotReady"]),
    (["process_start_time_seconds": "1+1x90"], ["BorealisRestarts"]),
    (["borealis_http_requests_total{class='5xx'}": "0+2x90"], ["BorealisServerErrors"]),
    (["borealis_devices_online": "1000x60 500x30"], ["BorealisDevicesLost"]),
    (["process_open_fds": "801x90"], ["BorealisFilesShort"]),
    (["borealis_certificate_end_timestamp_seconds": "900000x90"], ["BorealisCertificateExpires"]),
    (["borealis_acme_failed_attempts": "1x90"], ["BorealisCertificateNotRenewed"]),
    (["borealis_commits_failed_total": "0+1x90"], ["BorealisTransactionsFail"]),
    (["borealis_write_queue_jobs": "5001x90"], ["BorealisWriteQueueLong"]),
    (["borealis_push_targets_unaccounted": "1x90"], ["BorealisTargetsUnaccounted"]),
    (
      ["borealis_channel_reachable{app='1',channel='fcm',service=''}": "0x90"],
      ["BorealisChannelUnreachable"]
    ),
    (
      ["borealis_apns_credential_expiry_seconds{app='1',environment='production'}": "900000x90"],
      ["BorealisAPNsCertificateExpires"]
    ),
    (["borealis_callback_batches_dead_total": "0+1x90"], ["BorealisCallbacksGivenUp"]),
    (["borealis_node_is_home": "0x90"], ["BorealisNoHome"]),
    (["borealis_node_is_home{instance='b'}": "1x90"], ["BorealisNoHome"]),
    // The scrape of the home fails; it works on, as far as anybody knows.
    (["up": "1x60 0x30", "borealis_node_is_home": "1x60 stale"], ["BorealisDown"]),
    (["borealis_bus_connected": "0x90"], ["BorealisBusLost"]),
    (["borealis_node_unreached": "1x90"], ["BorealisNodeUnreached"]),
  ]

  /// A series with the labels that Prometheus adds.
  private static func labeled(_ series: String) -> String {
    var labels = series.hasSuffix("}") ? String(series.dropLast()) + "," : series + "{"
    if !series.contains("job=") { labels += "job='borealis'," }
    if !series.contains("instance=") { labels += "instance='a'," }
    return labels.dropLast() + "}"
  }

  /// A test of promtool's: with these samples, these alerts fire.
  private static func test(_ changes: [String: String], _ alerts: [String]) -> String {
    let samples = well.merging(changes) { $1 }.sorted { $0.key < $1.key }.map { series, values in
      "  - {series: \"\(labeled(series))\", values: '\(values)'}\n"
    }
    let firing = alerts.map { "      - {labels: '{alertname=\"\($0)\"}', value: 1}\n" }
    return """
      - interval: 1m
        input_series:
      \(samples.joined())\
        promql_expr_test:
        - expr: count by (alertname) (ALERTS{alertstate="firing"}) > bool 0
          eval_time: 75m
          exp_samples:\(firing.isEmpty ? " []\n" : "\n" + firing.joined())
      """
  }

  @Test(.enabled(if: hasPromtool, "promtool is missing"))
  func `Every alert fires when it should, and no other one`() throws {
    let rules = try Self.printed("rules")
    let known = Self.cases.reduce(into: Set<String>()) { $0.formUnion($1.alerts) }
    #expect(Set(Self.alerts(in: rules)) == known)
    try TemporaryFolder.write(rules, to: folder.file("rules.yml"))
    let tests = Self.cases.map { Self.test($0.samples, $0.alerts) }.joined()
    try TemporaryFolder.write(
      "rule_files: [rules.yml]\nevaluation_interval: 1m\ntests:\n" + tests, to: folder.file("test.yml"))
    try promtool("test", "rules", folder.file("test.yml"))
  }

  @Test func `Rules are about the servers of one job, and name what is wrong`() throws {
    let rules = try Self.printed("rules", "--job", "prod/push 2")
    let expressions = rules.matches(of: /expr: (.+)\n/).map { String($0.output.1) }
    #expect(expressions.count == Self.alerts(in: rules).count)
    for expression in expressions {
      let metrics = expression.matches(of: /\b(?:up|(?:borealis|process)_[a-z_]+)\b(.{17})/).map(\.output.1)
      #expect(!metrics.isEmpty && metrics.allSatisfy { $0 == #"{job="prod/push 2"# }, "\(expression)")
    }
    #expect(rules.contains("summary: '{{ $labels.instance }}: A server does not answer Prometheus.'\n"))
    let channel = "{{ $labels.channel }}{{ with $labels.service }} {{ . }}{{ end }}: The service of a channel"
    #expect(rules.contains("summary: '\(channel)"))
    for name in ["a\"b", "a'b", "a\\b", "a\nb", String(repeating: "x", count: 201)] {
      let wrong = try RunningProgram.run(["metrics", "rules", "--job", name])
      #expect(wrong.status == 2 && wrong.output.isEmpty && wrong.errors.contains("--job"), "\(wrong.errors)")
    }
  }
}
