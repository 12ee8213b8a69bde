import BorealisBase

extension DeliveryLeg {
  /// What goes to the device's ordinary token, or to one of a Live Activity: a push has one of these.
  package static let apns = DeliveryLeg(.apns)
  /// A call, which goes to the token for calls.
  package static let apnsCall = DeliveryLeg(.apns, 2)
}

extension APNsEnvironment {
  /// Its number as a service of the channel.
  package var service: ServiceID { ServiceID(rawValue: rawValue) }
}

extension ServiceID {
  /// Which of Apple's services it is; production for any other number.
  package var environment: APNsEnvironment { APNsEnvironment(rawValue: rawValue) ?? .production }
}

extension APNsTokenSlot {
  /// The same as the router knows it.
  package var slot: TokenSlot { TokenSlot(.apns, kind: kind.rawValue, name: name) }
}

extension TokenSlot {
  /// The kind of an APNs token; nil for one of another channel.
  package var apnsKind: APNsTokenKind? { channel == .apns ? APNsTokenKind(rawValue: kind) : nil }

  /// Whether the permission to show notifications applies to what is sent to it; it does not to calls and
  /// Live Activities.
  package var needsPermission: Bool { apnsKind == nil || apnsKind == .device }
}

extension PushToken {
  /// Apple's ordinary token; empty, or of no environment, for none.
  package init(_ environment: APNsEnvironment, _ bytes: [UInt8]) { self.init(.device, environment, bytes) }

  /// One of Apple's tokens; empty, or of no environment, for none.
  package init(_ slot: APNsTokenSlot, _ environment: APNsEnvironment, _ bytes: [UInt8]) {
    self.init(slot.slot, environment.service, bytes)
  }
}

extension AudienceFilter {
  /// The token that an audience of holders of a Live Activity has; nil for other audiences.
  package var heldToken: TokenSlot? {
    liveActivityID.map { TokenSlot(.apns, kind: APNsTokenKind.liveActivity.rawValue, name: $0) }
  }
}
