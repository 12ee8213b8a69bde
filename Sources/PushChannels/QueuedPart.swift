import PushBase
import PushDomain
import PushRouter
import PushStorage

/// What a channel has to deliver of a push on one of its legs.
public struct QueuedPart: Sendable {
  /// The leg's number, 1 to `maximumLeg`.
  public let leg: UInt8
  /// Who gets it.
  public let targets: Recipients
  /// Which of a device's tokens it goes to; nil for a channel that needs none.
  public let slot: TokenSlot?
  /// The service that it goes to unless the token's device has named one.
  public let service: ServiceID
  /// What happens to the number on the app's icon.
  public let badge: BadgeChange
  /// Whether it is sent at most once: no answer means that it may have arrived. Only for parts that go to a token.
  public let isTriedOnce: Bool
  /// Whether the direct connection can bring it to a device for which the service refuses it.
  public let canFallBack: Bool
  /// Seconds after which it is of no use, counted from the push's moment for the device; nil for as long as the push lives.
  public let lifetime: Int64?
  /// What the channel makes requests of.
  public let content: any AnyObject & Sendable

  /// The highest number of a leg.
  public static let maximumLeg: UInt8 = 4

  /// All fields.
  public init(
    leg: UInt8 = DeliveryLeg.main, targets: Recipients, slot: TokenSlot?, service: ServiceID = .only,
    badge: BadgeChange = .unchanged, isTriedOnce: Bool = false, canFallBack: Bool = true,
    lifetime: Int64? = nil,
    content: any AnyObject & Sendable
  ) {
    self.leg = leg
    self.targets = targets
    self.slot = slot
    self.service = service
    self.badge = badge
    self.isTriedOnce = isTriedOnce
    self.canFallBack = canFallBack
    self.lifetime = lifetime
    self.content = content
    // That it is being tried is stored by the kind of token: without one a restart would send it again.
    precondition(!isTriedOnce || slot != nil, "what is sent at most once goes to a token")
  }

  /// The service for a device by what it named with its token.
  func service(for row: TokenRow) -> ServiceID {
    row.service == .none ? service : row.service
  }
}

/// Where an app's requests to a service go: a dispatcher with the app's credential. The queue keeps it with each request, since
/// a service may get another one meanwhile.
public protocol ServiceTarget: AnyObject, Sendable {
  /// Whether the credential allows requests to a kind of token.
  func takes(_ slot: TokenSlot?) -> Bool
  /// There is something to take. On any thread.
  func wake()
  /// Requests shall come back as not sent as far as they have not left yet. On any thread.
  func recall(_ tags: [UInt64])
}

/// Names a leg of a push.
struct LegKey: Hashable, Sendable {
  let push: MessageID
  let leg: UInt8
}
