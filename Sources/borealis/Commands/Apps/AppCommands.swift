import BorealisBase
import BorealisCrypto
import Model
import Storage

struct AppCreateCommand: ServedCommand {
  static let name = "app create"
  static let summary = "Creates an app and prints its key and master secret."
  static let details = """
    Creates an app and prints, as JSON, its key and its master secret. The secret is shown only now: the database stores a
    digest of it. Works while a server runs on the folder; the server knows the app at once. The app belongs to the
    account with the developer key --account, and has the account's plan, or --plan.
    """
  static let operands = ["NAME"]
  static let settings =
    DataFolder.settings + [
      SettingDefinition(
        name: "account", valueName: "DEVKEY",
        help: "The account that owns the app; the default is \"default\".",
        kind: .text),
      SettingDefinition(
        name: "plan", valueName: "NAME", help: "The app's plan; the default is the account's plan.",
        kind: .text),
    ]

  static func run(_ input: Input) throws(Failure) {
    let name = input.operands[0]
    guard AppRequest.isName(name) else {
      throw .usage("NAME has 1 to 100 bytes and no control characters")
    }
    let account = input.settings.text("account")
    let plan = input.settings.text("plan")
    let secret = SecretKey24.generate()
    let new = NewApp(
      key: .random(), name: name, secretHash: SHA256.digest(Array(secret.utf8)), plan: plan)
    let fault = try DataFolder(input).change(orFail: "cannot create the app") {
      transaction throws(StorageError) -> String? in
      var new = new
      if let account {
        guard let row = try AccountChange.find(account, transaction.reading) else {
          return "no account has the developer key \(account)"
        }
        new.account = row.id
      }
      if let plan, try !transaction.plans.contains(plan) {
        return "there is no plan \"\(plan)\""
      }
      _ = try transaction.apps.create(new, at: SystemTime().now())
      return nil
    }
    if let fault { throw .failed(fault) }
    Terminal.print([
      "app_key": .string(new.key.text), "master_secret": .string(secret), "name": .string(name),
    ])
  }
}

struct AppListCommand: ServedCommand {
  static let name = "app list"
  static let summary = "Lists the apps."
  static let details = """
    Prints one line of JSON for each app, the oldest first. Works while a server runs on the folder.
    """
  static let operands: [String] = []
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let (apps, accounts, sealed) = try DataFolder(input).read(orFail: "cannot read the apps") {
      transaction throws(StorageError) in
      (
        try transaction.apps.all(in: .all), try transaction.accounts.all(),
        Set(try transaction.sealing.apps())
      )
    }
    for app in apps {
      let account = accounts.first { $0.id == app.account }
      var line: [(String, JSONValue)] = [
        ("app_key", .string(app.key.text)), ("name", .string(app.name)),
        ("created_at", .number(JSONNumber(app.createdAt.seconds))), ("disabled", .bool(app.isDisabled)),
        ("account", account.map { .string($0.key.text) } ?? .null), ("plan", .string(app.plan.name)),
      ]
      if let package = app.androidPackage { line.append(("android_package", .string(package))) }
      if let networks = app.allowedNetworks {
        line.append(("allowed", .array(networks.split(separator: " ").map { .string(String($0)) })))
      }
      if app.importsFrom.milliseconds > 0 {
        line.append(("imported", .string(AppImportedCommand.text(app.importsFrom))))
      }
      if sealed.contains(app.id) { line.append(("seal_contents", .bool(true))) }
      if app.oldSecretHash != nil { line.append(("old_secret", .bool(true))) }
      var object = JSONObject()
      for (name, value) in line { object.set(name, value) }
      Terminal.print(.object(object))
    }
  }
}
