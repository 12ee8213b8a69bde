import BorealisBase
import BorealisCrypto
import HTTP
import Storage
import Synchronization

/// Makes a form that creates or replaces something take effect once, even if the browser submits it twice: by
/// a second click, or by a reload of the page that answered it. Each form carries a nonce, signed for the
/// session. The server remembers the latest nonces of each person together with the submitted fields, so that
/// a corrected form takes effect. It rejects forms from before its start, since it no longer knows whether
/// they took effect.
final class FormNonces: Sendable {
  /// Whether a form may take effect.
  enum Verdict: Sendable, Equatable {
    case first, again
    /// The nonce is of another session, or from before the server's start.
    case unknown
  }

  /// How many nonces are remembered in all; beyond it, the oldest of whoever has the most is forgotten.
  static let capacity = 8192
  /// How many of one person are remembered.
  static let ownCapacity = 512
  private static let key = SystemRandom.bytes(32)
  private static let (nonceDigits, signatureBytes) = (24, 12)

  private struct Used: Sendable {
    /// Of each person, in the order of their use. None is empty.
    var forms: [PersonID: [String]] = [:]
    var count = 0

    /// Adds a form; false if it is there.
    mutating func insert(_ form: String, of person: PersonID) -> Bool {
      if forms[person]?.contains(form) == true { return false }
      if forms[person, default: []].count >= FormNonces.ownCapacity {
        dropOldest(of: person)
      } else if count >= FormNonces.capacity, let most = forms.max(by: { $0.value.count < $1.value.count }) {
        dropOldest(of: most.key)
      }
      forms[person, default: []].append(form)
      count += 1
      return true
    }

    mutating func remove(_ form: String, of person: PersonID) {
      guard let place = forms[person]?.lastIndex(of: form) else { return }
      remove(at: place, of: person)
    }

    private mutating func dropOldest(of person: PersonID) { remove(at: 0, of: person) }

    private mutating func remove(at place: Int, of person: PersonID) {
      forms[person]?.remove(at: place)
      if forms[person]?.isEmpty == true { forms[person] = nil }
      count -= 1
    }
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
  func use(_ number: String, _ content: [UInt8], of session: Int64, _ person: PersonID) -> Verdict {
    let nonce = number.prefix(Self.nonceDigits)
    let signature = Self.signature(of: nonce, for: session)
    guard constantTimeEquals(Array(number.utf8), Array("\(nonce)\(signature)".utf8)) else { return .unknown }
    let form = Self.form(number, content)
    return used.withLock { $0.insert(form, of: person) } ? .first : .again
  }

  /// Lets a form that was refused be submitted again.
  func release(_ number: String, _ content: [UInt8], of person: PersonID) {
    let form = Self.form(number, content)
    used.withLock { $0.remove(form, of: person) }
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
    guard page.repetition != .counts, let visitor = call.visitor, let number = call.text("once") else {
      return await served.answer(call)
    }
    let (content, person) = (call.filledIn, visitor.person.id)
    switch use(number, content, of: visitor.session.id, person) {
    case .first:
      let answer = await served.answer(call)
      if answer.status >= 400 { release(number, content, of: person) }
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
