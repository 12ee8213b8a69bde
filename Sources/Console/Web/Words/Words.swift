import BorealisBase
import Model

/// The console's texts, both languages side by side. All are in one list, so that a thing has one word
/// everywhere; it has no behaviour, which is why it may be this long.
enum Words {
  static let skip = Phrase("Skip to content", "跳到正文")
  static let yourAccount = Phrase("Your account", "我的账号")
  static let profile = Phrase("Profile", "个人资料")
  static let logInToGoOn = Phrase("Log in to continue.", "请登录后继续。")
  static let logOut = Phrase("Log out", "退出登录")
  static let logIn = Phrase("Log in", "登录")
  static let overview = Phrase("Overview", "概览")
  static let sendPush = Phrase("Send a push", "发送推送")
  static let send = Phrase("Send", "发送")
  static let menu = Phrase("Menu", "菜单")
  static let pages = Phrase("Pages", "页面")
  static let allApps = Phrase("All apps", "全部应用")
  static let today = Phrase("Today", "今天")
  static let yesterday = Phrase("Yesterday", "昨天")
  static let history = Phrase("History", "推送历史")
  static let devices = Phrase("Devices", "设备")
  static let settings = Phrase("Settings", "设置")
  static let viewer = Phrase("Viewer", "查看者")
  static let sender = Phrase("Sender", "推送者")
  static let admin = Phrase("Admin", "管理员")
  static let owner = Phrase("Owner", "所有者")
  static let notFoundTitle = Phrase("Page not found", "页面不存在")
  static let notFound = Phrase("The page does not exist, or you do not have access to it.", "页面不存在，或者您无权查看。")
  static let forbiddenTitle = Phrase("Permission required", "没有权限")
  static let forbidden = Phrase(
    "You need the {} role to do this. Ask an owner of the account.", "此操作需要“{}”角色，请联系账号所有者。")
  static let unavailableTitle = Phrase("Temporarily unavailable", "服务暂不可用")
  static let unavailable = Phrase(
    "The server cannot do this right now. Try again in a few moments.", "服务器暂时无法处理，请稍后再试。")
  static let unansweredTitle = Phrase("No answer in time", "处理超时")
  static let unanswered = Phrase(
    "The server did not answer in time. What you asked for may have been done: check before you repeat it.",
    "服务器未能及时响应，您的操作可能已经生效，请确认后再重试。")
  static let tooLargeTitle = Phrase("Too large", "内容过大")
  static let tooLarge = Phrase(
    "The form or a file in it is too large. Nothing was changed. Go back and choose a smaller file.",
    "表单或其中的文件过大，未做任何更改。请返回并选择较小的文件。")
  static let unreadableTitle = Phrase("Invalid request", "请求无效")
  static let unreadable = Phrase("The server could not read the form.", "无法读取表单内容。")
  static let badPageAddress = Phrase("The address of the page is not valid.", "页面地址无效。")
  static let endedInvitationTitle = Phrase("This invitation is no longer valid", "邀请已失效")
  static let endedInvitation = Phrase(
    "It was used or withdrawn, or has expired. If you have joined already, log in. Otherwise ask for a new invitation.",
    "该邀请已被使用、撤回或已过期。如果您已加入，请直接登录；否则请让邀请人重新发送邀请。")
  static let endedLinkTitle = Phrase("This link is no longer valid", "链接已失效")
  static let endedLink = Phrase(
    "The link was used, or the server has printed a newer one.", "该链接已被使用，或服务器已生成新的链接。")
  static let foreignFormTitle = Phrase("Try again", "请重试")
  static let foreignForm = Phrase(
    "The form has expired or did not come from this console. Go back, reload the page and submit it again.",
    "表单已过期，或不是来自本控制台。请返回刷新页面后重新提交。")
  static let toApps = Phrase("Back to apps", "返回应用列表")
  static let setupTitle = Phrase("Set up Borealis", "初始化 Borealis")
  static let setupText = Phrase(
    "You are the first user. You will administer this installation and own its first account.",
    "您是第一位用户，将成为系统管理员和首个账号的所有者。")
  static let setupButton = Phrase("Set up", "完成初始化")
  static let yourName = Phrase("Your name", "姓名")
  static let email = Phrase("Email address", "邮箱")
  static let password = Phrase("Password", "密码")
  static let passwordRule = Phrase(
    "10 to 200 characters. A few unrelated words work best.", "10 到 200 个字符，建议使用几个互不相关的词组。")
  static let passwordOwn = Phrase(
    "Too easy to guess: it contains your email address, your name or the account's name. Use a few unrelated words instead.",
    "密码容易被猜到：包含您的邮箱、姓名或账号名称。请改用几个互不相关的词组。")
  static let passwordCommon = Phrase(
    "Too easy to guess: it is a common password or a small change of one. Use a few unrelated words instead.",
    "密码容易被猜到：这是常见密码或其简单变形。请改用几个互不相关的词组。")
  static let passwordGuessable = Phrase(
    "Too easy to guess: add another word or a few more characters.", "密码容易被猜到：请再加一个词或几个字符。")
  static let passwordKeyboard = Phrase(
    "Too easy to guess: it follows neighboring keys on the keyboard. Use a few unrelated words instead.",
    "密码容易被猜到：包含键盘上相邻的按键。请改用几个互不相关的词组。")
  static let passwordSequence = Phrase(
    "Too easy to guess: it contains a sequence such as 1234 or abcd. Use a few unrelated words instead.",
    "密码容易被猜到：包含 1234、abcd 之类的连续字符。请改用几个互不相关的词组。")
  static let passwordRepetition = Phrase(
    "Too easy to guess: it repeats characters or words. Use a few unrelated words instead.",
    "密码容易被猜到：包含重复的字符或词语。请改用几个互不相关的词组。")
  static let passwordDate = Phrase(
    "Too easy to guess: it contains a date or a year. Use a few unrelated words instead.",
    "密码容易被猜到：包含日期或年份。请改用几个互不相关的词组。")
  static let personNameRule = Phrase(
    "Enter a name of 1 to 80 bytes on one line, without <, > and ://. A Chinese character counts as three.",
    "姓名须为 1 到 80 字节（一个汉字占 3 字节），且不含换行、<、> 和 ://。")
  static let appNameRule = Phrase(
    "Enter a name of 1 to 100 bytes without control characters. A Chinese character counts as three.",
    "名称须为 1 到 100 字节（一个汉字占 3 字节），且不含控制字符。")
  static let thingName = Phrase("Name", "名称")
  static let thingNameWrong = Phrase("Enter a name of at most {} bytes.", "请输入名称，最多 {} 字节。")
  static let tooManyApps = Phrase(
    "The account already has {} apps. Delete one first.", "该账号已有 {} 个应用，请先删除一个。")
  static let emailRule = Phrase("Enter a valid email address.", "邮箱格式不正确。")
  static let emailTaken = Phrase(
    "This email address is already registered. Log in first, then open the link again.", "该邮箱已注册，请先登录再打开链接。"
  )
  static let wrongLogin = Phrase("The email address or the password is incorrect.", "邮箱或密码错误。")
  static let code = Phrase("Authenticator code", "动态验证码")
  static let codeHint = Phrase("Six digits.", "六位数字。")
  static let codeNeeded = Phrase("Enter the code from your authenticator app.", "请输入身份验证器显示的动态验证码。")
  static let wrongCode = Phrase("The code is incorrect or was already used.", "动态验证码错误或已使用。")
  static let tooManyLogins = Phrase(
    "Too many attempts. Try again in {} minutes, or use a browser that you have logged in with before.",
    "尝试次数过多，请 {} 分钟后再试，或使用曾登录过的浏览器。")
  static let invitationTitle = Phrase("Invitation", "您已受邀")
  static let invitationText = Phrase("You are invited to the account {}. Your role: {}.", "邀请您加入账号 {}，角色：{}。")
  static let join = Phrase("Join", "加入")
  static let apps = Phrase("Apps", "应用")
  static let suspendedTitle = Phrase("Account suspended", "账号已停用")
  static let suspendedText = Phrase(
    "The account {} is suspended. Its apps cannot send pushes and its devices cannot connect. Contact an operator of this installation:",
    "账号 {} 已停用：其应用无法推送，设备无法连接。请联系系统管理员：")
  static let noAccounts = Phrase(
    "You are not a member of any account. Ask an owner for an invitation.", "您不属于任何账号，请联系账号所有者获取邀请。")
  static let noApps = Phrase("No apps yet.", "还没有应用。")
  static let newApp = Phrase("Create app", "新建应用")
  static let people = Phrase("Members", "成员")
  static let devicesOnline = Phrase("Devices: {}, online: {}", "设备 {} 台，在线 {} 台")
  static let appName = Phrase("App name", "应用名称")
  static let make = Phrase("Create", "创建")
  static let keysTitle = Phrase("Keys", "密钥")
  static let keysText = Phrase(
    "The master secret is shown only once. Store it on your app server, never in the app.",
    "Master Secret 仅显示这一次，请妥善保存在服务端，切勿放入客户端。")
  static let appKey = Phrase("App key", "AppKey")
  static let masterSecret = Phrase("Master secret", "Master Secret")
  static let toApp = Phrase("Back to the app", "返回应用")
  static let copy = Phrase("Copy", "复制")
  static let copied = Phrase("Copied", "已复制")
  static let registrations = Phrase("Devices", "设备数")
  static let online = Phrase("online", "在线")
  static let offline = Phrase("offline", "离线")
  static let noCredential = Phrase("no credential", "未配置凭证")
  static let ready = Phrase("ready", "就绪")
  static let latestPushes = Phrase("Recent pushes", "最近推送")
  static let rotateText = Phrase(
    "A new secret works immediately. The old one keeps working until you retire it.",
    "新的 Master Secret 立即生效，旧的在停用前仍然有效。")
  static let rotate = Phrase("Create a new secret", "生成新的 Secret")
  static let retire = Phrase("Retire the old secret", "停用旧的 Secret")
  static let retired = Phrase("The old secret no longer works.", "旧的 Secret 已停用。")
  static let nothingToRetire = Phrase("There is no old secret.", "没有旧的 Secret。")
  static let preview = Phrase("Preview", "预览")
  static let now = Phrase("now", "现在")
  static let nobody = Phrase("This audience matches no device.", "没有符合条件的设备。")
  static let confirmTitle = Phrase("Confirm push", "确认发送？")
  static let confirmText = Phrase("Target devices: {}", "将发送到 {} 台设备")
  static let sendNow = Phrase("Send now ({})", "立即发送（{} 台）")
  static let cancel = Phrase("Cancel", "取消")
  static let asCode = Phrase("Send it from your server", "服务端代码")
  static let older = Phrase("Older", "更早")
  static let noPushes = Phrase("No pushes yet.", "还没有推送。")
  static let sentAt = Phrase("Sent", "发送时间")
  static let content = Phrase("Content", "内容")
  static let targets = Phrase("Targets", "目标")
  static let state = Phrase("State", "状态")
  static let recall = Phrase("Recall", "撤回")
  static let kind = Phrase("Type", "类型")
  static let notification = Phrase("Notification", "通知")
  static let message = Phrase("Custom message", "自定义消息")
  static let platforms = Phrase("Platforms", "平台")
  static let environment = Phrase("Environment", "环境")
  static let audience = Phrase("Audience", "目标人群")
  static let oneDevice = Phrase("Devices", "设备")
  static let alias = Phrase("Alias", "别名")
  static let tag = Phrase("Tag", "标签")
  static let everybody = Phrase("Everyone", "所有人")
  static let allTags = Phrase("and all of these tags", "且同时包含这些标签")
  static let noTags = Phrase("and none of these tags", "且不包含这些标签")
  static let title = Phrase("Title", "标题")
  static let text = Phrase("Text", "内容")
  static let hours = Phrase("Keep for offline devices (hours)", "离线保留时长（小时）")
  static let usualHours = Phrase(
    "Leave it empty for a day, or for as long as the app's plan allows if that is less.",
    "留空时保留一天；应用套餐的上限不足一天时，按上限保留。")
  static let audienceSize = Phrase(
    "Reaches {}: {} iOS, {} others; {} online now", "共 {} 台设备：iOS {} 台，其他 {} 台；当前在线 {} 台")
  static let silent = Phrase("(no text)", "（无文字）")
  static let stateOpen = Phrase("in progress", "进行中")
  static let stateDelivered = Phrase("delivered", "已送达")
  static let stateExpired = Phrase("expired", "已过期")
  static let stateRecalled = Phrase("recalled", "已撤回")
  static let stateOverridden = Phrase("replaced", "已覆盖")
  static let stateFailed = Phrase("failed", "失败")
  static let delivered = Phrase("Delivered", "送达")
  static let shown = Phrase("Shown", "展示")
  static let tapped = Phrase("Tapped", "点击")
  static let pending = Phrase("Pending", "等待中")
  static let result = Phrase("Delivery status", "推送结果")
  static let byOwn = by(.passthrough)
  static func by(_ channel: ChannelInfo) -> Phrase { Phrase(channel.english, channel.chinese) }
  /// What stands between a label and what it names, and between the parts of a list.
  static let colon = Phrase(": ", "：")
  static let comma = Phrase(", ", "、")
  /// Names one after the other.
  static func list(_ names: [Phrase]) -> Phrase {
    Phrase(
      names.map(\.english).joined(separator: ", "), names.map(\.chinese).joined(separator: "、"))
  }
  static let failed = Phrase("Failed", "失败")
  static let find = Phrase("Find", "查找")
  static let platform = Phrase("Platform", "平台")
  static let waiting = Phrase("Pending pushes", "待送达推送")
  static let tags = Phrase("Tags", "标签")
  static let noTagsYet = Phrase("No device has had a tag yet.", "还没有设备设置过标签。")
  static let name = Phrase("Name", "姓名")
  static let role = Phrase("Role", "角色")
  static let audit = Phrase("Audit log", "操作日志")
  static let inviteLink = Phrase(
    "Send this link to the person you invite. It works once and expires after seven days:",
    "请将此链接发给对方，七天内有效，仅可使用一次：")
  static let invite = Phrase("Invite a member", "邀请成员")
  static let makeLink = Phrase("Create link", "生成链接")
  static let removeMemberSure = Phrase(
    "{} loses access to the account at once.", "移除后，{} 将立即无法访问此账号。")
  static let removeMember = Phrase("Remove", "移除")
  static let save = Phrase("Save", "保存")
  static let yes = Phrase("yes", "是")
  static let no = Phrase("no", "否")
  static let withdraw = Phrase("Withdraw", "撤销")
  static let lastOwner = Phrase(
    "An account needs an owner. Make another member an owner first.", "账号至少需要一位所有者，请先指定其他所有者。")
  static let when = Phrase("When", "时间")
  static let who = Phrase("Actor", "操作者")
  static let action = Phrase("Action", "操作")
  static let what = Phrase("Object", "对象")
  static let from = Phrase("From", "来源地址")
  static let language = Phrase("Language", "语言")
  static let oldPassword = Phrase("Current password", "当前密码")
  static let newPassword = Phrase("New password", "新密码")
  static let changePassword = Phrase("Change password", "修改密码")
  static let sessions = Phrase("Active sessions", "登录会话")
  static let endSessionText = Phrase(
    "This browser has to log in again.", "该浏览器需要重新登录。")
  static let endOtherSessions = Phrase("Log out everywhere else", "退出其他所有登录")
  static let endOtherSessionsText = Phrase(
    "Ends all sessions but that of this browser.", "结束除当前浏览器以外的所有会话。")
  static let otherSessionsEnded = Phrase("All other sessions were ended.", "已退出其他所有登录。")
  static let browserOn = Phrase("{} on {}", "{}（{}）")
  static let unknownBrowser = Phrase("Unknown browser", "未知浏览器")
  static let thisBrowser = Phrase("this browser", "当前浏览器")
  static let wrongPassword = Phrase("The current password is incorrect.", "当前密码错误。")
  static let passwordChanged = Phrase(
    "The password was changed. Other browsers are logged out.", "密码已修改，其他浏览器已退出登录。")
  static let totp = Phrase("Authenticator app", "身份验证器")
  static let totpText = Phrase(
    "With an authenticator app, a password alone is not enough to log in.", "启用后，登录时除密码外还需输入动态验证码。")
  static let totpStart = Phrase("Set up an authenticator app", "设置身份验证器")
  static let tooManyPasswords = Phrase(
    "Too many attempts. Try again in {} minutes.", "尝试次数过多，请 {} 分钟后再试。")
  static let totpOpen = Phrase("Open in an app on this device", "在本机应用中打开")
  static let totpOn = Phrase("Turn on", "启用")
  static let totpStop = Phrase("Turn off", "停用")
  static let totpIsOn = Phrase("You need a code from your authenticator app to log in.", "登录时需要动态验证码。")
  static let recoveryCodes = Phrase("Recovery codes", "恢复码")
  static let recoveryText = Phrase(
    "Keep these codes in a safe place away from your phone. Each one lets you log in once if you lose your authenticator app. They are shown only once.",
    "请将这些恢复码保存在手机以外的安全位置：身份验证器丢失时，每个恢复码可用于登录一次。恢复码仅显示这一次。")
  static let recoveryLeft = Phrase("Unused recovery codes: {}", "未使用的恢复码：{} 个")
  static let recoveryRenew = Phrase("Create new recovery codes", "重新生成恢复码")
  static let recoveryRenewed = Phrase("The earlier recovery codes no longer work.", "之前的恢复码已失效。")
  static let wrongRecoveryCode = Phrase("The recovery code is incorrect or was already used.", "恢复码错误或已使用。")
  static let recoveryInstead = Phrase("Use a recovery code instead", "改用恢复码")
  static let recoveryCode = Phrase("Recovery code", "恢复码")
  static let recovered = Phrase(
    "You logged in with a recovery code, which no longer works. The number of remaining codes is shown below.",
    "您已使用一个恢复码登录，该恢复码已失效。剩余数量见下方。")
  static let goOn = Phrase("Continue", "继续")
  static let totpIsOff = Phrase(
    "The authenticator app is turned off. You log in with your password only.", "已停用身份验证器，登录仅需密码。")
}
