import Storage

/// Mail to those who may approve what somebody asks for. It says nothing of what a push contains.
struct ApprovalMail {
  /// What is asked for.
  enum Subject {
    /// A push to more devices than this.
    case push(above: Int)
    /// A change of the app's settings that lets people push to more devices alone.
    case settings
  }

  let subject: Subject
  /// The app's name.
  let app: String
  /// The name of the person who asks.
  let by: String
  /// The address of the page on which one decides.
  let page: String

  init(subject: Subject, app: String, by: String, page: String) {
    (self.subject, self.app, self.by, self.page) = (subject, app, by, page)
  }

  func mail(to recipient: MailRecipient) -> NewMail {
    let isChinese = recipient.language == "zh"
    return NewMail(
      recipient: recipient.email, subject: isChinese ? chineseSubject : englishSubject,
      body: isChinese ? chinese(recipient.name) : english(recipient.name))
  }

  private var englishSubject: String {
    switch subject {
    case .push: "\(app): a push waits for your approval"
    case .settings: "\(app): a change of the approval settings waits for you"
    }
  }

  private var chineseSubject: String {
    switch subject {
    case .push: "\(app)：有推送等待审批"
    case .settings: "\(app)：审批设置的修改等待确认"
    }
  }

  private func english(_ name: String) -> String {
    let what =
      switch subject {
      case .push(let above):
        "\(by) wants to send a push of the app \(app) to more than \(above) devices. It goes only if another person approves it."
      case .settings:
        "\(by) wants to change the app \(app) so that pushes to more devices need no approval. It holds only if another admin approves it."
      }
    return """
      Hello \(name),

      \(what) The page shows it, with buttons to approve and to reject:

      \(page)

      The request ends after 24 hours.

      Borealis

      """
  }

  private func chinese(_ name: String) -> String {
    let what =
      switch subject {
      case .push(let above): "\(by) 申请向超过 \(above) 台设备发送应用 \(app) 的推送，须由另一人批准后才会发送。"
      case .settings: "\(by) 申请修改应用 \(app) 的审批设置，使更多推送无需审批，须由另一位管理员批准后才会生效。"
      }
    return """
      \(name)，您好：

      \(what)请在以下页面查看并批准或拒绝：

      \(page)

      24 小时内未处理的申请将自动失效。

      Borealis

      """
  }
}
