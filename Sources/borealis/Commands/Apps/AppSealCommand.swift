import BorealisBase
import Storage

struct AppSealCommand: ServedCommand {
  static let name = "app seal"
  static let summary = "Turns the sealing of an app's stored contents on or off."
  static let details = """
    With "on", what pushes, schedules, stored messages, uploaded files and callbacks of the app with the key KEY say is sealed
    with the secret key (AES-256-GCM) before it is stored, so that neither the database nor a backup shows it; with "off" it is
    stored as it is. Either holds for what is stored from now on, by a running server too: what is stored already stays as it is
    until it is deleted after its time. The first "on" makes the secret key file unless there is one; keep a copy of it, since
    a server does not start without it. Give the same --secret-key-file as to the server: "on" is refused if the running server
    lacks the key.
    """
  static let operands = ["KEY", "on|off"]
  static let settings = DataFolder.settings + [SecretKeyFile.setting]

  static func run(_ input: Input) throws(Failure) {
    guard ["on", "off"].contains(input.operands[1]) else { throw .usage("give \"on\" or \"off\"") }
    let isOn = input.operands[1] == "on"
    let folder = try DataFolder(input)
    let file = SecretKeyFile(input.settings, folder: folder)
    if isOn { try file.expectServed(by: folder) }
    let key = try AppChange.apply(input, keys: file) { transaction, id throws(StorageError) in
      guard try transaction.sealing.set(app: id, isOn, at: SystemTime().now()) else { return false }
      let app = try transaction.apps.find(id)
      try transaction.audit.add(
        AuditRow(
          at: SystemTime().now(), account: app?.account, app: id, person: nil, who: "borealis \(name)",
          action: isOn ? "app.seal" : "app.unseal", target: app?.name ?? "", address: ""))
      return true
    }
    Terminal.print([
      "app_key": .string(key.text), "seal_contents": .bool(isOn), "applies_to": "what is stored from now on",
    ])
  }
}
