import BorealisBase
import Core
import HTTP

/// A message of Web Push as an app server sends it (RFC 8030 section 5, RFC 8291), checked.
struct WebPushRequest: Sendable {
  /// Bytes that a body may have, as at all push services (RFC 8030 section 7.2).
  static let mostBytes = 4096
  /// Characters that the fields of the older encryption may have.
  private static let mostFieldBytes = 512

  /// Seconds, as the sender wishes.
  let timeToLive: Int
  let message: WebPushMessage

  init(_ request: HTTPRequest, to subscription: SubscriptionID) throws(WebPushFault) {
    timeToLive = try Self.timeToLive(request.headers["ttl"])
    guard request.body.count <= Self.mostBytes else { throw .tooLarge }
    let topic = request.headers["topic"]
    if let topic {
      guard (1...32).contains(topic.utf8.count), topic.utf8.allSatisfy(Self.isBase64URL) else {
        throw .topic
      }
    }
    let fields = request.body.isEmpty ? [nil, nil, nil] : try Self.encryption(request.headers)
    message = WebPushMessage(
      subscription, topic: topic, body: request.body, encoding: fields[0], encryption: fields[1],
      cryptoKey: fields[2])
  }

  private static func timeToLive(_ text: String?) throws(WebPushFault) -> Int {
    guard let text else { throw .noTimeToLive }
    guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { throw .timeToLive }
    // More than any number here is as good as the most.
    return Int(text) ?? .max
  }

  /// Encoding, salt and key of a body: the fields that the browser needs, of the RFC or of the draft that
  /// some libraries still send.
  private static func encryption(_ headers: HTTPHeaders) throws(WebPushFault) -> [String?] {
    let salt = plain(headers["encryption"])
    let key = plain(headers["crypto-key"])
    switch headers["content-encoding"]?.lowercased() {
    case nil: throw .encryption("Content-Encoding is missing")
    case "aes128gcm":
      guard parameter("salt", of: salt) == nil, parameter("dh", of: key) == nil else {
        throw .encryption("A body in aes128gcm has its salt and its key in itself")
      }
      return ["aes128gcm", nil, nil]
    case "aesgcm":
      guard parameter("salt", of: salt) != nil, parameter("dh", of: key) != nil else {
        throw .encryption("A body in aesgcm needs Encryption with salt and Crypto-Key with dh")
      }
      guard (salt ?? "").utf8.count <= mostFieldBytes, (key ?? "").utf8.count <= mostFieldBytes else {
        throw .encryption("Encryption or Crypto-Key is too long")
      }
      return ["aesgcm", salt, key]
    default: throw .encryption("Content-Encoding must be aes128gcm or aesgcm")
    }
  }

  /// A field without the quotation marks and the padding of values, as browsers want it.
  private static func plain(_ field: String?) -> String? {
    guard let field, field.isPlainLine else { return nil }
    let unquoted = field.filter { $0 != "\"" }
    return unquoted.split(separator: ",").map { entry in
      entry.split(separator: ";").map { parameter in
        var text = parameter.drop { $0 == " " }
        while text.last == "=" || text.last == " " { text.removeLast() }
        return String(text)
      }.joined(separator: ";")
    }.joined(separator: ",")
  }

  /// The value of a parameter of a field, in base64url; nil if there is none.
  static func parameter(_ name: String, of field: String?) -> [UInt8]? {
    guard let field else { return nil }
    for part in field.split(whereSeparator: { $0 == ";" || $0 == "," }) {
      let text = part.drop { $0 == " " }
      guard text.hasPrefix("\(name)=") else { continue }
      return Base64.decodeAny(text.dropFirst(name.count + 1).filter { $0 != "\"" && $0 != " " }.utf8)
    }
    return nil
  }

  private static func isBase64URL(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }
}
