import BorealisBase
import BorealisCrypto
import HTTP

/// Receipts that a maker's service sends on request, in its own form. Docs/channel-simulator.md describes the
/// order.
struct MakerReceipts {
  /// Why an order is refused.
  struct Fault: Error {
    let message: String
  }

  /// The services that send receipts.
  static let services = ["huawei", "harmony", "honor", "xiaomi", "oppo", "vivo", "meizu"]

  /// What is sent, and how often.
  let post: OutgoingRequest
  let times: Int

  /// Reads an order. `message` gives the latest message that a service took for a token.
  init(
    _ body: JSONValue?, at now: Timestamp, message: (_ service: String, _ token: String) -> JSONObject?
  ) throws(Fault) {
    guard let order = body?.object else { throw Fault(message: "expected a JSON object") }
    let known = ["service", "token", "result", "url", "user", "secret", "tag", "age", "times"]
    for member in order.members where !known.contains(member.key) {
      throw Fault(message: "unknown member \"\(member.key)\"; known are \(known.joined(separator: ", "))")
    }
    guard let service = order["service"]?.string, Self.services.contains(service),
      let token = order["token"]?.string, let result = order["result"]?.string
    else {
      throw Fault(
        message: "expected a service (\(Self.services.joined(separator: ", "))), a token and a result")
    }
    let passed = message(service, token).map { Self.passed(service, $0) }
    guard let tag = order["tag"]?.string ?? passed?.tag else {
      throw Fault(message: "no message to this token was taken; give a tag")
    }
    guard let url = order["url"]?.string ?? passed?.url else {
      throw Fault(message: "the message names no address; give a url")
    }
    let sent = now.adding(seconds: -(order["age"]?.int64 ?? 0))
    let (content, type) = Self.body(service, token, result, tag, sent)
    var fields: [String] = []
    if let secret = order["secret"]?.string {
      fields.append(Self.signature(user: order["user"]?.string ?? "", secret: secret, at: sent))
    }
    post = OutgoingRequest(url: url, fields: fields, body: content, contentType: type)
    times = Int(min(max(order["times"]?.int64 ?? 1, 1), 100))
  }

  /// What a message passes back, and where to.
  private static func passed(_ service: String, _ request: JSONObject) -> (tag: String?, url: String?) {
    switch service {
    case "huawei": (request["message"]?["android"]?["bi_tag"]?.string, nil)
    case "harmony": (request["pushOptions"]?["biTag"]?.string, nil)
    case "honor": (request["android"]?["biTag"]?.string, nil)
    case "xiaomi": (request["extra.callback.param"]?.string, request["extra.callback"]?.string)
    case "oppo":
      (
        request["notification"]?["call_back_parameter"]?.string,
        request["notification"]?["call_back_url"]?.string
      )
    case "vivo": (request["extra"]?["callback.param"]?.string, request["extra"]?["callback"]?.string)
    case "meizu":
      (
        request["messageJson"]?["extra"]?["callback.param"]?.string,
        request["messageJson"]?["extra"]?["callback"]?.string
      )
    default: (nil, nil)
    }
  }

  private static func body(
    _ service: String, _ token: String, _ result: String, _ tag: String, _ sent: Timestamp
  ) -> (body: [UInt8], type: String) {
    let moment = JSONValue.number(JSONNumber(sent.milliseconds))
    let code: JSONValue = Int64(result).map { .number(JSONNumber($0)) } ?? .string(result)
    let value = document(service, token, result, tag, moment, code)
    switch service {
    case "xiaomi": return form("data", value)
    case "meizu": return form("access_token=simulator&cb", value)
    default: return (JSONWriter.serialize(value), "application/json; charset=UTF-8")
    }
  }

  private static func form(_ name: String, _ value: JSONValue) -> (body: [UInt8], type: String) {
    var text = name + "="
    for byte in JSONWriter.serialize(value) {
      text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return (Array(text.utf8), "application/x-www-form-urlencoded")
  }

  private static func document(
    _ service: String, _ token: String, _ result: String, _ tag: String, _ moment: JSONValue,
    _ code: JSONValue
  ) -> JSONValue {
    switch service {
    case "harmony":
      return [
        "statuses": [
          [
            "token": .string(token), "pushType": 0, "appPackageName": .string(MakerAccounts.package),
            "biTag": .string(tag), "requestId": "1",
            "deliveryStatus": ["result": code, "timestamp": moment],
          ]
        ]
      ]
    case "xiaomi":
      return [
        "sdm1": [
          "param": .string(tag), "type": code, "targets": .string(token), "jobkey": "", "barStatus": "",
          "timestamp": moment,
        ]
      ]
    case "oppo":
      return [
        [
          "messageId": "1", "taskId": "1", "registrationIds": .string(token), "param": .string(tag),
          "eventTime": moment, "eventType": .string(result),
        ]
      ]
    case "vivo":
      return [
        "1": [
          "param": .string(tag), "targets": .string(token), "ackTime": moment, "ackType": .string(result),
        ]
      ]
    case "meizu":
      var messages = JSONObject()
      messages.set("1-" + result, ["param": .string(tag), "type": code, "targets": [.string(token)]])
      return .object(messages)
    default:
      return [
        "statuses": [
          [
            "biTag": .string(tag), "appid": .string(MakerAccounts.app), "token": .string(token),
            "status": code, "timestamp": moment, "requestId": "1",
          ]
        ]
      ]
    }
  }

  /// Huawei's header: the user name and the base64 of the secret are those of its console.
  private static func signature(user: String, secret: String, at sent: Timestamp) -> String {
    let nonce = Hex.encode(SystemRandom.bytes(16))
    let key = Base64.decode(Array(secret.utf8)) ?? Array(secret.utf8)
    let value = HMAC.sha256(key: key, Array("\(sent.milliseconds)\(nonce)\(user)".utf8))
    return
      "X-HUAWEI-CALLBACK-ID: timestamp=\(sent.milliseconds); nonce=\(nonce); value=\(Base64.encode(value))"
  }

  /// Sends it as often as was ordered, one after the other, and gives the answers.
  func send(with transport: HTTPTransport, done: @escaping @Sendable (HTTPResponse) -> Void) {
    send(with: transport, after: [], done: done)
  }

  private func send(
    with transport: HTTPTransport, after answers: [JSONValue],
    done: @escaping @Sendable (HTTPResponse) -> Void
  ) {
    transport.send(post) { answer in
      let one: JSONValue = [
        "status": .number(JSONNumber(answer.status)),
        "body": .string(String(decoding: answer.body, as: UTF8.self)),
        "error": answer.error.map { .string($0) } ?? .null,
      ]
      guard answers.count + 1 < times else {
        return done(Control.response(200, ["answers": .array(answers + [one])]))
      }
      send(with: transport, after: answers + [one], done: done)
    }
  }
}

extension FCMSimulator {
  /// The order of a request to `POST /control/receipts`; nil for another request.
  func receipts(_ request: HTTPRequest, at now: Timestamp) -> Result<MakerReceipts, MakerReceipts.Fault>? {
    guard request.method == "POST", HTTPTarget(request.target)?.path == ["control", "receipts"] else {
      return nil
    }
    do throws(MakerReceipts.Fault) {
      return .success(
        try MakerReceipts(try? parseJSON(request.body), at: now) { service, token in
          lastMessage(of: service, to: token)
        })
    } catch {
      return .failure(error)
    }
  }
}
