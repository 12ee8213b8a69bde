import BorealisBase
import BorealisCrypto

/// A request to a certificate authority.
package enum ACMERequest: Equatable, Sendable {
  /// Of the directory, or of a nonce.
  case get(String)
  /// Anything else; it is signed.
  case post(ACMEPost)
}

/// What a signed request says (RFC 8555 section 6.2).
package struct ACMEPost: Equatable, Sendable {
  package let url: String
  package let nonce: String
  /// The URL of the account; nil for a request that shows its key instead.
  package let account: String?
  /// Nil to read something (`POST-as-GET`).
  package let payload: JSONValue?

  /// With all of it.
  package init(url: String, nonce: String, account: String?, payload: JSONValue?) {
    (self.url, self.nonce, self.account, self.payload) = (url, nonce, account, payload)
  }
}

/// The key that stands for an account at a certificate authority.
package struct ACMEAccount: Sendable {
  private let key: ES256Key
  private let publicKey: JSONValue
  /// RFC 7638.
  private let thumbprint: String

  /// With a key that is used for nothing else.
  package init(key: ES256Key) throws(CryptoError) {
    self.key = key
    let point = try key.publicPoint()
    // In the order of the names, as the thumbprint needs it.
    publicKey = [
      "crv": "P-256", "kty": "EC", "x": .string(Base64.encodeURL(Array(point[1..<33]))),
      "y": .string(Base64.encodeURL(Array(point[33..<65]))),
    ]
    thumbprint = Base64.encodeURL(SHA256.digest(JSONWriter.serialize(publicKey)))
  }

  /// What answers a challenge (RFC 8555 section 8.1).
  func keyAuthorization(_ token: String) -> String { "\(token).\(thumbprint)" }

  /// A request with its signature.
  package func sign(_ request: ACMERequest) throws(CryptoError) -> OutgoingRequest {
    switch request {
    case .get(let url): .get(url)
    case .post(let post):
      OutgoingRequest(url: post.url, body: try body(post), contentType: "application/jose+json")
    }
  }

  /// A JWS in its flattened form (RFC 7515 section 7.2.2).
  private func body(_ post: ACMEPost) throws(CryptoError) -> [UInt8] {
    var header = JSONObject()
    header.set("alg", "ES256")
    header.set("nonce", .string(post.nonce))
    header.set("url", .string(post.url))
    if let account = post.account {
      header.set("kid", .string(account))
    } else {
      header.set("jwk", publicKey)
    }
    let protected = Base64.encodeURL(JSONWriter.serialize(.object(header)))
    let payload = post.payload.map { Base64.encodeURL(JSONWriter.serialize($0)) } ?? ""
    let signature = try key.sign(Array("\(protected).\(payload)".utf8))
    return JSONWriter.serialize([
      "protected": .string(protected), "payload": .string(payload),
      "signature": .string(Base64.encodeURL(signature)),
    ])
  }
}
