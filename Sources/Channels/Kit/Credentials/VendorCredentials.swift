import BorealisBase
import BorealisCrypto
import Core
import Model
import Storage
import Synchronization

/// The opened credentials of all apps for one vendor. `borealis app channel` changes the database from other
/// processes, so it is read every few seconds. Safe to use from any thread.
final class VendorCredentials<V: Vendor>: Sendable {
  /// What to use for an app.
  enum Selection: Sendable {
    /// The credential with this ID.
    case use(id: String, V.Credential, ReceiptMarks)
    /// The app has none.
    case missing
    /// It cannot be used, for this reason; since when.
    case unusable(String, since: Timestamp)
  }

  private struct Entry: Sendable {
    var row: CredentialRow
    /// Nil if it cannot be opened, for the reason in `problem`.
    var credential: V.Credential?
    /// What its receipts are known by.
    var marks: ReceiptMarks?
    var problem: String?
  }

  /// What receipts of an app are judged by.
  struct Receiver: Sendable {
    let app: AppID
    let marks: ReceiptMarks
    let key: ReceiptKey?
  }

  private struct State: Sendable {
    var entries: [AppID: Entry] = [:]
    /// The apps by the codes in the addresses of their receipts.
    var codes: [String: AppID] = [:]
    var pauses = CredentialPauses<CredentialID>()
    var isKnown = false
  }

  private let vendor: V
  private let parts: VendorParts
  private let onChange: @Sendable (AppID) -> Void
  private let reads = CredentialReads()
  private let state = Mutex(State())

  /// Is empty until the first `refresh`. `onChange` is called for each app whose credential is another or has
  /// another state.
  init(_ vendor: V, _ parts: VendorParts, onChange: @escaping @Sendable (AppID) -> Void) {
    self.vendor = vendor
    self.parts = parts
    self.onChange = onChange
  }

  /// Whether the database was read.
  var isKnown: Bool { state.withLock { $0.isKnown } }

  /// What to use for an app.
  func selection(_ app: AppID) -> Selection {
    state.withLock { state in
      guard let entry = state.entries[app] else { return .missing }
      if let pause = state.pauses[entry.row.id] { return .unusable(pause.reason, since: pause.at) }
      if let reason = entry.row.pause { return .unusable(reason, since: entry.row.changedAt) }
      guard let credential = entry.credential, let marks = entry.marks else {
        return .unusable(entry.problem ?? "", since: entry.row.createdAt)
      }
      return .use(id: entry.row.id.text, credential, marks)
    }
  }

  /// Whether an app has one, which can be used or not.
  func has(_ app: AppID) -> Bool { if case .missing = selection(app) { false } else { true } }

  /// What an app's receipts are known by; nil if its credential cannot be opened, or if it has none.
  func marks(of app: AppID) -> ReceiptMarks? { state.withLock { $0.entries[app]?.marks } }

  /// Whose receipts go to the address with a code; nil if it is nobody's. A paused credential still gets
  /// them: pushes that were sent before arrive.
  func receiver(_ code: String) -> Receiver? {
    state.withLock { state in
      guard let app = state.codes[code], let entry = state.entries[app], let marks = entry.marks,
        marks.isCode(code)
      else { return nil }
      return Receiver(app: app, marks: marks, key: entry.credential.flatMap { vendor.receiptKey(of: $0) })
    }
  }

  /// Why an app's credential is not used; nil if it is, or if there is none.
  func problem(of app: AppID) -> Phrase? {
    guard case .unusable(let reason, _) = selection(app) else { return nil }
    let isPaused = state.withLock { state in
      state.entries[app].map { $0.row.pause != nil || state.pauses[$0.row.id] != nil } ?? false
    }
    return Phrase(problem: isPaused ? "paused: \(reason)" : reason)
  }

  /// Call once a second: reads changes each second, with many credentials every five.
  func tick() {
    if reads.tick(state.withLock({ $0.entries.count })).isDue { refresh() }
  }

  /// Reads changes from the database; the completion runs when everything committed before this call is
  /// known.
  func refresh(_ done: CredentialReads.Done? = nil) {
    let channel = vendor.info.id
    reads.run(done) { [self] number, ended in
      let (opened, own) = (openedIDs, parts.router.scope.rows)
      parts.store.read { transaction throws(StorageError) in
        try transaction.credentials.sealed(of: channel, except: opened, in: own)
      } completion: { [self] result in
        if case .success(let (rows, sealed)) = result { apply(rows, sealed, read: number) }
        savePauses()
        ended(result.map { _ in () })
      }
    }
  }

  /// The credentials whose secrets need not be read again. What could not be opened is tried again, since the
  /// file of keys may have been mended.
  private var openedIDs: Set<CredentialID> {
    state.withLock { state in
      Set(state.entries.values.filter { $0.credential != nil }.map(\.row.id))
    }
  }

  private func apply(_ rows: [CredentialRow], _ sealed: [CredentialID: [UInt8]], read number: Int) {
    let known = state.withLock { $0.entries }
    // Opening secrets and reading the key file is slow, so it happens outside of the lock.
    let keys = sealed.isEmpty ? nil : parts.keys.open()
    var entries: [AppID: Entry] = [:]
    // The newest of an app counts.
    for row in rows {
      if let secret = sealed[row.id], let keys {
        entries[row.app] = open(row, secret, keys)
      } else if var entry = known[row.app], entry.row.id == row.id {
        entry.row = row
        entries[row.app] = entry
      }
    }
    let changed = state.withLock { state in
      let changed = Set(state.entries.keys).union(entries.keys).filter { app in
        let (old, new) = (state.entries[app], entries[app])
        return old?.row != new?.row || old?.problem != new?.problem
      }
      state.entries = entries
      state.codes = Dictionary(
        entries.compactMap { app, entry in entry.marks.map { ($0.code, app) } }
      ) { first, _ in first }
      state.isKnown = true
      state.pauses.forget(read: number) { entries[$0.app]?.row.id == $0.id }
      return changed
    }
    for app in changed {
      if let problem = entries[app]?.problem {
        parts.log.error(
          "credential cannot be opened",
          [
            "channel": .text(vendor.info.name), "app": .number(Int64(app.rawValue)), "reason": .text(problem),
          ])
      }
      onChange(app)
    }
  }

  private func open(
    _ row: CredentialRow, _ sealed: [UInt8], _ keys: Result<SealingKeys, CredentialKeys.Failure>
  ) -> Entry {
    do {
      let secret = try CredentialSecret.open(sealed, of: row, with: try keys.get())
      guard let credential = vendor.credential(secret) else {
        return Entry(
          row: row,
          problem:
            "the stored credential does not fit this server's settings, such as --fcm-url or --makers-url; enter it again"
        )
      }
      return Entry(
        row: row, credential: credential,
        marks: ReceiptMarks(secret: secret, of: row.app, on: row.channel))
    } catch {
      return Entry(row: row, problem: "\(error)")
    }
  }

  // MARK: Pauses

  /// Stops the use of an app's credential immediately, and permanently once it is stored. Another
  /// credential's ID is ignored.
  func pause(_ id: String, of app: AppID, _ reason: String) {
    let now = parts.time.now()
    let text = String(pauseReason: reason)
    let isNew = state.withLock { state in
      guard let row = state.entries[app]?.row, row.id.text == id, row.pause == nil,
        state.pauses[row.id] == nil
      else { return false }
      state.pauses.add(row.id, of: app, text, at: now)
      return true
    }
    guard isNew else { return }
    parts.log.error(
      "credential paused",
      ["channel": .text(vendor.info.name), "app": .number(Int64(app.rawValue)), "reason": .text(text)])
    onChange(app)
    savePauses()
  }

  /// Stores pauses that the database does not have yet; failures are retried at the next refresh.
  private func savePauses() {
    let pauses = state.withLock { $0.pauses.beginSaving() }
    guard !pauses.isEmpty else { return }
    parts.store.write { transaction throws(StorageError) in
      for pause in pauses {
        _ = try transaction.credentials.pause(
          app: pause.app, id: pause.id, reason: pause.reason, at: pause.at)
      }
    } completion: { [self] result in
      let isStored = if case .success = result { true } else { false }
      let begun = reads.begun
      state.withLock { $0.pauses.endSaving(pauses, succeeded: isStored, reads: begun) }
      if !isStored { parts.log.error("cannot store that credentials are paused") }
    }
  }
}
