import PushBase
import PushStorage

/// What is said of a certificate that ends.
struct ReminderText {
  private let credential: EndingCredential
  private let days: Int
  private let isOver: Bool
  /// Such as `2026-12-05 10:00 UTC`.
  private let end: String

  init(_ credential: EndingCredential, at now: Timestamp) {
    self.credential = credential
    isOver = credential.expiresAt <= now
    days = APNsCredentialExpiry.spokenDays(until: credential.expiresAt, from: now)
    end = "\(LocalTime(count: credential.expiresAt.seconds).text.dropLast(3)) UTC"
  }

  private var whenInEnglish: String {
    switch days {
    case _ where isOver: "has ended"
    case ...0: "ends today"
    case 1: "ends in one day"
    default: "ends in \(days) days"
    }
  }

  private var whenInChinese: String {
    switch days {
    case _ where isOver: "已过期"
    case ...0: "将于今天过期"
    default: "将于 \(days) 天后过期"
    }
  }

  /// For app servers and logs.
  var reason: String {
    "the \(credential.environment.name) certificate for \(credential.topic) \(whenInEnglish)"
  }

  func mail(to recipient: MailRecipient, site: String) -> NewMail {
    let page = "\(site)/console/apps/\(credential.appKey.text)/settings/apple"
    let isChinese = recipient.language == "zh"
    return NewMail(
      recipient: recipient.email, subject: isChinese ? chineseSubject : englishSubject,
      body: isChinese ? chinese(recipient.name, page) : english(recipient.name, page),
      credential: credential.id)
  }

  private var englishSubject: String {
    "\(credential.appName): the \(credential.environment.name) certificate for Apple \(whenInEnglish)"
  }

  private var chineseSubject: String {
    "\(credential.appName)：苹果推送证书（\(environmentInChinese)）\(whenInChinese)"
  }

  private var environmentInChinese: String { credential.environment == .sandbox ? "开发环境" : "生产环境" }

  private func english(_ name: String, _ page: String) -> String {
    let consequence =
      isOver
      ? "Apple takes no more pushes with it; they wait until they expire."
      : "From then on Apple takes no more pushes with it."
    return """
      Hello \(name),

      the \(credential.environment.name) certificate with which the app \(credential.appName) (\(credential.topic)) \
      sends pushes through Apple \(whenInEnglish): \(end). \(consequence)

      Upload a new certificate, or better a key (.p8), which never ends:

      \(page)

      The new one takes the place of the old one at once; no push is lost meanwhile.

      You get this mail as an admin of the app's account, 30, 14, 7 and 1 days before the end, until the certificate is \
      replaced.

      Borealis

      """
  }

  private func chinese(_ name: String, _ page: String) -> String {
    let consequence = isOver ? "苹果已不再接受使用该证书的推送，推送会一直等待直到过期。" : "过期后苹果将不再接受使用该证书的推送。"
    return """
      \(name)，您好：

      应用 \(credential.appName)（\(credential.topic)）的苹果推送证书（\(environmentInChinese)）\(whenInChinese)：\(end)。\
      \(consequence)

      请上传新证书，或改用不会过期的密钥（.p8）：

      \(page)

      新证书立即生效，更换期间不会丢失推送。

      您收到此邮件，是因为您是该应用所属账号的管理员。在证书被更换之前，系统会在过期前 30、14、7、1 天各提醒一次。

      Borealis

      """
  }
}
