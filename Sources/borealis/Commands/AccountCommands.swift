import BorealisBase
import BorealisCrypto
import Model
import Storage

struct AccountCreateCommand: ServedCommand {
  static let name = "account create"
  static let summary = "Creates a developer account and prints its key and secret."
  static let details = """
    Creates an account with the name NAME and prints, as JSON, its developer key and its secret, with which its owner
    creates and deletes apps over the admin API. The secret is shown only now: the database stores a digest of it.
    Accounts cannot see each other's apps.
    """
  static let operands = ["NAME"]
  static let settings =
    DataFolder.settings + [
      SettingDefinition(
        name: "plan", valueName: "NAME", help: "The plan of the account's new apps.",
        default: PlanRow.unlimited,
        kind: .text)
    ]

  static func run(_ input: Input) throws(Failure) {
    let name = input.operands[0]
    guard AppRequest.isName(name) else {
      throw .usage("NAME has 1 to 100 bytes and no control characters")
    }
    let plan = try input.required("plan")
    let key = AppKey.random()
    let secret = SecretKey24.generate()
    let hash = SHA256.digest(Array(secret.utf8))
    let isKnownPlan = try DataFolder(input).change(orFail: "cannot create the account") {
      transaction throws(StorageError) in
      guard try transaction.plans.contains(plan) else { return false }
      _ = try transaction.accounts.create(
        key: key, name: name, secretHash: hash, plan: plan, at: SystemTime().now())
      return true
    }
    guard isKnownPlan else { throw .failed("there is no plan \"\(plan)\"") }
    Terminal.print([
      "dev_key": .string(key.text), "dev_secret": .string(secret), "name": .string(name),
      "plan": .string(plan),
    ])
  }
}

struct AccountListCommand: ServedCommand {
  static let name = "account list"
  static let summary = "Lists the accounts."
  static let details = """
    Prints one line of JSON for each account, the oldest first. The account "default" has all apps that were created
    without --account. Works while a server runs on the folder.
    """
  static let operands: [String] = []
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let found = try DataFolder(input).read(orFail: "cannot read the accounts") {
      transaction throws(StorageError) in
      let apps = try transaction.apps.all(in: .all)
      return try transaction.accounts.all().map { account in
        (account: account, apps: apps.count { $0.account == account.id })
      }
    }
    for (account, apps) in found {
      Terminal.print([
        "dev_key": .string(account.key.text), "name": .string(account.name), "plan": .string(account.plan),
        "apps": .number(JSONNumber(Int64(apps))),
        "created_at": .number(JSONNumber(account.createdAt.seconds)),
        "disabled": .bool(account.isDisabled),
      ])
    }
  }
}

struct AccountRotateCommand: ServedCommand {
  static let name = "account rotate"
  static let summary = "Rotates an account's secret."
  static let details = """
    Replaces the secret of the account with the developer key DEVKEY and prints the new one as JSON; it is shown only now.
    The old one is refused immediately.
    """
  static let operands = ["DEVKEY"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let secret = SecretKey24.generate()
    let hash = SHA256.digest(Array(secret.utf8))
    let key = try AccountChange.apply(input) { transaction, account throws(StorageError) in
      try transaction.accounts.setSecret(account: account, hash: hash)
    }
    Terminal.print(["dev_key": .string(key), "dev_secret": .string(secret)])
  }
}

struct AccountDisableCommand: ServedCommand {
  static let name = "account disable"
  static let summary = "Disables an account and all its apps."
  static let details = """
    Disables the account with the developer key DEVKEY: its calls, and the calls and devices of its apps, are refused. All
    data is kept; "borealis account enable" enables the account again. A running server applies the change within seconds.
    """
  static let operands = ["DEVKEY"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) { try AccountChange.setDisabled(input, true) }
}

struct AccountEnableCommand: ServedCommand {
  static let name = "account enable"
  static let summary = "Enables an account."
  static let details = ""
  static let operands = ["DEVKEY"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) { try AccountChange.setDisabled(input, false) }
}

/// A change of one account, which the first operand names by its developer key.
enum AccountChange {
  /// The account of a developer key.
  static func find(_ text: String, _ transaction: ReadTransaction) throws(StorageError) -> AccountRow? {
    guard let key = AppKey(text) else { return nil }
    return try transaction.accounts.find(key: key)
  }

  static func apply(
    _ input: Input,
    _ change: @escaping @Sendable (WriteTransaction, AccountID) throws(StorageError) -> Bool
  ) throws(Failure) -> String {
    let text = input.operands[0]
    let isKnown = try DataFolder(input).change(orFail: "cannot change the account") {
      transaction throws(StorageError) in
      guard let account = try find(text, transaction.reading) else { return false }
      return try change(transaction, account.id)
    }
    guard isKnown else { throw .failed("no account has the developer key \(text)") }
    return text
  }

  static func setDisabled(_ input: Input, _ isDisabled: Bool) throws(Failure) {
    let key = try apply(input) { transaction, account throws(StorageError) in
      try transaction.accounts.setDisabled(account: account, isDisabled)
    }
    Terminal.print(["dev_key": .string(key), "disabled": .bool(isDisabled)])
  }
}
