import BorealisBase
import BorealisCrypto
import Storage

struct AppSecretCommand: ServedCommand {
  static let name = "app secret"
  static let summary = "Replaces an app's master secret."
  static let details = """
    Replaces the master secret of the app with the key KEY and prints the new one as JSON; it is shown only now. The old
    one is refused from then on. A running server applies the change within seconds.
    """
  static let operands = ["KEY"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let secret = SecretKey24.generate()
    let hash = SHA256.digest(Array(secret.utf8))
    let key = try AppChange.apply(input) { transaction, app throws(StorageError) in
      try transaction.apps.setSecret(app: app, hash: hash)
    }
    Terminal.print(["app_key": .string(key.text), "master_secret": .string(secret)])
  }
}

struct AppDisableCommand: ServedCommand {
  static let name = "app disable"
  static let summary = "Disables an app."
  static let details = """
    Refuses the calls and the devices of the app with the key KEY. All data is kept; "borealis app enable" enables the app
    again. A running server applies the change within seconds.
    """
  static let operands = ["KEY"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) { try AppChange.setDisabled(input, true) }
}

struct AppEnableCommand: ServedCommand {
  static let name = "app enable"
  static let summary = "Enables a disabled app."
  static let details = ""
  static let operands = ["KEY"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) { try AppChange.setDisabled(input, false) }
}

/// A change of one app, which the first operand names by its key.
enum AppChange {
  static func apply(
    _ input: Input, keys: SecretKeyFile? = nil,
    _ change: @escaping @Sendable (WriteTransaction, AppID) throws(StorageError) -> Bool
  ) throws(Failure) -> AppKey {
    guard let key = AppKey(hex: Array(input.operands[0].utf8)) else {
      throw .usage("KEY has 24 lower-case hexadecimal digits")
    }
    let isKnown = try DataFolder(input).change(keys: keys, orFail: "cannot change the app") {
      transaction throws(StorageError) in
      guard let app = try transaction.apps.find(key: key) else { return false }
      return try change(transaction, app.id)
    }
    guard isKnown else { throw .failed("no app has the key \(key.text)") }
    return key
  }

  static func setDisabled(_ input: Input, _ isDisabled: Bool) throws(Failure) {
    let key = try apply(input) { transaction, app throws(StorageError) in
      try transaction.apps.setDisabled(app: app, isDisabled)
    }
    Terminal.print(["app_key": .string(key.text), "disabled": .bool(isDisabled)])
  }
}
