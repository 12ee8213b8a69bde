import BorealisBase
import BorealisCrypto
import Core
import Model
import Synchronization

/// What an app's server proves itself with at push services (RFC 8292): a key, and whom they may write to.
package final class VAPIDKey: Sendable {
  /// The public key as pages subscribe with it (`applicationServerKey`): the point in base64url.
  package let publicKey: String
  /// `mailto:` or `https:`.
  package let contact: String
  private let key: ES256Key

  private struct Signed: Sendable {
    /// For which token of access it was signed: a new one makes all anew.
    let access: String
    let header: String
    let expiresAt: Timestamp
  }

  /// By the origin of a push service.
  private let signed = Mutex<[String: Signed]>([:])
  /// Origins that are remembered.
  private static let mostOrigins = 256
  /// Seconds for which a signature is good: half of what services take.
  private static let lifetime: Int64 = 43_200

  init(_ key: ES256Key, contact: String) throws(CryptoError) {
    self.key = key
    self.contact = contact
    publicKey = Base64.encodeURL(try key.publicPoint())
  }

  /// What is sealed.
  var secret: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("contact", contact)
    writer.member("private_key", key.pem)
    writer.endObject()
    return writer.bytes
  }

  /// Opens what was sealed; nil if it is damaged.
  static func open(_ secret: [UInt8]) -> VAPIDKey? {
    guard let object = (try? parseJSON(secret))?.object, let contact = object["contact"]?.string,
      let pem = object["private_key"]?.string, let key = try? ES256Key(p8: Array(pem.utf8))
    else { return nil }
    return try? VAPIDKey(key, contact: contact)
  }

  /// The same key with another contact.
  func with(contact: String) throws(CryptoError) -> VAPIDKey { try VAPIDKey(key, contact: contact) }

  /// Whether push services believe that somebody can be reached there. Apple's answers 403 BadJwtToken to
  /// hosts without a public domain, as of a company's own network.
  static func isContact(_ text: String) -> Bool {
    guard text.isVisibleASCII, text.utf8.count <= 300 else { return false }
    if text.hasPrefix("mailto:") {
      let parts = text.dropFirst("mailto:".count).split(separator: "@", omittingEmptySubsequences: false)
      return parts.count == 2 && !parts[0].isEmpty && parts[0].utf8.allSatisfy { !strange.contains($0) }
        && isPublicName(String(parts[1]))
    }
    return WebPushAddress(text + (text.hasSuffix("/") ? "" : "/")).map {
      $0.isSecure && isPublicName($0.host)
    } ?? false
  }

  /// What would make an address another one, or more than an address.
  private static let strange = Set("<>()[],;:\"\\?&".utf8)

  /// Whether a host has a name of the Internet: not an address, and not one that RFC 6761 and others set
  /// apart.
  private static func isPublicName(_ host: String) -> Bool {
    guard let authority = URLAuthority(host), authority.port == nil, !authority.host.hasPrefix("[") else {
      return false
    }
    let labels = authority.host.split(separator: ".", omittingEmptySubsequences: false)
    guard labels.count > 1, let last = labels.last, labels.allSatisfy({ !$0.isEmpty }) else { return false }
    return last.first?.isLetter == true && !ownDomains.contains(String(last))
      && labels.suffix(2) != ["home", "arpa"]
  }

  private static let ownDomains: Set = [
    "local", "localhost", "localdomain", "internal", "intranet", "private", "corp", "home", "lan", "invalid",
    "test",
    "example", "onion",
  ]

  /// The field that proves to a service whose request it is; nil if it cannot be signed.
  func authorization(for origin: String, access: AccessToken, at now: Timestamp) -> String? {
    let known = signed.withLock { $0[origin] }
    if let known, known.access == access.value, now.adding(seconds: Self.lifetime / 4) < known.expiresAt {
      return known.header
    }
    let end = now.adding(seconds: Self.lifetime)
    guard let header = sign(origin, until: end) else { return nil }
    signed.withLock { signed in
      if signed.count >= Self.mostOrigins { signed = [:] }
      signed[origin] = Signed(access: access.value, header: header, expiresAt: end)
    }
    return header
  }

  private func sign(_ origin: String, until end: Timestamp) -> String? {
    var claims = JSONWriter()
    claims.beginObject()
    claims.member("aud", origin)
    claims.member("exp", end.seconds)
    claims.member("sub", contact)
    claims.endObject()
    let head = Base64.encodeURL(Array(#"{"typ":"JWT","alg":"ES256"}"#.utf8))
    let text = head + "." + Base64.encodeURL(claims.bytes)
    guard let signature = try? key.sign(Array(text.utf8)) else { return nil }
    return "vapid t=\(text).\(Base64.encodeURL(signature)), k=\(publicKey)"
  }
}
