import PushBase
import PushCrypto

/// Makes and checks the cookies of browsers that somebody has logged in with: `name.signature`, good for one e-mail address.
/// Such a browser is not kept out by the failures of others.
struct BrowserSigner: Sendable {
  /// What all browsers are called that followed a link from a mail: whoever reads somebody's mail gets no more attempts by
  /// asking for more links.
  private static let mailed = String(repeating: "0", count: 32)

  private let key: [UInt8]

  init(key: [UInt8]) { self.key = key }

  /// For a browser that somebody was let in with.
  func cookie(for email: String) -> String { sign(Hex.encode(SystemRandom.bytes(16)), for: email) }

  /// For a browser that followed a link which was sent to the address.
  func cookieByMail(for email: String) -> String { sign(Self.mailed, for: email) }

  /// The name of the browser with a cookie; nil if the cookie is not for the address.
  func name(in cookie: String, for email: String) -> String? {
    let parts = cookie.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.count == 32 else { return nil }
    let name = String(parts[0])
    return constantTimeEquals(Array(sign(name, for: email).utf8), Array(cookie.utf8)) ? name : nil
  }

  private func sign(_ name: String, for email: String) -> String {
    "\(name).\(Hex.encode(HMAC.sha256(key: key, Array("\(name) \(email.lowercased())".utf8))))"
  }
}
