import BorealisBase
import Storage

/// The progress of an open push to several on the direct connection. The sets are disjoint.
package struct DeliveryProgress: Sendable {
  /// Who acknowledged it.
  package internal(set) var delivered: NumberSet
  /// Whose list was full of newer pushes, as it came about until pushes to several were left out of that.
  package internal(set) var crowdedOut: NumberSet
  /// Whose registration was replaced.
  package internal(set) var replaced: NumberSet
  /// Who gets it from a vendor's channel instead, since they did not acknowledge it in time.
  package internal(set) var handedOver = NumberSet()
  /// When it reached the last device that has it, as far as known since the start of the server.
  var latest: Timestamp?

  /// What the database knows of it; at first nothing.
  package init(
    delivered: NumberSet = NumberSet(), crowdedOut: NumberSet = NumberSet(), replaced: NumberSet = NumberSet()
  ) {
    self.delivered = delivered
    self.crowdedOut = crowdedOut
    self.replaced = replaced
  }

  /// Whether nothing is known.
  var isEmpty: Bool {
    delivered.isEmpty && crowdedOut.isEmpty && replaced.isEmpty && handedOver.isEmpty
  }

  /// Whether it is settled for a registration.
  func contains(_ number: RegistrationNumber) -> Bool {
    delivered.contains(number) || crowdedOut.contains(number) || replaced.contains(number)
      || handedOver.contains(number)
  }

  /// Whether a registration is in one of the sets at most.
  func isDisjoint(at number: RegistrationNumber) -> Bool {
    [delivered, crowdedOut, replaced, handedOver].count { $0.contains(number) } <= 1
  }

  /// Adds those who will not get it.
  mutating func add(_ targets: NumberSet, _ reason: LossReason?) {
    switch reason {
    case .replaced: replaced.formUnion(targets)
    case .handedOver: handedOver.formUnion(targets)
    case .queueFull, .noChannel, .unknown, nil: crowdedOut.formUnion(targets)
    }
  }

  mutating func formUnion(_ other: DeliveryProgress) {
    delivered.formUnion(other.delivered)
    crowdedOut.formUnion(other.crowdedOut)
    replaced.formUnion(other.replaced)
    handedOver.formUnion(other.handedOver)
    if let moment = other.latest { note(moment) }
  }

  /// Records when it reached a device.
  mutating func note(_ moment: Timestamp) { latest = max(latest ?? moment, moment) }

  /// How a push has ended that waits for no device: open if the channel that took over has to say that.
  var end: OutcomeStatus {
    if !delivered.isEmpty { return .delivered }
    if !handedOver.isEmpty { return .open }
    return crowdedOut.isEmpty ? .replaced : .dropped
  }

  /// The non-empty sets of devices that will not get it, with the stored reason of each. Who was handed over
  /// is stored with that.
  var dropped: [(reason: LossReason, targets: NumberSet)] {
    [(.queueFull, crowdedOut), (.replaced, replaced)].filter { !$0.targets.isEmpty }
  }
}

/// Why a push will not reach a device although no channel has rejected it. The raw values are used in the
/// database and in reports.
package enum LossReason: String, Sendable {
  /// Too many newer pushes waited, for the device alone or of the app for several.
  case queueFull = "QueueFull"
  /// Another registration took the place of the device's.
  case replaced = "Replaced"
  /// A vendor's channel brings it, since the device did not acknowledge it in time.
  case handedOver = "HandedOver"
  /// No channel reaches the device.
  case noChannel = "NoChannel"
  /// The reason is not stored.
  case unknown = "Unknown"
}

/// The end of a push on the direct connection.
package struct EndedPush: Sendable {
  /// The push.
  package let id: MessageID
  /// How it ended.
  package let status: OutcomeStatus
  /// The targets of several that had it, or had been given up; nil if there are none.
  package var progress: DeliveryProgress?
  /// Whose acknowledgement was the last; nil for another end.
  package var acknowledger: RegistrationNumber?

  init(
    _ id: MessageID, _ status: OutcomeStatus, progress: DeliveryProgress? = nil,
    acknowledger: RegistrationNumber? = nil
  ) {
    self.id = id
    self.status = status
    self.progress = progress
    self.acknowledger = acknowledger
  }
}

extension EndedPush {
  /// What is stored of the end itself.
  func settlement(at now: Timestamp) -> Settlement {
    let delivered = status == .delivered ? nil : progress?.delivered
    return Settlement(
      id: id, status: status, at: moment(now),
      delivered: delivered.flatMap { $0.isEmpty ? nil : $0.serialized() })
  }

  /// When it ended: if all targets got it, when the last of them did, whenever that was noticed. `now` is the
  /// arrival time of the last acknowledgement, or when the end was noticed.
  private func moment(_ now: Timestamp) -> Timestamp {
    guard status == .delivered, let latest = progress?.latest else { return now }
    return acknowledger == nil ? latest : max(now, latest)
  }

  /// Stores who will not get it.
  func saveDropped(in transaction: WriteTransaction) throws(StorageError) {
    try progress?.saveDropped(of: id, in: transaction)
  }
}

extension DeliveryProgress {
  /// Stores who will not get a push.
  func saveDropped(of id: MessageID, in transaction: WriteTransaction) throws(StorageError) {
    for (reason, targets) in dropped {
      try transaction.deliveries.saveDropped(id: id, reason: reason.rawValue, targets: targets.serialized())
    }
  }
}

/// The result of a change of the delivery state, for the database.
package struct DeliveryChange: Sendable {
  /// Pushes that no device waits for any more.
  package var ended: [EndedPush] = []
  /// Pushes for which others wait still.
  package var partly: [MessageID] = []

  var isEmpty: Bool { ended.isEmpty && partly.isEmpty }
}
