import BorealisBase
import Model
import Storage

/// The result of recalling a push from a channel in the database.
private enum TakeBack: Sendable {
  /// It waits at our connection now for some more; what of it may go to channels later is told too.
  case stored(PushRow, [FallbackRow], LateTargets)
  /// That changes nothing.
  case needless
  /// The push's end on the direct connection is being stored: retry after it.
  case tooEarly
}

/// Taking pushes back from channels.
extension Deliveries {
  /// A channel rejected a push for some devices, and its strategy then uses the direct connection: it waits
  /// for them there, and the channel's part has ended for them. Nothing changes for devices for which it
  /// waits there already, or that have it. `done` says whether that is stored: until then the end of the
  /// channel's part must not be stored. It is also not stored if it has to be retried because the push ends
  /// at this moment.
  package func withdraw(
    _ id: MessageID, in app: App, from channel: ChannelID, for refused: [RegistrationNumber],
    done: @escaping @Sendable (_ isStored: Bool) -> Void
  ) {
    let now = time.now()
    // For imported registrations nothing waits over our connection.
    let refused = app.directory.withoutAwaited(refused)
    // Between the commit and the moment at which memory knows of it no end may be stored that knows nothing
    // of these devices.
    let isYetToEnd = app.directory.pin(id)
    writeBehind.flushEnds()
    store.write(of: app.id) { transaction throws(StorageError) -> TakeBack in
      guard let rows = try transaction.deliveries.targets(of: id), rows.push.app == app.id,
        rows.push.expiresAt > now, rows.withdrawal == nil, let targets = PushTargets(rows, at: now)
      else { return .needless }
      var push = rows.push
      let all =
        push.targets.flatMap { NumberSet(serialized: $0) } ?? NumberSet(push.target.map { [$0] } ?? [])
      var own = push.ownTargets.flatMap { NumberSet(serialized: $0) } ?? all
      var handedOver = targets.lost[.handedOver] ?? NumberSet()
      let numbers = refused.filter {
        (!own.contains($0) || handedOver.contains($0)) && !targets.delivered.contains($0)
      }
      guard !numbers.isEmpty else { return .needless }
      guard isYetToEnd || !rows.isPending else { return .tooEarly }
      own.formUnion(NumberSet(numbers))
      push.ownTargets = own.serialized()
      try transaction.channelQueue.setOwnTargets(id: id, own: own.serialized())
      if let place = push.legs.firstIndex(where: { $0.leg == DeliveryLeg(channel) }) {
        let left = NumberSet(serialized: push.legs[place].targets)?.subtracting(NumberSet(numbers))
        push.legs[place].targets = (left ?? NumberSet()).serialized()
        try transaction.channelQueue.setTargets(of: id, push.legs[place])
      }
      if numbers.contains(where: { handedOver.contains($0) }) {
        handedOver.subtract(NumberSet(numbers))
        try transaction.deliveries.saveDropped(
          id: id, reason: LossReason.handedOver.rawValue, targets: handedOver.serialized())
      }
      // What had ended goes on, with those who have it and those who never will.
      var progress = rows.isPending ? nil : DeliveryProgress(targets)
      progress?.handedOver.subtract(NumberSet(numbers))
      try progress?.saveDropped(of: id, in: transaction)
      try transaction.deliveries.reopen(
        id: id, app: app.id, expiresAt: push.expiresAt, delivered: progress?.delivered.serialized())
      let late = LateTargets(
        numbers: numbers, expires: push.expiresAt.secondsRoundedUp, isToOne: push.targetCount == 1,
        progress: progress)
      return .stored(push, rows.fallbacks, late)
    } completion: { [self] result in
      if case .success(.stored(let row, let fallbacks, let late)) = result {
        reopen(row, fallbacks, for: late, in: app, at: now)
      } else {
        writeBehind.note(app.directory.unpin(id, opening: nil).change, of: app, at: now)
      }
      switch result {
      case .success(.stored), .success(.needless): done(true)
      case .success(.tooEarly), .failure: done(false)
      }
    }
  }

  private func reopen(
    _ row: PushRow, _ fallbacks: [FallbackRow], for late: LateTargets, in app: App, at now: Timestamp
  ) {
    let push = StoredPush(row, fallbacks)
    if let push { contents.insert(row.id, push) }
    let dispatch = app.directory.unpin(row.id, opening: late)
    writeBehind.note(dispatch.change, of: app, at: now)
    guard let push else { return }
    let live = LivePush(app: app.id, id: row.id, push: push, isLate: true)
    gateways.send(live, of: app, to: dispatch.reachable)
  }
}

extension DeliveryProgress {
  /// Where a push stands over our connection whose way there had ended.
  fileprivate init(_ targets: PushTargets) {
    self.init(delivered: targets.acknowledged)
    for (reason, lost) in targets.lost { add(lost, reason) }
  }
}
