import PushBase

extension DeliveryLeg {
  /// What goes to the device's ordinary token, or to one of a Live Activity: a push has one of these.
  public static let apns = DeliveryLeg(.apns)
  /// A call, which goes to the token for calls.
  public static let apnsCall = DeliveryLeg(.apns, 2)
}

extension APNsEnvironment {
  /// Its number as a service of the channel.
  public var service: ServiceID { ServiceID(rawValue: rawValue) }
}

extension ServiceID {
  /// Which of Apple's services it is; production for any other number.
  public var environment: APNsEnvironment { APNsEnvironment(rawValue: rawValue) ?? .production }
}

extension APNsTokenSlot {
  /// The same as the router knows it.
  public var slot: TokenSlot { TokenSlot(.apns, kind: kind.rawValue, name: name) }
}

extension TokenSlot {
  /// The kind of an APNs token; nil for one of another channel.
  public var apnsKind: APNsTokenKind? { channel == .apns ? APNsTokenKind(rawValue: kind) : nil }
}

extension PushToken {
  /// Apple's ordinary token; empty, or of no environment, for none.
  public init(_ environment: APNsEnvironment, _ bytes: [UInt8]) { self.init(.device, environment, bytes) }

  /// One of Apple's tokens; empty, or of no environment, for none.
  public init(_ slot: APNsTokenSlot, _ environment: APNsEnvironment, _ bytes: [UInt8]) {
    self.init(slot.slot, environment.service, bytes)
  }
}

extension AudienceFilter {
  /// The token that an audience of holders of a Live Activity has; nil for other audiences.
  public var heldToken: TokenSlot? {
    liveActivityID.map { TokenSlot(.apns, kind: APNsTokenKind.liveActivity.rawValue, name: $0) }
  }
}

extension APNsTokenKind {
  /// The kind as the channel declares it. Apple says that ordinary tokens may have up to 100 bytes, and nothing of the others.
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
  public var leg: DeliveryLeg { self == .voip ? .apnsCall : .apns }
}

extension ChannelInfo {
  /// Apple's push service (APNs).
  public static let apns = ChannelInfo(
    id: .apns, name: "apns", english: "APNs", chinese: "苹果推送", platforms: PlatformSet(.ios),
    parts: .notification, tokens: APNsTokenKind.allCases.map(\.declared),
    services: [
      ChannelService(APNsEnvironment.production.name, english: "Production", chinese: "生产环境"),
      ChannelService(APNsEnvironment.sandbox.name, english: "Sandbox", chinese: "开发环境"),
    ])
}

extension PushContent {
  /// Which of Apple's tokens it would go to; of several, not that for calls.
  public var apnsSlot: TokenSlot? {
    (apple.first { $0.slot.kind != .voip } ?? apple.first)?.slot.slot
  }

  /// What APNs could bring of it, for an app with credentials for some services. Only APNs can bring a call, so only a
  /// strategy without vendors' channels drops it.
  public func apnsOffers(_ strategy: Strategy, _ services: ServiceSet) -> [ChannelOffer] {
    guard !apple.isEmpty, !services.isEmpty else { return [] }
    return apple.compactMap { notification in
      let leg = notification.slot.kind.leg
      if leg == .apnsCall, !Routing.usesVendors(strategy) { return nil }
      return ChannelOffer(leg, to: notification.slot.slot, of: services, on: PlatformSet(.ios))
    }
  }
}
