import BorealisBase
import BorealisCrypto
import HTTP

/// Whose a message of Web Push is (RFC 8292): a public key, and a token that it has signed for this push
/// service. Also in the form of the draft before the RFC, with the key in `Crypto-Key`.
struct VAPIDProof: Equatable, Sendable {
  /// Bytes of `Authorization` that are read.
  private static let mostBytes = 4096
  /// Seconds that a token may be good for, with the difference of two clocks.
  private static let mostSeconds: Int64 = 86_400 + 60

  /// The point of the public key, 65 bytes.
  let key: [UInt8]

  /// Checks a request's proof; `origin` is that of this push service. Nil if the request has none.
  static func read(
    _ headers: HTTPHeaders, origin: String, at now: Timestamp
  ) throws(WebPushFault) -> VAPIDProof? {
    guard let field = headers["authorization"] else { return nil }
    guard field.utf8.count <= mostBytes else { throw .unproven("Authorization is too long") }
    let scheme = field.prefix { $0 != " " }.lowercased()
    let rest = field.dropFirst(scheme.count).drop { $0 == " " }
    switch scheme {
    case "vapid":
      guard let key = parameter("k", of: rest).flatMap({ Base64.decodeAny($0.utf8) }),
        let token = parameter("t", of: rest)
      else { throw .unproven("Authorization needs t and k") }
      return try VAPIDProof(key: key, token: token, origin: origin, at: now)
    case "webpush":
      guard let key = WebPushRequest.parameter("p256ecdsa", of: headers["crypto-key"]) else {
        throw .unproven("Crypto-Key needs p256ecdsa")
      }
      return try VAPIDProof(key: key, token: rest, origin: origin, at: now)
    default: throw .unproven("Authorization must be of the scheme vapid")
    }
  }

  private static func parameter(_ name: String, of text: Substring) -> Substring? {
    for part in text.split(separator: ",") {
      let part = part.drop { $0 == " " }
      guard part.hasPrefix("\(name)=") else { continue }
      var value = part.dropFirst(name.count + 1)
      while value.last == " " { value.removeLast() }
      return value
    }
    return nil
  }

  private init(
    key: [UInt8], token: Substring, origin: String, at now: Timestamp
  ) throws(WebPushFault) {
    guard let publicKey = try? ES256PublicKey(point: key) else {
      throw .unproven("The key is not a point on P-256")
    }
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let head = Self.object(parts[0]), head["alg"]?.string == "ES256",
      let claims = Self.object(parts[1]), let signature = Base64.decodeURL(parts[2].utf8),
      publicKey.isValid(signature: signature, of: Array("\(parts[0]).\(parts[1])".utf8))
    else { throw .unproven("The token is not signed by the key, with ES256") }
    guard claims["aud"]?.string?.lowercased() == origin.lowercased() else {
      throw .unproven("The token's aud must be \(origin)")
    }
    // Some senders write fractions of a second.
    guard let end = claims["exp"]?.double, end > Double(now.seconds) else {
      throw .unproven("The token has expired, or has no exp")
    }
    guard end <= Double(now.seconds + Self.mostSeconds) else {
      throw .unproven("The token's exp is more than a day away")
    }
    self.key = key
  }

  private static func object(_ part: Substring) -> JSONValue? {
    Base64.decodeURL(part.utf8).flatMap { try? parseJSON($0, limits: JSONLimits(maxDepth: 4)) }
  }
}
