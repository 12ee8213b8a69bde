import BorealisBase
import BorealisCrypto
import Storage

struct AppGetuiSetCommand: ServedCommand {
  static let name = "app getui set"
  static let summary = "Enables Getui's API for an app."
  static let details = """
    Creates a master secret for Getui's API for the app with the key KEY and prints, as JSON, the settings for an app
    server written for Getui; the secret is shown only now. A previous secret and its tokens are refused from then on. A
    running server applies the change within seconds.
    """
  static let operands = ["KEY"]
  static let settings = DataFolder.settings + [SecretKeyFile.setting]

  static func run(_ input: Input) throws(Failure) {
    let file = SecretKeyFile(input.settings, folder: try DataFolder(input))
    try DataFolder(input).withApp(input.operands[0]) { store, app throws(Failure) in
      let secret = GetuiSecret.generate()
      let row = GetuiAccessRow(
        app: app.id, secret: GetuiSecret.seal(secret, app: app.id, with: try file.readOrMake(for: store)),
        changedAt: SystemTime().now())
      try store.writeNow(orFail: "cannot change the access") { transaction throws(StorageError) in
        try transaction.getui.setAccess(row)
      }
      Terminal.print([
        "app_id": .string(app.key.text), "app_key": .string(app.key.text), "master_secret": .string(secret),
      ])
    }
  }
}

struct AppGetuiRemoveCommand: ServedCommand {
  static let name = "app getui remove"
  static let summary = "Disables Getui's API for an app."
  static let details = """
    Removes the master secret for Getui's API of the app with the key KEY. It and its tokens are refused from then on. A
    running server applies the change within seconds.
    """
  static let operands = ["KEY"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    try DataFolder(input).withApp(input.operands[0]) { store, app throws(Failure) in
      let isRemoved = try store.writeNow(orFail: "cannot change the access") {
        transaction throws(StorageError) in
        try transaction.getui.removeAccess(app: app.id)
      }
      guard isRemoved else { throw .failed("the app has no access to Getui's API") }
    }
  }
}
