import BorealisBase
import BorealisCrypto
import Storage
import Synchronization

/// Registration IDs of other platforms.
package enum ImportedID {
  /// The prefix of a fingerprint with a former registration ID.
  package static let mark = "jpush:"

  /// The ID of an imported registration: its own if it has the right form, else one derived from it and the
  /// app's key. Upper case does not count in hexadecimal digits.
  package static func registrationID(_ text: String, in app: AppKey) -> RegistrationID {
    RegistrationID(text) ?? derived(canonical(text), in: app)
  }

  /// The same, and behind it the IDs that earlier versions made of the same text.
  package static func candidates(_ text: String, in app: AppKey) -> [RegistrationID] {
    let (present, earlier) = (registrationID(text, in: app), derived(text, in: app))
    // Earlier versions kept 19 digits in lower case as well, and derived all others from the text as it is.
    let isOld = present == earlier || text.utf8.count == 19 && present.text == text
    return isOld ? [present] : [present, earlier]
  }

  /// The fingerprints with which a device may name the ID that it had.
  package static func fingerprints(_ text: String) -> [[UInt8]] {
    let texts = [text, canonical(text)]
    return (texts[0] == texts[1] ? [text] : texts).map { Array((mark + $0).utf8) }
  }

  private static func canonical(_ text: String) -> String {
    text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0 | 0x20) }
      ? text.lowercased() : text
  }

  private static func derived(_ text: String, in app: AppKey) -> RegistrationID {
    let digest = SHA256.digest(Array("\(app.text) \(text)".utf8))
    return RegistrationID(
      high: digest[..<8].reduce(0) { $0 << 8 | UInt64($1) }, low: UInt16(digest[8]) << 8 | UInt16(digest[9]))
  }

  /// The registrations that a device may mean by its fingerprint, `jpush:` and the ID that it had; none for
  /// any other.
  static func candidates(fingerprint: [UInt8], in app: AppKey) -> [RegistrationID] {
    guard fingerprint.starts(with: mark.utf8),
      let text = String(validating: fingerprint.dropFirst(mark.utf8.count), as: UTF8.self), !text.isEmpty
    else { return [] }
    return candidates(text, in: app)
  }
}

extension App {
  /// The registration of an ID of another platform's API: a native or an imported one.
  package func registration(_ id: String) -> RegistrationNumber? {
    guard (1...64).contains(id.utf8.count) else { return nil }
    return ImportedID.candidates(id, in: key).lazy.compactMap { self.directory.find($0) }.first
  }
}

/// Learns the registrations that other processes import while this one runs.
final class Imports: Sendable {
  private let store: Store
  private let scope: HomeScope
  private let apps: Apps
  private let channels: PluggedChannels
  private let registrations: Registrations
  private struct Progress {
    var last: Int64 = 0
    /// The import after which the next look begins, if it is an older one.
    var again = Int64.max
    /// The import after which the look that is under way began.
    var underWay = Int64.max
    var isLearning = false
    /// Who waits for the look that is under way, and for one that begins later.
    var callers: [@Sendable () -> Void] = []
    var waiting: [@Sendable () -> Void] = []
  }

  private let progress = Mutex(Progress())

  init(
    store: Store, scope: HomeScope, apps: Apps, channels: PluggedChannels, registrations: Registrations
  ) {
    self.store = store
    self.scope = scope
    self.apps = apps
    self.channels = channels
    self.registrations = registrations
  }

  /// The latest import that memory knows.
  var last: Int64 {
    get { progress.withLock { $0.last } }
    set { progress.withLock { $0.last = newValue } }
  }

  /// The import up to which memory knows all.
  var learned: Int64 { progress.withLock { min($0.last, $0.again, $0.underWay) } }

  /// Learns what was imported beside this router since the last look, a batch after another. `done` is called
  /// when all that was committed before this call is known, or cannot be read.
  func learn(_ done: (@Sendable () -> Void)? = nil) {
    if let done { progress.withLock { $0.waiting.append(done) } }
    begin()
  }

  private func begin() {
    let begins = progress.withLock { progress in
      guard !progress.isLearning else { return false }
      progress.isLearning = true
      (progress.callers, progress.waiting) = (progress.waiting, [])
      return true
    }
    if begins { learnNext() }
  }

  /// Looks again at the imports after one: an app has come whose imports were passed over, as it was not this
  /// home's.
  func relearn(after id: Int64) { progress.withLock { $0.again = min($0.again, id) } }

  private func end() {
    let (callers, isAwaited) = progress.withLock { progress in
      defer { progress.callers = [] }
      (progress.underWay, progress.isLearning) = (.max, false)
      return (progress.callers, !progress.waiting.isEmpty)
    }
    for done in callers { done() }
    if isAwaited { begin() }
  }

  private func learnNext() {
    let known = progress.withLock { progress in
      progress.underWay = min(progress.last, progress.again)
      progress.again = .max
      return progress.underWay
    }
    store.read { [rows = scope.rows] transaction throws(StorageError) -> (ImportBatch, AppRow?)? in
      guard let batch = try transaction.imports.next(after: known, in: rows) else { return nil }
      return (batch, try transaction.apps.find(batch.app))
    } completion: { [self] result in
      guard case .success(let (batch, row)?) = result else {
        if case .failure = result { relearn(after: known) }
        end()
        return
      }
      guard let row, scope.contains(row.id) else {
        // It is deleted, or about to come or to leave: then its rows are read with all others.
        last = batch.id
        learnNext()
        return
      }
      apps.bring([row]) { [self] found in
        guard case .success(let found) = found, let app = found.first else {
          // The next look knows whether it has left.
          relearn(after: known)
          end()
          return
        }
        learn(batch, of: app, after: known)
      }
    }
  }

  /// On the writer's thread, so that memory sees it in order with all other changes of these registrations.
  private func learn(_ batch: ImportBatch, of app: App, after known: Int64) {
    store.write(of: app.id) { transaction throws(StorageError) in
      let rows = try transaction.registrations.deliveryRows(batch)
      let tags = Set(rows.flatMap(\.tags)).sorted()
      return (
        rows: rows, tags: tags, names: try transaction.tags.names(app: app.id, numbers: tags),
        facts: try transaction.facts.values(app: app.id, numbers: Set(rows.flatMap(\.facts)).sorted()),
        tokens: try transaction.tokens.others(batch)
      )
    } completion: { [self] result in
      guard case .success(let found) = result else {
        relearn(after: known)
        end()
        return
      }
      for (tag, name) in zip(found.tags, found.names) { app.directory.defineTag(name, number: tag) }
      for value in found.facts { app.directory.define(value) }
      let changed = found.rows.map(\.number).filter { app.directory.identity($0) != nil }
      if !changed.isEmpty { channels.tokensChanged(of: changed, in: app) }
      for row in found.rows { app.directory.refresh(RegistrationEntry(row), removed: batch.removed) }
      for token in found.tokens { app.directory.setToken(token) }
      if batch.count == 1, found.rows.isEmpty, app.directory.identity(batch.first) != nil {
        let (location, released) = app.directory.remove(batch.first, tags: batch.removed)
        registrations.finish(released, location, .registrationReplaced, in: app)
      }
      last = batch.id
      learnNext()
    }
  }
}
