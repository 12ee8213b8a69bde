import BorealisBase
import Core
import Model
import Storage

/// What a channel has to deliver of a push on one of its legs.
package struct QueuedPart: Sendable {
  /// The leg's number, 1 to `maximumLeg`.
  package let leg: UInt8
  package let targets: Recipients
  /// Which of a device's tokens it goes to.
  package let slot: TokenSlot
  /// The service that it goes to unless the token's device has named one.
  package let service: ServiceID
  /// The service for a token, where it shows in the token; nil for the one that was named with it.
  package let serviceOfToken: (@Sendable ([UInt8]) -> ServiceID)?
  /// What happens to the number on the app's icon.
  package let badge: BadgeChange
  /// Whether it is sent at most once: no answer means that it may have arrived.
  package let isTriedOnce: Bool
  /// Whether the direct connection carries it if the service rejects a device: `Routing.fallsBackToOwn`.
  package let fallsBack: Bool
  /// Whether another channel may bring it to a device whose token is gone: `Deliveries.goesOn`.
  package let goesOn: Bool
  /// Seconds after which it is useless, counted from the due time for the device; nil for the push's time to
  /// live.
  package let lifetime: Int64?
  /// What the sender wants pushes to have in common of which the newest alone is shown (`apns_collapse_id`):
  /// the service replaces one by the next that it gets, so an older one is not sent after a newer one. Nil
  /// for none.
  package let collapse: [UInt8]?
  /// Which of the app's quotas it counts against, where the service has several; nil for the only one.
  package let quota: String?
  /// The contents for the channel's requests.
  package let content: QueuedContent

  /// The highest number of a leg.
  package static let maximumLeg: UInt8 = 4

  package init(
    leg: UInt8 = DeliveryLeg.main, targets: Recipients, slot: TokenSlot, service: ServiceID = .only,
    serviceOfToken: (@Sendable ([UInt8]) -> ServiceID)? = nil,
    badge: BadgeChange = .unchanged, isTriedOnce: Bool = false, fallsBack: Bool = false,
    goesOn: Bool = false, lifetime: Int64? = nil, collapse: [UInt8]? = nil, quota: String? = nil,
    content: QueuedContent
  ) {
    self.leg = leg
    self.targets = targets
    self.slot = slot
    self.service = service
    self.serviceOfToken = serviceOfToken
    self.badge = badge
    self.isTriedOnce = isTriedOnce
    self.fallsBack = fallsBack
    self.goesOn = goesOn
    self.lifetime = lifetime
    self.collapse = collapse
    self.quota = quota
    self.content = content
  }

  /// The service for a device, from the one that it reported with its token.
  func service(for row: TokenRow) -> ServiceID {
    serviceOfToken?(row.token) ?? (row.service == .none ? service : row.service)
  }
}

/// What a channel's requests bring of a push: the same to all devices that get it in one language.
package struct QueuedContent: Sendable {
  /// What it is in the push's default language.
  private let common: any AnyObject & Sendable
  /// Who gets something else, and what.
  private let others: [(targets: NumberSet, content: any AnyObject & Sendable)]

  package init(
    _ common: any AnyObject & Sendable,
    others: [(targets: NumberSet, content: any AnyObject & Sendable)] = []
  ) {
    (self.common, self.others) = (common, others)
  }

  /// What a device gets.
  package func content(for number: RegistrationNumber) -> any AnyObject & Sendable {
    others.first { $0.targets.contains(number) }?.content ?? common
  }
}

/// The target of an app's requests to a service: a dispatcher with the app's credential. The queue stores it
/// with each request, since a service may get another one in the meantime.
package protocol ServiceTarget: AnyObject, Sendable {
  /// Whether the credential allows requests to a kind of token.
  func accepts(_ slot: TokenSlot) -> Bool
  /// Called when there is something to send. On any thread.
  func wake()
  /// Withdraws requests that were not sent yet; they come back as not sent. Called on any thread.
  func recall(_ tags: [UInt64])
}

/// The key of a leg of a push.
struct LegKey: Hashable, Sendable {
  let push: MessageID
  let leg: UInt8
}

extension ChannelPush {
  /// What the channel's requests bring of it: `common` in its default language; `render` makes the same in
  /// another one.
  func queued<Content: AnyObject & Sendable>(
    _ common: Content, render: (ChannelPush) -> Content?
  ) -> QueuedContent {
    let others = translations.map { (targets: $0.targets, content: render($0.push) ?? common) }
    return QueuedContent(common, others: others)
  }
}
