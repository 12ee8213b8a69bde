import PushBase
import PushCrypto
import PushJSON
import PushTesting
import Testing

/// An app server that uses Getui's REST API v2.
struct GetuiApp {
  private let world: MakerWorld
  private let path: String
  private let token: String

  init(_ world: MakerWorld) throws {
    self.world = world
    let key = world.app.key
    path = "/v2/\(key)"
    let set = try RunningProgram.run(["app", "getui", "set", key, "--data", world.data])
    let secret = try #require((set.documents.first ?? nil)?["master_secret"]?.string, "\(set.errors)")
    let stamp = String(SystemTime().now().milliseconds)
    let sign = Hex.encode(SHA256.digest(Array((key + stamp + secret).utf8)))
    let answer = try world.server.call(
      "POST", path + "/auth",
      body: ["sign": .string(sign), "timestamp": .string(stamp), "appkey": .string(key)])
    token = try #require(answer.document?["data"]?["token"]?.string, "\(answer.body)")
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
    try world.server.call(
      "POST", "\(path)/user/bind_dt/\(type)", headers: ["token: \(self.token)"],
      body: ["dt_list": [["cid": .string(cid), "device_token": .string(token)]]])
  }

  /// Makes a call that pushes.
  func push(_ call: String, _ body: JSONValue) throws -> HTTPCall {
    try world.server.call("POST", "\(path)/push/\(call)", headers: ["token: \(token)"], body: body)
  }
}
