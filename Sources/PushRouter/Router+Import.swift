import PushBase
import PushCrypto
import PushStorage
import Synchronization

/// Registration IDs of other platforms.
public enum ImportedID {
  /// What a device that had one puts before it in its fingerprint.
  public static let mark = "jpush:"

  /// The ID that a registration of the other platform gets here: its own if it has the form of ours, else one that is made
  /// from it and the app's key.
  public static func registrationID(_ text: String, in app: AppKey) -> RegistrationID {
    if let own = RegistrationID(text) { return own }
    let digest = SHA256.digest(Array("\(app.text) \(text)".utf8))
    return RegistrationID(
      high: digest[..<8].reduce(0) { $0 << 8 | UInt64($1) }, low: UInt16(digest[8]) << 8 | UInt16(digest[9]))
  }

  /// The registration that a device names by its fingerprint, `jpush:` and the ID that it had.
  static func registrationID(fingerprint: [UInt8], in app: AppKey) -> RegistrationID? {
    guard fingerprint.starts(with: mark.utf8),
      let text = String(validating: fingerprint.dropFirst(mark.utf8.count), as: UTF8.self), !text.isEmpty
    else { return nil }
    return registrationID(text, in: app)
  }
}

extension Router {
  /// Learns what another process has imported since the last look, a batch after another.
  func learnImports() {
    guard housekeeping.beginImports() else { return }
    learnNextImport()
  }

  private func learnNextImport() {
    let known = housekeeping.lastImport
    store.read { transaction throws(StorageError) -> (ImportBatch, AppRow?)? in
      guard let batch = try transaction.importBatch(after: known) else { return nil }
      return (batch, try transaction.apps().first { $0.id == batch.app })
    } completion: { [self] result in
      guard case .success(let (batch, row)?) = result else {
        housekeeping.endImports()
        return
      }
      guard let row else {
        // The app is deleted.
        housekeeping.lastImport = batch.id
        learnNextImport()
        return
      }
      learn(batch, of: adopt(row))
    }
  }

  /// On the writer's thread, so that memory sees it in order with all other changes of these registrations.
  private func learn(_ batch: ImportBatch, of app: App) {
    store.write { transaction throws(StorageError) in
      let rows = try transaction.reading.deliveryRows(batch)
      let tags = Set(rows.flatMap(\.tags)).sorted()
      return (rows: rows, tags: tags, names: try transaction.reading.tagNames(app: app.id, numbers: tags))
    } completion: { [self] result in
      guard case .success(let found) = result else {
        housekeeping.endImports()
        return
      }
      for (tag, name) in zip(found.tags, found.names) { app.directory.defineTag(name, number: tag) }
      for row in found.rows { app.directory.insertIfMissing(RegistrationEntry(row)) }
      housekeeping.lastImport = batch.id
      learnNextImport()
    }
  }
}
