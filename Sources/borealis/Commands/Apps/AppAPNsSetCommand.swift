import BorealisBase
import BorealisCrypto
import Channels
import Storage

struct AppAPNsSetCommand: ServedCommand {
  static let name = "app apns set"
  static let summary = "Adds an APNs credential to an app."
  static let details = """
    Validates a key for provider tokens (--p8) or a certificate (--p12, or --certificate and --key) for the app with the
    key KEY, and stores it encrypted. It replaces the app's credential for the same environment, which is kept for 30 days
    in case the new one is paused or removed. A running server applies the change within seconds.

      borealis app apns set KEY --p8 AuthKey_ABC123DEFG.p8 --team-id TEAM123456 --topic com.example.app
      borealis app apns set KEY --p12 push.p12 --password-file FILE

    Without --password-file, the password of a .p12, if it has one, is read from standard input. Keys that Apple issued
    before 2025 are for both environments; newer ones are for one. A certificate contains its environment.
    """
  static let operands = ["KEY"]
  static let settings =
    DataFolder.settings + [
      SettingDefinition(
        name: "p8", valueName: "FILE", help: "The key (.p8) for provider tokens, as Apple issued it.",
        kind: .text),
      SettingDefinition(
        name: "key-id", valueName: "ID", help: "The key ID; optional if the file name contains it.",
        kind: .text),
      SettingDefinition(
        name: "team-id", valueName: "ID", help: "The ID of the team that the key belongs to.", kind: .text),
      SettingDefinition(
        name: "p12", valueName: "FILE", help: "A certificate with its key, as Keychain exports it.",
        kind: .text
      ),
      SettingDefinition(
        name: "password", valueName: "TEXT", help: "The password of the .p12.", kind: .secret),
      SettingDefinition(name: "certificate", valueName: "FILE", help: "A certificate, PEM.", kind: .text),
      SettingDefinition(
        name: "key", valueName: "FILE", help: "Its private key, PEM, not encrypted.", kind: .text),
      SettingDefinition(
        name: "topic", valueName: "BUNDLE-ID",
        help: "The app's bundle ID; for a certificate, the default is its own.",
        kind: .text),
      SettingDefinition(
        name: "environment", valueName: "NAME",
        help:
          "production, sandbox or both; production for a key and all that a certificate allows if not given.",
        kind: .choice(["production", "sandbox", "both"])),
      SecretKeyFile.setting,
    ]

  static func run(_ input: Input) throws(Failure) {
    guard AppKey(input.operands[0]) != nil else { throw .usage("KEY has 24 lower-case hexadecimal digits") }
    let upload = try CredentialFiles(input.settings).upload()
    let keyFile = SecretKeyFile(input.settings, folder: try DataFolder(input))
    try DataFolder(input).withApp(input.operands[0]) { store, app throws(Failure) in
      let keys = try keyFile.readOrMake(for: store)
      let rows = upload.rows(for: app.id, sealedWith: keys)
      let refusal = try AppAPNs.write(store) { transaction throws(StorageError) -> CredentialError? in
        let existing = try transaction.credentials.all(app: app.id)
        do throws(CredentialError) {
          try upload.check(against: existing)
        } catch {
          return error
        }
        for row in rows { _ = try transaction.credentials.add(app: app.id, row, at: SystemTime().now()) }
        return nil
      }
      if let refusal { throw .failed("\(refusal)") }
      try AppAPNs.printList(store, app)
    }
  }
}
