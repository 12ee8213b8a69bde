import PushBase

/// An accepted push to many: one for all of them.
public struct GroupPush: Sendable {
  /// The push.
  public let id: MessageID
  /// Unix seconds; from then on it is dead.
  public let expires: UInt32
  /// Its audience, fixed when it was accepted.
  public let targets: NumberSet
  /// Who acknowledged it.
  public var delivered: NumberSet

  /// Makes a group push; `delivered` comes from the database after a restart.
  public init(id: MessageID, expires: UInt32, targets: NumberSet, delivered: NumberSet = NumberSet()) {
    self.id = id
    self.expires = expires
    self.targets = targets
    self.delivered = delivered
  }

  /// Whether it still waits for a registration.
  public func isPending(for number: RegistrationNumber) -> Bool {
    targets.contains(number) && !delivered.contains(number)
  }

  /// Whether everyone has it.
  public var isComplete: Bool { delivered.count >= targets.count }
}
