import BorealisBase
import BorealisProtocol
import PushTesting
import Testing

/// A server with the simulator of channels in Google's place, an app with a key for it, and Android devices
/// that are away.
final class FCMWorld {
  private(set) var server: TestServer
  let app: TestServer.App
  let folder = TemporaryFolder()
  let data: String
  private let google: RunningProgram
  private let url: String
  private let arguments: [String]
  /// How many keys Google was asked about.
  private var asked = 0
  /// The key files of the projects, in order.
  let keys: [String]

  init(
    projects: String = "demo-project", accessSeconds: Int = 3599, _ more: [String] = []
  ) throws {
    data = folder.file("data")
    google = try RunningProgram(
      [
        "channel-simulator", "--listen", "127.0.0.1:0", "--data", folder.file("google"), "--project",
        projects,
        "--access-seconds", String(accessSeconds), "--quiet",
      ], of: RunningProgram.tools)
    let ready = try google.document()
    url = try #require(ready["url"]?.string)
    keys = (ready["service_accounts"]?.array ?? []).compactMap(\.string)
    app = try TestServer.makeApp("robots", data: data)
    arguments = ["--fcm-url", url] + more
    server = try TestServer(data: data, arguments)
  }

  /// Hands in a key with the program's own command, and waits until the server has asked Google about it.
  func setKey(_ file: String? = nil, of other: TestServer.App? = nil) throws {
    let set = try RunningProgram.run([
      "app", "channel", "set", (other ?? app).key, "fcm", "--data", data, "--file", file ?? keys[0],
      "--fcm-url", url,
    ])
    #expect(set.status == 0)
    #expect(set.documents.first??["channel"] == "fcm")
    asked += 1
    let isAsked = try RunningProgram.eventually { try entries().filter(Self.isQuestion).count >= asked }
    #expect(isAsked)
  }

  /// Kills the server and starts it again on the same folder.
  func restart() throws {
    server.program.signal(9)
    _ = try server.program.end()
    server = try TestServer(data: data, arguments)
  }

  /// A device that has told its token over HTTPS and is away.
  func device(_ token: String, of other: TestServer.App? = nil) throws -> TestDevice.Identity {
    let app = other ?? app
    let device = try TestDevice.register(server.device, app: app.key, install: token)
    try reportToken(token, device, of: app)
    return device
  }

  func reportToken(_ token: String, _ device: TestDevice.Identity, of app: TestServer.App) throws {
    let answer = try server.call(
      "POST", "/v1/tokens",
      body: [
        "app_key": .string(app.key), "registration_id": .string(device.id.text),
        "secret": .string(Hex.encode(device.secret.bytes)),
        "tokens": [["channel": "fcm", "token": .string(token)]],
      ])
    #expect(answer.status == 200, "\(answer.body)")
  }

  // MARK: The app server

  /// Pushes a notification to some devices, or to all; gives its ID.
  func push(
    to devices: [TestDevice.Identity] = [], android: JSONValue = ["alert": "Hello"],
    options: JSONValue = ["time_to_live": 3600], message: Bool = false, as other: TestServer.App? = nil
  ) throws -> String {
    var body = JSONObject()
    body.set("platform", "all")
    body.set(
      "audience",
      devices.isEmpty ? "all" : ["registration_id": .array(devices.map { .string($0.id.text) })])
    body.set("notification", ["android": android])
    if message { body.set("message", ["msg_content": "data"]) }
    body.set("options", options)
    let call = try server.call("POST", "/v3/push", as: other ?? app, body: .object(body))
    return try #require(call.document?["msg_id"]?.string, "\(call.body)")
  }

  /// The report of a push.
  func report(_ id: String) throws -> JSONValue {
    let call = try server.call("GET", "/v1/pushes/\(id)", as: app)
    return try #require(call.document, "\(call.body)")
  }

  /// What JPush's report says of each part of a push.
  func detail(_ id: String) throws -> JSONValue? {
    try server.call("GET", "/v3/messages/detail?msg_ids=\(id)", as: app).document?.array?.first?["details"]
  }

  /// How many devices a push was meant for on the channel.
  func targets(of id: String) throws -> Int64 { try report(id)["fcm"]?["targets"]?.int64 ?? 0 }

  /// Waits until the channel has an end for so many targets of a push; gives the ends.
  @discardableResult
  func results(of id: String, _ count: Int64 = 1) throws -> JSONValue? {
    var results: JSONValue?
    let isOver = try RunningProgram.eventually {
      results = try report(id)["fcm"]?["results"]
      return (results?.object?.members ?? []).reduce(0) { $0 + ($1.value.int64 ?? 0) } >= count
    }
    #expect(isOver, "\(String(describing: try? report(id)))")
    return results
  }

  /// A step of the answer to why a device did not get a push.
  func why(_ id: String, _ device: TestDevice.Identity, _ step: String) throws -> JSONValue? {
    let call = try server.call(
      "GET", "/v1/pushes/\(id)/why?registration_id=\(device.id.text)", as: app)
    return call.document?["steps"]?.array?.first { $0["step"]?.string == step }
  }

  // MARK: Google

  /// Gives the simulator an order.
  func order(_ method: String, _ path: String, _ body: JSONValue? = nil) throws {
    let text = body.map { String(decoding: JSONWriter.serialize($0), as: UTF8.self) } ?? ""
    let call = try HTTPCall(method, "/control/\(path)", at: String(url.dropFirst(7)), body: text)
    #expect(call.status == 200, "\(call.body)")
  }

  func script(_ rules: [JSONValue]) throws { try order("POST", "script", ["rules": .array(rules)]) }

  func set(_ token: String, _ state: String) throws {
    try order("POST", "tokens", ["tokens": [["token": .string(token), "state": .string(state)]]])
  }

  private func entries() throws -> [JSONValue] {
    let call = try HTTPCall("GET", "/control/log?limit=10000", at: String(url.dropFirst(7)))
    return call.document?["entries"]?.array ?? []
  }

  /// Whether a message is only for Google to say something of the key.
  private static func isQuestion(_ entry: JSONValue) -> Bool {
    entry["request"]?["validate_only"] == true && entry["status"]?.int64 != 401
  }

  /// What Google was asked so far, without questions about keys.
  func log(_ kind: String = "send") throws -> [JSONValue] {
    try entries().filter { $0["kind"]?.string == kind && $0["request"]?["validate_only"] == nil }
  }

  /// The messages of a push that Google has taken or refused.
  func requests(for id: String) throws -> [JSONValue] {
    try log().filter { $0["request"]?["message"]?["data"]?["msg_id"]?.string == id }
  }
}
