import BorealisBase
import BorealisCrypto
import Storage

struct AppAPNsListCommand: ServedCommand {
  static let name = "app apns list"
  static let summary = "Lists an app's APNs credentials."
  static let details = """
    Prints one line of JSON for each APNs credential of the app with the key KEY, the oldest first: its kind, bundle ID,
    environment and status, and the days until a certificate expires. Secrets are never shown.
    """
  static let operands = ["KEY"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    try DataFolder(input).withApp(input.operands[0]) { store, app throws(Failure) in
      try AppAPNs.printList(store, app)
    }
  }
}

struct AppAPNsRemoveCommand: ServedCommand {
  static let name = "app apns remove"
  static let summary = "Removes one of an app's APNs credentials."
  static let details = """
    Removes the APNs credential with the number ID of the app with the key KEY; a running server stops using it within
    seconds. If it had replaced another one that still exists, that one is used again. Prints the remaining credentials.
    """
  static let operands = ["KEY", "ID"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    try AppAPNs.change(input) { transaction, app, id throws(StorageError) in
      try transaction.credentials.remove(app: app, id: id, at: SystemTime().now())
    }
  }
}

struct AppAPNsPauseCommand: ServedCommand {
  static let name = "app apns pause"
  static let summary = "Pauses an APNs credential."
  static let details = """
    Stops the use of the APNs credential with the number ID of the app with the key KEY, until "borealis app apns resume";
    a running server applies the change within seconds. The server pauses a credential itself when APNs rejects it. Prints
    the app's credentials.
    """
  static let operands = ["KEY", "ID"]
  static let settings =
    DataFolder.settings + [
      SettingDefinition(
        name: "reason", valueName: "TEXT", help: "The reason that the list shows.",
        default: "by the operator",
        kind: .text)
    ]

  static func run(_ input: Input) throws(Failure) {
    let reason = input.settings.text("reason") ?? ""
    guard (1...500).contains(reason.utf8.count) else { throw .usage("--reason has 1 to 500 bytes") }
    try AppAPNs.change(input) { transaction, app, id throws(StorageError) in
      try transaction.credentials.pause(app: app, id: id, reason: reason, at: SystemTime().now())
    }
  }
}

struct AppAPNsResumeCommand: ServedCommand {
  static let name = "app apns resume"
  static let summary = "Resumes a paused APNs credential."
  static let details = """
    Ends the pause of the APNs credential with the number ID of the app with the key KEY, after the problem is solved; a
    running server applies the change within seconds. Prints the app's credentials.
    """
  static let operands = ["KEY", "ID"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    try AppAPNs.change(input) { transaction, app, id throws(StorageError) in
      try transaction.credentials.resume(app: app, id: id, at: SystemTime().now())
    }
  }
}
