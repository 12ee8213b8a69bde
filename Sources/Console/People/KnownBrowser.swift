import BorealisBase
import BorealisCrypto

/// Makes and checks the cookies of browsers that somebody has logged in with: `name.signature.seal`, good for
/// one email address, to which the signature belongs; the seal shows without the address that the cookie is
/// ours. Older cookies lack the seal. Such a browser is not kept out by the failures of others.
struct BrowserSigner: Sendable {
  /// What all browsers are called that followed a link from a mail: whoever reads somebody's mail gets no
  /// more attempts by asking for more links.
  private static let mailed = String(repeating: "0", count: 32)

  private let key: [UInt8]

  init(key: [UInt8]) { self.key = key }

  /// A key for something else that outlives a restart and is the same on all nodes.
  func key(for purpose: String) -> [UInt8] { HMAC.sha256(key: key, Array("key for \(purpose)".utf8)) }

  /// For a browser that somebody was let in with.
  func cookie(for email: String) -> String { sign(Hex.encode(SystemRandom.bytes(16)), for: email) }

  /// For a browser that followed a link which was sent to the address.
  func cookieByMail(for email: String) -> String { sign(Self.mailed, for: email) }

  /// The name of the browser with a cookie; nil if the cookie is not for the address.
  func name(in cookie: String, for email: String) -> String? {
    let parts = cookie.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2 || isOurs(cookie), parts[0].utf8.count == 32 else { return nil }
    let name = String(parts[0])
    return constantTimeEquals(Array(signed(name, for: email).utf8), Array("\(name).\(parts[1])".utf8))
      ? name : nil
  }

  /// Whether a cookie was made here, for whatever address.
  func isOurs(_ cookie: String) -> Bool {
    let parts = cookie.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return false }
    return constantTimeEquals(Array(sealed("\(parts[0]).\(parts[1])").utf8), Array(cookie.utf8))
  }

  private func sign(_ name: String, for email: String) -> String { sealed(signed(name, for: email)) }

  private func signed(_ name: String, for email: String) -> String {
    "\(name).\(Hex.encode(HMAC.sha256(key: key, Array("\(name) \(EmailAddress.key(email))".utf8))))"
  }

  private func sealed(_ signed: String) -> String {
    "\(signed).\(Hex.encode(HMAC.sha256(key: key, Array("seal \(signed)".utf8))))"
  }
}
