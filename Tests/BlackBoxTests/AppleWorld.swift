import BorealisBase
import PushTesting
import Testing

/// A server with a simulator in Apple's place, an app that may push there, and phones.
final class AppleWorld {
  let server: TestServer
  let app: TestServer.App
  private let folder = TemporaryFolder()
  private let apple: RunningProgram
  private let control: String
  /// What the simulator has printed for each request.
  private var taken: [JSONValue] = []
  /// A phone whose app does not run: what is sent to it shows that Apple has got all before.
  private var beacon: TestPhone?
  private var phones = 0

  init() throws {
    let simulator = "\(folder.path)/apple"
    let data = "\(folder.path)/data"
    apple = try RunningProgram(
      [
        "apns-simulator", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--data", simulator,
      ], of: RunningProgram.tools)
    let ready = try apple.document()
    func fact(_ name: String) throws -> String { try #require(ready[name]?.string) }
    control = try fact("control")
    app = try TestServer.makeApp("phones", data: data)
    try TestServer.setKey(
      try fact("key"), team: try fact("team_id"), topic: try fact("topic"), of: app, data: data)
    server = try TestServer(
      data: data, ["--apns-production", try fact("apns"), "--apns-ca", try fact("ca")])
    beacon = try phone("beacon")
    try beacon?.quit()
  }

  /// A phone with the app open.
  func phone(_ name: String, of other: TestServer.App? = nil) throws -> TestPhone {
    phones += 1
    let token = String(repeating: Hex.encode([UInt8(truncatingIfNeeded: phones), 0xa5]), count: 16)
    return try TestPhone(
      name, token: token, server: server.device, app: (other ?? app).key, folder: folder.path)
  }

  // MARK: The app server

  /// Sends a notification and a message to a phone and returns the `msg_id`.
  func push(
    to phone: TestPhone, strategy: Int64? = nil, timeToLive: Int64 = 3600, notification: Bool = true,
    message: Bool = true, as other: TestServer.App? = nil
  ) throws -> String {
    var body: JSONObject = JSONObject()
    body.set("platform", "all")
    body.set("audience", ["registration_id": [.string(phone.id)]])
    if notification { body.set("notification", ["ios": ["alert": "Hello"]]) }
    if message { body.set("message", ["msg_content": "data"]) }
    var options = JSONObject()
    options.set("time_to_live", .number(JSONNumber(timeToLive)))
    if let strategy { options.set("strategy", .number(JSONNumber(strategy))) }
    body.set("options", .object(options))
    let call = try server.call("POST", "/v3/push", as: other ?? app, body: .object(body))
    return try #require(call.document?["msg_id"]?.string, "\(call.body)")
  }

  /// Stops a push.
  func stop(_ id: String) throws {
    let call = try server.call("DELETE", "/v3/push/\(id)", as: app)
    #expect(call.status == 200, "\(call.body)")
  }

  /// Waits until the server has seen that no phone is there.
  func waitUntilAway() throws { try server.waitUntilAway() }

  // MARK: Apple

  /// Waits until Apple has got a push, and returns what it has got.
  @discardableResult
  func request(for id: String) throws -> JSONValue {
    if let known = requests(for: id).first { return known }
    while true {
      let entry = try apple.document()
      taken.append(entry)
      if Self.messageID(entry) == id { return entry }
    }
  }

  /// What Apple has got of a push so far.
  func requests(for id: String) -> [JSONValue] { taken.filter { Self.messageID($0) == id } }

  /// Waits until Apple has got all that was meant for it when this was called.
  func settle() throws {
    guard let beacon else { return }
    try request(for: try push(to: beacon, strategy: 2))
  }

  /// Makes Apple refuse a phone's token.
  func forget(_ phone: TestPhone) throws {
    try order("/tokens", ["tokens": [["token": .string(phone.token), "state": "unregistered"]]])
  }

  /// Gives the simulator an order.
  func order(_ path: String, _ body: JSONValue) throws {
    let text = String(decoding: JSONWriter.serialize(body), as: UTF8.self)
    let call = try HTTPCall("POST", path, at: control, body: text)
    #expect(call.status == 200, "\(call.body)")
  }

  private static func messageID(_ entry: JSONValue) -> String? {
    entry["payload"]?["_j_msgid"]?.number?.text
  }
}
