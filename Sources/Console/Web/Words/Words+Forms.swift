import BorealisBase

/// The texts of forms that count once, and of what hangs on them.
extension Words {
  static let sentBefore = Phrase(
    "This form was already submitted. Nothing was done a second time. Secrets are shown only once.",
    "该表单已提交过，本次没有重复执行。密钥仅显示一次。")
  static let unsent = Phrase(
    "You were logged out before this form was submitted. Nothing was changed. Check it and submit it again.",
    "登录已过期，未做任何更改。请检查后重新提交。")
  static let formTooOld = Phrase(
    "This form is older than the server's last start. Check whether the change was already made. If not, submit it again.",
    "该表单早于服务器最近一次启动。请确认操作是否已完成，如未完成请重新提交。")
  static let codeTooLate = Phrase(
    "The code came more than five minutes after the password. Log in again.", "验证码输入超过五分钟，请重新登录。")
  static let logInAsOther = Phrase("Log in with another account", "使用其他账号登录")
  static let notSetUp = Phrase(
    "The console is not set up yet. The server wrote a setup link to its log when it started (“set up the console”).",
    "系统尚未初始化。服务器启动时已在日志中输出初始化链接（“set up the console”）。")
  static let passwordShort = Phrase("Too short: {} of at least 10 characters.", "密码过短：{} 个字符，至少需要 10 个。")
  static let passwordLong = Phrase("Too long: at most 200 characters.", "密码过长：最多 200 个字符。")
  static let clock = Phrase("Times are in the server’s time zone, {}.", "时间以服务器时区为准（{}）。")
  static let callbackPrivate = Phrase(
    "Saved, but the server does not call private addresses such as this one. The operator must allow the network (--callback-networks).",
    "已保存，但服务器不会访问此类内网地址，需由系统管理员允许该网段（--callback-networks）。")
  static let nextAttempt = Phrase("next attempt", "下次尝试")
  static let removeAlias = Phrase("Remove alias", "移除别名")
  static let removeAliasText = Phrase(
    "Pushes to this alias will no longer reach this device.", "发送到该别名的推送将不再到达此设备。")
  static let aliasRemoved = Phrase("The device's alias was removed.", "该设备的别名已移除。")
  static let aliasChanged = Phrase(
    "Not removed: the device no longer has that alias.", "未移除：该设备已不再使用该别名。")
  static let deleteDevice = Phrase("Delete device", "删除设备")
  static let deleteDeviceText = Phrase(
    "Its alias, tags and tokens are deleted, and waiting pushes are not delivered. If the app is still installed, the device registers anew, without them.",
    "其别名、标签和 Token 将一并删除，等待中的推送不再下发。若应用仍在使用，设备会重新注册，但不再带有这些信息。")
  static let deviceWasDeleted = Phrase("The device was deleted.", "设备已删除。")
  static let persons = Phrase("Data of a person", "用户数据")
  static let findPerson = Phrase("Alias or registration ID", "别名或 Registration ID")
  static let personData = Phrase("Stored data", "已存储的数据")
  static let personDevices = Phrase("Devices: {}", "设备数：{}")
  static let downloadJSON = Phrase("Download JSON", "下载 JSON")
  static let erasePerson = Phrase("Erase", "清除数据")
  static let erasePersonText = Phrase(
    "Deletes the devices with all that is stored of them, and pushes that were for nobody else. This cannot be undone. If the app is still in use, the device registers anew.",
    "删除相关设备及其全部数据，以及仅发送给这些设备的推送。此操作不可恢复。若应用仍在使用，设备会重新注册。")
  static let personErased = Phrase(
    "The devices were deleted. What is left of their data is being erased.", "设备已删除，其余数据正在清除。")
  static let recallUnconfirmed = Phrase(
    "Recalled, but a node of the cluster has not confirmed it yet. The server retries until it does; until then its devices may still show the notification.",
    "已撤回，但集群中有节点尚未确认。系统会持续通知该节点直至确认；在此之前，其设备仍可能展示该通知。")
  static let pressCopy = Phrase("Selected. Press Ctrl+C", "已选中，请按 Ctrl+C")

  static let twoSecrets = Phrase(
    "Two secrets are accepted: the new one and the previous one.", "当前有两个 Secret 有效：新的和旧的。")
  static let twoSecretsSince = Phrase("Since", "轮换时间")
  static let oldSecretUsed = Phrase("Old secret last used", "旧 Secret 最近使用")
  static let oldSecretUnused = Phrase("not since the server started", "服务器启动以来未使用")
  static let retireText = Phrase(
    "Calls with the old secret are refused immediately.", "使用旧 Secret 的调用将立即被拒绝。")
  static let newSecretLost = Phrase("New secret lost", "新的 Secret 丢失了")
  static let rotateAgainText = Phrase(
    "Create another secret. The lost one is refused immediately. The old one keeps working.",
    "将生成另一个：原来新的立即失效，旧的继续有效。")
  static let rotateAgain = Phrase("Create another", "重新生成")
  static let oldSecretAccepted = Phrase(
    "The old secret is still accepted. Retire it first, or replace the new one.",
    "旧的 Secret 仍然有效。请先停用它，或重新生成新的 Secret。")
  static let bothSign = Phrase(
    "Requests carry the signatures of both secrets until", "请求同时携带新旧两个签名，截止")
  static let signAgainText = Phrase(
    "Create another secret. The lost one is no longer used for signatures. The old one is used until then.",
    "将生成另一个：原来新的不再用于签名，旧的在此之前继续有效。")
  static let bothSignRule = Phrase(
    "The previous secret is still used for signatures. Wait until it expires, or replace the new one.",
    "旧的签名密钥仍在使用。请等待其失效，或重新生成新的密钥。")
}
