import BorealisBase

/// What the receipt of a channel's service says of a push that it took and that did not arrive, in words that
/// all services share. The raw values stand in answers and callbacks, beside the reasons of services.
package enum ReceiptReason: String, Sendable, CaseIterable {
  /// The app is not installed any more.
  case appRemoved = "AppRemoved"
  /// The token belongs to no install of the app any more: its data was deleted, or it was installed anew.
  case tokenReplaced = "TokenReplaced"
  /// The user turned the app's notifications off, or parental controls hide them.
  case notificationsOff = "NotificationsOff"
  /// The device was not seen by the service for long.
  case deviceInactive = "DeviceInactive"
  /// A newer push took its place before it arrived.
  case superseded = "Superseded"
  /// The device has got as many notifications of the app as the service allows.
  case deviceQuota = "DeviceQuota"
  /// The push expired at the service.
  case notInTime = "NotInTime"
  /// The service or the device does not take its content.
  case contentRefused = "ContentRefused"
  /// The service has another reason.
  case notArrived = "NotArrived"

  /// What it means for whoever asks why a push did not arrive.
  package var meaning: ChannelReason {
    switch self {
    case .appRemoved, .tokenReplaced: ChannelReason(.channelTokenGone, .token)
    case .notificationsOff: ChannelReason(.notificationsOff, .notificationsOff)
    case .deviceInactive: ChannelReason(.receiptInactive, .other)
    case .superseded: ChannelReason(.receiptSuperseded, .overload)
    case .deviceQuota: ChannelReason(.receiptQuota, .overload)
    case .notInTime: ChannelReason(.receiptNotInTime, .other)
    case .contentRefused: ChannelReason(.receiptContent, .other)
    case .notArrived: ChannelReason(.receiptNotArrived, .other)
    }
  }
}

/// What receipts of channels' services say of pushes that did not arrive.
extension WhyCause {
  /// The device was not seen for long.
  package static let receiptInactive = WhyCause(
    "receipt_inactive", .keepAlive,
    "The channel's service says that it has not seen the device for a long time.",
    "厂商通道回执：设备长期未活跃。")
  /// A newer push took its place.
  package static let receiptSuperseded = WhyCause(
    "receipt_superseded", .sendFewer,
    "The channel's service says that newer pushes took its place before it arrived.",
    "厂商通道回执：送达之前已被更新的推送覆盖。")
  /// The device has got as many as it may.
  package static let receiptQuota = WhyCause(
    "receipt_quota", .changeClass,
    "The channel's service says that the device has received as many notifications of this class as it may.",
    "厂商通道回执：设备当日收到的该类通知已达上限。")
  /// It expired at the service.
  package static let receiptNotInTime = WhyCause(
    "receipt_not_in_time", .extendLifetime,
    "The channel's service says that the push expired before the device could be reached.",
    "厂商通道回执：设备可达之前推送已过期。")
  /// Its content is not taken.
  package static let receiptContent = WhyCause(
    "receipt_content", .lookUpChannelReason,
    "The channel's service says that the content of the push is not accepted.",
    "厂商通道回执：推送内容不被接受。")
  /// Another reason.
  package static let receiptNotArrived = WhyCause(
    "receipt_not_arrived", .lookUpChannelReason,
    "The channel's service says that the push did not arrive.",
    "厂商通道回执：推送未送达。")

  static let ofReceipts: [WhyCause] = [
    .receiptInactive, .receiptSuperseded, .receiptQuota, .receiptNotInTime,
    .receiptContent, .receiptNotArrived,
  ]
}
