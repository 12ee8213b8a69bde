import PushBase
import PushCrypto
import PushHTTP
import PushStorage
import Synchronization

/// Sees to it that a form that makes or replaces something counts once, however often a browser sends it: by a second click,
/// or by a reload of the page that answered it. Each form carries a number of its own, signed for the session; the numbers
/// that were used last are remembered. A form of before the server's start does not count: nobody remembers whether it did.
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
    var numbers: Set<String> = []
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

  /// Uses a form's number up.
  func use(_ number: String, of session: Int64) -> Verdict {
    let nonce = number.prefix(Self.nonceDigits)
    let signature = Self.signature(of: nonce, for: session)
    guard constantTimeEquals(Array(number.utf8), Array("\(nonce)\(signature)".utf8)) else { return .unknown }
    return used.withLock { used in
      guard used.numbers.insert(number).inserted else { return .again }
      if used.order.count < Self.capacity {
        used.order.append(number)
      } else {
        used.numbers.remove(used.order[used.oldest])
        used.order[used.oldest] = number
        used.oldest = (used.oldest + 1) % Self.capacity
      }
      return .first
    }
  }

  /// Lets a form count again that was refused.
  func takeBack(_ number: String) { used.withLock { _ = $0.numbers.remove(number) } }
}

extension WebConsole {
  /// Serves a page to somebody who may see it, a form that counts once only once.
  func serve(_ page: Page, _ call: PageCall) {
    // Scripts send no number.
    guard page.repetition != .counts, let session = call.visitor?.session.id, let number = call.text("once")
    else { return page.handle(self, call) }
    switch once.use(number, of: session) {
    case .first:
      let call = call.hearing { [once] answer in
        if answer.status >= 400 { once.takeBack(number) }
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
