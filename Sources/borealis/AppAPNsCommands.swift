import PushBase
import PushCrypto
import PushJSON
import PushOps
import PushStorage

struct AppAPNsListCommand: Command {
  static let name = "app apns list"
  static let summary = "Lists an app's APNs credentials."
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
  static let summary = "Removes one of an app's APNs credentials."
  static let details = """
    Removes the APNs credential with the number ID of the app with the key KEY; a running server stops using it within
    some seconds. If it had replaced another one that is still there, that one is used again. Prints those that are left.
    """
  static let operands = ["KEY", "ID"]
  static let settings = [DataFolder.setting]

  static func run(_ input: Input) throws(Failure) {
    try AppAPNs.change(input) { transaction, app, id throws(StorageError) in
      try transaction.credentials.remove(app: app, id: id, at: SystemTime().now())
    }
  }
}

struct AppAPNsPauseCommand: Command {
  static let name = "app apns pause"
  static let summary = "Pauses an APNs credential."
  static let details = """
    Keeps the APNs credential with the number ID of the app with the key KEY from being used, until "borealis app apns
    resume"; a running server follows within some seconds. The server does the same by itself when Apple refuses a
    credential. Prints the app's credentials.
    """
  static let operands = ["KEY", "ID"]
  static let settings = [
    DataFolder.setting,
    SettingDefinition(
      name: "reason", valueName: "TEXT", help: "The reason that the list shows.", default: "by the operator",
      kind: .text),
  ]

  static func run(_ input: Input) throws(Failure) {
    let reason = input.settings.text("reason") ?? ""
    guard (1...500).contains(reason.utf8.count) else { throw .usage("--reason has 1 to 500 bytes") }
    try AppAPNs.change(input) { transaction, app, id throws(StorageError) in
      try transaction.credentials.pause(app: app, id: id, reason: reason, at: SystemTime().now())
    }
  }
}

struct AppAPNsResumeCommand: Command {
  static let name = "app apns resume"
  static let summary = "Resumes a paused APNs credential."
  static let details = """
    Ends the pause of the APNs credential with the number ID of the app with the key KEY, after what Apple complained of
    is put right; a running server follows within some seconds. Prints the app's credentials.
    """
  static let operands = ["KEY", "ID"]
  static let settings = [DataFolder.setting]

  static func run(_ input: Input) throws(Failure) {
    try AppAPNs.change(input) { transaction, app, id throws(StorageError) in
      try transaction.credentials.resume(app: app, id: id, at: SystemTime().now())
    }
  }
}

struct AppAPNsResealCommand: Command {
  static let name = "app apns reseal"
  static let summary = "Encrypts all secrets in the database again, with the current secret key."
  static let details = """
    Opens the APNs credentials and callback secrets of all apps, and the secrets of people's one-time passwords, with the
    keys in the secret key file and seals them with the first one, so that the others can be taken out of the file. Works
    beside a running server.

    The server does not start if a key is missing. If one is lost for good, --forget-lost with its ID, which the server
    names then, removes what that key had sealed, prints it, and does nothing else: credentials and callbacks have to be
    set up again, and people whose one-time passwords are removed log in without them.
    """
  static let operands: [String] = []
  static let settings = [
    DataFolder.setting, SecretKeyFile.setting,
    SettingDefinition(
      name: "forget-lost", valueName: "KEY-ID",
      help: "Removes the secrets that were encrypted with the key of this ID.",
      kind: .text
    ),
  ]

  static func run(_ input: Input) throws(Failure) {
    let folder = try DataFolder(input)
    let file = SecretKeyFile(input.settings, folder: folder)
    if let lost = input.settings.text("forget-lost") {
      return try forget(lost, folder, file, isNamed: input.settings.text(SecretKeyFile.setting.name) != nil)
    }
    let (count, keys) = try folder.withStore { store throws(Failure) in
      let keys = try file.readAll(for: store)
      // In one transaction: what a server changes meanwhile is neither lost nor left behind.
      let result = try store.writeNow(orFail: "cannot change the secrets") {
        transaction throws(StorageError) in
        try Resealing(keys: keys).run(in: transaction)
      }
      return (try result.get(), keys)
    }
    Console.print([
      "resealed": .number(JSONNumber(Int64(count))),
      "secret_key": .string(keys.currentID),
    ])
  }

  /// `isNamed` says that the operator gave the file. Without it a file that is missing may just be somewhere else.
  private static func forget(_ lost: String, _ folder: DataFolder, _ file: SecretKeyFile, isNamed: Bool)
    throws(Failure)
  {
    guard lost.count == 16, Hex.decode(lost) != nil else {
      throw .usage("--forget-lost needs the ID of the lost key: 16 hexadecimal digits")
    }
    let lost = lost.lowercased()
    guard file.exists || isNamed else {
      throw .failed(
        "the secret key file \(file.path) is missing: name it by --secret-key-file, or, if it was there and is lost, "
          + "give --secret-key-file \(file.path)")
    }
    guard try !(file.exists ? file.read().ids : []).contains(lost) else {
      throw .failed("the key \(lost) is not lost: it is in \(file.path); nothing was removed")
    }
    let removed = try folder.change(orFail: "cannot change the secrets") { transaction throws(StorageError) in
      try Resealing.forget(lost, in: transaction)
    }
    Console.print([
      "forgotten": .number(JSONNumber(Int64(removed.count))),
      "removed": .array(removed.map { .string($0) }),
    ])
  }
}
