import BorealisBase
import Core
import Model
import Storage

/// The forms for credentials of APNs.
enum APNsForm {
  /// The names of the forms and of their fields. They stand in addresses and in programs that fill the forms
  /// in.
  static let key = "key"
  static let certificate = "certificate"
  static let keyID = "key_id"
  static let teamID = "team_id"
  static let topic = "topic"
  static let keyService = "key-service"
  static let password = "file-password"
  static let certificateTopic = "certificate-topic"
  static let certificateService = "certificate-service"
  /// The value of `key-service` for a key of both environments.
  static let both = "both"

  static let all = [keyForm, certificateForm]

  private static let bundleIDHint = Phrase("For example com.example.app.", "例如 com.example.app。")

  private static let services = ChannelInfo.apns.services.map {
    CredentialField.Choice($0.name, Phrase($0.english, $0.chinese))
  }

  private static let keyForm = CredentialForm(
    key, title: Phrase("Upload a key (.p8)", "上传密钥（.p8）"),
    text: Phrase(
      "Recommended. A key never expires. Create it for APNs in Apple's developer account under Keys. It can be downloaded only once.",
      "推荐：密钥不会过期。在苹果开发者网站“Keys”页面创建并启用 APNs，仅可下载一次。"),
    fields: [
      CredentialField(key, Phrase("File AuthKey_….p8", "文件 AuthKey_….p8"), .file(accept: ".p8")),
      CredentialField(
        keyID, Phrase(verbatim: "Key ID"),
        hint: Phrase("Ten characters. Leave it empty if the file name contains it.", "10 个字符；文件名中已包含时可不填。"),
        isRequired: false),
      CredentialField(
        teamID, Phrase(verbatim: "Team ID"),
        hint: Phrase("Ten characters, on the membership page.", "10 个字符，见“会员资格”页面。")),
      CredentialField(topic, Phrase(verbatim: "Bundle ID"), hint: bundleIDHint),
      CredentialField(
        keyService, environment, .choice(services + [.init(both, Phrase("Both", "两者"))]),
        hint: Phrase(
          "Keys issued before 2025 work in both environments. Newer keys may be limited to one.",
          "2025 年之前签发的密钥适用于两个环境，之后的密钥会注明环境。")),
    ])

  private static let certificateForm = CredentialForm(
    certificate, title: Phrase("Upload a certificate (.p12)", "上传证书（.p12）"),
    text: Phrase(
      "Export it from Keychain Access together with its private key. The certificate names its app and environment.",
      "从“钥匙串访问”连同私钥一起导出。证书自身包含应用与环境信息。"),
    fields: [
      CredentialField(certificate, Phrase("File .p12", "文件 .p12"), .file(accept: ".p12,.pfx")),
      CredentialField(
        password, Phrase("File password", "文件密码"), .secret,
        hint: Phrase("Leave it empty if the file has none.", "没有密码则留空。"), isRequired: false),
      CredentialField(
        certificateTopic, Phrase(verbatim: "Bundle ID"),
        hint: Phrase("Only if the certificate is for several apps.", "仅当证书包含多个应用时填写。"), isRequired: false),
      CredentialField(
        certificateService, environment,
        .choice([.init("", Phrase("As the certificate says", "以证书为准"))] + services)),
    ])

  private static let environment = Phrase("APNs environment", "APNs 环境")
}

extension CredentialUpload {
  /// What somebody filled in, in one of the forms.
  init(_ input: CredentialInput, at now: Timestamp) throws(CredentialError) {
    let file = input.fields[input.form] ?? []
    if input.form == APNsForm.key {
      let service = input.text(APNsForm.keyService)
      try self.init(
        p8: file, fileName: input.fileNames[APNsForm.key] ?? "", keyID: input.text(APNsForm.keyID),
        teamID: input.text(APNsForm.teamID), topic: input.text(APNsForm.topic),
        environments: service == APNsForm.both
          ? [.production, .sandbox] : [service.flatMap { APNsEnvironment(service: $0) } ?? .production])
      return
    }
    if let instead = CredentialError.insteadOfPKCS12(file) { throw instead }
    let service = input.text(APNsForm.certificateService).flatMap { APNsEnvironment(service: $0) }
    try self.init(
      p12: file, password: input.secret(APNsForm.password), topic: input.text(APNsForm.certificateTopic),
      environments: service.map { [$0] }, now: now)
  }

  /// What the audit log calls it.
  var auditName: String {
    let services = environments.map(\.name).joined(separator: ", ")
    return "APNs \(keyID.map { "key \($0)" } ?? "certificate"), \(topic), \(services)"
  }

  /// "This certificate is for com.example.app, sandbox, and expires in 23 days."
  func receipt(at now: Timestamp) -> CredentialReceipt {
    let topic = Phrase(verbatim: topic)
    let services = APNsEnvironment.phrase(environments)
    let text: Phrase
    if let keyID {
      text = Phrase("The key {} is for {}, {}. Keys never expire.", "密钥 {} 用于 {}（{}），永不过期。")
        .with(each: Phrase(verbatim: keyID), topic, services)
    } else {
      let end = expiresAt.map { Phrase.ending($0, at: now) } ?? Phrase("never expires", "永不过期")
      text = Phrase("This certificate is for {}, {}, and {}.", "该证书用于 {}（{}），{}。")
        .with(each: topic, services, end)
    }
    return CredentialReceipt(text, services: environments.map(\.name))
  }
}

extension APNsEnvironment {
  /// The environment of a service's name.
  init?(service name: String) {
    guard let service = ChannelInfo.apns.service(named: name) else { return nil }
    self = service.environment
  }

  /// What people call it.
  var phrase: Phrase {
    ChannelInfo.apns.service(service).map { Phrase($0.english, $0.chinese) } ?? Phrase(verbatim: name)
  }

  /// Several inside a sentence.
  static func phrase(_ environments: [APNsEnvironment]) -> Phrase {
    Phrase(
      environments.map { $0.phrase.english.lowercased() }.joined(separator: " and "),
      environments.map(\.phrase.chinese).joined(separator: "和"))
  }
}
