import BorealisBase
import BorealisCrypto
import Core
import Model
import Storage
import Synchronization

/// Whose addresses for receipts of one channel are, among the apps of all homes: for those without the app's
/// key. What an address ends with is stored nowhere, since it follows from what is sealed of a credential: it
/// is computed when somebody asks, and kept in memory.
final class ReceiptOwners: Sendable {
  /// Nanoseconds from one read of the database to the next: anybody may ask for what nobody has.
  static let interval: UInt64 = 5_000_000_000
  /// Most who wait for a read.
  static let mostWaiting = 64

  private struct Known: Sendable {
    let id: CredentialID
    let key: AppKey
    let code: String
  }

  private struct State: Sendable {
    var known: [AppID: Known] = [:]
    var apps: [String: AppID] = [:]
    var readAt: UInt64?
    var isReading = false
    var waiting: [(code: String, done: @Sendable (ReceiptOwner) -> Void)] = []

    func owner(of code: String) -> ReceiptOwner? {
      guard let app = apps[code], let known = known[app],
        constantTimeEquals(Array(known.code.utf8), Array(code.utf8))
      else { return nil }
      return .app(known.key)
    }
  }

  private enum Step {
    case answer(ReceiptOwner)
    case read
    case wait
  }

  private let channel: ChannelID
  private let parts: VendorParts
  private let state = Mutex(State())

  init(_ channel: ChannelID, _ parts: VendorParts) { (self.channel, self.parts) = (channel, parts) }

  /// Finds whose address ends with a code; `done` is called once, on any thread. Nobody has one that is
  /// younger than the last read.
  func find(_ code: String, done: @escaping @Sendable (ReceiptOwner) -> Void) {
    let now = parts.time.monotonic()
    let step = state.withLock { state -> Step in
      if let owner = state.owner(of: code) { return .answer(owner) }
      if let readAt = state.readAt, now < readAt + Self.interval { return .answer(.nobody) }
      guard state.waiting.count < Self.mostWaiting else { return .answer(.unknown) }
      state.waiting.append((code, done))
      defer { state.isReading = true }
      return state.isReading ? .wait : .read
    }
    switch step {
    case .answer(let owner): done(owner)
    case .read: read()
    case .wait: break
    }
  }

  private func read() {
    let before = state.withLock { Set($0.known.values.map(\.id)) }
    parts.store.read { [channel] transaction throws(StorageError) in
      (
        try transaction.credentials.sealed(of: channel, except: before, in: .all),
        try transaction.homes.all()
      )
    } completion: { [self] result in
      let known = (try? result.get()).flatMap { found, homes in open(found.rows, found.sealed, homes) }
      let now = parts.time.monotonic()
      let answers = state.withLock { state in
        defer { (state.isReading, state.waiting) = (false, []) }
        if let known {
          state.known = known
          state.apps = Dictionary(known.map { ($0.value.code, $0.key) }) { first, _ in first }
          state.readAt = now
        }
        let otherwise: ReceiptOwner = known == nil ? .unknown : .nobody
        return state.waiting.map { ($0.done, state.owner(of: $0.code) ?? otherwise) }
      }
      for (done, owner) in answers { done(owner) }
    }
  }

  /// Opens what is new; nil if the keys cannot be read. Without the lock, since it takes time.
  private func open(
    _ rows: [CredentialRow], _ sealed: [CredentialID: [UInt8]], _ homes: [AppHomeRow]
  ) -> [AppID: Known]? {
    let before = state.withLock(\.known)
    let keys = Dictionary(homes.filter { !$0.isDeleted }.compactMap { row in row.key.map { (row.app, $0) } })
    { $1 }
    let sealing: SealingKeys?
    switch sealed.isEmpty ? nil : parts.keys.open() {
    case .success(let opened): sealing = opened
    case .failure: return nil
    case nil: sealing = nil
    }
    var known: [AppID: Known] = [:]
    for row in rows {
      guard let key = keys[row.app] else { continue }
      if let same = before[row.app], same.id == row.id {
        known[row.app] = same
      } else if let sealing, let bytes = sealed[row.id],
        let secret = try? CredentialSecret.open(bytes, of: row, with: sealing)
      {
        let code = ReceiptMarks(secret: secret, of: row.app, on: row.channel).code
        known[row.app] = Known(id: row.id, key: key, code: code)
      }
    }
    return known
  }
}
