import BorealisBase
import Core
import HTTP
import Storage
import Synchronization

/// Pushes that are being written, under the number in their pages' address: so the browser's Back finds the
/// form as it was filled in, and what was sent when a session had ended is there after logging in again. In
/// memory only and bounded: the oldest go first, and of one owner only so many stay, so that nobody takes the
/// room of the others.
final class PushDrafts: Sendable {
  /// Whose a draft is.
  enum Owner: Sendable, Hashable {
    case person(PersonID)
    /// Of somebody whose session had ended: the cookie of a browser that is good for one email address.
    case browser(String)
  }

  /// What a draft became.
  enum End: Sendable, Equatable {
    case push(MessageID)
    case schedule(String)
    /// It waits: to be undone, or for approval.
    case waits(String)

    /// The page of it, under the app's.
    var path: String {
      switch self {
      case .push(let id): "/pushes/\(id.text)"
      case .schedule(let id): "/planned/\(id)"
      case .waits(let id): "/waiting/\(id)"
      }
    }
  }

  struct Draft: Sendable {
    let owner: Owner
    let app: AppKey
    let form: PushForm
    /// Why it cannot be sent as it is.
    var problem: Phrase?
    /// The name under which it goes once, however often it is sent; nil before the sender is asked once more.
    var cid: String?
    /// The schedule that it changes; nil for a new push.
    var schedule: String?
    /// What it became.
    var end: End?
    /// Whether it came without a session, and nothing was done with it.
    var isHeld = false

    fileprivate var bytes: Int {
      form.fields.reduce(200) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }
  }

  private struct State: Sendable {
    var drafts: [String: Draft] = [:]
    /// In the order in which they were saved.
    var order: [String] = []
    var bytes = 0

    mutating func remove(_ id: String) {
      guard let draft = drafts.removeValue(forKey: id) else { return }
      bytes -= draft.bytes
      order.removeAll { $0 == id }
    }
  }

  private let mostDrafts, mostBytes, ownDrafts, ownBytes: Int
  private let state = Mutex(State())

  /// Room for all, and of that for each owner.
  init(mostDrafts: Int, mostBytes: Int, ownDrafts: Int, ownBytes: Int) {
    self.mostDrafts = mostDrafts
    self.mostBytes = mostBytes
    self.ownDrafts = ownDrafts
    self.ownBytes = ownBytes
  }

  /// A number for a new draft.
  static func newID() -> String { Hex.encode(SystemRandom.bytes(16)) }

  static func isID(_ text: String) -> Bool { text.utf8.count == 32 && Hex.decode(text) != nil }

  /// Saves a draft in place of the one with its number.
  func save(_ draft: Draft, _ id: String) {
    state.withLock { state in
      state.remove(id)
      state.drafts[id] = draft
      state.order.append(id)
      state.bytes += draft.bytes
      var own = state.order.filter { state.drafts[$0]?.owner == draft.owner }[...]
      var bytes = own.reduce(0) { $0 + (state.drafts[$1]?.bytes ?? 0) }
      while own.count > ownDrafts || bytes > ownBytes, let oldest = own.popFirst() {
        bytes -= state.drafts[oldest]?.bytes ?? 0
        state.remove(oldest)
      }
      while state.order.count > mostDrafts || state.bytes > mostBytes, let oldest = state.order.first {
        state.remove(oldest)
      }
    }
  }

  /// The draft with a number, whosever it is.
  func draft(_ id: String) -> Draft? { state.withLock { $0.drafts[id] } }

  func remove(_ id: String) { state.withLock { $0.remove(id) } }
}
