import BorealisBase
import Model
import Storage

/// Recalls of pushes.
extension Deliveries {
  /// Recalls a push: devices that do not have it yet never get it. `reply` comes when all nodes with devices
  /// have confirmed it, or two seconds later. The audit log says it in the same commit, if there is something
  /// to note.
  package func recall(
    _ id: MessageID, in app: App, noting note: AuditRow? = nil,
    reply: @escaping @Sendable (Result<Recalled, APIError>) -> Void
  ) {
    recallTogether([id], in: app, noting: note) { [self] result in
      switch result {
      case .failure(let error): reply(.failure(error))
      case .success(let commit) where commit.known == 0:
        reply(.failure(.invalidValue("msg_id is unknown: the app has no such push")))
      case .success(let commit):
        confirm(commit.pushes, in: app) { unconfirmed in
          reply(.success(Recalled(waiting: commit.waiting, unconfirmed: unconfirmed)))
        }
      }
    }
  }

  /// A recalled push, its audience, and the channels by which devices may have it: the direct
  /// connection, and those whose services have accepted it, or may be accepting it.
  typealias RecalledPush = (id: MessageID, audience: NumberSet, channels: Set<ChannelID>)

  /// Stores that a push is recalled; nil if the app has no such push.
  func storeRecall(
    _ id: MessageID, of app: App, at now: Timestamp, by holder: PushHolder, in transaction: WriteTransaction
  ) throws(StorageError) -> RecalledPush? {
    guard let push = try transaction.pushes.find(id: id), push.app == app.id else { return nil }
    let channels = try withdraw(id, of: app, .recalled, at: now, by: holder, in: transaction)
    let targets = push.targets.flatMap { NumberSet(serialized: $0) }
    let audience = push.target.map { NumberSet([$0]) } ?? targets ?? NumberSet()
    return (id, audience, channels.union([.passthrough]))
  }

  /// Stores that a push is recalled, with the devices that are known to have it. Returns the channels whose
  /// services have accepted it, or may be accepting it.
  func withdraw(
    _ id: MessageID, of app: App, _ status: OutcomeStatus, at now: Timestamp, by holder: PushHolder,
    in transaction: WriteTransaction
  ) throws(StorageError) -> Set<ChannelID> {
    guard let rows = try transaction.deliveries.targets(of: id) else { return [] }
    let isInTime = now < rows.push.expiresAt
    let hold = channels.hold(id, of: app, by: holder)
    let refused = isInTime ? try withdrawFromQueue(rows, of: app, hold, at: now, in: transaction) : []
    if isInTime { try transaction.deliveries.markRecalled(id, status, at: now) }
    // Requests in flight to a service cannot be recalled: their results end the push there.
    for channel in rows.pendingChannels where !hold.inFlight.keys.contains(where: { $0.channel == channel }) {
      try transaction.channelQueue.finish(id: id, app: app.id, channel: channel)
    }
    // Also when our own part has ended before: this is the end then.
    try journal.stored(refused, in: transaction)
    try transaction.pacedPushes.end(id: id)
    try transaction.fallbacks.drop(id)
    try transaction.heldPushes.drop(id)
    // Who waits for the end of its canary never gets it.
    try transaction.canaries.finish(id, app: app.id, CanaryRow.End(.recalled, at: now))
    let progress = app.directory.progress(id)
    let ended = EndedPush(id, isInTime ? status : .expired, progress: progress)
    try settle(ended, of: app, at: now, in: transaction)
    try transaction.reckon(id, at: now)
    return hold.channels.union(rows.acceptedBy)
  }

  /// Stores that devices without a result of a service will not get the push.
  private func withdrawFromQueue(
    _ rows: TargetRows, of app: App, _ hold: ChannelHold, at now: Timestamp, in transaction: WriteTransaction
  ) throws(StorageError) -> [DeliveryEvent] {
    guard !rows.pendingChannels.isEmpty, let targets = PushTargets(rows, at: now) else { return [] }
    let id = rows.push.id
    var events: [DeliveryEvent] = []
    for (leg, of) in targets.legs where rows.pendingChannels.contains(leg.channel) {
      var left = of.unanswered
      for held in [hold.answered, hold.inFlight] {
        if let numbers = held[leg] { left.subtract(numbers) }
      }
      guard !left.isEmpty else { continue }
      try transaction.channelQueue.saveResult(
        id, leg, ChannelEnd.withdrawn, targets: left.serialized(), count: left.count)
      let what = DeliveryEvent.What.refused(left.members(), leg.channel, reason: ChannelEnd.withdrawn)
      events.append(DeliveryEvent(push: id, app: app.id, what: what, at: now))
    }
    return events
  }

  /// Stores the end of a push over our connection at once.
  func settle(
    _ ended: EndedPush, of app: App, at now: Timestamp, in transaction: WriteTransaction
  ) throws(StorageError) {
    let over = try transaction.deliveries.settle([ended.settlement(at: now)]).over
    try ended.saveDropped(in: transaction)
    guard over.isEmpty else { return }
    try journal.stored([DeliveryEvent(ended, app: app.id, at: now)], in: transaction)
  }
}

extension ChannelHold {
  /// The channels that can no longer recall all of it.
  fileprivate var channels: Set<ChannelID> {
    Set((Array(answered) + Array(inFlight)).filter { !$0.value.isEmpty }.map(\.key.channel))
  }
}

extension TargetRows {
  /// The channels whose services have accepted the push for a device. What a device has shown, its channel's
  /// service had, whatever was heard from that.
  fileprivate var acceptedBy: Set<ChannelID> {
    let isSeen =
      shown != nil || tapped != nil || !ofServices.isEmpty || outcome?.shownAt != nil
      || outcome?.tappedAt != nil
    let legs = push.legs.map(\.leg).filter { isSeen || results[$0]?[ChannelEnd.delivered] != nil }
    return Set(legs.map(\.channel))
  }
}
