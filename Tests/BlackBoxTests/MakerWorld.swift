import BorealisBase
import BorealisProtocol
import Glibc
import PushTesting
import Testing

/// A server with the simulator in the makers' place, and an app with credentials for one of them.
final class MakerWorld {
  private(set) var server: TestServer
  let app: TestServer.App
  let channel: String
  private let folder = TemporaryFolder()
  let data: String
  private let makers: SimulatedMakers
  private let environment: [String: String]
  /// The path of the app's receipts.
  let receipts: String
  /// Where makers would reach the server.
  static let site = "https://push.example.com"
  private let site: String
  private let more: [String]

  /// `others` are more channels of the app, with the fields of their credentials. The environment says where
  /// the server keeps what it stores. With `hasFCM` the app has a key for FCM as well.
  init(
    _ channel: String, _ fields: JSONValue, others: [String: JSONValue] = [:], callback: String? = nil,
    site: String = MakerWorld.site, environment: [String: String] = [:], hasFCM: Bool = false
  ) throws {
    self.channel = channel
    self.site = site
    self.environment = environment
    data = folder.file("data")
    makers = try SimulatedMakers(folder)
    more = hasFCM ? ["--fcm-url", makers.url] : []
    app = try TestServer.makeApp("robots", data: data, environment: environment)
    if !environment.isEmpty {
      // A shared database gets its first secret key from a server.
      let first = try TestServer(data: data, environment: environment)
      first.program.signal(SIGTERM)
      #expect(try first.program.end().status == 0)
    }
    if let callback {
      let set = try RunningProgram.run([
        "app", "callback", "set", app.key, "--data", data, "--url", callback,
      ])
      #expect(set.status == 0)
    }
    try TemporaryFolder.write(JSONWriter.serialize(fields), to: folder.file("fields.json"))
    var arguments = [
      "app", "channel", "set", app.key, channel, "--data", data, "--fields", folder.file("fields.json"),
      "--makers-url", makers.url,
    ]
    if channel == "harmony" {
      arguments += ["--file", try #require(makers.ready["harmony_service_account"]?.string)]
    }
    let set = try RunningProgram.run(arguments, environment: environment)
    #expect(set.status == 0, "\(set.output)")
    let subject = fields["app_id"] ?? fields["package_name"] ?? fields["app_key"] ?? "77"
    #expect(set.documents.first??["subject"] == subject)
    for (name, fields) in others {
      try TemporaryFolder.write(JSONWriter.serialize(fields), to: folder.file("other.json"))
      let set = try RunningProgram.run([
        "app", "channel", "set", app.key, name, "--data", data, "--fields", folder.file("other.json"),
        "--makers-url", makers.url,
      ])
      #expect(set.status == 0, "\(set.output)")
    }
    receipts = set.documents.first??["receipts"]?.string ?? ""
    if hasFCM {
      let key = try #require(makers.ready["service_accounts"]?.array?.first?.string)
      let set = try RunningProgram.run(
        ["app", "channel", "set", app.key, "fcm", "--data", data, "--file", key] + more,
        environment: environment)
      #expect(set.status == 0, "\(set.output)")
    }
    server = try Self.start(data, makers.url, site, environment, more)
  }

  /// Makes another app beside the running server, with a credential; the path of its receipts.
  func makeAnother(_ fields: JSONValue) throws -> String {
    let other = try TestServer.makeApp("other", data: data, environment: environment)
    try TemporaryFolder.write(JSONWriter.serialize(fields), to: folder.file("another.json"))
    let set = try RunningProgram.run(
      [
        "app", "channel", "set", other.key, channel, "--data", data, "--fields", folder.file("another.json"),
        "--makers-url", makers.url,
      ], environment: environment)
    #expect(set.status == 0, "\(set.output)")
    return try #require(set.documents.first??["receipts"]?.string)
  }

  private static func start(
    _ data: String, _ url: String, _ site: String, _ environment: [String: String], _ more: [String]
  ) throws -> TestServer {
    try TestServer(
      data: data, ["--makers-url", url, "--callback-networks", "127.0.0.0/8", "--public-url", site] + more,
      environment: environment)
  }

  /// Ends the server and starts it again.
  func restart() throws {
    server.program.signal(SIGTERM)
    #expect(try server.program.end().status == 0)
    server = try Self.start(data, makers.url, site, environment, more)
  }

  /// Kills the server and starts it again.
  func crash() throws {
    server.program.signal(SIGKILL)
    _ = try server.program.end()
    server = try Self.start(data, makers.url, site, environment, more)
  }

  /// What the service was sent of a push.
  func sent(_ id: String) throws -> [JSONValue] { try makers.sent(id) }

  /// Has the service send a receipt for a device; gives the status of each answer.
  @discardableResult
  func receipt(
    _ token: String, _ result: String, _ members: [String: JSONValue] = [:], path: String? = nil
  ) throws -> [Int64] {
    var order = JSONObject()
    order.set("service", .string(channel))
    order.set("token", .string(token))
    order.set("result", .string(result))
    order.set("url", .string("http://\(server.http)\(path ?? receipts)"))
    for (name, value) in members { order.set(name, value) }
    let answer = try self.order("POST", "receipts", .object(order))
    return answer?["answers"]?.array?.compactMap { $0["status"]?.int64 } ?? []
  }

  /// What the metric of receipts has, by result.
  func counted() throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for line in try server.call("GET", "/metrics").body.split(separator: "\n")
    where line.hasPrefix("borealis_vendor_receipts_total{channel=\"\(channel)\"") {
      let parts = line.split(separator: "\"")
      counts[String(parts[3])] = line.split(separator: " ").last.flatMap { Double($0) }.map { Int($0) }
    }
    return counts
  }

  /// The report on a push over the channel, as soon as it is as a test wants it.
  func report(_ id: String, _ isWanted: (JSONValue) -> Bool) throws -> JSONValue? {
    var report: JSONValue?
    let isThere = try RunningProgram.eventually {
      report = try server.call("GET", "/v1/pushes/\(id)", as: app).document
      return report.map(isWanted) == true
    }
    #expect(isThere, "\(report ?? .null)")
    return report
  }

  func device(_ token: String, over other: String? = nil) throws -> TestDevice.Identity {
    let device = try TestDevice.register(
      server.device, app: app.key, install: token, platform: channel == "harmony" ? .hmos : .android)
    try reportToken(token, device, over: other)
    return device
  }

  func reportToken(_ token: String, _ device: TestDevice.Identity, over other: String? = nil) throws {
    let answer = try server.call(
      "POST", "/v1/tokens",
      body: [
        "app_key": .string(app.key), "registration_id": .string(device.id.text),
        "secret": .string(Hex.encode(device.secret.bytes)),
        "tokens": [["channel": .string(other ?? channel), "token": .string(token)]],
      ])
    #expect(answer.status == 200, "\(answer.body)")
  }

  /// Of the platform that the channel reaches.
  func push(_ shown: JSONValue, options: JSONValue = ["time_to_live": 3600]) throws -> String {
    let platform = channel == "harmony" ? "hmos" : "android"
    var notification = JSONObject()
    notification.set(platform, shown)
    let call = try server.call(
      "POST", "/v3/push", as: app,
      body: [
        "platform": "all", "audience": "all", "notification": .object(notification), "options": options,
      ])
    return try #require(call.document?["msg_id"]?.string, "\(call.body)")
  }

  func results(of id: String, _ count: Int64, over other: String? = nil) throws -> JSONValue? {
    var results: JSONValue?
    let isOver = try RunningProgram.eventually {
      results = try server.call("GET", "/v1/pushes/\(id)", as: app).document?[other ?? channel]?["results"]
      return (results?.object?.members ?? []).reduce(0) { $0 + ($1.value.int64 ?? 0) } >= count
    }
    #expect(isOver)
    return results
  }

  func reports(_ path: String, _ id: String) throws -> JSONValue? {
    try server.call("GET", "\(path)?msg_ids=\(id)", as: app).document?.array?.first
  }

  /// The counts of the app's only day; nil if nothing happened. A test over midnight would have two.
  func statistics() throws -> JSONValue? {
    let today = SystemTime().now().seconds / 86_400
    let days = [today - 1, today + 1].map { LocalDate(dayNumber: $0).text }
    let path = "/v1/stats?unit=day&from=\(days[0])&to=\(days[1])"
    return try server.call("GET", path, as: app).document?["items"]?.array?.first
  }

  func why(_ id: String, _ device: TestDevice.Identity) throws -> JSONValue? {
    try server.call("GET", "/v1/pushes/\(id)/why?registration_id=\(device.id.text)", as: app)
      .document?["steps"]?.array?.first { $0["step"]?.string == "channel" }
  }

  func log(_ kind: String = "send") throws -> [JSONValue] { try makers.log(kind) }

  /// Until midnight in China nothing more is sent once a code has said that the quota is used up, and that is
  /// said.
  func stopsWhenUsedUp(_ code: String, asks device: TestDevice.Identity) throws {
    try order("POST", "script", ["rules": [["status": 200, "code": .string(code)]]])
    _ = try push(["alert": "x"])
    #expect(try RunningProgram.eventually { try log().last?["code"]?.string == code })
    let asked = try log().count
    let later = try push(["alert": "y"])
    #expect(try RunningProgram.eventually { try why(later, device)?["verdict"] == "waiting" })
    #expect(try log().count == asked)
  }

  /// Asks for members of Borealis' own.
  static let extensions = ["X-Borealis-Extensions: 1"]

  /// The answer to a push with a member that the channel's object must not have.
  func refusal(_ own: JSONValue) throws -> String {
    let call = try server.call(
      "POST", "/v3/push", as: app,
      body: [
        "platform": "all", "audience": "all", "notification": ["alert": "x"],
        "options": ["third_party_channel": [channel: own]],
      ])
    #expect(call.status == 400)
    return call.body
  }

  @discardableResult
  func order(_ method: String, _ path: String, _ body: JSONValue? = nil) throws -> JSONValue? {
    try makers.order(method, path, body)
  }

  /// All that is stored adds up.
  func check() throws {
    server.program.signal(SIGTERM)
    #expect(try server.program.end().status == 0)
    #expect(try RunningProgram.run(["check", "--data", data], environment: environment).status == 0)
  }
}

/// The simulator in the place of makers' services.
final class SimulatedMakers {
  let ready: JSONValue
  let url: String
  private let program: RunningProgram

  /// Keeps its keys in a folder.
  init(_ folder: TemporaryFolder) throws {
    program = try RunningProgram(
      [
        "channel-simulator", "--listen", "127.0.0.1:0", "--data", folder.file("keys"), "--quiet",
      ], of: RunningProgram.tools)
    ready = try program.document()
    url = try #require(ready["url"]?.string)
  }

  func log(_ kind: String = "send") throws -> [JSONValue] {
    let call = try HTTPCall("GET", "/control/log?limit=10000", at: String(url.dropFirst(7)))
    return (call.document?["entries"]?.array ?? []).filter {
      $0["kind"]?.string == kind && $0["request"]?["validate_only"] != true
    }
  }

  /// What Huawei's service was sent of a push.
  func sent(_ id: String) throws -> [JSONValue] {
    try log().filter {
      $0["request"]?["message"]?["android"]?["bi_tag"]?.string?.hasPrefix(id + ".") == true
    }
  }

  func order(_ method: String, _ path: String, _ body: JSONValue? = nil) throws -> JSONValue? {
    let text = body.map { String(decoding: JSONWriter.serialize($0), as: UTF8.self) } ?? ""
    let call = try HTTPCall(method, "/control/\(path)", at: String(url.dropFirst(7)), body: text)
    #expect(call.status == 200, "\(call.body)")
    return call.document
  }
}
