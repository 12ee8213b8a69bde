import PushBase
import PushStorage

/// How far an open push to several is over our own connection. Nobody is in two of the sets.
public struct DeliveryProgress: Sendable {
  /// Who acknowledged it.
  public internal(set) var delivered: NumberSet
  /// Whose list was full of newer pushes, as it came about until pushes to several were left out of that.
  public internal(set) var crowdedOut: NumberSet
  /// Whose registration was replaced.
  public internal(set) var replaced: NumberSet
  /// When it reached the last of those who have it, as far as that is known since the start of the server.
  var latest: Timestamp?

  /// What the database knows of it; at first nothing.
  public init(
    delivered: NumberSet = NumberSet(), crowdedOut: NumberSet = NumberSet(), replaced: NumberSet = NumberSet()
  ) {
    self.delivered = delivered
    self.crowdedOut = crowdedOut
    self.replaced = replaced
  }

  /// Whether nothing is known.
  var isEmpty: Bool { delivered.isEmpty && crowdedOut.isEmpty && replaced.isEmpty }

  /// Whether it is settled for a registration.
  func contains(_ number: RegistrationNumber) -> Bool {
    delivered.contains(number) || crowdedOut.contains(number) || replaced.contains(number)
  }

  /// Whether a registration is in one of the sets at most.
  func isDisjoint(at number: RegistrationNumber) -> Bool {
    [delivered, crowdedOut, replaced].count { $0.contains(number) } <= 1
  }

  /// Adds those who will not get it.
  mutating func add(_ targets: NumberSet, _ reason: LossReason?) {
    if reason == .replaced { replaced.formUnion(targets) } else { crowdedOut.formUnion(targets) }
  }

  mutating func formUnion(_ other: DeliveryProgress) {
    delivered.formUnion(other.delivered)
    crowdedOut.formUnion(other.crowdedOut)
    replaced.formUnion(other.replaced)
    if let moment = other.latest { note(moment) }
  }

  /// Notes when it reached somebody.
  mutating func note(_ moment: Timestamp) { latest = max(latest ?? moment, moment) }

  /// The sets of those who will not get it that hold somebody, with the reason that is stored for each.
  var dropped: [(reason: LossReason, targets: NumberSet)] {
    [(.queueFull, crowdedOut), (.replaced, replaced)].filter { !$0.targets.isEmpty }
  }
}

/// Why a push will not reach a device although no channel has refused it. Raw values stand in the database and in reports.
public enum LossReason: String, Sendable {
  /// Too many newer pushes waited for the device.
  case queueFull = "QueueFull"
  /// Another registration took the place of the device's.
  case replaced = "Replaced"
  /// No channel reaches the device.
  case noChannel = "NoChannel"
  /// Nothing is stored that tells.
  case unknown = "Unknown"
}

/// The end of a push's way over our own connection.
public struct EndedPush: Sendable {
  /// The push.
  public let id: MessageID
  /// How it ended.
  public let status: OutcomeStatus
  /// Who of several had it, or had been given up; nil if nobody.
  public var progress: DeliveryProgress?
  /// Whose acknowledgement was the last; nil for another end.
  public var acknowledger: RegistrationNumber?

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

  /// When it had ended: what all have got ended when the last of them got it, whoever said so last, and whenever that was
  /// noticed. `now` is when the last acknowledgement's push came, or when the end was noticed.
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

/// What a change of the delivery state came to, for the database.
public struct DeliveryChange: Sendable {
  /// Pushes that nobody waits for any more.
  public var ended: [EndedPush] = []
  /// Pushes for which others wait still.
  public var partly: [MessageID] = []

  var isEmpty: Bool { ended.isEmpty && partly.isEmpty }
}
