import BorealisBase

/// What was done, in words, by the program's word for it.
enum AuditWords {
  /// The phrase for an action; the action itself where there is none, as after going back to an older
  /// version.
  static func phrase(_ action: String) -> Phrase { phrases[action] ?? Phrase(action, action) }

  /// All actions, in an order that keeps what belongs together.
  static var actions: [String] { phrases.keys.sorted() }

  private static let phrases: [String: Phrase] = [
    "account.create": Phrase("created the account", "创建账号"),
    "account.disable": Phrase("suspended the account", "停用账号"),
    "account.enable": Phrase("reactivated the account", "启用账号"),
    "account.plan": Phrase("changed the account's plan", "更改账号套餐"),
    "app.create": Phrase("created the app", "创建应用"),
    "app.delete": Phrase("deleted the app", "删除应用"),
    "app.networks": Phrase("changed the IP allow list", "更改 IP 白名单"),
    "app.plan": Phrase("changed the app's plan", "更改应用套餐"),
    "app.rename": Phrase("renamed the app", "重命名应用"),
    "app.retire": Phrase("retired the old secret", "停用旧的 Master Secret"),
    "app.rotate": Phrase("created a new master secret", "生成新的 Master Secret"),
    "app.facts": Phrase("changed which facts about devices are collected", "修改设备信息采集项"),
    "app.seal": Phrase("turned encryption at rest on", "开启存储加密"),
    "app.unseal": Phrase("turned encryption at rest off", "关闭存储加密"),
    "callback.remove": Phrase("turned callbacks off", "关闭回调"),
    "callback.resend": Phrase("sent a callback again", "重发回调"),
    "callback.rotate": Phrase("created a new callback secret", "生成新的回调密钥"),
    "callback.set": Phrase("set up callbacks", "设置回调"),
    "callback.test": Phrase("sent a test callback", "测试回调"),
    "credential.add": Phrase("added a credential of a channel", "添加通道凭证"),
    "credential.pause": Phrase("paused a credential of a channel", "暂停通道凭证"),
    "credential.remove": Phrase("removed a credential of a channel", "删除通道凭证"),
    "credential.resume": Phrase("resumed a credential of a channel", "恢复通道凭证"),
    "device.alias": Phrase("removed the alias of a device", "清除设备别名"),
    "device.delete": Phrase("deleted a device", "删除设备"),
    "device.erase": Phrase("erased what is stored of a person", "清除用户数据"),
    "getui.remove": Phrase("turned Getui's API off", "关闭个推 API"),
    "getui.secret": Phrase("created a master secret for Getui's API", "生成个推 API 的 masterSecret"),
    "group.apps": Phrase("changed a group's apps", "更改分组应用"),
    "group.create": Phrase("created a group", "创建分组"),
    "group.delete": Phrase("deleted a group", "删除分组"),
    "group.rotate": Phrase("created a new secret for a group", "生成新的分组密钥"),
    "key.create": Phrase("created an API key", "创建 API 密钥"),
    "key.revoke": Phrase("revoked an API key", "吊销 API 密钥"),
    "member.invite": Phrase("invited", "邀请成员"),
    "member.link": Phrase("created a new link for an invitation", "重新生成邀请链接"),
    "member.mail": Phrase("mailed an invitation again", "重新发送邀请邮件"),
    "member.join": Phrase("joined", "加入账号"),
    "member.role": Phrase("changed a role", "更改角色"),
    "member.withdraw": Phrase("withdrew an invitation", "撤回邀请"),
    "operator.add": Phrase("added an operator", "添加系统管理员"),
    "operator.end": Phrase("removed an operator", "取消系统管理员"),
    "person.password": Phrase("changed the password", "修改密码"),
    "person.password.mail": Phrase("reset the password with a link from an email", "通过邮件链接设置新密码"),
    "person.recovery.new": Phrase("created recovery codes", "生成恢复码"),
    "person.recovery.use": Phrase("logged in with a recovery code", "使用恢复码登录"),
    "person.rename": Phrase("changed the name", "修改姓名"),
    "person.reset": Phrase(
      "reset the password and turned off the authenticator app from the command line", "通过命令重置密码并停用身份验证器"),
    "person.setup": Phrase("set up the console", "初始化控制台"),
    "person.totp.off": Phrase("turned off the authenticator app", "停用身份验证器"),
    "person.totp.on": Phrase("turned on the authenticator app", "启用身份验证器"),
    "push.recall": Phrase("recalled a push", "撤回推送"),
    "push.send": Phrase("sent a push", "发送推送"),
    "schedule.change": Phrase("changed a scheduled push", "修改定时推送"),
    "schedule.create": Phrase("scheduled a push", "新建定时推送"),
    "schedule.delete": Phrase("canceled a scheduled push", "取消定时推送"),
    "schedule.pause": Phrase("paused a scheduled push", "暂停定时推送"),
    "schedule.resume": Phrase("resumed a scheduled push", "恢复定时推送"),
    "segment.change": Phrase("changed a segment", "修改用户分群"),
    "segment.create": Phrase("created a segment", "新建用户分群"),
    "segment.delete": Phrase("deleted a segment", "删除用户分群"),
    "session.begin": Phrase("logged in", "登录"),
    "session.code": Phrase("entered incorrect codes after the correct password", "密码正确但动态验证码多次错误"),
    "session.end": Phrase("logged out or ended a session", "退出登录或结束会话"),
  ]
}
