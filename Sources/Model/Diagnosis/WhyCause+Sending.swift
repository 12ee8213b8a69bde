/// Why a push was not meant for a device, or not yet.
extension WhyCause {
  /// The app has no such registration.
  package static let registrationUnknown = WhyCause(
    "registration_unknown", .refreshRegistration,
    "The app has no such registration.",
    "应用中没有这个 Registration ID。")
  /// Another registration replaced it, as after a reinstall.
  package static let registrationReplaced = WhyCause(
    "registration_replaced", .refreshRegistration,
    "The registration was replaced: the app was reinstalled, or its data was cleared. The device "
      + "now has a new registration.",
    "该 Registration ID 已失效：应用被重装或清除了数据，现在的 ID 如下。")
  /// The app's server or a person deleted it, or the server did because nobody used it.
  package static let registrationDeleted = WhyCause(
    "registration_deleted", .refreshRegistration,
    "The registration was deleted, on request or because its device was not seen for long. A device that still "
      + "uses it registers anew.",
    "该 Registration ID 已被删除（主动删除，或设备长期未连接）；仍在使用的设备会重新注册。")
  /// It registered after the push was accepted.
  package static let registeredLater = WhyCause(
    "registered_later", .sendAgain,
    "The device registered only after the push was accepted.",
    "设备在推送被接收之后才注册。")
  /// It was imported, and its device had not registered.
  package static let notRegistered = WhyCause(
    "not_registered", .sendAgain,
    "The registration was imported, and its device has not registered with this server yet.",
    "该注册来自导入，设备尚未在本服务器注册。")
  /// The push is for other platforms.
  package static let otherPlatform = WhyCause(
    "other_platform", .addressPlatform,
    "The push is for other platforms.",
    "推送未包含该设备的平台。")
  /// The push has nothing for the device's platform.
  package static let nothingForPlatform = WhyCause(
    "nothing_for_platform", .addressPlatform,
    "The push has no content for the device's platform.",
    "推送没有针对该平台的内容。")
  /// The device got the alias after the push was accepted.
  package static let aliasBoundLater = WhyCause(
    "alias_bound_later", .bindFirst,
    "The alias was bound only after the push was accepted.",
    "别名在推送被接收之后才绑定。")
  /// The device does not have the alias.
  package static let aliasNotBound = WhyCause(
    "alias_not_bound", .bindFirst,
    "The device does not have the alias.",
    "设备没有绑定该别名。")
  /// The alias has reached its limit of devices, and this one is not among them.
  package static let aliasFull = WhyCause(
    "alias_full", .freeAlias,
    "The alias has reached its limit of 10 devices, and this one is not among them.",
    "该别名已绑定 10 台设备（上限），此设备不在其中。")
  /// The device got the tag after the push was accepted.
  package static let tagBoundLater = WhyCause(
    "tag_bound_later", .bindFirst,
    "The tag was set only after the push was accepted.",
    "标签在推送被接收之后才设置。")
  /// The device does not have the tag.
  package static let tagNotBound = WhyCause(
    "tag_not_bound", .bindFirst,
    "The device does not have the tag.",
    "设备没有该标签。")
  /// The device had lost the tag.
  package static let tagRemoved = WhyCause(
    "tag_removed", .bindFirst,
    "The tag was removed from the device before that.",
    "该标签在推送之前已从设备移除。")
  /// The device has a tag that the push excludes.
  package static let tagExcluded = WhyCause(
    "tag_excluded", .changeAudience,
    "The device has a tag that the push excludes.",
    "设备带有被推送排除的标签。")
  /// The push names other devices.
  package static let notNamed = WhyCause(
    "not_named", .changeAudience,
    "The push names other devices.",
    "推送指定了设备，但不包含此设备。")
  /// The device was not in the segment.
  package static let notInSegment = WhyCause(
    "not_in_segment", .changeAudience,
    "The device was not in the segment when the push was accepted.",
    "推送受理时，设备不在该用户分群中。")
  /// The push is one content of an A/B test, or the winner, and went to other devices.
  package static let notInABTest = WhyCause(
    "not_in_abtest", .nothing,
    "The push is one content of an A/B test, or the winner, and went to other devices.",
    "该推送是 A/B 测试的一个内容版本或胜出版本，发送给了其他设备。")
  /// The push went to others of its audience first, and it is not decided yet whether the rest gets it.
  package static let canaryWaiting = WhyCause(
    "canary_waiting", .wait,
    "The push goes to a share of its audience first. This device belongs to the rest, which waits.",
    "推送先灰度发送给部分目标人群；此设备属于其余部分，仍在等待。")
  /// The push went to others of its audience first, and the rest did not get it.
  package static let canaryStopped = WhyCause(
    "canary_stopped", .lookAtCanary,
    "The push went to a share of its audience first, and then stopped. This device belongs to the rest.",
    "推送先灰度发送给部分目标人群后停止；此设备属于其余部分。")
  /// The push is one of the two of a push with a canary.
  package static let otherPart = WhyCause(
    "other_part", .lookAtOtherPush,
    "The push went to a share of its audience first, and to the rest later. This device belongs to the other part.",
    "推送先灰度发送给部分目标人群，之后再发送给其余设备；此设备属于另一部分。")
  /// The push is one of several, each for a time zone.
  package static let otherZone = WhyCause(
    "other_zone", .lookAtSchedule,
    "The push was for devices in other time zones: its schedule makes a push for each zone.",
    "推送发给其他时区的设备：该定时推送按时区分别发送。")
  /// The push is for test devices only.
  package static let notTestDevice = WhyCause(
    "not_test_device", .addTestDevice,
    "The push is for test devices only.",
    "推送仅发送给测试设备。")
  /// The device was on the app's black list.
  package static let blocked = WhyCause(
    "blocked", .unblock,
    "The device is on the app's black list.",
    "设备在应用的黑名单中。")
  /// The push left out devices that show no notifications.
  package static let leftOut = WhyCause(
    "left_out", .checkPermission,
    "The push left out devices that show no notifications: this one had reported that they are off, or that its user has opted out.",
    "推送过滤了不展示通知的设备：此设备曾上报通知权限已关闭，或用户已拒收推送。")
  /// The device had as many notifications on that day as it may.
  package static let capped = WhyCause(
    "capped", .raiseCap,
    "As many notifications of this class had been sent to the device on that day as the app allows.",
    "当日发往该设备的此类通知已达应用设置的上限。")
  /// The device was in its quiet hours.
  package static let quietHours = WhyCause(
    "quiet_hours", .changeQuietHours,
    "The device was in its quiet hours: the app drops notifications then, or the push expired before they ended.",
    "设备处于免打扰时段：应用设置为丢弃该时段的通知，或推送在时段结束前已过期。")
  /// The device has no token for the Live Activity.
  package static let noLiveActivity = WhyCause(
    "no_live_activity", .startLiveActivity,
    "The device has not reported a token for the Live Activity.",
    "设备没有上报该实时活动的 Token。")
  /// The audience, or the device's state at that time, was not recorded.
  package static let audienceUnknown = WhyCause(
    "audience_unknown", .changeAudience,
    "The audience, or the device's state at that time, was not recorded.",
    "当时的目标人群或设备状态没有记录。")
  /// The sender recalled the push or, in Getui's API, stopped the task.
  package static let recalled = WhyCause(
    "recalled", .sendAgain,
    "The sender recalled the push or stopped its task.",
    "发送者撤回了推送（任务已停止）。")
  /// Another push replaced it.
  package static let overridden = WhyCause(
    "overridden", .nothing,
    "The sender replaced it with another push.",
    "发送者用另一条推送覆盖了它。")
  /// The push uses paced delivery, and it is not this device's turn yet.
  package static let stillSpreading = WhyCause(
    "still_spreading", .wait,
    "The push uses paced delivery, and it is not this device's turn yet.",
    "推送正在按定速分批发送，尚未轮到该设备。")
  /// It is in its quiet hours, and gets the push when they end.
  package static let held = WhyCause(
    "held", .wait,
    "The device is in its quiet hours, and gets the push when they end.",
    "设备处于免打扰时段，时段结束后才会收到。")

  static let ofSending: [WhyCause] = [
    .registrationUnknown, .registrationReplaced, .registrationDeleted, .registeredLater, .notRegistered,
    .otherPlatform, .nothingForPlatform, .aliasBoundLater, .aliasNotBound, .aliasFull, .tagBoundLater,
    .tagNotBound, .tagRemoved, .tagExcluded,
    .notNamed, .notInSegment, .notInABTest, .canaryWaiting, .canaryStopped, .otherPart, .otherZone,
    .notTestDevice, .blocked, .leftOut, .capped,
    .quietHours, .noLiveActivity,
    .audienceUnknown,
    .recalled, .overridden,
    .stillSpreading, .held,
  ]
}
