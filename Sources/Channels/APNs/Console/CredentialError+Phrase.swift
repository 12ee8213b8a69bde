import BorealisBase
import BorealisCrypto
import Core
import Storage

extension CredentialError {
  /// What the page says, at the field that it is about.
  func problem(in form: String) -> CredentialProblem {
    // APIs get the bare reason: the caller knows which file it is about.
    let reason =
      switch self {
      case .file(let fault): "\(fault)"
      case .otherFile: "\(CredentialFileError.notPKCS12)"
      default: description
      }
    return CredentialProblem(phrase, at: field(in: form), reason: reason)
  }

  private func field(in form: String) -> String? {
    let isKey = form == APNsForm.key
    return switch self {
    case .file(.passwordNeeded), .file(.wrongPassword): isKey ? form : APNsForm.password
    case .file, .otherFile, .notForPushes, .expired, .notYetValid: form
    case .missingKeyID, .badKeyID: APNsForm.keyID
    case .missingTeamID, .badTeamID: APNsForm.teamID
    case .missingTopic, .badTopic, .topicOfKind, .certificateForOthers:
      isKey ? APNsForm.topic : APNsForm.certificateTopic
    case .wrongEnvironment: isKey ? APNsForm.keyService : APNsForm.certificateService
    case .seal, .otherTopic, .alreadyThere: nil
    }
  }

  /// A sentence for people.
  var phrase: Phrase {
    if case .file(let fault) = self {
      return Phrase(Self.sentence("The file was refused: \(fault)"), "文件无法使用：\(Self.chinese(fault))")
    }
    return Phrase(Self.sentence(description), chinese)
  }

  private static func sentence(_ text: String) -> String {
    "\(text.prefix(1).uppercased())\(text.dropFirst())."
  }

  private var chinese: String {
    switch self {
    case .file(let fault): Self.chinese(fault)
    case .otherFile(.key): "这是密钥（.p8），请使用密钥上传表单。"
    case .otherFile(.certificateAlone): "这是不含私钥的证书（.cer 或 .pem）。请在“钥匙串访问”中连同私钥导出为 .p12。"
    case .seal: "保存的凭证无法解密，请联系系统管理员。"
    case .missingKeyID: "缺少 Key ID：10 个字符，见苹果密钥页面，文件名 AuthKey_XXXXXXXXXX.p8 中也有。"
    case .badKeyID(let text): "“\(text)”不是有效的 Key ID：应为 10 个 A-Z 或 0-9 字符。"
    case .missingTeamID: "缺少 Team ID：10 个字符，见开发者账号的会员资格页面。"
    case .badTeamID(let text): "“\(text)”不是有效的 Team ID：应为 10 个 A-Z 或 0-9 字符。"
    case .missingTopic: "缺少应用的 Bundle ID。"
    case .badTopic(let text): "“\(text)”不是有效的 Bundle ID。"
    case .topicOfKind(let text, let bundleID):
      "“\(text)”是某类推送的 Topic，请填写应用的 Bundle ID：\(bundleID)，后缀由服务器添加。"
    case .certificateForOthers(let topics, let environments, let wanted):
      "该证书用于 \(topics.joined(separator: "、"))（\(APNsEnvironment.phrase(environments).chinese)），而应用的 Bundle ID 为 \(wanted)。"
    case .notForPushes(let name): "这不是苹果推送服务的证书\(name.map { "（名称为 \($0)）" } ?? "")。"
    case .wrongEnvironment(let allowed, let wanted):
      "该证书用于\(APNsEnvironment.phrase(allowed).chinese)，不能用于\(wanted.phrase.chinese)。"
    case .expired(0): "该证书已于今天过期。"
    case .expired(let days): "该证书已于 \(days) 天前过期。"
    case .notYetValid(0): "该证书今天稍后才生效，请检查服务器时间。"
    case .notYetValid(let days): "该证书 \(days) 天后才生效，请检查服务器时间。"
    case .otherTopic(let existing, let new):
      "该凭证用于 \(new)，而应用的 Bundle ID 为 \(existing)。请先删除应用的其他凭证。"
    case .alreadyThere(_, let environment): "应用已在\(environment.phrase.chinese)使用该凭证。"
    }
  }

  private static func chinese(_ fault: CredentialFileError) -> String {
    switch fault {
    case .tooLarge(let limit): "文件超过 \(limit) 字节。"
    case .notPEM: "文件中没有 PEM 内容（“-----BEGIN …”）。"
    case .binary: "这是二进制文件，可能是 .p12；此处需要 .p8 文本文件。"
    case .otherContent(let label): "文件内容为“\(label)”，此处无法使用。"
    case .encryptedKey: "私钥已加密；苹果的 .p8 文件没有加密。"
    case .publicKey: "文件中是公钥，需要私钥。"
    case .certificateInsteadOfKey: "文件中是证书，需要私钥。"
    case .certificateRequest: "文件中是证书申请。"
    case .sshKey: "这是 SSH 密钥，需要苹果开发者网站签发的密钥。"
    case .notPKCS8: "密钥不是 PKCS #8 格式。"
    case .otherAlgorithm(let name): "密钥类型为 \(name)；苹果的密钥为 P-256 椭圆曲线密钥。"
    case .otherCurve(let name): "密钥曲线为 \(name)；苹果的密钥使用 P-256。"
    case .unusualKey(let name): "密钥（\(name)）不是推送证书的密钥：应为 2048 至 4096 位的 RSA，或 P-256、P-384 椭圆曲线密钥。"
    case .tooManyCertificates(let limit): "文件中的证书超过 \(limit) 个。"
    case .damagedKey: "私钥已损坏。"
    case .noCertificate: "文件中没有可读取的证书。"
    case .noKey: "文件中没有私钥；请连同私钥一起导出证书。"
    case .keyDoesNotMatch: "私钥与证书不匹配。"
    case .unreadableTopics: "证书中的应用列表已损坏。"
    case .notPKCS12: "这不是 .p12 文件。"
    case .passwordNeeded: "文件受密码保护，请填写密码。"
    case .wrongPassword: "文件密码错误。"
    case .legacyProviderMissing: "密码正确，但文件使用 RC2 加密，服务器未安装 OpenSSL legacy 模块。"
    case .unreadablePKCS12(let reason): "密码正确，但内容无法读取：\(reason)。"
    case .tooCostly: "文件的密钥派生次数过多（通常为 2048 次），或派生方式不是 PBKDF2。"
    case .library(let reason): "OpenSSL：\(reason)。"
    }
  }

  /// What a file is that was given for a .p12 and is none; nil if that does not show.
  static func insteadOfPKCS12(_ bytes: [UInt8]) -> CredentialError? {
    let head = String(decoding: bytes.prefix(4096), as: UTF8.self)
    if head.contains("-----BEGIN PRIVATE KEY") { return .otherFile(.key) }
    let isCertificate = head.contains("-----BEGIN CERTIFICATE") || (try? CertificateFacts(der: bytes)) != nil
    return isCertificate ? .otherFile(.certificateAlone) : nil
  }
}
