import BorealisBase
import BorealisCrypto
import PushTesting
import Testing

/// An app server that uses Getui's REST API v2.
struct GetuiApp {
  private let server: TestServer
  private let path: String
  private let token: String

  init(_ world: MakerWorld) throws { try self.init(world.app, of: world.server, data: world.data) }

  /// Gives the app a master secret for this API.
  init(_ app: TestServer.App, of server: TestServer, data: String) throws {
    self.server = server
    path = "/v2/\(app.key)"
    let set = try RunningProgram.run(["app", "getui", "set", app.key, "--data", data])
    let secret = try #require((set.documents.first ?? nil)?["master_secret"]?.string, "\(set.errors)")
    let stamp = String(SystemTime().now().milliseconds)
    let sign = Hex.encode(SHA256.digest(Array((app.key + stamp + secret).utf8)))
    let answer = try server.call(
      "POST", path + "/auth",
      body: ["sign": .string(sign), "timestamp": .string(stamp), "appkey": .string(app.key)])
    token = try #require(answer.document?["data"]?["token"]?.string, "\(answer.body)")
  }

  /// Makes a call.
  func call(_ method: String, _ call: String, _ body: JSONValue? = nil) throws -> HTTPCall {
    try server.call(method, "\(path)/\(call)", headers: ["token: \(token)"], body: body)
  }

  func push(_ notification: JSONValue, _ channel: JSONValue, _ id: String) throws -> HTTPCall {
    try push(
      "all",
      [
        "request_id": .string(id), "audience": "all", "push_message": ["notification": notification],
        "push_channel": channel,
      ])
  }

  /// Binds a device's token for a channel of Getui's name.
  func bind(_ type: String, _ cid: String, _ token: String) throws -> HTTPCall {
    try call(
      "POST", "user/bind_dt/\(type)",
      ["dt_list": [["cid": .string(cid), "device_token": .string(token)]]])
  }

  /// Makes a call that pushes.
  func push(_ call: String, _ body: JSONValue) throws -> HTTPCall {
    try self.call("POST", "push/\(call)", body)
  }
}
