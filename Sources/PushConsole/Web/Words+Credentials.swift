/// The texts about credentials for Apple.
extension Words {
  static let partGeneral = Phrase("General", "通用")
  static let partApple = Phrase("Apple", "苹果推送")
  static let partCallbacks = Phrase("Callbacks", "回调")
  static let partLimits = Phrase("Plan and limits", "套餐与限制")

  static let expiriesTitle = Phrase("Certificates and keys", "证书与密钥")
  static let expiriesText = Phrase(
    "What your apps prove themselves with at Apple, and when it ends. Admins get mail 30, 14, 7 and 1 days before.",
    "您的应用用于苹果推送的凭证及其过期时间。系统会在过期前 30、14、7、1 天邮件通知管理员。")
  static let expiriesTextNoMail = Phrase(
    "What your apps prove themselves with at Apple, and when it ends.", "您的应用用于苹果推送的凭证及其过期时间。")
  static let noCredentials = Phrase("No app has a key or a certificate yet.", "还没有应用配置密钥或证书。")
  static let neverEnds = Phrase("Without an end", "永久有效")
  static let ends = Phrase("Ends", "过期时间")
  static let endsNever = Phrase("never", "永不过期")
  static let app = Phrase("App", "应用")
  static let credential = Phrase("What", "凭证")
  static let service = Phrase("Apple's service", "环境")
  static let bundleID = Phrase("Bundle ID", "Bundle ID")
  static let appleKey = Phrase("Key {}", "密钥 {}")
  static let certificate = Phrase("Certificate", "证书")
  static let fingerprint = Phrase("Fingerprint", "指纹")
  static let team = Phrase("Team {}", "团队 {}")
  static let addedAt = Phrase("Since", "添加时间")

  static let stateInUse = Phrase("in use", "使用中")
  static let stateFallback = Phrase("kept in reserve", "备用")
  static let statePaused = Phrase("paused", "已暂停")
  static let stateEnded = Phrase("ended", "已过期")
  static let reserveText = Phrase(
    "Replaced, and kept for 30 days: it is used again if the newer one is paused or removed.",
    "已被替换，保留 30 天；若新的被暂停或删除，将自动重新启用。")

  static let endedAlready = Phrase("has ended", "已过期")
  static let endsToday = Phrase("ends today", "今天过期")
  static let endsTomorrow = Phrase("ends in one day", "1 天后过期")
  static let endsInDays = Phrase("ends in {} days", "{} 天后过期")

  static let alertEnds = Phrase("{}: the certificate for Apple {}.", "{}：苹果推送证书{}。")
  static let alertBroken = Phrase("{}: no push reaches Apple: {}.", "{}：推送无法到达苹果：{}。")
  static let alertLook = Phrase("Look at it", "查看")
  static let alertHome = Phrase("{} of your apps need attention at Apple.", "您有 {} 个应用的苹果推送需要处理。")
  static let alertHomeOne = Phrase("One of your apps needs attention at Apple.", "您有 1 个应用的苹果推送需要处理。")

  static let uploadKey = Phrase("Upload a key (.p8)", "上传密钥（.p8）")
  static let uploadKeyText = Phrase(
    "Recommended: a key never ends. Apple's developer pages issue it once, under Keys, for the push service (APNs).",
    "推荐：密钥不会过期。在苹果开发者网站“Keys”页面创建并启用 APNs，仅可下载一次。")
  static let uploadCertificate = Phrase("Upload a certificate (.p12)", "上传证书（.p12）")
  static let uploadCertificateText = Phrase(
    "Exported from Keychain together with its private key. It says itself for which app and service it is.",
    "从“钥匙串访问”连同私钥一起导出。证书自身包含应用与环境信息。")
  static let keyFile = Phrase("File AuthKey_….p8", "文件 AuthKey_….p8")
  static let certificateFile = Phrase("File .p12", "文件 .p12")
  static let keyID = Phrase("Key ID", "Key ID")
  static let keyIDHint = Phrase(
    "Ten characters; not needed if the file's name holds it.", "10 个字符；文件名中已包含时可不填。")
  static let teamID = Phrase("Team ID", "Team ID")
  static let teamIDHint = Phrase("Ten characters, on the membership page.", "10 个字符，见“会员资格”页面。")
  static let topicHint = Phrase("Such as com.example.app.", "例如 com.example.app。")
  static let topicOptionalHint = Phrase(
    "Only if the certificate is for several apps.", "仅当证书包含多个应用时填写。")
  static let keyServiceHint = Phrase(
    "Keys issued before 2025 are for both; newer ones say which.", "2025 年之前签发的密钥适用于两个环境，之后的密钥会注明环境。")
  static let both = Phrase("Both", "两者")
  static let asCertificateSays = Phrase("As the certificate says", "以证书为准")
  static let filePassword = Phrase("Password of the file", "文件密码")
  static let filePasswordHint = Phrase("Empty if it has none.", "没有密码则留空。")
  static let upload = Phrase("Check and upload", "检查并上传")
  static let noFile = Phrase("Choose a file first.", "请先选择文件。")

  static let uploadedKey = Phrase(
    "The key {} is for {}, {}. Keys never end. It is in use now.", "密钥 {} 用于 {}（{}），永不过期，现已启用。")
  static let uploadedCertificate = Phrase(
    "This certificate is for {}, {}, and {}. It is in use now.", "该证书用于 {}（{}），{}，现已启用。")
  static let removed = Phrase("It is removed.", "已删除。")
  static let paused = Phrase("It is not used any more until you resume it.", "已暂停使用，恢复前不再使用。")
  static let resumed = Phrase("It is used again.", "已恢复使用。")
  static let pausedBy = Phrase("by {}", "由 {} 暂停")
  static let pausedBecause = Phrase("paused: {}", "已暂停：{}")
  static let certificateEnded = Phrase("the certificate has expired", "证书已过期")
  static let pause = Phrase("Pause", "暂停")
  static let resume = Phrase("Resume", "恢复")
  static let remove = Phrase("Remove", "删除")
  static let removeForGood = Phrase("Remove it for good", "确认删除")
  static let noSealingKey = Phrase(
    "The server cannot read the key that it seals secrets with. Its log tells the operator why; nothing was stored.",
    "服务器无法读取用于加密的密钥文件，请让运维人员查看日志；未保存任何内容。")
}
