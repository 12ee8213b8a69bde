import BorealisBase
import CLinux
import Glibc

/// The latency of the console's pages, each requested separately over one connection, on a filled database.
enum ConsoleBenchmark {
  private static let rounds = 30
  /// Broadcasts, and pushes to tag expressions, of the real server: the newest of the list, and the largest.
  private static let broadcasts = 20
  static let worst = "console, the longest of all pages"
  static let worstFile = "console, the longest of all files"

  /// The query of a page.
  private static func queries(_ pattern: String, _ scene: ConsoleScene) -> [String] {
    let device = scene.population.id(ConsoleScene.registrations / 3).text
    switch pattern {
    case "/console/apps/{app}/pushes":
      return [
        "?q=\(ConsoleScene.rare)", "?q=order", "?state=recalled", "?state=open", "?kind=message",
        "?audience=file", "?sender=console", "?sender=group", "?from=2020-01-01&to=2020-12-31",
      ]
    case "/console/apps/{app}/pushes.csv": return ["?state=recalled"]
    case "/console/apps/{app}/charts": return ["?range=7d", "?range=30d", "?range=90d"]
    case "/console/apps/{app}/devices":
      return ["?q=\(device)", "?q=\(Population.alias(500))", "?q=second", "?q=nobody"]
    case "/console/apps/{app}/pushes/{msg_id}/why": return ["?registration_id=\(device)"]
    default: return []
    }
  }

  static func run(_ environment: BenchEnvironment, _ report: Report) throws(BenchError) {
    guard !environment.options.onlyPeers, !environment.options.consolePages.isEmpty else { return }
    let scene = ConsoleScene()
    Report.progress("console: writing a million registrations and 100,000 pushes")
    let server = try BorealisServer(environment) { app throws(BenchError) in try scene.write(app) }
    let client = try ConsoleClient(server.http, cookie: scene.cookie)
    let single = try push("{\"alias\":[\"\(Population.alias(7))\"]}", server)
    var broadcast = ""
    for number in 0..<broadcasts {
      broadcast = try push(
        number % 2 == 0 ? "\"all\"" : "{\"tag\":[\"second\"],\"tag_not\":[\"third\"]}", server)
    }
    var (longest, longestFile) = (0.0, 0.0)
    for pattern in environment.options.consolePages {
      let pushes =
        pattern.contains("{msg_id}") ? [("to one", single), ("to a million", broadcast)] : [("", "")]
      for (name, push) in pushes {
        let path = fill(pattern, app: server.appKey.text, push: push, device: scene.population.id(0).text)
        for query in [""] + queries(pattern, scene) {
          let label = ([pattern + query] + (name.isEmpty ? [] : [name])).joined(separator: ", ")
          let duration = try measure(label, client, report) { client throws(BenchError) in
            try client.get(path + query)
          }
          if pattern.hasSuffix(".csv") {
            longestFile = max(longestFile, duration)
          } else {
            longest = max(longest, duration)
          }
        }
      }
    }
    longest = max(longest, try measureAudience(client, server, report))
    report.add(worst, Report.own, longest, "ms")
    report.add(worstFile, Report.own, longestFile, "ms")
    report.goal("any page of the console < 100 ms", worst, atMost: 100)
    report.goal("any file of the console < 1 s", worstFile, atMost: 1000)
    server.process.stop(SIGTERM)
  }

  /// The addresses of a pattern: of what it names there is one.
  private static func fill(_ pattern: String, app: String, push: String, device: String) -> String {
    pattern.split(separator: "/").map { segment in
      switch segment {
      case "{app}": app
      case "{msg_id}": push
      case "{rid}": device
      case "{name}": "console.css"
      case let segment where segment.hasPrefix("{"): "1"
      default: String(segment)
      }
    }.reduce("") { "\($0)/\($1)" }
  }

  /// Median and longest of some rounds; returns the longest, in milliseconds.
  private static func measure(
    _ label: String, _ client: ConsoleClient, _ report: Report,
    _ ask: (ConsoleClient) throws(BenchError) -> ConsoleClient.Answer
  ) throws(BenchError) -> Double {
    var durations = Latencies()
    var status = 0
    for _ in 0..<rounds {
      let answer = try ask(client)
      status = answer.status
      durations.add(answer.duration)
    }
    guard status < 500 else { throw .unexpected("\(label): status \(status)") }
    let mark = status == 200 ? "" : " (\(status))"
    report.add("\(label)\(mark), median", Report.own, durations.percentile(0.5).map { $0 / 1000 }, "ms")
    let longest = (durations.maximum ?? 0) / 1000
    report.add("\(label)\(mark), longest", Report.own, longest, "ms")
    return longest
  }

  /// The size of an audience, which the push page requests during typing.
  private static func measureAudience(
    _ client: ConsoleClient, _ server: BorealisServer, _ report: Report
  ) throws(BenchError) -> Double {
    let base = "/console/apps/\(server.appKey.text)/push"
    guard let token = try client.get("\(base)?draft=\(String(repeating: "0", count: 32))").formToken else {
      throw .unexpected("the push page has no token")
    }
    var longest = 0.0
    for (name, fields) in [
      ("everybody", "audience=everybody"),
      ("a tag expression", "audience=tag&names=second,third,seventh&all_tags=second,fifth&no_tags=hundredth"),
      ("an alias", "audience=alias&names=\(Population.alias(70))"),
    ] {
      let body = "form_token=\(token)&kind=notification&android=1&ios=1&text=x&hours=1&\(fields)"
      longest = max(
        longest,
        try measure("size of an audience: \(name)", client, report) { client throws(BenchError) in
          try client.post("\(base)/audience", body)
        })
    }
    return longest
  }

  /// Has the server accept a push; returns its number.
  private static func push(_ audience: String, _ server: BorealisServer) throws(BenchError) -> String {
    let client = try ConsoleClient(server.http, cookie: "")
    let credentials = Base64.encode(Array("\(server.appKey.text):\(server.secret)".utf8))
    let answer = try client.post(
      "/v3/push",
      "{\"platform\":\"all\",\"audience\":\(audience),\"notification\":{\"android\":{\"alert\":\"To many\"}}}",
      fields: "Authorization: Basic \(credentials)\r\nContent-Type: application/json\r\n")
    guard answer.status == 200, let start = answer.text.firstRange(of: "\"msg_id\":\"") else {
      throw .unexpected("a push was answered \(answer.status): \(answer.text)")
    }
    return String(answer.text[start.upperBound...].prefix { $0 != "\"" })
  }
}
