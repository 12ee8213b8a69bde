import BorealisBase
import Model

extension APNsTokenKind {
  /// The kind as the channel declares it. Apple says that ordinary tokens may have up to 100 bytes, and
  /// nothing of the others.
  fileprivate var declared: TokenKind {
    let name =
      switch self {
      case .device: "device"
      case .voip: "voip"
      case .liveActivity: "live_activity"
      case .liveActivityStart: "live_activity_start"
      }
    return TokenKind(
      rawValue, name: name, form: .hexadecimal, maximumBytes: self == .device ? 100 : 255, isNamed: isNamed)
  }

  /// The leg that notifications for these tokens belong to.
  package var leg: DeliveryLeg { self == .voip ? .apnsCall : .apns }
}

extension ChannelInfo {
  /// Apple's push service (APNs).
  package static let apns = ChannelInfo(
    id: .apns, name: "apns", english: "APNs", chinese: "苹果推送", platforms: PlatformSet(.ios),
    parts: .notification, tokens: APNsTokenKind.allCases.map(\.declared),
    services: [
      ChannelService(APNsEnvironment.production.name, english: "Production", chinese: "生产环境"),
      ChannelService(APNsEnvironment.sandbox.name, english: "Sandbox", chinese: "开发环境"),
    ], words: .apns)
}

extension PushContent {
  /// Which of Apple's tokens it would go to; of several, not that for calls.
  package var apnsSlot: TokenSlot? {
    let notifications = apple
    return (notifications.first { $0.slot.kind != .voip } ?? notifications.first)?.slot.slot
  }

  /// What APNs could bring of it, for an app with credentials for some services. Only APNs can bring a call,
  /// so only a strategy without vendors' channels drops it.
  package func apnsOffers(_ strategy: Strategy, _ services: ServiceSet) -> [ChannelOffer] {
    guard !services.isEmpty else { return [] }
    return apple.compactMap { notification in
      let leg = notification.slot.kind.leg
      if leg == .apnsCall, !Routing.mayUseVendor(strategy, on: .ios) { return nil }
      return ChannelOffer(leg, to: notification.slot.slot, of: services, on: PlatformSet(.ios))
    }
  }
}
