import PushBase

extension DeliveryLeg {
  /// What goes to the device's ordinary token, or to one of a Live Activity: a push has one of these.
  public static let apns = DeliveryLeg(.apns)
  /// A call, which goes to the token for calls.
  public static let apnsCall = DeliveryLeg(.apns, 2)
}

extension APNsTokenKind {
  /// The leg that notifications for these tokens belong to.
  public var leg: DeliveryLeg { self == .voip ? .apnsCall : .apns }
}

extension ChannelInfo {
  /// Apple's push service.
  public static let apns = ChannelInfo(
    id: .apns, name: "apns", english: "APNs", chinese: "苹果推送", platforms: PlatformSet(.ios),
    parts: .notification)
}

extension PushContent {
  /// What APNs could bring of it, for an app with credentials for some environments. Only APNs can bring a call, so only a
  /// strategy without vendors' channels drops it.
  public func apnsOffers(_ strategy: Strategy, _ environments: APNsEnvironments) -> [ChannelOffer] {
    guard !apple.isEmpty, !environments.isEmpty else { return [] }
    return apple.compactMap { notification in
      let leg = notification.slot.kind.leg
      if leg == .apnsCall, !Routing.usesVendors(strategy) { return nil }
      return ChannelOffer(leg, to: .tokens(notification.slot, environments), on: PlatformSet(.ios))
    }
  }
}
