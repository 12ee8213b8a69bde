import BorealisBase
import BorealisCrypto
import Storage
import Synchronization

struct AppRotateCommand: ServedCommand {
  static let name = "app rotate"
  static let summary = "Adds a second master secret to an app."
  static let details = """
    Adds a second master secret to the app with the key KEY and prints it as JSON; it is shown only now. The previous one
    is still accepted until "borealis app retire KEY", so that you can give the new one to all servers. The command fails
    while there are two; with --again it replaces a new secret that was lost.
    """
  static let operands = ["KEY"]
  static let settings =
    DataFolder.settings + [
      SettingDefinition(
        name: "again", valueName: "",
        help: "Replaces and revokes the newest secret; the previous one stays valid.", kind: .flag)
    ]

  static func run(_ input: Input) throws(Failure) {
    let secret = SecretKey24.generate()
    let hash = SHA256.digest(Array(secret.utf8))
    let isAgain = input.settings.flag("again")
    let key = try SecretChange.apply(
      input, name, "app.rotate",
      refusal: isAgain
        ? "the app has no secret from before: leave out --again"
        : "an old secret is still accepted: retire it first, or give --again if the new one was lost"
    ) { transaction, app throws(StorageError) in
      try transaction.apps.rotateSecret(app: app, hash: hash, isAgain ? .again : .begin)
    }
    Terminal.print(["app_key": .string(key.text), "master_secret": .string(secret)])
  }
}

struct AppRetireCommand: ServedCommand {
  static let name = "app retire"
  static let summary = "Revokes the master secret from before \"app rotate\"."
  static let details = ""
  static let operands = ["KEY"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let key = try SecretChange.apply(input, name, "app.retire", refusal: "the app has no secret from before")
    {
      transaction, app throws(StorageError) in
      try transaction.apps.retireSecret(app: app)
    }
    Terminal.print(["app_key": .string(key.text)])
  }
}

/// A change of an app's secrets, which the console shows among what was done.
private enum SecretChange {
  /// `refusal` says why nothing was changed when `change` returns false.
  static func apply(
    _ input: Input, _ command: String, _ action: String, refusal: String,
    _ change: @escaping @Sendable (WriteTransaction, AppID) throws(StorageError) -> Bool
  ) throws(Failure) -> AppKey {
    let isDone = Mutex(true)
    let key = try AppChange.apply(input) { transaction, id throws(StorageError) in
      guard try change(transaction, id) else {
        isDone.withLock { $0 = false }
        return true
      }
      let app = try transaction.apps.all(in: .all).first { $0.id == id }
      try transaction.audit.add(
        AuditRow(
          at: SystemTime().now(), account: app?.account, app: id, person: nil, who: "borealis \(command)",
          action: action, target: app?.name ?? "", address: ""))
      return true
    }
    guard isDone.withLock({ $0 }) else { throw .failed(refusal) }
    return key
  }
}

struct AppDeleteCommand: ServedCommand {
  static let name = "app delete"
  static let summary = "Deletes an app and all its data."
  static let details = """
    Deletes the app with the key KEY: its calls and devices are refused within seconds, and the server deletes its
    registrations and pushes in small steps. Only a backup can restore it.
    """
  static let operands = ["KEY"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let now = SystemTime().now()
    let key = try AppChange.apply(input) { transaction, app throws(StorageError) in
      try transaction.apps.delete(app, at: now)
    }
    Terminal.print(["app_key": .string(key.text), "deleted": .bool(true)])
  }
}

struct AppPlanCommand: ServedCommand {
  static let name = "app plan"
  static let summary = "Puts an app on a plan."
  static let details = """
    Gives the app with the key KEY the limits of the plan NAME; "borealis plan list" shows the plans. A running server
    applies the change within seconds.
    """
  static let operands = ["KEY", "NAME"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let plan = input.operands[1]
    let found = Mutex(true)
    let key = try AppChange.apply(input) { transaction, app throws(StorageError) in
      guard try transaction.plans.contains(plan) else {
        found.withLock { $0 = false }
        return true
      }
      return try transaction.apps.setPlan(app: app, plan)
    }
    guard found.withLock({ $0 }) else { throw .failed("there is no plan \"\(plan)\"") }
    Terminal.print(["app_key": .string(key.text), "plan": .string(plan)])
  }
}

struct AppAllowCommand: ServedCommand {
  static let name = "app allow"
  static let summary = "Sets the networks that an app accepts API calls from."
  static let details = """
    Calls of the app with the key KEY are accepted only from the networks in LIST, such as
    "192.0.2.0/24,2001:db8::/32"; "any" allows all. Other calls get status 403 with code 2004. Behind a proxy, see
    --trusted-proxies of "borealis serve". A running server applies the change within seconds.
    """
  static let operands = ["KEY", "LIST"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    let list = input.operands[1]
    var networks: [String] = []
    if list != "any" {
      for text in list.split(separator: ",", omittingEmptySubsequences: false) {
        guard let network = IPNetwork(text) else {
          throw .usage(
            "\"\(text)\" is not a network; expected an address range such as 192.0.2.0/24 or 2001:db8::/32")
        }
        networks.append(network.text)
      }
    }
    guard networks.count <= 100 else { throw .usage("LIST has at most 100 networks") }
    let stored = networks.isEmpty ? nil : networks.joined(separator: " ")
    let key = try AppChange.apply(input) { transaction, app throws(StorageError) in
      try transaction.apps.setAllowedNetworks(app: app, stored)
    }
    Terminal.print([
      "app_key": .string(key.text),
      "allowed": stored == nil ? "any" : .array(networks.map { .string($0) }),
    ])
  }
}
