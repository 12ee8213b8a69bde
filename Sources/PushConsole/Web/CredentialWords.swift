import PushAPNs
import PushBase
import PushCrypto
import PushRouter

/// Why a credential was not taken, in words.
enum CredentialWords {
  static func phrase(_ error: CredentialError) -> Phrase {
    if case .file(let fault) = error {
      return Phrase(sentence("The file was not taken: \(fault)"), "文件无法使用：\(chinese(fault))")
    }
    return Phrase(sentence("\(error)"), chinese(error))
  }

  /// In which services something may be used.
  static func services(_ environments: [APNsEnvironment]) -> Phrase {
    let names = environments.map(service)
    return Phrase(
      names.map { $0.english.lowercased() }.joined(separator: " and "),
      names.map(\.chinese).joined(separator: "和"))
  }

  static func service(_ environment: APNsEnvironment) -> Phrase {
    environment == .sandbox ? Words.sandbox : Words.production
  }

  /// "ends in 23 days".
  static func ending(_ end: Timestamp, at now: Timestamp) -> Phrase {
    switch APNsCredentialExpiry.spokenDays(until: end, from: now) {
    case _ where end <= now: Words.endedAlready
    case ...0: Words.endsToday
    case 1: Words.endsTomorrow
    case let days: Words.endsInDays.with(String(days))
    }
  }

  /// A moment inside a sentence, in the server's zone.
  static func moment(_ time: Timestamp, in call: PageCall) -> Phrase {
    let text = call.zone.local(time).text
    return Phrase(text, text)
  }

  /// What was seen of the connections to Apple.
  static func health(_ health: ChannelHealth, in call: PageCall) -> Phrase {
    switch health {
    case .unused: Words.healthUnused
    case .connected(let since): Words.healthConnected.with(each: moment(since, in: call))
    case .idle(let since): Words.healthIdle.with(each: moment(since, in: call))
    case .unreachable(let since, let reason):
      Words.healthUnreachable.with(each: moment(since, in: call), Phrase(reason, reason))
    }
  }

  /// What Apple said when it was asked about a credential.
  static func check(_ check: APNsCheck, in call: PageCall) -> Phrase {
    let at = moment(check.at, in: call)
    return switch check.verdict {
    case .accepted: Words.askedAccepted.with(each: at)
    case .refused(let reason): Words.askedRefused.with(each: at, Phrase(reason, reason))
    case .unclear(let reason): Words.askedUnclear.with(each: at, Phrase(reason, reason))
    }
  }

  /// What Apple says of what was just uploaded; services that it has not answered for count as unclear.
  static func verdict(_ statuses: [APNsServiceStatus], of environments: [APNsEnvironment]) -> (
    Phrase, isBad: Bool
  ) {
    let concerned = statuses.filter { environments.contains($0.environment) }
    for status in concerned {
      // A credential that APNs rejects is paused, and no longer in use.
      if let problem = status.problem { return (Words.nowRefused.with(each: Self.problem(problem)), true) }
    }
    for status in concerned {
      switch status.check?.verdict {
      case .accepted: continue
      case .refused(let reason): return (Words.nowRefused.with(each: Phrase(reason, reason)), true)
      case .unclear(let reason): return (Words.nowUnclear.with(each: Phrase(reason, reason)), true)
      case nil: return (Words.nowUnclear.with(each: Words.noAnswerYet), true)
      }
    }
    return (Words.nowAccepted, false)
  }

  /// Why a credential, or the way to Apple, is out of order. What is not known, such as an answer of Apple's, stays as it is.
  static func problem(_ reason: String) -> Phrase {
    let (paused, by) = ("paused: ", "by ")
    if reason.hasPrefix(paused) {
      return Words.pausedBecause.with(each: problem(String(reason.dropFirst(paused.count))))
    }
    if reason.hasPrefix(by) { return Words.pausedBy.with(String(reason.dropFirst(by.count))) }
    return reason == "the certificate has expired" ? Words.certificateEnded : Phrase(reason, reason)
  }

  private static func sentence(_ text: String) -> String {
    "\(text.prefix(1).uppercased())\(text.dropFirst())."
  }

  private static func chinese(_ error: CredentialError) -> String {
    switch error {
    case .file(let fault): chinese(fault)
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
      "该证书用于 \(topics.joined(separator: "、"))（\(services(environments).chinese)），而应用的 Bundle ID 为 \(wanted)。"
    case .notForPushes(let name): "这不是苹果推送服务的证书\(name.map { "（名称为 \($0)）" } ?? "")。"
    case .wrongEnvironment(let allowed, let wanted):
      "该证书用于\(services(allowed).chinese)，不能用于\(service(wanted).chinese)。"
    case .expired(0): "该证书已于今天过期。"
    case .expired(let days): "该证书已于 \(days) 天前过期。"
    case .notYetValid(0): "该证书今天稍后才生效，请检查服务器时间。"
    case .notYetValid(let days): "该证书 \(days) 天后才生效，请检查服务器时间。"
    case .otherTopic(let existing, let new):
      "该凭证用于 \(new)，而应用的 Bundle ID 为 \(existing)。请先删除应用的其他凭证。"
    case .alreadyThere(_, let environment): "应用已在\(service(environment).chinese)使用该凭证。"
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

  /// What a file is that was given for a .p12 and is none.
  static func insteadOfPKCS12(_ bytes: [UInt8]) -> Phrase? {
    let head = String(decoding: bytes.prefix(4096), as: UTF8.self)
    if head.contains("-----BEGIN PRIVATE KEY") {
      return Phrase("This is a key (.p8). Upload it with the form for keys.", "这是密钥（.p8），请使用密钥上传表单。")
    }
    let isCertificate = head.contains("-----BEGIN CERTIFICATE") || (try? CertificateFacts(der: bytes)) != nil
    guard isCertificate else { return nil }
    return Phrase(
      "This is a certificate without its private key (.cer or .pem). In Keychain, export both together as .p12.",
      "这是不含私钥的证书（.cer 或 .pem）。请在“钥匙串访问”中连同私钥导出为 .p12。")
  }
}
