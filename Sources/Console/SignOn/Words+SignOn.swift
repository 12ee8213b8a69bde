import BorealisBase

/// Texts about logging in with the identity provider.
extension Words {
  static let signOn = Phrase("Single sign-on", "单点登录")
  static let signOnWith = Phrase("Log in with {}", "使用 {} 登录")
  static let signOnToo = Phrase(
    "You can log in with {} or with your password.", "您可以使用 {} 或密码登录。")
  static let signOnOnly = Phrase(
    "You log in with {} and have no password here. A second factor is set up there as well.",
    "您使用 {} 登录，在此没有密码。两步验证也在那里设置。")
  static let signOnNotYet = Phrase(
    "You can also log in with {}, if it knows you by the email address above.",
    "如果 {} 中登记的邮箱与上方邮箱相同，您也可以用它登录。")
  static let roleFromClaim = Phrase(
    "By single sign-on, which sets it again at the next login.", "由单点登录授予，下次登录时将重新同步。")

  // MARK: Refusals

  static let signOnFailed = Phrase("Login failed", "登录失败")
  static let signOnAgain = Phrase("Try again", "重试")
  static let signOnOtherwise = Phrase("Log in with a password", "使用密码登录")
  static let signOnEnded = Phrase(
    "The login took too long, was completed before, or was started in another browser. Try again.",
    "登录超时、已完成，或是在其他浏览器中发起的，请重试。")
  static let signOnDeclined = Phrase(
    "{} did not let you in ({}). Try again, or ask whoever administers it.",
    "{} 拒绝了登录（{}）。请重试，或联系其管理员。")
  static let signOnUnreachable = Phrase(
    "{} cannot be reached or did not answer as expected. Try again in a few minutes, or log in with a password.",
    "无法连接 {}，或其响应不符合预期。请几分钟后重试，或使用密码登录。")
  static let signOnNoAddress = Phrase(
    "{} did not send a verified email address for you. Ask whoever administers it to verify your address.",
    "{} 未提供您的已验证邮箱，请联系其管理员验证您的邮箱。")
  static let signOnNoRole = Phrase(
    "You are not a member of any account here. If you were invited, open the link of the invitation first. Otherwise, ask an owner of the account to invite you, or whoever administers your groups for access.",
    "您在此不属于任何账号。如果您收到过邀请，请先打开邀请链接并接受邀请；否则请联系账号所有者邀请您，或联系用户组的管理员开通权限。")
  static let signOnOther = Phrase(
    "Your email address belongs to a user here who logs in as another user of {}. Ask an operator of this installation.",
    "您的邮箱在此属于另一位使用 {} 登录的用户，请联系系统管理员。")
  static let signOnDisabled = Phrase(
    "Your access was turned off. Ask an operator of this installation.", "您的访问权限已停用，请联系系统管理员。")
}
