import BorealisBase

/// The texts of pushes that wait: for a second person, or for a time to be undone.
extension Words {
  static let waitingPushes = Phrase("Waiting for approval", "等待审批")
  static let waitingPushesText = Phrase(
    "Pushes to so many devices that a second person has to approve them. Who gets one is determined when it goes. A push that nobody approves within 24 hours of its time ends.",
    "目标设备数超过上限、须由另一人批准的推送。实际目标以发送时为准；超过发送时间 24 小时未批准的推送自动失效。")
  static let nothingWaiting = Phrase("Nothing waits for approval.", "暂无等待审批的推送。")
  static let askedBy = Phrase("Asked by", "申请人")
  static let waitsUntil = Phrase("Ends", "失效时间")
  static let wouldReach = Phrase("Devices now", "当前设备数")

  // MARK: One push

  static let goesAt = Phrase("It goes at {} by itself. Until then you can undo it.", "将于 {} 自动发送，在此之前可撤销。")
  static let goesNow = Phrase("It is being sent.", "正在发送。")
  static let waitsForApproval = Phrase(
    "It waits until another person who may send pushes approves it.", "等待另一位有发送权限的成员批准。")
  static let waitsForOther = Phrase(
    "You asked for it, so another person has to approve it.", "您是申请人，须由他人批准。")
  static let wasApproved = Phrase("Approved by {}.", "已由 {} 批准。")
  static let wasRejected = Phrase("Rejected by {}. Nobody got it.", "已被 {} 拒绝，未发送给任何设备。")
  static let wasStopped = Phrase("Stopped by {}. Nobody got it.", "已被 {} 撤销，未发送给任何设备。")
  static let wasExpired = Phrase("Nobody approved it in time. Nobody got it.", "超时未批准，未发送给任何设备。")
  static let wasNotSent = Phrase("Not sent: {}", "未发送：{}")
  static let somebody = Phrase("a former member", "已离开的成员")
  static let undo = Phrase("Undo", "撤销")
  static let approve = Phrase("Approve", "批准")
  static let approveText = Phrase(
    "The audience is counted again and the push is sent, once.", "将重新计算目标并发送一次。")
  static let approveScheduledText = Phrase(
    "The push is sent at its times, to those who match then.", "推送将按设定时间发送给届时符合条件的设备。")
  static let approveNow = Phrase("Approve this push", "批准此推送")
  static let reject = Phrase("Reject", "拒绝")
  static let rejectText = Phrase("Nobody gets the push.", "推送不会发送给任何设备。")
  static let rejectNow = Phrase("Reject this push", "拒绝此推送")
  static let withdrawRequest = Phrase("Withdraw", "撤回申请")
  static let withdrawRequestNow = Phrase("Withdraw this push", "撤回此推送")
  static let wasApprovedNow = Phrase("Approved.", "已批准。")
  static let wasStoppedNow = Phrase("Stopped. Nobody gets the push.", "已停止，推送不会发送给任何设备。")
  static let waitingOver = Phrase("Too late: it no longer waits.", "操作已失效：该项已不在等待中。")
  static let ownApproval = Phrase("Another person has to approve what you asked for.", "您提交的申请须由他人批准。")
  static let changedSince = Phrase(
    "It was changed after you opened the page. Look at it again.", "页面打开后内容已被修改，请重新查看。")
  static let toWaiting = Phrase("Show the push", "查看推送")

  // MARK: Sending

  static let needsApproval = Phrase(
    "A push to more than {} devices waits until another person approves it.", "超过 {} 台设备的推送须由另一人批准后才会发送。")
  static let canBeUndone = Phrase("After you send it, you can undo it for {} seconds.", "发送后 {} 秒内可撤销。")
  static let askForApproval = Phrase("Ask for approval", "提交审批")
  static let tooManyWaiting = Phrase(
    "Too many pushes of the app wait already.", "该应用等待中的推送已达上限。")
  static let needsApprovalHere = Phrase(
    "The push is for more devices than one person may reach alone. Send it with the form for a push, which asks for approval.",
    "目标设备数超过单人可发送的上限，请在发送推送页面提交审批。")

  // MARK: Settings

  static let partApproval = Phrase("Approval and undo", "审批与撤销")
  static let approvalText = Phrase(
    "A push to many devices cannot be taken back from those who have read it. Above a number of devices, a second person who may send pushes has to approve it. Splitting a push into several smaller ones is not prevented.",
    "已被阅读的推送无法收回。目标设备数超过设定值时，须由另一位有发送权限的成员批准。将一次推送拆分成多次不受此限制。")
  static let approvalTitle = Phrase("Approval of large pushes", "大范围推送审批")
  static let approvalAbove = Phrase("Approval above (devices)", "超过多少台设备需审批")
  static let approvalAboveHint = Phrase("0: no approval", "0 表示无需审批")
  static let approvalOfServers = Phrase("App servers too", "同时限制应用服务器")
  static let approvalOfServersHint = Phrase(
    "Pushes of the app's servers to more devices are refused with code 2005. Otherwise they go without approval.",
    "应用服务器超过该数量的推送将被拒绝（错误码 2005）；不勾选则无需审批。")
  static let approvalInvalid = Phrase(
    "Enter a number of devices from 0 to {}.", "请填写 0 到 {} 的设备数。")
  static let approvalAlone = Phrase(
    "Nobody else in the account may send pushes, so nobody could approve one. Invite a second person first.",
    "账号中没有其他有发送权限的成员，无人可以审批。请先邀请成员。")
  static let approvalTighter = Phrase(
    "A lower number holds at once. A higher one, and turning approval off, need the approval of another admin.",
    "调低立即生效；调高、关闭审批或放开应用服务器须由另一位管理员批准。")
  static let approvalAsked = Phrase(
    "Another admin has to approve this change. It ends after 24 hours.", "此修改须由另一位管理员批准，24 小时内有效。")
  static let looserTitle = Phrase("Change that waits for approval", "等待批准的修改")
  static let looserText = Phrase("{} wants to set: {}.", "{} 申请修改为：{}。")
  static let aboveDevices = Phrase("approval above {} devices, app servers exempt", "超过 {} 台设备需审批，不限制应用服务器")
  static let aboveDevicesAll = Phrase("approval above {} devices, app servers too", "超过 {} 台设备需审批，同时限制应用服务器")
  static let noApproval = Phrase("no approval", "无需审批")
  static let approveChange = Phrase("Approve change", "批准修改")
  static let approveChangeText = Phrase("It holds at once.", "立即生效。")
  static let rejectChange = Phrase("Reject change", "拒绝修改")
  static let rejectChangeText = Phrase("The settings stay as they are.", "设置保持不变。")
  static let withdrawChange = Phrase("Withdraw change", "撤回修改")
  static let undoTitle = Phrase("Undo", "撤销发送")
  static let undoText = Phrase(
    "A push that somebody sends with the form waits for so many seconds, with a button to undo it. Pushes of app servers do not wait.",
    "通过表单发送的推送会等待设定的秒数，其间可撤销；应用服务器的推送不等待。")
  static let undoSeconds = Phrase("Seconds to undo", "可撤销的秒数")
  static let undoSecondsHint = Phrase("0 to {}; 0: pushes go at once", "0 到 {}；0 表示立即发送")
  static let undoInvalid = Phrase("Enter a number of seconds from 0 to {}.", "请填写 0 到 {} 的秒数。")
}
