/// What was done, and by whom.
extension Words {
  static let auditOfInstallation = Phrase("What was done to the installation", "系统操作记录")
  static let auditOfInstallationText = Phrase(
    "Logins, passwords, operators and accounts. What is done in an account, its own admins see.",
    "登录、密码、系统管理者和账号的变更。账号内的操作由该账号的管理员查看。")
  static let yourAudit = Phrase("What you did", "我的操作记录")
  static let yourAuditText = Phrase(
    "If there is a login that was not yours, change your password.", "如发现非本人的登录，请立即修改密码。")
  static let nothingDone = Phrase("Nothing yet.", "暂无记录。")
  static let allOfIt = Phrase("All of it", "全部记录")
  static let operatorNotSure = Phrase(
    "Be sure who it is: an address proves a person only if the invitation went there by mail.",
    "请先确认对方身份：只有通过邮件发出的邀请才能证明邮箱属于本人。")
}
