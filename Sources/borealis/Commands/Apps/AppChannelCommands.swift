import BorealisBase
import BorealisCrypto
import Channels
import Core
import Model
import Storage

/// What the commands `app channel` have in common.
private enum AppChannel {
  /// Changes the credential of the app and channel that the operands name, and prints what the app then has.
  static func change(
    _ input: Input,
    _ body: @escaping @Sendable (WriteTransaction, ChannelCredentialRow) throws(StorageError) -> Void
  ) throws(Failure) {
    let channel = try Vendors(input.settings).named(input.operands[1]).info
    try DataFolder(input).withApp(input.operands[0]) { store, app throws(Failure) in
      let isKnown = try store.writeNow(orFail: "cannot change the credential") {
        transaction throws(StorageError) in
        guard let row = try transaction.channelCredentials.find(app: app.id, channel: channel.id) else {
          return false
        }
        try body(transaction, row)
        return true
      }
      guard isKnown else { throw .failed("the app has no credential for \(channel.name)") }
      try printList(store, app)
    }
  }

  /// Prints one line for each credential of an app.
  static func printList(
    _ store: Store, _ app: AppRow, receipts: (channel: ChannelID, path: String)? = nil
  ) throws(Failure) {
    let rows = try store.readNow(orFail: "cannot read the credentials") { transaction throws(StorageError) in
      try transaction.channelCredentials.all(in: .all).filter { $0.app == app.id }
    }
    for row in rows {
      var document = document(row)
      // Only whoever has the secret learns where receipts go.
      if let receipts, receipts.channel == row.channel { document.set("receipts", .string(receipts.path)) }
      Terminal.print(.object(document))
    }
  }

  /// All that may be shown of a credential.
  private static func document(_ row: ChannelCredentialRow) -> JSONObject {
    var document = JSONObject()
    let name =
      ChannelRegistry.infos.first { $0.id == row.channel }?.name ?? ChannelInfo.unknown(row.channel).name
    document.set("channel", .string(name))
    document.set("id", .string(row.id))
    document.set("subject", .string(row.subject))
    if !row.name.isEmpty { document.set("key_id", .string(row.name)) }
    document.set("created_at", .number(JSONNumber(row.createdAt.seconds)))
    document.set("state", .string(row.pause == nil ? "active" : "paused"))
    if let reason = row.pause { document.set("reason", .string(reason)) }
    return document
  }
}

struct AppChannelSetCommand: ServedCommand {
  static let name = "app channel set"
  static let summary = "Sets an app's credential for a vendor's channel."
  static let details = """
    Checks a credential of the app with the key KEY for the channel CHANNEL, and stores it encrypted in place of the app's one.
    A running server applies the change within seconds.

      borealis app channel set KEY fcm --file service-account.json
      borealis app channel set KEY webpush --contact mailto:push@example.com
      borealis app channel set KEY huawei --fields huawei.json
      borealis app channel set KEY harmony --file service-account.json --fields harmony.json

    For fcm and harmony the file is the key of a service account, from the Firebase console or from HUAWEI Developers. For webpush
    the server creates a key, or keeps the app's one; --file brings one along (PKCS #8 PEM), which ends all subscriptions made with
    another. Prints the app's credentials; of webpush "key_id" is the public key that pages subscribe with. "receipts" is the path
    of the address for receipts, for channels whose service sends them: enter it in the service's console behind your server's
    address.
    """
  static let operands = ["KEY", "CHANNEL"]
  static let settings =
    DataFolder.settings + [
      SettingDefinition(
        name: "file", valueName: "FILE", help: "The file with the credential.", kind: .text),
      SettingDefinition(
        name: "contact", valueName: "URL",
        help: "For webpush: where push services can reach you, mailto: or https:.",
        kind: .text),
      SettingDefinition(
        name: "fields", valueName: "FILE",
        help:
          "A JSON object with the fields of the channel's form, such as {\"app_id\":\"1\",\"secret\":\"s\"}.",
        kind: .text),
      SecretKeyFile.setting,
    ] + Vendors.settings

  static func run(_ input: Input) throws(Failure) {
    let vendor = try Vendors(input.settings).named(input.operands[1])
    let filled = try fill(in: vendor.form, input.settings)
    let keyFile = SecretKeyFile(input.settings, folder: try DataFolder(input))
    try DataFolder(input).withApp(input.operands[0]) { store, app throws(Failure) in
      let keys = try keyFile.readOrMake(for: store)
      let channel = vendor.info.id
      let old = try store.readNow(orFail: "cannot read the credential") { transaction throws(StorageError) in
        try transaction.channelCredentials.find(app: app.id, channel: channel)
      }
      let upload = try read(filled, for: vendor, replacing: old, keys)
      let row = upload.row(for: app.id, of: channel, sealedWith: keys, at: SystemTime().now())
      try store.writeNow(orFail: "cannot store the credential") { transaction throws(StorageError) in
        try transaction.channelCredentials.set(row)
      }
      let marks = ReceiptMarks(secret: upload.secret, of: app.id, on: channel)
      let path =
        !vendor.hasReceipts ? nil : VendorParts.receiptPath(of: vendor.info, marks, in: app.key)
      try AppChannel.printList(store, app, receipts: path.map { (channel, $0) })
    }
  }

  /// What the settings say, in the fields of the channel's form.
  private static func fill(in form: CredentialForm, _ settings: Settings) throws(Failure) -> CredentialInput {
    var fields: [String: [UInt8]] = [:]
    if let path = settings.text("fields") {
      guard let object = (try? parseJSON(try Terminal.contents(path)))?.object else {
        throw .usage("--fields: the file has no JSON object")
      }
      for member in object.members {
        guard form.fields.contains(where: { $0.name == member.key }), let text = member.value.string else {
          let names = form.fields.map(\.name).joined(separator: ", ")
          throw .usage("--fields: \"\(member.key.prefix(64))\" is not a text field; the fields are \(names)")
        }
        fields[member.key] = Array(text.utf8)
      }
    }
    for field in form.fields where fields[field.name] == nil {
      switch field.kind {
      case .file, .lines:
        if let path = settings.text("file") { fields[field.name] = try Terminal.contents(path) }
        if fields[field.name] == nil, field.isRequired { throw .usage("--file is missing") }
      case .text, .choice, .secret:
        let isSetting = Self.settings.contains { $0.name == field.name }
        fields[field.name] = isSetting ? settings.text(field.name).map { Array($0.utf8) } : nil
        if fields[field.name] == nil, field.isRequired {
          throw .usage(isSetting ? "--\(field.name) is missing" : "--fields has no \"\(field.name)\"")
        }
      }
    }
    return CredentialInput(form.name, fields: fields)
  }

  private static func read(
    _ input: CredentialInput, for vendor: some Vendor, replacing old: ChannelCredentialRow?,
    _ keys: SealingKeys
  ) throws(Failure) -> VendorUpload {
    do throws(CredentialProblem) {
      return try vendor.read(input, replacing: old.flatMap { vendor.credential(of: $0, with: keys) })
    } catch {
      throw .failed(error.reason)
    }
  }
}

struct AppChannelListCommand: ServedCommand {
  static let name = "app channel list"
  static let summary = "Lists an app's credentials for vendors' channels."
  static let details = """
    Prints one line of JSON for each credential of the app with the key KEY: its channel, what it is for, and whether it is
    used. Secrets are never shown. "borealis app apns list" lists those for APNs.
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
  static let summary = "Removes an app's credential for a vendor's channel."
  static let details = """
    Removes the credential of the app with the key KEY for the channel CHANNEL; a running server stops using it within seconds.
    Prints the remaining credentials.
    """
  static let operands = ["KEY", "CHANNEL"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    try AppChannel.change(input) { transaction, row throws(StorageError) in
      _ = try transaction.channelCredentials.remove(app: row.app, channel: row.channel, id: row.id)
    }
  }
}

struct AppChannelPauseCommand: ServedCommand {
  static let name = "app channel pause"
  static let summary = "Pauses a channel's credential."
  static let details = """
    Stops the use of the credential of the app with the key KEY for the channel CHANNEL, until "borealis app channel resume";
    a running server applies the change within seconds. The server pauses a credential itself when the channel's service rejects
    it. Prints the app's credentials.
    """
  static let operands = ["KEY", "CHANNEL"]
  static let settings =
    DataFolder.settings + [
      SettingDefinition(
        name: "reason", valueName: "TEXT", help: "The reason that the list shows.",
        default: "by the operator", kind: .text)
    ]

  static func run(_ input: Input) throws(Failure) {
    let reason = input.settings.text("reason") ?? ""
    guard (1...500).contains(reason.utf8.count) else { throw .usage("--reason has 1 to 500 bytes") }
    try AppChannel.change(input) { transaction, row throws(StorageError) in
      _ = try transaction.channelCredentials.pause(
        app: row.app, channel: row.channel, id: row.id, reason: reason, at: SystemTime().now())
    }
  }
}

struct AppChannelResumeCommand: ServedCommand {
  static let name = "app channel resume"
  static let summary = "Resumes a channel's paused credential."
  static let details = """
    Ends the pause of the credential of the app with the key KEY for the channel CHANNEL, after the problem is solved; a running
    server applies the change within seconds. Prints the app's credentials.
    """
  static let operands = ["KEY", "CHANNEL"]
  static let settings = DataFolder.settings

  static func run(_ input: Input) throws(Failure) {
    try AppChannel.change(input) { transaction, row throws(StorageError) in
      _ = try transaction.channelCredentials.pause(
        app: row.app, channel: row.channel, id: row.id, reason: nil, at: SystemTime().now())
    }
  }
}
