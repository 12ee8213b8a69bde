import PushBase
import PushCrypto
import PushHTTP
import PushStorage
import Synchronization

/// Makes a form that creates or replaces something take effect once, even if the browser submits it twice: by a second
/// click, or by a reload of the page that answered it. Each form carries a nonce, signed for the session. The server remembers
/// the latest nonces together with the submitted fields, so that a corrected form takes effect. It rejects forms from before
/// its start, since it no longer knows whether they took effect.
final class FormNonces: Sendable {
  /// Whether a form may take effect.
  enum Verdict: Sendable, Equatable {
    case first, again
    /// The nonce is of another session, or from before the server's start.
    case unknown
  }

  /// How many nonces are remembered.
  static let capacity = 8192
  private static let key = SystemRandom.bytes(32)
  private static let (nonceDigits, signatureBytes) = (24, 12)

  private struct Used: Sendable {
    var forms: Set<String> = []
    /// In the order of their use, as a ring.
    var order: [String] = []
    var oldest = 0
  }

  private let used = Mutex(Used())

  /// Makes a nonce for one form of a session.
  static func number(for session: Int64) -> String {
    let nonce = Hex.encode(SystemRandom.bytes(nonceDigits / 2))
    return nonce + signature(of: nonce, for: session)
  }

  private static func signature(of nonce: some StringProtocol, for session: Int64) -> String {
    Hex.encode(HMAC.sha256(key: key, Array("\(nonce) \(session)".utf8)).prefix(signatureBytes))
  }

  /// Uses a form's nonce, together with the submitted fields.
  func use(_ number: String, _ content: [UInt8], of session: Int64) -> Verdict {
    let nonce = number.prefix(Self.nonceDigits)
    let signature = Self.signature(of: nonce, for: session)
    guard constantTimeEquals(Array(number.utf8), Array("\(nonce)\(signature)".utf8)) else { return .unknown }
    let form = Self.form(number, content)
    return used.withLock { used in
      guard used.forms.insert(form).inserted else { return .again }
      if used.order.count < Self.capacity {
        used.order.append(form)
      } else {
        used.forms.remove(used.order[used.oldest])
        used.order[used.oldest] = form
        used.oldest = (used.oldest + 1) % Self.capacity
      }
      return .first
    }
  }

  /// Lets a form that was refused be submitted again.
  func release(_ number: String, _ content: [UInt8]) {
    let form = Self.form(number, content)
    used.withLock { used in
      used.forms.remove(form)
      // Its place is free for the next one, so that the same form cannot stand in two.
      if let place = used.order.lastIndex(of: form) { used.order[place] = "" }
    }
  }

  private static func form(_ number: String, _ content: [UInt8]) -> String {
    number + Hex.encode(SHA256.digest(content).prefix(signatureBytes))
  }
}

extension FormNonces {
  /// Serves a page to an authorized visitor, and a form that counts once only once.
  func serve(_ served: ServedPage, _ call: PageCall) async -> HTTPResponse {
    let page = served.page
    // Scripts send no nonce.
    guard page.repetition != .counts, let session = call.visitor?.session.id, let number = call.text("once")
    else { return await served.answer(call) }
    let content = call.filledIn
    switch use(number, content, of: session) {
    case .first:
      let answer = await served.answer(call)
      if answer.status >= 400 { release(number, content) }
      return answer
    case .again: return call.redirect(to: Self.place(of: page, call), notice: .again)
    case .unknown: return call.redirect(to: Self.place(of: page, call), notice: .older)
    }
  }

  /// The page that shows what a form made or changed.
  private static func place(of page: Page, _ call: PageCall) -> String {
    page.repetition == .showsPage ? call.path : SiteMap.pageAbove(call)
  }
}
