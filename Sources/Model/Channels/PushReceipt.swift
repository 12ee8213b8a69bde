/// What a device says of a push, or the receipt of a channel's service for a device. The numbers stand in the
/// database.
package enum PushReceipt: UInt8, Sendable, CaseIterable {
  /// The notification was shown.
  case shown = 1
  /// The user tapped it.
  case tapped = 2
  /// The device acknowledged it when nothing waited for that any more.
  case acknowledgedLate = 3
  /// The service says that it arrived at the device.
  case arrived = 4
  /// The app showed its in-app message.
  case inAppShown = 5
  /// The user tapped that.
  case inAppTapped = 6
  /// The service says that it did not, since the app is not installed.
  case appRemoved = 16
  /// The same, since the token belongs to no install of the app any more.
  case tokenReplaced = 17
  /// The same, since the device shows no notifications of the app.
  case notificationsOff = 18
  /// The same, since the device was not seen for long.
  case deviceInactive = 19
  /// The same, since a newer push took its place before it arrived.
  case superseded = 20
  /// The same, since the device has got as many as it may.
  case deviceQuota = 21
  /// The same, since its time to live ended.
  case notInTime = 22
  /// The same, since the service or the device does not take its content.
  case contentRefused = 23
  /// The same, for another reason.
  case notArrived = 24

  /// What the service says of a push that did not arrive; nil for all else.
  package var reason: ReceiptReason? {
    switch self {
    case .shown, .tapped, .acknowledgedLate, .arrived, .inAppShown, .inAppTapped: nil
    case .appRemoved: .appRemoved
    case .tokenReplaced: .tokenReplaced
    case .notificationsOff: .notificationsOff
    case .deviceInactive: .deviceInactive
    case .superseded: .superseded
    case .deviceQuota: .deviceQuota
    case .notInTime: .notInTime
    case .contentRefused: .contentRefused
    case .notArrived: .notArrived
    }
  }

  /// Whether it is about the in-app message.
  package var isOfInApp: Bool { self == .inAppShown || self == .inAppTapped }

  /// Whether a service says it, not the device.
  package var isOfService: Bool { self == .arrived || reason != nil }
}
