import PushBase

/// What a channel could bring of a push, and to whom. The table of routes (`Routing`) decides who gets it.
public struct ChannelOffer: Sendable {
  /// The devices that the channel has an address for.
  public enum Holders: Equatable, Sendable {
    /// Those that have this token for one of some of the channel's services.
    case tokens(TokenSlot, ServiceSet)
    /// All devices of some platforms.
    case platforms(PlatformSet)
  }

  /// What it is about.
  public let leg: DeliveryLeg
  /// Who could get it.
  public let holders: Holders
  /// The platforms of those devices.
  public let platforms: PlatformSet

  /// Offers a part of a push.
  public init(_ leg: DeliveryLeg, to holders: Holders, on platforms: PlatformSet) {
    self.leg = leg
    self.holders = holders
    self.platforms = platforms
  }
}
