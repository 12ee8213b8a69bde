/// The texts about credentials for Apple.
extension Words {
  static let partGeneral = Phrase("General", "通用")
  static let partApple = Phrase("APNs", "苹果推送")
  static let partCallbacks = Phrase("Callbacks", "回调")
  static let partLimits = Phrase("Plan and limits", "套餐与限制")

  static let expiriesTitle = Phrase("Certificates and keys", "证书与密钥")
  static let expiriesText = Phrase(
    "Credentials that your apps use with APNs, and when they expire. Admins get an email 30, 14, 7 and 1 days before.",
    "您的应用用于苹果推送的凭证及其过期时间。系统会在过期前 30、14、7、1 天邮件通知管理员。")
  static let expiriesTextNoMail = Phrase(
    "Credentials that your apps use with APNs, and when they expire.", "您的应用用于苹果推送的凭证及其过期时间。")
  static let noCredentials = Phrase("No app has a key or certificate yet.", "还没有应用配置密钥或证书。")
  static let neverEnds = Phrase("No expiration", "永久有效")
  static let ends = Phrase("Expires", "过期时间")
  static let endsNever = Phrase("never", "永不过期")
  static let app = Phrase("App", "应用")
  static let credential = Phrase("What", "凭证")
  static let service = Phrase("APNs environment", "APNs 环境")
  static let bundleID = Phrase("Bundle ID", "Bundle ID")
  static let appleKey = Phrase("Key {}", "密钥 {}")
  static let certificate = Phrase("Certificate", "证书")
  static let fingerprint = Phrase("Fingerprint", "指纹")
  static let team = Phrase("Team {}", "团队 {}")
  static let addedAt = Phrase("Since", "添加时间")

  static let stateInUse = Phrase("in use", "使用中")
  static let stateFallback = Phrase("standby", "备用")
  static let statePaused = Phrase("paused", "已暂停")
  static let stateEnded = Phrase("expired", "已过期")
  static let reserveText = Phrase(
    "Replaced by a newer credential and kept for 30 days. It is used again if the newer one is paused or removed.",
    "已被替换，保留 30 天；若新的被暂停或删除，将自动重新启用。")

  static let endedAlready = Phrase("has expired", "已过期")
  static let endsToday = Phrase("expires today", "今天过期")
  static let endsTomorrow = Phrase("expires in one day", "1 天后过期")
  static let endsInDays = Phrase("expires in {} days", "{} 天后过期")

  static let alertEnds = Phrase("{}: the APNs certificate {}.", "{}：苹果推送证书{}。")
  static let alertBroken = Phrase("{}: pushes cannot be sent to APNs: {}.", "{}：推送无法到达苹果：{}。")
  static let alertUnreachable = Phrase(
    "{}: APNs has not been reachable since {}: {}.", "{}：自 {} 起无法连接苹果：{}。")
  static let healthUnused = Phrase("Not used since the server started", "服务器启动后尚未使用")
  static let healthConnected = Phrase("Connected since {}", "自 {} 起已连接")
  static let healthIdle = Phrase("Idle; last connected at {}", "空闲；上次连接于 {}")
  static let healthUnreachable = Phrase("Not reachable since {}: {}", "自 {} 起无法连接：{}")
  static let askedAccepted = Phrase("APNs accepted it at {}.", "苹果已于 {} 接受该凭证。")
  static let askedRefused = Phrase("APNs rejected it at {}: {}.", "苹果已于 {} 拒绝该凭证：{}。")
  static let askedUnclear = Phrase("APNs could not be asked at {}: {}.", "{} 未能向苹果验证：{}。")
  static let nowAccepted = Phrase("APNs accepted the credential. It is now in use.", "苹果已接受，现已启用。")
  static let nowRefused = Phrase(
    "APNs rejected the credential: {}. It is stored and paused. Upload the correct one, or resume it when the problem is solved.",
    "苹果拒绝了该凭证：{}。凭证已保存但已暂停；请上传正确的凭证，或处理后恢复使用。")
  static let nowUnclear = Phrase(
    "The credential is stored, but APNs could not be asked to verify it: {}.", "凭证已保存，但未能向苹果验证：{}。")
  static let noAnswerYet = Phrase("no response yet", "尚未收到应答")
  static let alertLook = Phrase("View", "查看")
  static let alertHome = Phrase("APNs needs attention in {} of your apps.", "您有 {} 个应用的苹果推送需要处理。")
  static let alertHomeOne = Phrase("APNs needs attention in one of your apps.", "您有 1 个应用的苹果推送需要处理。")

  static let uploadKey = Phrase("Upload a key (.p8)", "上传密钥（.p8）")
  static let uploadKeyText = Phrase(
    "Recommended. A key never expires. Create it for APNs in Apple's developer account under Keys. It can be downloaded only once.",
    "推荐：密钥不会过期。在苹果开发者网站“Keys”页面创建并启用 APNs，仅可下载一次。")
  static let uploadCertificate = Phrase("Upload a certificate (.p12)", "上传证书（.p12）")
  static let uploadCertificateText = Phrase(
    "Export it from Keychain Access together with its private key. The certificate names its app and environment.",
    "从“钥匙串访问”连同私钥一起导出。证书自身包含应用与环境信息。")
  static let keyFile = Phrase("File AuthKey_….p8", "文件 AuthKey_….p8")
  static let certificateFile = Phrase("File .p12", "文件 .p12")
  static let keyID = Phrase("Key ID", "Key ID")
  static let keyIDHint = Phrase(
    "Ten characters. Leave it empty if the file name contains it.", "10 个字符；文件名中已包含时可不填。")
  static let teamID = Phrase("Team ID", "Team ID")
  static let teamIDHint = Phrase("Ten characters, on the membership page.", "10 个字符，见“会员资格”页面。")
  static let topicHint = Phrase("For example com.example.app.", "例如 com.example.app。")
  static let topicOptionalHint = Phrase(
    "Only if the certificate is for several apps.", "仅当证书包含多个应用时填写。")
  static let keyServiceHint = Phrase(
    "Keys issued before 2025 work in both environments. Newer keys may be limited to one.",
    "2025 年之前签发的密钥适用于两个环境，之后的密钥会注明环境。")
  static let both = Phrase("Both", "两者")
  static let asCertificateSays = Phrase("As the certificate says", "以证书为准")
  static let filePassword = Phrase("File password", "文件密码")
  static let filePasswordHint = Phrase("Leave it empty if the file has none.", "没有密码则留空。")
  static let upload = Phrase("Verify and upload", "检查并上传")
  static let noFile = Phrase("Choose a file first.", "请先选择文件。")

  static let uploadedKey = Phrase(
    "The key {} is for {}, {}. Keys never expire.", "密钥 {} 用于 {}（{}），永不过期。")
  static let uploadedCertificate = Phrase(
    "This certificate is for {}, {}, and {}.", "该证书用于 {}（{}），{}。")
  static let removed = Phrase("The credential was removed.", "已删除。")
  static let paused = Phrase(
    "The credential is paused. It is not used until you resume it.", "已暂停使用，恢复前不再使用。")
  static let resumed = Phrase("The credential is in use again.", "已恢复使用。")
  static let pausedBy = Phrase("by {}", "由 {} 暂停")
  static let pausedBecause = Phrase("paused: {}", "已暂停：{}")
  static let certificateEnded = Phrase("the certificate has expired", "证书已过期")
  static let pause = Phrase("Pause", "暂停")
  static let resume = Phrase("Resume", "恢复")
  static let remove = Phrase("Remove", "删除")
  static let removeForGood = Phrase("Remove permanently", "确认删除")
  static let noSealingKey = Phrase(
    "The server cannot read the key that it encrypts secrets with. Nothing was stored. The operator finds the reason in the server's log.",
    "服务器无法读取用于加密的密钥文件，请系统管理员查看日志；未保存任何内容。")
}
