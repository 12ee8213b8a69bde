import BorealisBase

/// The texts of API keys and of the log of requests.
extension Words {
  static let partKeys = Phrase("API keys", "API 密钥")
  static let keysAbout = Phrase(
    "A server uses a key's secret in place of the master secret, with the app key as the user name. Give each server a key of its own, with only the rights that it needs. To replace a key, create another one, and revoke the first when it is no longer used.",
    "服务端以 AppKey 为用户名，用密钥代替 Master Secret 调用 API。建议为每个服务单独创建密钥，只授予所需权限。更换时先创建新密钥，待旧密钥不再使用后吊销。")
  static let noKeys = Phrase(
    "No keys yet. All servers of the app use the master secret.", "暂无 API 密钥，服务端均使用 Master Secret。")
  static let newKey = Phrase("New key", "新建密钥")
  static let createKey = Phrase("Create key", "创建密钥")
  static let keyName = Phrase("Name", "名称")
  static let keyNameHint = Phrase("Such as the server that uses it.", "例如使用该密钥的服务名称。")
  static let keyRights = Phrase("Rights", "权限")
  static let keyNetworks = Phrase("Networks", "网段")
  static let keyNetworksHint = Phrase(
    "Such as 203.0.113.7 or 2001:db8::/32. Empty: any address that the app allows.",
    "例如 203.0.113.7 或 2001:db8::/32；留空则不另作限制，仍须符合应用的 IP 白名单。")
  static let keyUsed = Phrase("Last used", "最近使用")
  static let keyNeverUsed = Phrase("never", "从未使用")
  static let keyExpires = Phrase("Expires", "到期时间")
  static let keyLifetime = Phrase("Expires after", "有效期")
  static let keyDays = Phrase("{} days", "{} 天")
  static let keyNever = Phrase("never", "永不过期")
  static let keyExpired = Phrase("expired", "已过期")
  static let keyNeedsRight = Phrase("Select at least one right.", "请至少选择一项权限。")
  static let tooManyKeys = Phrase(
    "The app has {} keys already. Revoke one that is not used.", "密钥数量已达上限（{} 个），请先吊销不用的密钥。")
  static let keySecret = Phrase("Secret", "密钥")
  static let keySecretText = Phrase(
    "The secret is shown only now. Store it where your server finds it.", "密钥仅显示这一次，请立即妥善保存。")
  static let toKeys = Phrase("Back to the keys", "返回密钥列表")
  static let revokeKey = Phrase("Revoke", "吊销")
  static let revokeKeyText = Phrase(
    "Calls with this key are refused immediately. This cannot be undone.", "使用该密钥的调用将立即被拒绝，且无法恢复。")
  static let keyRevoked = Phrase("The key is revoked.", "密钥已吊销。")
  static let revokedKey = Phrase("{} (revoked)", "{}（已吊销）")

  static let rightPush = Phrase("Push", "推送")
  static let rightPushText = Phrase(
    "Send, plan and recall pushes; schedules and files.", "发送、定时与撤回推送，管理定时任务和文件。")
  static let rightDevices = Phrase("Devices", "设备")
  static let rightDevicesText = Phrase(
    "Read and change devices, aliases and tags.", "查询和修改设备、别名与标签。")
  static let rightReports = Phrase("Reports", "统计")
  static let rightReportsText = Phrase(
    "Read what became of pushes, and numbers of users.", "查询推送结果和用户统计。")
  static let rightSettings = Phrase("Settings", "设置")
  static let rightSettingsText = Phrase(
    "Callbacks, encryption at rest, facts about devices, and keys with no more rights than this one.",
    "管理回调、存储加密、设备信息采集，以及权限不超过自身的密钥。")

  static let requests = Phrase("Requests", "请求日志")
  static let requestsText = Phrase(
    "Calls of the API by the app's servers in the last seven days, without what they contain. Calls that are alike are one row a minute.",
    "最近七天服务端的 API 调用（不含请求内容）。一分钟内相同的调用合并为一行。")
  static let requestsRefusedText = Phrase(
    "Refused calls of the API by the app's servers in the last seven days, without what they contain. This installation does not log calls that succeed.",
    "最近七天被拒绝的服务端 API 调用（不含请求内容）。本系统未记录成功的调用。")
  static let requestsOffText = Phrase(
    "This installation does not log calls of the API.", "本系统未开启请求日志。")
  static let noRequests = Phrase("No calls in the last seven days.", "最近七天没有调用。")
  static let noRequestMatches = Phrase("No call matches.", "没有符合条件的调用。")
  static let requestResult = Phrase("Result", "结果")
  static let requestSuccessful = Phrase("successful", "成功")
  static let requestRefused = Phrase("refused", "被拒绝")
  static let requestFailed = Phrase("failed in the server", "服务器错误")
  static let requestUnauthenticated = Phrase("no valid secret", "密钥无效")
  static let requestCode = Phrase("Code", "错误码")
  static let requestAddress = Phrase("Address", "来源地址")
  static let severalAddresses = Phrase("several or unknown", "多个或未知")
  static let requestKey = Phrase("Key", "密钥")
  static let requestCall = Phrase("Call", "接口")
  static let requestCount = Phrase("Calls", "次数")
  static let unknownPath = Phrase("unknown path", "未知路径")
}
