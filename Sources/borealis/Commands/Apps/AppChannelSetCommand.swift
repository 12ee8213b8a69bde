import BorealisBase
import BorealisCrypto
import Channels
import Core
import Model
import Storage

struct AppChannelSetCommand: ServedCommand {
  static let name = "app channel set"
  static let summary = "Sets an app's credential for a channel."
  static let details = """
    Checks a credential of the app with the key KEY for the channel CHANNEL, and stores it encrypted. A running server applies
    the change within seconds.

      borealis app channel set KEY apns --p8 AuthKey_ABC123DEFG.p8 --team-id TEAM123456 --topic com.example.app
      borealis app channel set KEY apns --p12 push.p12 --password-file FILE
      borealis app channel set KEY fcm --file service-account.json
      borealis app channel set KEY webpush --contact mailto:push@example.com
      borealis app channel set KEY huawei --fields huawei.json
      borealis app channel set KEY harmony --file service-account.json --fields harmony.json

    For apns: a key for provider tokens (--p8), or a certificate (--p12, or --certificate and --key). It replaces the app's
    credential for the same environment, which is kept for 30 days in case the new one is paused or removed. Without
    --password-file, the password of a .p12, if it has one, is read from standard input. Keys that Apple issued before 2025 are
    for both environments; newer ones are for one. A certificate contains its environment.

    For others the credential takes the place of the app's one. For fcm and harmony the file is the key of a service account,
    from the Firebase console or from HUAWEI Developers. For webpush the server creates a key, or keeps the app's one; --file
    brings one along (PKCS #8 PEM), which ends all subscriptions made with another.

    Prints the app's credentials; of webpush "key_id" is the public key that pages subscribe with. "receipts" is the path of the
    address for receipts, for channels whose service sends them: enter it in the service's console behind your server's address.
    """
  static let operands = ["KEY", "CHANNEL"]
  static let settings =
    DataFolder.settings + CredentialFiles.settings + [
      SettingDefinition(
        name: "file", valueName: "FILE", help: "The file with the credential; not for apns.", kind: .text),
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
    guard AppKey(input.operands[0]) != nil else { throw .usage("KEY has 24 lower-case hexadecimal digits") }
    let isAPNs = input.operands[1] == ChannelInfo.apns.name
    let unused = (isAPNs ? ["file", "contact", "fields"] : CredentialFiles.settings.map(\.name)).first {
      input.settings.text($0) != nil
    }
    if let unused { throw .usage("--\(unused) is not for \(input.operands[1])") }
    if isAPNs { try setAPNs(input) } else { try setVendor(input) }
  }

  private static func setAPNs(_ input: Input) throws(Failure) {
    let upload = try CredentialFiles(input.settings).upload()
    let keyFile = SecretKeyFile(input.settings, folder: try DataFolder(input))
    try DataFolder(input).withApp(input.operands[0]) { store, app throws(Failure) in
      let keys = try keyFile.readOrMake(for: store)
      let rows = upload.rows(for: app.id, sealedWith: keys)
      let refusal = try store.writeNow(orFail: "cannot store the credential") {
        transaction throws(StorageError) -> CredentialError? in
        let existing = try transaction.credentials.all(app: app.id, of: .apns)
        do throws(CredentialError) {
          try upload.check(against: existing)
        } catch {
          return error
        }
        for row in rows { _ = try transaction.credentials.add(app: app.id, row, at: SystemTime().now()) }
        return nil
      }
      if let refusal { throw .failed("\(refusal)") }
      try AppChannel.printList(store, app)
    }
  }

  private static func setVendor(_ input: Input) throws(Failure) {
    let vendor = try Vendors(input.settings).named(input.operands[1])
    let filled = try fill(in: vendor.form, input.settings)
    let keyFile = SecretKeyFile(input.settings, folder: try DataFolder(input))
    try DataFolder(input).withApp(input.operands[0]) { store, app throws(Failure) in
      let keys = try keyFile.readOrMake(for: store)
      let channel = vendor.info.id
      let old = try store.readNow(orFail: "cannot read the credential") { transaction throws(StorageError) in
        try transaction.credentials.latest(of: app.id, for: channel)
      }
      let upload = try read(filled, for: vendor, replacing: old, keys)
      let new = upload.credential(for: app.id, of: channel, sealedWith: keys)
      _ = try store.writeNow(orFail: "cannot store the credential") { transaction throws(StorageError) in
        try transaction.credentials.replace(app: app.id, new, at: SystemTime().now())
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
    _ input: CredentialInput, for vendor: some Vendor, replacing old: (row: CredentialRow, sealed: [UInt8])?,
    _ keys: SealingKeys
  ) throws(Failure) -> VendorUpload {
    do throws(CredentialProblem) {
      return try vendor.read(
        input, replacing: old.flatMap { vendor.credential($0.sealed, of: $0.row, with: keys) })
    } catch {
      throw .failed(error.reason)
    }
  }
}
