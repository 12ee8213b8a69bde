import BorealisBase
import Channels
import Core
import Model
import Storage

/// What the commands `app channel` have in common.
enum AppChannel {
  /// Changes the credential of the app that the operands name, and prints what the app then has.
  fileprivate static func change(
    _ input: Input,
    _ body: @escaping @Sendable (CredentialRepository<Writing>, CredentialRow) throws(StorageError) -> Bool
  ) throws(Failure) {
    let name = input.operands[1]
    let channel = ChannelRegistry.infos.first { $0.name == name }
    let number = channel == nil ? Int64(name) : nil
    guard channel != nil || number != nil else {
      throw .usage("CREDENTIAL is a number from the list, or one of \(names)")
    }
    try DataFolder(input).withApp(input.operands[0]) { store, app throws(Failure) in
      let found = try store.writeNow(orFail: "cannot change the credential") {
        transaction throws(StorageError) -> Int in
        let rows = try transaction.credentials.all(app: app.id, of: channel?.id).filter {
          number == nil || $0.id.rawValue == number
        }
        if rows.count == 1, let row = rows.first { return try body(transaction.credentials, row) ? 1 : 0 }
        return rows.count
      }
      guard found > 0 else {
        throw .failed("the app has no credential \(number == nil ? "for " : "")\(name)")
      }
      guard found == 1 else {
        throw .failed("the app has \(found) credentials for \(name): name one by its number from the list")
      }
      try printList(store, app)
    }
  }

  /// Prints one line for each credential of an app, the oldest first.
  static func printList(
    _ store: Store, _ app: AppRow, receipts: (channel: ChannelID, path: String)? = nil
  ) throws(Failure) {
    let rows = try store.readNow(orFail: "cannot read the credentials") { transaction throws(StorageError) in
      try transaction.credentials.all(app: app.id)
    }
    let now = SystemTime().now()
    for row in rows {
      var document = document(row, now: now)
      // Only whoever has the secret learns where receipts go.
      if let receipts, receipts.channel == row.channel { document.set("receipts", .string(receipts.path)) }
      Terminal.print(.object(document))
    }
  }

  /// The names of all channels.
  static var names: String { ChannelRegistry.infos.map(\.name).sorted().joined(separator: ", ") }

  /// All that may be shown of a credential.
  private static func document(_ row: CredentialRow, now: Timestamp) -> JSONObject {
    let info = ChannelRegistry.infos.first { $0.id == row.channel } ?? .unknown(row.channel)
    var document = JSONObject()
    document.set("channel", .string(info.name))
    document.set("id", .number(JSONNumber(row.id.rawValue)))
    document.set("kind", .string(row.kind == .token ? "token" : "certificate"))
    if let service = info.service(row.service) { document.set("environment", .string(service.name)) }
    document.set("subject", .string(row.subject))
    if let teamID = row.teamID { document.set("team_id", .string(teamID)) }
    if !row.name.isEmpty { document.set("key_id", .string(row.name)) }
    if !row.fingerprint.isEmpty { document.set("fingerprint", .string(Hex.encode(row.fingerprint))) }
    document.set("created_at", .number(JSONNumber(row.createdAt.seconds)))
    if let end = row.expiresAt {
      document.set("expires_at", .number(JSONNumber(end.seconds)))
      document.set(
        "days_left", .number(JSONNumber(Int64(APNsCredentialExpiry.daysLeft(until: end, from: now)))))
    }
    switch row.state {
    case .active: document.set("state", "active")
    case .retiring: document.set("state", "retiring")
    case .paused(let reason):
      document.set("state", "paused")
      document.set("reason", .string(reason))
    }
    if let newer = row.replacedBy { document.set("replaced_by", .number(JSONNumber(newer.rawValue))) }
    return document
  }
}

struct AppChannelListCommand: ServedCommand {
  static let name = "app channel list"
  static let summary = "Lists an app's credentials for channels."
  static let details = """
    Prints one line of JSON for each credential of the app with the key KEY, the oldest first: its channel and number, what it
    is for, and whether it is used; of APNs also the environment, and the days until a certificate expires. Secrets are never
    shown.
    """
  static let operands = ["KEY"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    try DataFolder(input).withApp(input.operands[0]) { store, app throws(Failure) in
      try AppChannel.printList(store, app)
    }
  }
}

struct AppChannelRemoveCommand: ServedCommand {
  static let name = "app channel remove"
  static let summary = "Removes one of an app's credentials."
  static let details = """
    Removes a credential of the app with the key KEY; a running server stops using it within seconds. CREDENTIAL is its number
    from the list, or the name of its channel if the app has one credential for that. If it had replaced another one that still
    exists, as credentials for APNs do, that one is used again. Prints the remaining credentials.
    """
  static let operands = ["KEY", "CREDENTIAL"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    try AppChannel.change(input) { credentials, row throws(StorageError) in
      try credentials.remove(app: row.app, id: row.id, at: SystemTime().now())
    }
  }
}

struct AppChannelPauseCommand: ServedCommand {
  static let name = "app channel pause"
  static let summary = "Pauses one of an app's credentials."
  static let details = """
    Stops the use of a credential of the app with the key KEY, until "borealis app channel resume"; a running server applies
    the change within seconds. CREDENTIAL is its number from the list, or the name of its channel if the app has one credential
    for that. The server pauses a credential itself when the channel's service rejects it. Prints the app's credentials.
    """
  static let operands = ["KEY", "CREDENTIAL"]
  static let settings =
    DataFolder.settings + [
      SettingDefinition(
        name: "reason", valueName: "TEXT", help: "The reason that the list shows.",
        default: "by the operator", kind: .text)
    ]

  static func run(_ input: Input) throws(Failure) {
    let reason = input.settings.text("reason") ?? ""
    guard (1...500).contains(reason.utf8.count) else { throw .usage("--reason has 1 to 500 bytes") }
    try AppChannel.change(input) { credentials, row throws(StorageError) in
      try credentials.pause(app: row.app, id: row.id, reason: reason, at: SystemTime().now())
    }
  }
}

struct AppChannelResumeCommand: ServedCommand {
  static let name = "app channel resume"
  static let summary = "Resumes a paused credential."
  static let details = """
    Ends the pause of a credential of the app with the key KEY, after the problem is solved; a running server applies the change
    within seconds. CREDENTIAL is its number from the list, or the name of its channel if the app has one credential for that.
    Prints the app's credentials.
    """
  static let operands = ["KEY", "CREDENTIAL"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    try AppChannel.change(input) { credentials, row throws(StorageError) in
      try credentials.resume(app: row.app, id: row.id, at: SystemTime().now())
    }
  }
}
