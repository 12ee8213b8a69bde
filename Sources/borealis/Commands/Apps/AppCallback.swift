import BorealisBase
import BorealisCrypto
import Core
import Model
import Storage

/// What the commands `app callback` have in common.
enum AppCallback {
  /// A row to be stored, with the secret in it if that was made just now: it is shown once.
  typealias Change = (row: CallbackSettingRow, secret: String?)

  /// Changes what an app has set up and prints it. Read and changed in one transaction: a server, or another
  /// command, may do the same.
  static func change(
    _ input: Input, needsGetui: Bool = false,
    _ body: @escaping @Sendable (CallbackSettingRow?, Sealer) throws(Failure) -> Change
  ) throws(Failure) {
    let file = SecretKeyFile(input.settings, folder: try DataFolder(input))
    try DataFolder(input).withApp(input.operands[0]) { store, app throws(Failure) in
      let keys = try file.readOrMake(for: store)
      let sealer = Sealer(app: app.id, keys: keys, now: SystemTime().now())
      let result = try store.writeNow(orFail: "cannot change the callbacks") {
        transaction throws(StorageError) -> Result<Change, Failure> in
        if needsGetui, try transaction.getui.access(app: sealer.app) == nil {
          return .failure(.failed("--format: the app has no master secret for Getui's API"))
        }
        var change: Change
        let known = try transaction.callbacks.setting(app: sealer.app)
        do throws(Failure) { change = try body(known, sealer) } catch { return .failure(error) }
        change.row.changedAt = sealer.now
        try transaction.callbacks.set(change.row)
        return .success(change)
      }
      let changed = try result.get()
      Terminal.print(document(changed.row, secret: changed.secret))
    }
  }

  /// Makes secrets of one app at one moment.
  struct Sealer: Sendable {
    let app: AppID
    let keys: SealingKeys
    let now: Timestamp

    /// A new secret, plain and sealed.
    func make() -> (plain: String, sealed: [UInt8]) {
      let secret = CallbackSecret.generate()
      return (secret, CallbackSecret.seal(secret, app: app, with: keys))
    }
  }

  /// All that may be shown of a setting; the secret only when it was made just now.
  static func document(_ row: CallbackSettingRow, secret: String? = nil) -> JSONValue {
    var document = JSONObject()
    document.set("url", row.url.map { .string($0) } ?? .null)
    let names = CallbackTypes.names.filter { row.types.contains($0.type) }
    document.set("types", .array(names.map { .string($0.name) }))
    document.set("format", .string(row.format.name))
    if let secret { document.set("secret", .string(secret)) }
    if let old = row.old, SystemTime().now() < old.until {
      document.set("old_secret_until", .number(JSONNumber(old.until.seconds)))
    }
    document.set("changed_at", .number(JSONNumber(row.changedAt.seconds)))
    return .object(document)
  }
}
