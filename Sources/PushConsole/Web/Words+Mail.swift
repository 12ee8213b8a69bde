/// What the console writes to people, and the pages around it.
extension Words {
  static let inviteSent = Phrase("An invitation is on its way to {}.", "邀请邮件正在发送给 {}。")
  static let sendInvitation = Phrase("Send the invitation", "发送邀请")

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
  static let resetTitle = Phrase("A new password", "重置密码")
  static let resetText = Phrase(
    "Somebody who is known by this address gets a link by mail.", "如果该邮箱已注册，将收到一封包含链接的邮件。")
  static let resetSend = Phrase("Send the link", "发送链接")
  static let resetSent = Phrase(
    "If somebody here has this address, a link is on its way. It works for an hour.",
    "如果该邮箱已注册，链接邮件正在发送，一小时内有效。")
  static let resetDone = Phrase("The password is changed. Log in with it.", "密码已修改，请重新登录。")
  static let resetSubject = Phrase("A new password for Borealis", "重置 Borealis 密码")
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

    有人使用您的密码登录，并连续十次输入了错误的验证器动态码，最近一次来自 {}。对方未能登录。
    如果不是您本人操作，说明您的密码已泄露，请在此设置新密码：

    {}

    """)
  static let scanCode = Phrase(
    "Scan this with your authenticator app, or type the key into it; then type the code that it shows.",
    "用验证器应用扫描二维码，或手动输入密钥，然后填写其显示的动态码。")
  static let qrName = Phrase("QR code of the key below", "下方密钥的二维码")
}
