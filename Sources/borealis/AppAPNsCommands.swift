import PushBase
import PushCrypto
import PushJSON
import PushOps
import PushStorage

struct AppAPNsListCommand: Command {
  static let name = "app apns list"
  static let summary = "Lists an app's credentials for Apple."
  static let details = """
    Prints one line of JSON for each APNs credential of the app with the key KEY, the oldest first: what it is, for which
    bundle ID and environment, how it stands, and how many days a certificate has left. Secrets are never shown.
    """
  static let operands = ["KEY"]
  static let settings = [DataFolder.setting]

  static func run(_ input: Input) throws(Failure) {
    try AppAPNs.withApp(input) { store, app throws(Failure) in try AppAPNs.printList(store, app) }
  }
}

struct AppAPNsRemoveCommand: Command {
  static let name = "app apns remove"
  static let summary = "Removes one of an app's credentials for Apple."
  static let details = """
    Removes the APNs credential with the number ID of the app with the key KEY; a running server stops using it within
    some seconds. If it had replaced another one that is still there, that one is used again. Prints those that are left.
    """
  static let operands = ["KEY", "ID"]
  static let settings = [DataFolder.setting]

  static func run(_ input: Input) throws(Failure) {
    try AppAPNs.change(input) { transaction, app, id throws(StorageError) in
      try transaction.removeAPNsCredential(app: app, id: id, at: SystemTime().now())
    }
  }
}

struct AppAPNsPauseCommand: Command {
  static let name = "app apns pause"
  static let summary = "Stops the use of a credential for Apple."
  static let details = """
    Keeps the APNs credential with the number ID of the app with the key KEY from being used, until "borealis app apns
    resume"; a running server follows within some seconds. The server does the same by itself when Apple refuses a
    credential. Prints the app's credentials.
    """
  static let operands = ["KEY", "ID"]
  static let settings = [
    DataFolder.setting,
    SettingDefinition(
      name: "reason", valueName: "TEXT", help: "What the list tells of it.", default: "by the operator",
      kind: .text),
  ]

  static func run(_ input: Input) throws(Failure) {
    let reason = input.settings.text("reason") ?? ""
    guard (1...500).contains(reason.utf8.count) else { throw .usage("--reason has 1 to 500 bytes") }
    try AppAPNs.change(input) { transaction, app, id throws(StorageError) in
      try transaction.pauseAPNsCredential(app: app, id: id, reason: reason, at: SystemTime().now())
    }
  }
}

struct AppAPNsResumeCommand: Command {
  static let name = "app apns resume"
  static let summary = "Lets a paused credential for Apple be used again."
  static let details = """
    Ends the pause of the APNs credential with the number ID of the app with the key KEY, after what Apple complained of
    is put right; a running server follows within some seconds. Prints the app's credentials.
    """
  static let operands = ["KEY", "ID"]
  static let settings = [DataFolder.setting]

  static func run(_ input: Input) throws(Failure) {
    try AppAPNs.change(input) { transaction, app, id throws(StorageError) in
      try transaction.resumeAPNsCredential(app: app, id: id, at: SystemTime().now())
    }
  }
}

struct AppAPNsResealCommand: Command {
  static let name = "app apns reseal"
  static let summary = "Seals all secrets in the database with the current secret key."
  static let details = """
    Opens the APNs credentials and callback secrets of all apps, and the secrets of people's one-time passwords, with the
    keys in the secret key file and seals them with the first one, so that the others can be taken out of the file. Works
    beside a running server.
    """
  static let operands: [String] = []
  static let settings = [DataFolder.setting, SecretKeyFile.setting]

  static func run(_ input: Input) throws(Failure) {
    let folder = try DataFolder(input)
    let keys = try SecretKeyFile(input.settings, folder: folder).read()
    // In one transaction: what a server changes meanwhile is neither lost nor left behind.
    let result = try folder.change(orFail: "cannot change the secrets") { transaction throws(StorageError) in
      try Resealing(keys: keys).run(in: transaction)
    }
    let count = try result.get()
    Console.print([
      "resealed": .number(JSONNumber(Int64(count))),
      "secret_key": .string(keys.currentID),
    ])
  }
}
