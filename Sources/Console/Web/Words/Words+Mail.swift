import BorealisBase

/// What the console writes to people, and the pages around it.
extension Words {
  static let invited = Phrase(
    "Invitation created. The list shows the mail's delivery status.", "邀请已创建，列表中显示邮件的发送状态。")
  static let invitedAgain = Phrase(
    "The server sends the invitation again. The earlier link no longer works.", "邀请邮件将重新发送，之前的链接已失效。")
  static let invitationUntil = Phrase("valid until", "有效期至")
  static let sendMailAgain = Phrase("Send again", "重新发送")
  static let makeNewLink = Phrase("Create a link to copy", "生成新链接")
  static let makeNewLinkText = Phrase("The earlier link stops working.", "之前的链接将失效。")
  static let withdrawText = Phrase(
    "The link stops working. You can invite the person again.", "链接将失效，之后可重新邀请。")
  static let mailNoServer = Phrase(
    "Not sent: no mail server is configured. Create a link and pass it on.", "未发送邮件：未配置邮件服务器，请生成链接并转发。")
  static let mailNotSent = Phrase(
    "Not sent by email. Send the link to the person yourself.", "未发送邮件：链接已显示，需自行转发。")
  static let mailQueued = Phrase("Email queued", "邮件排队中")
  static let mailDelayed = Phrase(
    "The last attempt to send the email failed ({}). The server will retry.", "最近一次发送失败（{}），服务器将重试。")
  static let mailHandedOver = Phrase("Accepted by the mail server", "已交给邮件服务器")
  static let mailRefused = Phrase("Email not sent: {}", "邮件发送失败：{}")
  static let mailLost = Phrase(
    "Email not sent: the server stopped before the mail server accepted it. Send it again.",
    "邮件未发送：服务器在发送前已停止，请重新发送。")
  static let mailTooMuch = Phrase("too many emails are queued", "等待发送的邮件过多")
  static let inviteFull = Phrase(
    "The email was not sent, and the earlier link still works: too many emails are queued. Try again in a few minutes.",
    "邮件未发送，之前的链接仍然有效：等待发送的邮件过多，请几分钟后再试。")
  static let inviteTooSoon = Phrase(
    "An invitation was sent to this address less than a minute ago. Wait a minute and try again.",
    "一分钟内已向该邮箱发送过邀请，请稍后再试。")
  static let inviteTooMany = Phrase(
    "The account has sent {} invitations within 24 hours, which is the limit. Try again later.",
    "该账号 24 小时内已发送 {} 封邀请邮件，达到上限，请稍后再试。")
  static let tooManyInvitations = Phrase(
    "The account already has {} open invitations. Withdraw one first.", "该账号已有 {} 个未接受的邀请，请先撤回一个。")
  static let sendInvitation = Phrase("Send invitation", "发送邀请")

  static let inviteSubject = Phrase("Invitation to {} on Borealis", "邀请您加入 Borealis 账号 {}")
  static let inviteBody = Phrase(
    """
    Hello,

    {} invites you to the account {} of Borealis, as: {}.

    {}

    The link is for you alone, works once, and for seven days.

    """,
    """
    您好：

    {} 邀请您加入 Borealis 账号 {}，角色：{}。

    {}

    此链接仅供您本人使用，七天内有效，仅可使用一次。

    """)

  static let forgot = Phrase("Forgot your password?", "忘记密码？")
  static let resetTitle = Phrase("Reset password", "重置密码")
  static let resetText = Phrase(
    "If the address is registered, a link is sent to it by email.", "如果该邮箱已注册，将收到一封包含链接的邮件。")
  static let resetSend = Phrase("Send link", "发送链接")
  static let resetSent = Phrase(
    "If the address is registered, the server sends a link to it. The link is valid for one hour.",
    "如果该邮箱已注册，服务器将发送链接邮件，一小时内有效。")
  static let resetFull = Phrase(
    "No link was sent: too many emails are queued. Try again in a few minutes.", "未发送链接：等待发送的邮件过多，请几分钟后再试。")
  static let resetDone = Phrase("The password was changed. Log in with the new password.", "密码已修改，请重新登录。")
  static let resetSubject = Phrase("Reset your Borealis password", "重置 Borealis 密码")
  static let resetBody = Phrase(
    """
    Hello {},

    somebody asked for a new password for you. If that was you, choose one here:

    {}

    The link works once, and for an hour. If it was somebody else, nothing has changed; ignore this mail.

    """,
    """
    {}，您好：

    有人为您的账号申请重置密码。如果是您本人，请打开以下链接设置新密码：

    {}

    链接一小时内有效，仅可使用一次。如果不是您本人操作，请忽略此邮件，您的密码没有改变。

    """)
  static let guessingSubject = Phrase("Somebody knows your Borealis password", "有人正在使用您的 Borealis 密码")
  static let guessingBody = Phrase(
    """
    Hello {},

    somebody logged in with your password and then typed ten wrong codes of the authenticator app, the last one from {}.
    Nobody was let in. If that was not you, somebody knows your password: choose another one here:

    {}

    """,
    """
    {}，您好：

    有人使用您的密码登录，并连续十次输入了错误的动态验证码，最近一次来自 {}。对方未能登录。
    如果不是您本人操作，说明您的密码已泄露，请在此设置新密码：

    {}

    """)
  static let scanCode = Phrase(
    "Scan the QR code with your authenticator app, or enter the key manually. Then enter the code that the app shows.",
    "用身份验证器应用扫描二维码，或手动输入密钥，然后填写其显示的动态验证码。")
  static let qrName = Phrase("QR code of the key below", "下方密钥的二维码")
}
