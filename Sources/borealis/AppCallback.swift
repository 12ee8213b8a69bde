import PushBase
import PushCallbacks
import PushCrypto
import PushDomain
import PushJSON
import PushStorage

/// What the commands `app callback` have in common.
enum AppCallback {
  /// Changes what an app has set up and prints it, with the secret if one was made.
  static func change(
    _ input: Input, _ body: (CallbackSettingRow?, AppID, Sealer) throws(Failure) -> CallbackSettingRow
  ) throws(Failure) {
    let file = SecretKeyFile(input.settings, folder: try DataFolder(input))
    try AppAPNs.withApp(input) { store, app throws(Failure) in
      let (known, sealed) = try AppAPNs.read(store) { transaction throws(StorageError) in
        (try transaction.callbackSetting(app: app.id), try transaction.sealedCount())
      }
      let sealer = Sealer(app: app.id, keys: try file.readOrMake(sealed: sealed))
      var row = try body(known, app.id, sealer)
      row.changedAt = SystemTime().now()
      let changed = row
      try AppAPNs.write(store) { transaction throws(StorageError) in try transaction.setCallback(changed) }
      Console.print(document(changed, secret: sealer.made))
    }
  }

  /// Makes secrets for one app and remembers the last one, which is shown once.
  final class Sealer {
    let app: AppID
    let keys: SealingKeys
    private(set) var made: String?

    init(app: AppID, keys: SealingKeys) {
      self.app = app
      self.keys = keys
    }

    /// A new secret, sealed.
    func make() -> [UInt8] {
      let secret = CallbackSecret.generate()
      made = secret
      return CallbackSecret.seal(secret, app: app, with: keys)
    }
  }

  /// The settings of all apps with their secrets sealed by the current key.
  static func reseal(_ store: Store, with keys: SealingKeys) throws(Failure) -> [CallbackSettingRow] {
    var rows = try AppAPNs.read(store) { transaction throws(StorageError) in
      try transaction.callbackSettings()
    }
    for index in rows.indices {
      do throws(SealError) {
        let app = rows[index].app
        rows[index].secret = try CallbackSecret.reseal(rows[index].secret, app: app, with: keys)
        if let old = rows[index].old {
          rows[index].old = (try CallbackSecret.reseal(old.secret, app: app, with: keys), old.until)
        }
      } catch {
        throw .failed(
          "the callback secret of the app number \(rows[index].app.rawValue): \(error); nothing was changed")
      }
    }
    return rows
  }

  /// All that may be shown of a setting; the secret only when it was made just now.
  static func document(_ row: CallbackSettingRow, secret: String? = nil) -> JSONValue {
    var document = JSONObject()
    document.set("url", row.url.map { .string($0) } ?? .null)
    let names = CallbackTypes.names.filter { row.types.contains($0.type) }
    document.set("types", .array(names.map { .string($0.name) }))
    if let secret { document.set("secret", .string(secret)) }
    if let old = row.old, SystemTime().now() < old.until {
      document.set("old_secret_until", .number(JSONNumber(old.until.seconds)))
    }
    document.set("changed_at", .number(JSONNumber(row.changedAt.seconds)))
    return .object(document)
  }
}
