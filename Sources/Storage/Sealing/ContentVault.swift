import BorealisBase
import BorealisCrypto
import Synchronization

/// The columns that hold what pushes say. Each has a purpose of its own, so that what is sealed for one opens
/// in no other.
enum ContentColumn: CaseIterable, Sendable {
  /// `push.content`.
  case pushContent
  /// `push.languages`.
  case pushLanguages
  /// `push.object`.
  case pushObject
  /// `schedule.push_json`.
  case schedule
  /// `template.body`.
  case template
  /// `abtest.body`.
  case abTest
  /// `abtest_run.body`.
  case abTestRun
  /// `canary.body`.
  case canary
  /// `getui_task.body`.
  case task
  /// `push_callback.params`.
  case callbackParams
  /// `callback_batch.body`.
  case callbackBody
  /// `file_piece.lines`.
  case file

  func context(_ app: AppID) -> SealingKeys.Context {
    switch self {
    case .pushContent: .init(app: app, purpose: "push content")
    case .pushLanguages: .init(app: app, purpose: "push languages")
    case .pushObject: .init(app: app, purpose: "push object")
    case .schedule: .init(app: app, purpose: "schedule")
    case .template: .init(app: app, purpose: "template")
    case .abTest: .init(app: app, purpose: "A/B test")
    case .abTestRun: .init(app: app, purpose: "run of an A/B test")
    case .canary: .init(app: app, purpose: "canary")
    case .task: .init(app: app, purpose: "stored message")
    case .callbackParams: .init(app: app, purpose: "callback parameters")
    case .callbackBody: .init(app: app, purpose: "callback body")
    case .file: .init(app: app, purpose: "file piece")
    }
  }

  /// A piece of an app group's file. It names the file and not the group, which may go before its files do.
  static func groupFile(_ file: Int64) -> SealingKeys.Context {
    .init(file: file, purpose: "group file piece")
  }
}

/// Where the secret keys are read. Called on threads of the store; it may block for as long as a small file
/// takes.
package struct SecretKeySource: Sendable {
  /// Reads the keys; those with the given IDs (16 hexadecimal digits) must be among them. Without any, a key
  /// may be made.
  let read: @Sendable (_ inUse: Set<String>) -> Result<SealingKeys, StorageError>

  /// Wraps a function that reads the keys, and makes one if there are none and none is in use. An error's
  /// kind is `.noSecretKey`.
  package init(read: @escaping @Sendable (_ inUse: Set<String>) -> Result<SealingKeys, StorageError>) {
    self.read = read
  }

  /// For programs that touch no contents.
  package static let none = SecretKeySource { _ in
    .failure(StorageError(.noSecretKey, "the location of the secret key is not configured"))
  }
}

/// Opens and seals contents, with the secret keys as they were last read.
final class ContentVault: Sendable {
  /// What stands before sealed bytes. None of the columns begins with it otherwise: text in UTF-8 never does,
  /// and the router's encoding begins with its version.
  static let mark: UInt8 = 0xff
  /// Bytes by which the mark, the form and the key are told: `mark`, a version, the key's ID.
  static let headSize = 10

  private let source: SecretKeySource
  private let known = Mutex<SealingKeys?>(nil)

  init(_ source: SecretKeySource) { self.source = source }

  /// The keys, read again unless those that were read last are good enough.
  func keys(
    inUse: Set<String>, if isGood: (SealingKeys) -> Bool = { _ in false }
  ) throws(StorageError) -> SealingKeys {
    if let keys = known.withLock({ $0 }), isGood(keys) { return keys }
    let keys = try source.read(inUse).get()
    known.withLock { $0 = keys }
    return keys
  }

  /// What goes into a column: a mark, then the sealed bytes.
  static func seal(_ bytes: [UInt8], for context: SealingKeys.Context, with keys: SealingKeys) -> [UInt8] {
    [mark] + keys.seal(bytes, for: context)
  }

  /// What a column holds, opened if it is sealed. Nothing if it was changed, or belongs elsewhere, which is
  /// then as unreadable as any damaged content. `.noSecretKey` if its key is not there.
  func open(_ stored: [UInt8], for context: SealingKeys.Context) throws(StorageError) -> [UInt8] {
    guard stored.first == Self.mark else { return stored }
    let sealed = Array(stored.dropFirst())
    guard let id = SealingKeys.ids(of: [sealed]).first else { return [] }
    // A key may have come into the file since it was read.
    let keys = try keys(inUse: [id]) { $0.ids.contains(id) }
    do throws(SealError) {
      return try keys.open(sealed, for: context)
    } catch {
      if case .otherKey = error { throw StorageError(.noSecretKey, error.description) }
      return []
    }
  }
}

extension Database {
  /// What goes into a column: sealed if the app asks for it. Nothing stays nothing.
  func stored(_ bytes: [UInt8], of app: AppID, _ column: ContentColumn) throws(StorageError) -> [UInt8] {
    guard !bytes.isEmpty, try sealingApps().contains(app) else { return bytes }
    return ContentVault.seal(bytes, for: column.context(app), with: try sealingKeys())
  }

  /// The same where there may be nothing.
  func stored(ifAny bytes: [UInt8]?, of app: AppID, _ column: ContentColumn) throws(StorageError) -> [UInt8]?
  {
    guard let bytes else { return nil }
    return try stored(bytes, of: app, column)
  }

  /// What goes into a piece of an app group's file: sealed if any app of the group asks for it.
  func storedPiece(_ bytes: [UInt8], ofGroupFile file: Int64) throws(StorageError) -> [UInt8] {
    guard !bytes.isEmpty, try !sealingApps().isEmpty else { return bytes }
    let asks = try first(
      """
      SELECT 1 FROM file JOIN app_group ON app_group.group_key = file.owner
        JOIN app_group_member ON app_group_member.group_id = app_group.id
        JOIN app ON app.id = app_group_member.app_id
      WHERE file.id = ? AND app.seals_contents = 1
      """, .integer(file)
    ) { _ in true }
    guard asks == true else { return bytes }
    return ContentVault.seal(bytes, for: ContentColumn.groupFile(file), with: try sealingKeys())
  }

  /// What a column holds, opened if it is sealed. Nothing if its key is not there and nothing counts on that
  /// key any more: such content is damaged, and must not stop those who read it among others. `.noSecretKey`
  /// for a key that contents need.
  func opened(_ stored: [UInt8], of app: AppID, _ column: ContentColumn) throws(StorageError) -> [UInt8] {
    try opened(stored, for: column.context(app))
  }

  /// The same where there may be nothing.
  func opened(
    ifAny stored: [UInt8]?, of app: AppID, _ column: ContentColumn
  ) throws(StorageError) -> [UInt8]? {
    guard let stored else { return nil }
    return try opened(stored, of: app, column)
  }

  /// The same for a context.
  func opened(_ stored: [UInt8], for context: SealingKeys.Context) throws(StorageError) -> [UInt8] {
    do throws(StorageError) {
      return try vault.open(stored, for: context)
    } catch {
      guard error.kind == .noSecretKey, let id = SealingKeys.ids(of: [Array(stored.dropFirst())]).first
      else { throw error }
      let isNeeded = try first(
        "SELECT 1 FROM content_sealing_key WHERE key_id = ?", .blob(Hex.decode(id) ?? [])
      ) { _ in true }
      guard isNeeded == nil else { throw error }
      return []
    }
  }

  /// The apps that ask for it, read once in a transaction of the writer.
  private func sealingApps() throws(StorageError) -> Set<AppID> {
    if let known = sealing.apps { return known }
    let sql: StaticString =
      "SELECT id FROM app {sqlite INDEXED BY app_seals_contents} WHERE seals_contents = 1"
    let apps = Set(try all(sql) { $0.app() })
    sealing.apps = apps
    return apps
  }

  /// The keys, whose first seals and is noted as one that contents need. The file is read again when another
  /// key is noted as the newest than the one that sealed so far, as it is when the contents are resealed.
  func sealingKeys(makes: Bool = false, readsAgain: Bool = false) throws(StorageError) -> SealingKeys {
    if !readsAgain, let known = sealing.keys { return known }
    let newest = try first("SELECT key_id FROM content_sealing_key ORDER BY number DESC LIMIT 1") {
      Hex.encode($0.blob())
    }
    var inUse: Set<String> = newest.map { [$0] } ?? []
    if makes { inUse = SealingKeys.ids(of: try Transaction<Writing>(self).credentials.allSealed()) }
    let keys = try vault.keys(inUse: inUse) { !readsAgain && $0.currentID == newest }
    if keys.currentID != newest { try note(keys, replaces: readsAgain) }
    sealing.keys = keys
    return keys
  }

  private func note(_ keys: SealingKeys, replaces: Bool) throws(StorageError) {
    let id = Hex.decode(keys.currentID) ?? []
    if replaces { try run("DELETE FROM content_sealing_key WHERE key_id = ?", .blob(id)) }
    let probe = keys.seal([], for: .init(app: AppID(0), purpose: "content probe"))
    try run(
      "INSERT INTO content_sealing_key (key_id, probe) VALUES (?, ?) ON CONFLICT (key_id) DO NOTHING",
      .blob(id), .blob(probe))
  }
}

/// What a transaction of the writer has read of sealing.
struct SealingMemory {
  var apps: Set<AppID>?
  var keys: SealingKeys?
}
