import BorealisBase

/// The leg of a push that a channel can deliver, and its possible targets. The routing table (`Routing`)
/// decides who gets it.
package struct ChannelOffer: Sendable {
  /// What it is about.
  package let leg: DeliveryLeg
  /// The token of the devices that could get it.
  package let slot: TokenSlot
  /// The services that their tokens are for.
  package let services: ServiceSet
  /// The platforms of those devices.
  package let platforms: PlatformSet

  /// Offers a part of a push to the devices that have a token for one of some services.
  package init(
    _ leg: DeliveryLeg, to slot: TokenSlot, of services: ServiceSet = .all, on platforms: PlatformSet
  ) {
    self.leg = leg
    self.slot = slot
    self.services = services
    self.platforms = platforms
  }
}
