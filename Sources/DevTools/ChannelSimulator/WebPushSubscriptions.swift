import BorealisBase
import BorealisCrypto
import HTTP

/// The side of a push service for browsers (RFC 8030) and of the browsers behind it: makes subscriptions,
/// checks requests as strictly as such services do, and opens messages as a browser does.
struct WebPushSubscriptions {
  /// A browser that has subscribed.
  private struct Browser {
    let key: DevicePrivateKey
    /// The public key that it subscribed with (`applicationServerKey`).
    let serverKey: [UInt8]
    var isGone = false
  }

  /// A request that was accepted.
  struct Accepted {
    /// What the browser's page gets.
    let message: [UInt8]
    /// Seconds.
    let timeToLive: Int64
    let urgency: String?
    let topic: String?
  }

  /// Why a request is refused.
  struct Refusal: Error, Equatable {
    let status: Int
    let reason: String

    init(_ status: Int, _ reason: String) {
      self.status = status
      self.reason = reason
    }
  }

  /// Most bytes of a body that any push service must take (RFC 8030 section 7.2).
  static let longestBody = 4096
  /// The longest that a message is kept, in seconds.
  static let longestLife: Int64 = 2_592_000
  private static let day: Int64 = 86_400

  /// The address of the service, without a path.
  let origin: String
  private var browsers: [String: Browser] = [:]

  init(origin: String) { self.origin = origin }

  /// A browser subscribes with a server's public key, in base64url; nil if that is none.
  mutating func subscribe(serverKey text: String) -> JSONValue? {
    guard let point = Base64.decodeURL(text.utf8), (try? ES256PublicKey(point: point)) != nil,
      let key = try? DevicePrivateKey(.p256)
    else { return nil }
    let id = Hex.encode(SystemRandom.bytes(16))
    browsers[id] = Browser(key: key, serverKey: point)
    let keys: JSONValue = [
      "p256dh": .string(Base64.encodeURL(key.publicKey.point)),
      "auth": .string(Base64.encodeURL(key.publicKey.auth)),
    ]
    return [
      "endpoint": .string("\(origin)/push/\(id)"), "expirationTime": .null, "keys": keys,
    ]
  }

  /// A browser takes its subscription back, or has it again; false if there is no such one.
  mutating func set(_ id: String, isGone: Bool) -> Bool {
    guard browsers[id] != nil else { return false }
    browsers[id]?.isGone = isGone
    return true
  }

  /// Checks a request to a subscription.
  func check(_ request: HTTPRequest, for id: String, at now: Int64) throws(Refusal) -> Accepted {
    guard let browser = browsers[id] else { throw Refusal(404, "no such subscription") }
    let key = try prove(request.headers["authorization"], at: now)
    guard key == browser.serverKey else {
      throw Refusal(403, "the subscription was made with another application server key")
    }
    guard !browser.isGone else { throw Refusal(410, "the subscription has ended") }
    guard let text = request.headers["ttl"], let life = Int64(text), life >= 0, text.utf8.count <= 10 else {
      throw Refusal(400, "TTL must be a number of seconds")
    }
    let urgency = request.headers["urgency"]
    guard urgency.map({ ["very-low", "low", "normal", "high"].contains($0) }) ?? true else {
      throw Refusal(400, "Urgency is none of the four")
    }
    let topic = request.headers["topic"]
    guard topic.map({ (1...32).contains($0.utf8.count) && $0.utf8.allSatisfy(Self.isBase64URL) }) ?? true
    else {
      throw Refusal(400, "Topic must be 1 to 32 characters of base64url")
    }
    guard request.headers["content-encoding"] == "aes128gcm" else {
      throw Refusal(400, "Content-Encoding must be aes128gcm")
    }
    for old in ["encryption", "crypto-key"] where request.headers[old] != nil {
      throw Refusal(400, "\(old) is of an older draft")
    }
    guard request.body.count <= Self.longestBody else { throw Refusal(413, "more than 4096 bytes") }
    return Accepted(
      message: try open(request.body, browser), timeToLive: min(life, Self.longestLife), urgency: urgency,
      topic: topic)
  }

  /// What a browser reads: one record with the sender's point as the key's name (RFC 8291 section 4).
  private func open(_ body: [UInt8], _ browser: Browser) throws(Refusal) -> [UInt8] {
    guard let header = ContentCoding.Header(body), header.keyName.count == 65 else {
      throw Refusal(400, "the body has no header of aes128gcm with a point")
    }
    guard body.count - 21 - 65 <= header.recordSize else { throw Refusal(400, "more than one record") }
    do throws(ContentError) { return try browser.key.open(body) } catch {
      throw Refusal(400, "the message cannot be opened: \(error)")
    }
  }

  /// Checks the proof of RFC 8292; gives the server's public key.
  private func prove(_ field: String?, at now: Int64) throws(Refusal) -> [UInt8] {
    guard let field, field.lowercased().hasPrefix("vapid ") else {
      throw Refusal(401, "no vapid authorization")
    }
    var parameters: [String: String] = [:]
    for part in field.dropFirst("vapid ".count).split(separator: ",") {
      let pair = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
      guard pair.count == 2 else { throw Refusal(401, "malformed authorization") }
      parameters[String(pair[0])] = String(pair[1])
    }
    guard let token = parameters["t"], let point = parameters["k"].flatMap({ Base64.decodeURL($0.utf8) }),
      let key = try? ES256PublicKey(point: point)
    else { throw Refusal(401, "t or k is missing or malformed") }
    let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let head = Self.object(parts[0]), let claims = Self.object(parts[1]),
      let signature = Base64.decodeURL(parts[2].utf8)
    else { throw Refusal(401, "t is not a JWT") }
    guard head["alg"]?.string == "ES256" else { throw Refusal(401, "alg must be ES256") }
    guard key.isValid(signature: signature, of: Array("\(parts[0]).\(parts[1])".utf8)) else {
      throw Refusal(401, "the signature is wrong")
    }
    guard claims["aud"]?.string == origin else { throw Refusal(401, "aud must be \(origin)") }
    guard let end = claims["exp"]?.int64, end > now, end <= now + Self.day else {
      throw Refusal(401, "exp must be within the next 24 hours")
    }
    let contact = claims["sub"]?.string ?? ""
    guard contact.hasPrefix("mailto:") || contact.hasPrefix("https://") else {
      throw Refusal(401, "sub must be a mailto: or https: address")
    }
    return point
  }

  private static func object(_ part: String) -> JSONObject? {
    Base64.decodeURL(part.utf8).flatMap { (try? parseJSON($0))?.object }
  }

  private static func isBase64URL(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
