import PushBase
import PushDomain
import PushStorage

/// What channels need of a push, the same for all of them.
public struct StoredPush: Sendable {
  /// What devices see of it.
  public let content: PushContent
  /// Whose rules chose the channels.
  public let strategy: Strategy
  /// The targets whose notification another channel carries, nil for none.
  public let elsewhere: NumberSet?

  /// Makes a push.
  public init(content: PushContent, strategy: Strategy = .jpush, elsewhere: NumberSet? = nil) {
    self.content = content
    self.strategy = strategy
    self.elsewhere = elsewhere
  }

  /// What the database holds, nil if it is unreadable.
  init?(_ stored: StoredContent) {
    guard let content = PushContent(decoding: stored.content) else { return nil }
    self.init(
      content: content, strategy: Strategy(number: stored.strategy) ?? .jpush,
      elsewhere: Self.elsewhere(stored.legs))
  }

  /// What the database holds, nil if it is unreadable.
  init?(_ row: PushRow) {
    self.init(
      StoredContent(content: row.content, strategy: row.strategy, legs: row.legs))
  }

  /// Whose notification other channels bring.
  private static func elsewhere(_ legs: [LegTargetsRow]) -> NumberSet? {
    legs.filter(\.leg.isMain).reduce(nil) { all, row in
      guard let targets = NumberSet(serialized: row.targets) else { return all }
      return all?.union(targets) ?? targets
    }
  }

  /// Whether another channel than our connection brings a registration the notification.
  public func goesElsewhere(for number: RegistrationNumber) -> Bool { elsewhere?.contains(number) ?? false }

  /// The JSON that a device of a platform gets over our connection: without what another channel brings it.
  public func deviceJSON(_ platform: Platform, viaVendor: Bool) -> [UInt8] {
    let parts = Routing.ownParts(
      platform, of: content.parts(for: platform), strategy: strategy, viaVendor: viaVendor)
    return content.deviceJSON(platform: platform, parts: parts)
  }
}
