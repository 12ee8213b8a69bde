import BorealisBase

/// The texts about segments.
extension Words {
  static let segments = Phrase("Segments", "用户分群")
  static let segment = Phrase("Segment", "用户分群")
  static let segmentsText = Phrase(
    "Conditions for devices, saved under a name. Which devices match is determined each time a push is sent.",
    "以名称保存的设备条件。每次发送推送时重新确定符合条件的设备。")
  static let noSegmentsYet = Phrase("There are no segments yet.", "暂无用户分群。")
  static let newSegment = Phrase("New segment", "新建分群")
  static let editSegment = Phrase("Edit segment", "编辑分群")
  static let segmentDevices = Phrase("Devices {}", "{}的设备")
  static let devicesNow = Phrase("{} now", "当前 {}")
  static let sendToSegment = Phrase("Send a push to it", "向该分群推送")
  static let deleteSegment = Phrase("Delete segment", "删除分群")
  static let deleteSegmentText = Phrase(
    "Pushes that were sent to it stay in the history.", "已发送的推送仍保留在推送记录中。")
  static let segmentDeleted = Phrase("The segment was deleted.", "分群已删除。")
  static let segmentGone = Phrase("The segment no longer exists.", "该分群已不存在。")
  static let segmentNameTaken = Phrase("Another segment has this name.", "名称已被其他分群使用。")
  static let tooManySegments = Phrase(
    "The app has as many segments as it may have. Delete one first.", "分群数量已达上限，请先删除一个。")
  static let segmentInUse = Phrase(
    "A scheduled push or an A/B test uses this segment: {}. Cancel or edit it first.",
    "有定时推送或 A/B 测试使用该分群：{}。请先取消或修改。")
  static let segmentPushGone = Phrase(
    "Push {}, which the condition names, is not kept any more.", "条件中的推送 {} 已不再保留。")
  static let segmentFactOff = Phrase(
    "The condition needs a fact that the app does not ask its devices for: {}. Select it in the settings.",
    "条件需要的设备信息“{}”未开启上报，请先在应用设置中勾选。")
  static let noSegmentChosen = Phrase("Choose a segment.", "请选择用户分群。")
  static let makeSegmentFirst = Phrase("There are no segments yet. Make one:", "暂无用户分群，请先新建：")

  // MARK: The form

  static let matchAll = Phrase("Devices that meet all conditions", "满足全部条件的设备")
  static let matchAny = Phrase("Devices that meet any condition", "满足任一条件的设备")
  static let conditions = Phrase("Conditions", "条件")
  static let condition = Phrase("Condition {}", "条件 {}")
  static let conditionHow = Phrase("Comparison {}", "比较方式 {}")
  static let conditionValue = Phrase("Value {}", "值 {}")
  static let conditionsHint = Phrase(
    "Platforms are ios, android, hmos and quickapp. For an alias and for facts, an empty value means that there is any. Pushes are given by msg_id. Saving adds empty lines.",
    "平台填写 ios、android、hmos 或 quickapp。别名和设备信息留空表示任意值。推送填写 msg_id。保存后会增加空行。")
  static let conditionJSON = Phrase("Condition as JSON", "JSON 格式的条件")
  static let conditionJSONHint = Phrase(
    "This condition has more parts than the form has fields for. The API documentation describes the format.",
    "该条件超出表单可编辑的范围，格式见 API 文档。")
  static let conditionWrong = Phrase(
    "Condition {} is incomplete, or the value does not fit.", "条件 {} 不完整或值不正确。")
  static let conditionMissing = Phrase("Enter at least one condition.", "请至少填写一个条件。")
  static let isValue = Phrase("is", "是")
  static let isNotValue = Phrase("is not", "不是")
  static let atLeastValue = Phrase("is at least", "大于等于")
  static let atMostValue = Phrase("is at most", "小于等于")
  static let beginsWithValue = Phrase("begins with", "开头是")
  static let inLastDays = Phrase("within the last days:", "在最近几天内：")
  static let notInLastDays = Phrase("not within the last days:", "不在最近几天内：")
  static let lastSeenField = Phrase("Last seen", "最近在线")
  static let registeredField = Phrase("Registered", "注册时间")
  static let receivedField = Phrase("Received push", "收到推送")
  static let shownField = Phrase("Showed push", "展示推送")
  static let tappedField = Phrase("Tapped push", "点击推送")

  // MARK: In words

  static let conditionGroup = Phrase("({})", "（{}）")
  static let conditionNot = Phrase("not {}", "非“{}”")
  static let conditionEverybody = Phrase("of all kinds", "全部")
  static let conditionNobody = Phrase("of no kind", "不存在")
  static let conditionTag = Phrase("with tag {}", "带标签 {}")
  static let conditionAlias = Phrase("with an alias", "有别名")
  static let conditionNoAlias = Phrase("without an alias", "无别名")
  static let conditionPlatform = Phrase("on {}", "平台为 {}")
  static let conditionKnown = Phrase("that reported: {}", "已上报{}")
  static let conditionUnknown = Phrase("that did not report: {}", "未上报{}")
  static let factIs = Phrase("{}: {}", "{}为 {}")
  static let factLess = Phrase("{} less than {}", "{}小于 {}")
  static let factAtMost = Phrase("{} at most {}", "{}小于等于 {}")
  static let factMore = Phrase("{} more than {}", "{}大于 {}")
  static let factAtLeast = Phrase("{} at least {}", "{}大于等于 {}")
  static let factBegins = Phrase("{} beginning with {}", "{}以 {} 开头")
  static let conditionSeen = Phrase("last seen {}", "最近在线于{}")
  static let conditionRegistered = Phrase("registered {}", "注册于{}")
  static let withinDays = Phrase("within {} days", "最近 {} 天内")
  static let sinceTime = Phrase("since {}", "{} 起")
  static let beforeTime = Phrase("before {}", "{} 前")
  static let conditionReceived = Phrase("that received push {}", "收到推送 {}")
  static let conditionShown = Phrase("that showed push {}", "展示了推送 {}")
  static let conditionTapped = Phrase("that tapped push {}", "点击了推送 {}")
}
