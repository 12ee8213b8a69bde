import BorealisBase
import BorealisCrypto
import PushTesting
import Testing

/// An app server that sends the pushes of Getui's numbered cases.
protocol CaseSender {
  /// Sends a notification for Apple and a message for the app, and returns the push's `msg_id`.
  func push(to phone: TestPhone, as row: NumberedCase, strategy: Int) throws -> String
  /// Stops a push.
  func stop(_ id: String) throws
}

/// One that uses JPush's API.
struct JPushSender: CaseSender {
  let world: AppleWorld

  init(_ world: AppleWorld) { self.world = world }

  func push(to phone: TestPhone, as row: NumberedCase, strategy: Int) throws -> String {
    try world.push(to: phone, strategy: Int64(strategy))
  }

  func stop(_ id: String) throws { try world.stop(id) }
}

/// One that uses Getui's REST API v2.
final class GetuiSender: CaseSender {
  private let world: AppleWorld
  private let path: String
  private let token: String
  private var requests = 0

  /// Gives the world's app access to Getui's API, and gets a token.
  init(_ world: AppleWorld) throws {
    self.world = world
    path = "/v2/\(world.app.key)"
    let set = try RunningProgram.run(["app", "getui", "set", world.app.key, "--data", world.server.data])
    let secret = try #require((set.documents.first ?? nil)?["master_secret"]?.string, "\(set.errors)")
    let stamp = String(SystemTime().now().milliseconds)
    let sign = Hex.encode(SHA256.digest(Array((world.app.key + stamp + secret).utf8)))
    let body: JSONValue = [
      "sign": .string(sign), "timestamp": .string(stamp), "appkey": .string(world.app.key),
    ]
    let answer = try world.server.call("POST", path + "/auth", body: body)
    token = try #require(answer.document?["data"]?["token"]?.string, "\(answer.body)")
  }

  /// Series C goes to a tag, since Getui stops no single pushes; series S to the CID.
  func push(to phone: TestPhone, as row: NumberedCase, strategy: Int) throws -> String {
    requests += 1
    let isTagged = row.name.hasPrefix("C")
    let tag = "\(row.name)-\(strategy)"
    if isTagged {
      _ = try call("POST", "/user/custom_tag/cid/\(phone.id)", ["custom_tag": [.string(tag)]])
    }
    let audience: JSONValue =
      isTagged ? ["fast_custom_tag": .string(tag)] : ["cid": [.string(phone.id)]]
    let body: JSONValue = [
      "request_id": .string("request-\(1000 + requests)"), "audience": audience,
      "settings": ["strategy": ["default": .number(JSONNumber(Int64(strategy)))]],
      "push_message": ["transmission": "data"],
      "push_channel": ["ios": ["aps": ["alert": ["title": "Hello", "body": "Hello"]]]],
    ]
    let data = try call("POST", isTagged ? "/push/fast_custom_tag" : "/push/single/cid", body)
    let task = isTagged ? data["taskid"]?.string : data.object?.members.first?.key
    let id = task?.split(separator: "_").last.map(String.init)
    return try #require(id, "\(row): \(data)")
  }

  func stop(_ id: String) throws { _ = try call("DELETE", "/task/RASA_\(id)", nil) }

  /// `data` of a call that succeeds.
  private func call(_ method: String, _ path: String, _ body: JSONValue?) throws -> JSONValue {
    let answer = try world.server.call(method, self.path + path, headers: ["token: \(token)"], body: body)
    let document = answer.document ?? .null
    try #require(answer.status == 200 && document["code"] == 0, "\(path): \(answer.body)")
    return document["data"] ?? .null
  }
}
