import BorealisBase
import Core
import Storage

/// The texts of a reminder about a certificate that expires.
struct ReminderText {
  private let credential: EndingCredential
  private let environments: [APNsEnvironment]
  private let days: Int
  private let isOver: Bool
  /// Such as `2026-12-05 10:00 (UTC+08:00)`, by the server's clock as on the pages of the console.
  private let end: String

  init(
    _ credential: EndingCredential, for environments: [APNsEnvironment], at now: Timestamp, in zone: any Zone
  ) {
    self.credential = credential
    self.environments = environments
    isOver = credential.expiresAt <= now
    days = credential.expiresAt.roundedDays(after: now)
    let time = zone.local(credential.expiresAt).text.dropLast(3)
    end = "\(time) (UTC\(zone.offsetText(at: credential.expiresAt)))"
  }

  private var whenInEnglish: String {
    switch days {
    case _ where isOver: "has expired"
    case ...0: "expires today"
    case 1: "expires in one day"
    default: "expires in \(days) days"
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
    "the \(environmentInEnglish) APNs certificate for \(credential.topic) \(whenInEnglish)"
  }

  func mail(to recipient: MailRecipient, site: String) -> NewMail {
    let page = "\(site)/console/apps/\(credential.appKey.text)/settings/credentials/apns"
    let isChinese = recipient.language == "zh"
    return NewMail(
      recipient: recipient.email, subject: isChinese ? chineseSubject : englishSubject,
      body: isChinese ? chinese(recipient.name, page) : english(recipient.name, page),
      credential: credential.id)
  }

  private var englishSubject: String {
    "\(credential.appName): \(environmentInEnglish) APNs certificate \(whenInEnglish)"
  }

  private var chineseSubject: String {
    "\(credential.appName)：苹果推送证书（\(environmentInChinese)）\(whenInChinese)"
  }

  private var environmentInEnglish: String { environments.map(\.name).joined(separator: " and ") }

  private var environmentInChinese: String {
    environments.map { $0 == .sandbox ? "开发环境" : "生产环境" }.joined(separator: "和")
  }

  private func english(_ name: String, _ page: String) -> String {
    let consequence =
      isOver
      ? "APNs rejects pushes that use it; they wait until they expire."
      : "After that, APNs rejects pushes that use it."
    return """
      Hello \(name),

      The \(environmentInEnglish) APNs certificate of the app \(credential.appName) (\(credential.topic)) \
      \(whenInEnglish): \(end). \(consequence)

      Upload a new certificate or, better, a key (.p8), which never expires:

      \(page)

      The new credential replaces the old one at once. No push is lost.

      You get this mail because you are an admin of the app's account. Borealis sends it 30, 14, 7 and 1 days before the \
      expiry until you replace the certificate.

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
