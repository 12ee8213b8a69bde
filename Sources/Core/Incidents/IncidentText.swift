import BorealisBase
import Storage

/// Mail about an incident.
struct IncidentText {
  let app: App
  let phrase: Phrase
  /// When it began or, if it is over, when it ended.
  let moment: Timestamp
  let isOver: Bool

  private static let began = Phrase(
    """
    Hello {},

    The app {} needs attention since {}:

    {}

    {}

    You get this mail because you asked for mail about incidents: {}

    Borealis

    """,
    """
    {}，您好：

    应用 {} 自 {} 起需要处理：

    {}

    {}

    您收到此邮件，是因为您开启了故障邮件：{}

    Borealis

    """)

  private static let ended = Phrase(
    """
    Hello {},

    In the app {}, this was over at {}:

    {}

    {}

    You get this mail because you asked for mail about incidents: {}

    Borealis

    """,
    """
    {}，您好：

    应用 {} 的以下故障已于 {} 结束：

    {}

    {}

    您收到此邮件，是因为您开启了故障邮件：{}

    Borealis

    """)

  func mail(to recipient: MailRecipient, site: String, in zone: any Zone) -> NewMail {
    let language = Language(rawValue: recipient.language) ?? .english
    let time = "\(zone.local(moment).text) (UTC\(zone.offsetText(at: moment)))"
    let subject =
      isOver ? Phrase("{}: over: {}", "{}：已结束：{}") : Phrase("{}: needs attention: {}", "{}：需要处理：{}")
    let body = isOver ? Self.ended : Self.began
    return NewMail(
      recipient: recipient.email, subject: subject.with(app.name, phrase[language])[language],
      body: body.with(
        recipient.name, app.name, time, phrase[language],
        "\(site)/console/apps/\(app.key.text)/incidents", "\(site)/console/me")[language])
  }
}
