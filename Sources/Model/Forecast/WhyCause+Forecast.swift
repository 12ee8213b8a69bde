import BorealisBase

/// Why a push makes no sound, is not shown or waits: what a forecast says besides the causes of a diagnosis.
extension WhyCause {
  /// The device has said that it shows no notifications of the app.
  package static let permissionOff = WhyCause(
    "permission_off", .checkPermission,
    "The device has reported that it shows no notifications: they are turned off, or its user has opted out.",
    "设备上报不展示通知：通知权限已关闭，或用户已拒收推送。")
  /// The sender names marketing.
  package static let marketingClass = WhyCause(
    "marketing_class", .changeClass,
    "The push is marketing, which the maker's devices show without a sound.",
    "推送属于资讯营销类，厂商设备静默展示。")
  /// The sender names no class.
  package static let classMissing = WhyCause(
    "class_missing", .changeClass,
    "The push names no class for the maker, and is sent as marketing, without a sound.",
    "推送未填写厂商的消息分类，按资讯营销类静默展示。")
  /// The sender asks for no sound.
  package static let noSound = WhyCause(
    "no_sound", .nothing,
    "The push asks for no sound.",
    "推送未要求提示音。")
  /// The device gets data for the app.
  package static let messageOnly = WhyCause(
    "message_only", .nothing,
    "The device gets data for the app, and no notification.",
    "设备只收到供应用处理的数据，没有通知。")
  /// The service wakes the app.
  package static let wakesApp = WhyCause(
    "wakes_app", .nothing,
    "The push wakes the app, and shows nothing.",
    "推送仅唤醒应用，不展示内容。")
  /// More devices than the app's quota has left.
  package static let overQuota = WhyCause(
    "over_quota", .changeClass,
    "By what the maker's service has said today, the app's quota ends before these devices.",
    "按厂商今日返回的数据，应用的配额不足以发送给这些设备。")

  /// All of them.
  package static let ofForecast: [WhyCause] = [
    .permissionOff, .marketingClass, .classMissing, .noSound, .messageOnly, .wakesApp, .overQuota,
  ]
}
