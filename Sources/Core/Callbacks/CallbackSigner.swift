import BorealisBase
import BorealisCrypto
import Storage

/// Makes the header fields by which an app server verifies the sender.
struct CallbackSigner {
  private let keys: CallbackKeys
  /// Read once for all batches that are sent together.
  private var opened: Result<SealingKeys, CallbackKeys.Failure>?

  init(_ keys: CallbackKeys) { self.keys = keys }

  /// The keys, read once.
  mutating func sealingKeys() throws(CallbackKeys.Failure) -> SealingKeys {
    let known = opened ?? keys.read()
    opened = known
    return try known.get()
  }

  /// The fields for a body. Without a secret, as for a push with its own URL of an app without callbacks,
  /// there is no signature.
  mutating func fields(
    for body: [UInt8], of setting: CallbackSettingRow?, delivery: String, attempt: Int, at now: Timestamp
  ) throws(CallbackKeys.Failure) -> [String] {
    var fields = [
      "X-Borealis-Timestamp: \(now.seconds)", "X-Borealis-Delivery: \(delivery)",
      "X-Borealis-Attempt: \(attempt)",
    ]
    guard let setting else { return fields }
    var sealed = [setting.secret]
    if let old = setting.old, now < old.until { sealed.append(old.secret) }
    let keys = try sealingKeys()
    var secrets: [[UInt8]] = []
    do throws(SealError) {
      for secret in sealed { secrets.append(try CallbackSecret.open(secret, app: setting.app, with: keys)) }
    } catch {
      throw CallbackKeys.Failure("the secret cannot be opened: \(error)")
    }
    fields.append("X-Borealis-Signature: \(CallbackSecret.signature(body, at: now.seconds, with: secrets))")
    return fields
  }
}
