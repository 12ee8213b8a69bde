import BorealisBase

/// What was done, and by whom.
extension Words {
  static let auditOfInstallation = Phrase("Audit log of the installation", "系统操作日志")
  static let auditOfInstallationText = Phrase(
    "Logins, passwords, operators and accounts. Actions within an account are visible to its admins.",
    "登录、密码、系统管理员和账号的变更。账号内的操作由该账号的管理员查看。")
  static let yourAudit = Phrase("Your activity", "我的操作记录")
  static let yourAuditText = Phrase(
    "If you see a login that was not yours, change your password.", "如发现非本人的登录，请立即修改密码。")
  static let nothingDone = Phrase("No entries yet.", "暂无记录。")
  static let noEntryMatches = Phrase("No entry matches.", "没有符合条件的记录。")
  static let auditWho = Phrase("Who", "操作人")
  static let auditAction = Phrase("Action", "操作")
  static let auditTarget = Phrase("What it was done to", "操作对象")
  static let allOfIt = Phrase("All entries", "全部记录")
  static let operatorNotSure = Phrase(
    "Verify the person's identity first. An email address proves identity only if the invitation was sent there by email.",
    "请先确认对方身份：只有通过邮件发出的邀请才能证明邮箱属于本人。")
}
