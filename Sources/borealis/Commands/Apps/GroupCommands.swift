import BorealisBase
import BorealisCrypto
import Model
import Storage

struct GroupCreateCommand: ServedCommand {
  static let name = "group create"
  static let summary = "Creates an app group and prints its key and master secret."
  static let details = """
    Creates a group of the apps in --app and prints, as JSON, its key and its master secret. The secret is shown only now.
    With the user name "group-KEY" and this secret, an app server pushes to all apps of the group in one call. Works while
    a server runs on the folder.
    """
  static let operands = ["NAME"]
  static let settings =
    DataFolder.settings + [
      SettingDefinition(
        name: "app", valueName: "KEY[,KEY...]", help: "The keys of the group's apps.", kind: .text)
    ]

  static func run(_ input: Input) throws(Failure) {
    let name = input.operands[0]
    guard AppRequest.isName(name) else {
      throw .usage("NAME has 1 to 100 bytes and no control characters")
    }
    var apps: [AppKey] = []
    for text in (input.settings.text("app") ?? "").split(separator: ",") {
      apps.append(try GroupChange.key(String(text), "--app"))
    }
    let key = AppKey.random()
    let secret = SecretKey24.generate()
    let hash = SHA256.digest(Array(secret.utf8))
    let unknown = try GroupChange.apply(input) { [apps] transaction throws(StorageError) -> AppKey? in
      for app in apps {
        guard try transaction.apps.find(key: app) != nil else { return app }
      }
      let group = try transaction.appGroups.create(
        key: key, name: name, secretHash: hash, at: SystemTime().now())
      for app in apps { _ = try transaction.appGroups.addApp(app, toGroup: group) }
      return nil
    }
    if let unknown { throw .failed("no app has the key \(unknown.text)") }
    Terminal.print([
      "group_key": .string(key.text), "group_master_secret": .string(secret), "name": .string(name),
      "apps": .array(apps.map { .string($0.text) }),
    ])
  }
}

struct GroupListCommand: ServedCommand {
  static let name = "group list"
  static let summary = "Lists the app groups."
  static let details = """
    Prints one line of JSON for each group, the oldest first. Works while a server runs on the folder.
    """
  static let operands: [String] = []
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let groups = try DataFolder(input).read(orFail: "cannot read the groups") {
      transaction throws(StorageError) in
      try transaction.appGroups.all()
    }
    for group in groups {
      Terminal.print([
        "group_key": .string(group.key.text), "name": .string(group.name),
        "created_at": .number(JSONNumber(group.createdAt.seconds)),
        "apps": .array(group.apps.map { .string($0.text) }),
      ])
    }
  }
}

struct GroupAddCommand: ServedCommand {
  static let name = "group add"
  static let summary = "Adds an app to an app group."
  static let details =
    "Puts the app with the key APP into the group with the key GROUP. A running server knows at once."
  static let operands = ["GROUP", "APP"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let app = try GroupChange.key(input.operands[1], "APP")
    let group = try GroupChange.apply(input) { transaction, group throws(StorageError) in
      try transaction.appGroups.addApp(app, toGroup: group)
    }
    guard let group else { throw .failed("no app has the key \(app.text)") }
    Terminal.print(["group_key": .string(group.text), "app_key": .string(app.text)])
  }
}

struct GroupRemoveCommand: ServedCommand {
  static let name = "group remove"
  static let summary = "Removes an app from an app group."
  static let details =
    "Takes the app with the key APP out of the group with the key GROUP. The app itself stays."
  static let operands = ["GROUP", "APP"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let app = try GroupChange.key(input.operands[1], "APP")
    let group = try GroupChange.apply(input) { transaction, group throws(StorageError) in
      try transaction.appGroups.removeApp(app, fromGroup: group)
    }
    guard let group else { throw .failed("the group has no app with the key \(app.text)") }
    Terminal.print(["group_key": .string(group.text), "app_key": .string(app.text)])
  }
}

struct GroupDeleteCommand: ServedCommand {
  static let name = "group delete"
  static let summary = "Deletes an app group."
  static let details =
    "Deletes the group with the key GROUP. Its apps stay, and so do the pushes that it sent."
  static let operands = ["GROUP"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let group = try GroupChange.apply(input) { transaction, group throws(StorageError) in
      try transaction.appGroups.delete(group, at: SystemTime().now())
      return true
    }
    guard let group else { return }
    Terminal.print(["group_key": .string(group.text), "deleted": .bool(true)])
  }
}

/// What the commands on groups have in common.
private enum GroupChange {
  private static let failure = "cannot change the groups"

  static func key(_ text: String, _ name: String) throws(Failure) -> AppKey {
    guard let key = AppKey(text) else { throw .usage("\(name) has 24 lower-case hexadecimal digits") }
    return key
  }

  static func apply<Value: Sendable>(
    _ input: Input, _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> Value
  ) throws(Failure) -> Value {
    try DataFolder(input).change(orFail: failure, body)
  }

  /// Changes the group that the first operand names; nil if the change says that there is nothing to change.
  static func apply(
    _ input: Input,
    toGroup body: @escaping @Sendable (WriteTransaction, Int64) throws(StorageError) -> Bool
  ) throws(Failure) -> AppKey? {
    let key = try key(input.operands[0], "GROUP")
    let isDone = try apply(input) { transaction throws(StorageError) -> Bool? in
      guard let group = try transaction.appGroups.find(key: key) else { return nil }
      return try body(transaction, group.id)
    }
    guard let isDone else { throw .failed("no group has the key \(key.text)") }
    return isDone ? key : nil
  }
}
