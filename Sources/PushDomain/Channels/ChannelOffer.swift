import PushBase

/// The leg of a push that a channel can deliver, and its possible targets. The routing table (`Routing`) decides who gets it.
public struct ChannelOffer: Sendable {
  /// What it is about.
  public let leg: DeliveryLeg
  /// The token of the devices that could get it.
  public let slot: TokenSlot
  /// The services that their tokens are for.
  public let services: ServiceSet
  /// The platforms of those devices.
  public let platforms: PlatformSet

  /// Offers a part of a push to the devices that have a token for one of some services.
  public init(
    _ leg: DeliveryLeg, to slot: TokenSlot, of services: ServiceSet = .all, on platforms: PlatformSet
  ) {
    self.leg = leg
    self.slot = slot
    self.services = services
    self.platforms = platforms
  }
}
