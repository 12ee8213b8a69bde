import PushBase
import PushCrypto
import PushHTTP
import PushStorage
import Synchronization

/// Sees to it that a form that makes or replaces something counts once, however often a browser sends it: by a second click,
/// or by a reload of the page that answered it. Each form carries a number of its own, signed for the session; the numbers
/// that were used last are remembered, with what was filled in: a form that was corrected counts. A form of before the
/// server's start does not count: nobody remembers whether it did.
final class OnceForms: Sendable {
  /// What a number says of its form.
  enum Verdict: Sendable, Equatable {
    case first, again
    /// It is of another session, or of another run of the server.
    case unknown
  }

  /// Numbers that are remembered.
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

  /// A number for one form of a session.
  static func number(for session: Int64) -> String {
    let nonce = Hex.encode(SystemRandom.bytes(nonceDigits / 2))
    return nonce + signature(of: nonce, for: session)
  }

  private static func signature(of nonce: some StringProtocol, for session: Int64) -> String {
    Hex.encode(HMAC.sha256(key: key, Array("\(nonce) \(session)".utf8)).prefix(signatureBytes))
  }

  /// Uses a form's number up, with what was filled in.
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

  /// Lets a form count again that was refused.
  func takeBack(_ number: String, _ content: [UInt8]) {
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

extension WebConsole {
  /// Serves a page to somebody who may see it, a form that counts once only once.
  func serve(_ page: Page, _ call: PageCall) {
    // Scripts send no number.
    guard page.repetition != .counts, let session = call.visitor?.session.id, let number = call.text("once")
    else { return page.handle(self, call) }
    let content = call.filledIn
    switch once.use(number, content, of: session) {
    case .first:
      let call = call.hearing { [once] answer in
        if answer.status >= 400 { once.takeBack(number, content) }
      }
      page.handle(self, call)
    case .again: call.redirect(to: place(of: page, call), saying: .again)
    case .unknown: call.redirect(to: place(of: page, call), saying: .older)
    }
  }

  /// The page that shows what a form made or changed.
  private func place(of page: Page, _ call: PageCall) -> String {
    page.repetition == .showsPage ? call.path : pageAbove(call)
  }

  /// The nearest page above a path: for those who come with a path that only forms have.
  func pageAbove(_ call: PageCall) -> String {
    var path = call.path[...]
    while let slash = path.lastIndex(of: "/") {
      path = path[..<slash]
      if hasPage(String(path)) { return String(path) }
    }
    return "/console/"
  }
}
