import PushBase
import PushDomain
import PushStorage

/// What our own connection needs of a push.
public struct StoredPush: Sendable {
  /// What devices see of it.
  public let content: PushContent
  /// Whose rules chose the channels.
  public let strategy: Strategy
  /// Who gets it from Apple as well, nil for nobody.
  public let apns: NumberSet?

  /// Makes a push.
  public init(content: PushContent, strategy: Strategy = .jpush, apns: NumberSet? = nil) {
    self.content = content
    self.strategy = strategy
    self.apns = apns
  }

  /// What the database holds, nil if it is unreadable.
  init?(_ stored: ReadTransaction.Content) {
    guard let content = PushContent(decoding: stored.content) else { return nil }
    self.init(
      content: content, strategy: Strategy(number: stored.strategy) ?? .jpush,
      apns: stored.apnsTargets.flatMap { NumberSet(serialized: $0) })
  }

  /// What the database holds, nil if it is unreadable.
  init?(_ row: PushRow) {
    self.init(
      ReadTransaction.Content(content: row.content, strategy: row.strategy, apnsTargets: row.apnsTargets))
  }

  /// Whether Apple brings a registration a part of this push.
  public func goesToApple(for number: RegistrationNumber) -> Bool { apns?.contains(number) ?? false }

  /// The JSON that a device of a platform gets over our connection: without what Apple brings it.
  public func deviceJSON(_ platform: Platform, viaAPNs: Bool) -> [UInt8] {
    let parts = Routing.ownParts(
      platform, of: content.parts(for: platform), strategy: strategy, viaAPNs: viaAPNs)
    return content.deviceJSON(platform: platform, parts: parts)
  }
}
