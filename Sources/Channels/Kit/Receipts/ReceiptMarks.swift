import BorealisBase
import BorealisCrypto
import Model

/// What makes receipts of an app and channel credible: the address that only the service is told, and a mark
/// on what pushes pass to the service. Both follow from what is secret of the app's credential, so that
/// nothing has to be stored, and another secret has others.
package struct ReceiptMarks: Sendable, Equatable {
  /// What a tag of a receipt is.
  package enum Tag: Sendable, Equatable {
    /// This server passed it to the service, with this push.
    case own(MessageID)
    /// It has the form of a tag of this server's, and is none.
    case forged
    /// It is something else: a push of another program, or the sample of a console.
    case foreign
  }

  /// Bytes of a code and of a mark: 128 and 96 bits.
  private static let (codeBytes, markBytes) = (16, 12)
  /// The last part of the address: 22 characters that nobody can guess.
  package let code: String
  private let key: [UInt8]

  /// `secret` is what is sealed of the credential. What the service signs receipts with is no part of it:
  /// that can be entered after the address was, which stays the same.
  package init(secret: [UInt8], of app: AppID, on channel: ChannelID) {
    let seed = VendorFields(secret)?.withoutReceiptKey.secret ?? secret
    let context = "borealis receipts of app \(app.rawValue) on channel \(channel.rawValue)"
    let root = HMAC.sha256(key: seed, Array(context.utf8))
    code = Base64.encodeURL(Array(HMAC.sha256(key: root, Array("address".utf8)).prefix(Self.codeBytes)))
    key = HMAC.sha256(key: root, Array("mark".utf8))
  }

  /// What a push passes to the service: its ID and a mark. With a token it is good for that alone. At most 37
  /// bytes.
  package func tag(_ push: MessageID, for token: [UInt8]? = nil) -> String {
    "\(push.text).\(Base64.encodeURL(mark(push, token)))"
  }

  /// Reads a tag of a receipt about some devices.
  package func read(_ tag: String, for tokens: [[UInt8]]) -> Tag {
    let parts = tag.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let push = MessageID(decimal: Array(parts[0].utf8)),
      let mark = Base64.decodeURL(Array(parts[1].utf8)), mark.count == Self.markBytes
    else { return .foreign }
    if constantTimeEquals(mark, self.mark(push, nil)) { return .own(push) }
    guard tokens.count == 1 else { return .forged }
    return constantTimeEquals(mark, self.mark(push, tokens[0])) ? .own(push) : .forged
  }

  /// Compares in a time that does not depend on where they differ.
  func isCode(_ other: String) -> Bool { constantTimeEquals(Array(code.utf8), Array(other.utf8)) }

  private func mark(_ push: MessageID, _ token: [UInt8]?) -> [UInt8] {
    Array(HMAC.sha256(key: key, Array(push.text.utf8) + [0] + (token ?? [])).prefix(Self.markBytes))
  }
}

/// What a request passes to the service for its receipts.
package struct ReceiptPassing: Sendable, Equatable {
  /// What comes back: the push's ID, with a mark if receipts are expected.
  package let tag: String
  /// Where receipts go, for services that are told with each push; nil if nobody is.
  package let address: String?

  /// Both.
  package init(tag: String, address: String? = nil) {
    self.tag = tag
    self.address = address
  }

  /// As long as any: to see whether a message is too large.
  static func longest(_ push: MessageID) -> ReceiptPassing {
    ReceiptPassing(tag: push.text + "." + String(repeating: "x", count: 16))
  }
}
