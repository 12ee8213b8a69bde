import BorealisCrypto
import Glibc

/// How many notifications a second go to Apple over one connection: our pool, nghttp2's own load generator,
/// and aioapns, a client in Python.
enum APNsBenchmark {
  static let toNghttpd = "notifications over one connection to nghttpd"
  static let toSink = "notifications over one connection to a server that repeats apns-id"
  static let cost = "processor time of the client for a notification to nghttpd"

  static let topic = "com.example.parcel"
  /// As long as a provider token.
  static let authorization = Array(("bearer " + String(repeating: "eyJhbGci", count: 23)).utf8)
  static let payload = Array(
    #"{"aps":{"alert":{"title":"Parcel","body":"Out for delivery, between 14:00 and 16:00"},"sound":"default"},"_j_msgid":}"#
      .utf8)
  private static let streams = 500

  static func run(_ environment: BenchEnvironment, _ report: Report) throws(BenchError) {
    let identity: SelfSignedCertificate
    do {
      identity = try SelfSignedCertificate.make(
        commonName: "localhost", dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"], days: 2)
    } catch {
      throw .unexpected("\(error)")
    }
    let certificate = try environment.workspace.write("apns.pem", identity.certificatePEM)
    let key = try environment.workspace.write("apns.key", identity.keyPEM)
    try leaveOut(report) { () throws(BenchError) in
      let endpoint = try Endpoint.free()
      let server = try environment.start(
        "nghttpd", ["-n1", "-m1000", "--echo-upload", "\(endpoint.port)", key, certificate])
      guard endpoint.waitUntilOpen(seconds: 10) else {
        throw server.waitForEnd(seconds: 0) ? .notInstalled("nghttpd") : .timedOut("nghttpd starts")
      }
      try measureOwn(environment, report, endpoint, certificate, toNghttpd, cost: cost)
      try leaveOut(report) { () throws(BenchError) in
        try measureH2load(environment, report, endpoint, toNghttpd)
      }
      server.stop(SIGKILL)
    }
    let sink = try environment.start(
      environment.executable, [BenchHelper.name, BenchHelper.apnsSink, certificate, key])
    guard let port = UInt16(try sink.readLine(seconds: 10)) else {
      throw .unexpected("the sink says no port")
    }
    let endpoint = Endpoint(port: port)
    try measureOwn(environment, report, endpoint, certificate, toSink)
    try leaveOut(report) { () throws(BenchError) in
      try measureH2load(environment, report, endpoint, toSink)
    }
    try leaveOut(report) { () throws(BenchError) in
      try measureAioapns(environment, report, endpoint, toSink)
    }
    report.goal("one connection to nghttpd >= 0.7 of h2load", toNghttpd, over: "h2load", atLeast: 0.7)
    report.goal("one connection to a faster server >= 0.7 of h2load", toSink, over: "h2load", atLeast: 0.7)
    report.goal("one connection >= 15 times aioapns", toSink, over: "aioapns", atLeast: 15)
  }

  /// Leaves a peer out, with a note, that is not installed.
  private static func leaveOut(
    _ report: Report, _ body: () throws(BenchError) -> Void
  ) throws(BenchError) {
    do throws(BenchError) { try body() } catch .notInstalled(let program) {
      report.note("\(program) is left out: it is not installed")
    }
  }

  private static func measureOwn(
    _ environment: BenchEnvironment, _ report: Report, _ endpoint: Endpoint, _ certificate: String,
    _ metric: String, cost: String? = nil
  ) throws(BenchError) {
    guard !environment.options.onlyPeers else { return }
    let seconds = environment.options.seconds
    let client = try environment.start(
      environment.executable,
      [
        BenchHelper.name, BenchHelper.apnsLoad, "\(endpoint.port)", certificate, "\(seconds)", "\(streams)",
      ])
    let words = try client.readLine(seconds: seconds + 20).split(separator: " ").compactMap { Double($0) }
    guard words.count == 3 else { throw .unexpected("the load generator says something else") }
    report.add(metric, Report.own, words[0], "notifications/s")
    if let cost { report.add(cost, Report.own, words[1], "microseconds") }
    if words[2] > 0 { report.note("\(metric): \(Int(words[2])) notifications were not answered with 200") }
  }

  private static func measureH2load(
    _ environment: BenchEnvironment, _ report: Report, _ endpoint: Endpoint, _ metric: String
  ) throws(BenchError) {
    let body = try environment.workspace.write(
      "apns.json", String(decoding: payload.dropLast(), as: UTF8.self) + "1234567890}")
    let token = String(repeating: "5a", count: 32)
    let fields = [
      "authorization: \(String(decoding: authorization, as: UTF8.self))", "apns-topic: \(topic)",
      "apns-push-type: alert", "apns-priority: 10", "apns-id: 5b2f6a52-6c58-4d0f-9c33-0a6f0a4f7c11",
      "apns-expiration: 1767312000",
    ]
    let client = try environment.start(
      "h2load",
      ["-c1", "-t1", "-m\(streams)", "-D\(environment.options.seconds)", "--warm-up-time=1", "-d", body]
        + fields.flatMap { ["-H", $0] } + ["https://127.0.0.1:\(endpoint.port)/3/device/\(token)"])
    while true {
      let line: String
      do throws(BenchError) { line = try client.readLine(seconds: environment.options.seconds + 20) } catch {
        throw client.waitForEnd(seconds: 1) ? .notInstalled("h2load") : error
      }
      guard line.hasPrefix("finished in") else { continue }
      let words = line.split(separator: " ")
      guard words.count > 3, let rate = Double(words[3]) else { throw .unexpected("h2load says: \(line)") }
      report.add(metric, "h2load", rate, "notifications/s")
      return
    }
  }

  private static func measureAioapns(
    _ environment: BenchEnvironment, _ report: Report, _ endpoint: Endpoint, _ metric: String
  ) throws(BenchError) {
    let script = try environment.workspace.write("aioapns_load.py", AioapnsScript.text)
    let client = try environment.start(
      "python3", [script, "\(endpoint.port)", "\(environment.options.seconds)", "\(streams)"])
    let line: String
    do throws(BenchError) { line = try client.readLine(seconds: environment.options.seconds + 20) } catch {
      throw client.waitForEnd(seconds: 1) ? .notInstalled("aioapns (pip install aioapns)") : error
    }
    guard let rate = Double(line) else { throw .unexpected("aioapns says: \(line)") }
    report.add(metric, "aioapns", rate, "notifications/s")
  }
}
