import BorealisBase

/// An accepted push to many: one for all of them.
package struct FanOutPush: Sendable {
  /// The push.
  package let id: MessageID
  /// Unix seconds; from then on it is dead.
  package let expires: UInt32
  /// Its audience, fixed when it was accepted.
  package let targets: NumberSet
  /// Who acknowledged it, and who never will.
  package internal(set) var progress: DeliveryProgress
  /// Set if its delivery is paced.
  package internal(set) var paced: PacedPush?
  /// About what it takes: its targets, and as much as the set of those who have it may come to.
  let bytes: Int
  /// Devices with numbers from this on have to wait for their moment.
  var dueBelow: UInt64

  /// Makes a fan-out push; `progress` comes from the database after a restart.
  package init(
    id: MessageID, expires: UInt32, targets: NumberSet, progress: DeliveryProgress = DeliveryProgress(),
    paced: PacedPush? = nil
  ) {
    self.id = id
    self.expires = expires
    self.targets = targets
    self.progress = progress
    self.paced = paced
    bytes = Self.bytesOfRest + targets.bytes + targets.bytesOfSubset
    dueBelow = paced == nil ? .max : 0
  }

  /// What it takes besides the members of sets.
  private static var bytesOfRest: Int { 512 }

  /// Whether a device's moment to get it has come.
  func isDue(for number: RegistrationNumber) -> Bool { UInt64(number.rawValue) < dueBelow }

  /// Whether it still waits for a registration.
  package func isPending(for number: RegistrationNumber) -> Bool {
    targets.contains(number) && !progress.delivered.contains(number)
      && !progress.replaced.contains(number) && !progress.handedOver.contains(number)
  }

  /// For whom it still waits.
  var waiting: NumberSet {
    if progress.isEmpty { return targets }
    return targets.subtracting(progress.delivered).subtracting(progress.replaced)
      .subtracting(progress.handedOver)
  }

  /// For how many it still waits.
  var waitingCount: Int {
    targets.count - progress.delivered.count - progress.replaced.count - progress.handedOver.count
  }

  /// Whether it waits for no device.
  package var isComplete: Bool { waitingCount <= 0 }
}
