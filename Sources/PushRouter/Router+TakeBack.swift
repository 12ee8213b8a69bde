import PushBase
import PushDomain
import PushStorage

/// A push that Apple will not bring to some, for whom it waits here now.
private struct TakenFromApple: Sendable {
  let row: PushRow
  let numbers: [RegistrationNumber]
  /// For whom it is settled over our connection, if its way there had ended before.
  let progress: DeliveryProgress?
}

/// Taking pushes back from Apple.
extension Router {
  /// Apple will not bring a push to some devices, and the push's strategy wants our connection then: it waits for them
  /// there, and Apple's part is over for them. Nothing changes for those for whom it waits there already, or has come
  /// that way. `done` says on the writer's thread whether that is stored: until then nothing may be stored that makes
  /// the push's way to Apple an ended one.
  public func takeBackFromApple(
    _ id: MessageID, in app: App, for refused: [RegistrationNumber],
    done: @escaping @Sendable (_ isStored: Bool) -> Void
  ) {
    let now = time.now()
    writeBehind.flushEnds()
    store.write { transaction throws(StorageError) -> TakenFromApple? in
      guard let rows = try transaction.reading.targets(of: id), rows.push.app == app.id,
        rows.push.expiresAt > now, rows.outcome?.status.isTakenBack != true
      else { return nil }
      var push = rows.push
      let all =
        push.targets.flatMap { NumberSet(serialized: $0) } ?? NumberSet(push.target.map { [$0] } ?? [])
      var own = push.ownTargets.flatMap { NumberSet(serialized: $0) } ?? all
      let numbers = refused.filter { !own.contains($0) }
      guard !numbers.isEmpty else { return nil }
      own.formUnion(NumberSet(numbers))
      var apple = push.apnsTargets.flatMap { NumberSet(serialized: $0) } ?? NumberSet()
      apple.subtract(NumberSet(numbers))
      (push.ownTargets, push.apnsTargets) = (own.serialized(), apple.serialized())
      try transaction.setOwnTargets(id: id, own: own.serialized(), apns: apple.serialized())
      // What had ended goes on, with those who have it and those who never will.
      let progress = rows.isPending ? nil : PushTargets(rows, at: now).map { DeliveryProgress($0) }
      try progress?.saveDropped(of: id, in: transaction)
      try transaction.reopen(
        id: id, app: app.id, expiresAt: push.expiresAt, delivered: progress?.delivered.serialized())
      return TakenFromApple(row: push, numbers: numbers, progress: progress)
    } completion: { [self] result in
      if case .success(let taken?) = result { reopen(taken, in: app, at: now) }
      if case .success = result { done(true) } else { done(false) }
    }
  }

  private func reopen(_ taken: TakenFromApple, in app: App, at now: Timestamp) {
    let id = taken.row.id
    guard let push = StoredPush(taken.row) else { return }
    contents.insert(id, push)
    let live = LivePush(app: app, id: id, push: push, isLate: true)
    let opened = OpenedPush.few(taken.numbers, expires: taken.row.expiresAt.secondsRoundedUp)
    let dispatch = app.directory.open(id, opened, progress: taken.progress)
    writeBehind.note(dispatch.change, of: app, at: now)
    for device in dispatch.reachable {
      for channel in channels { channel.deliver(live, to: device.number, at: device.location) }
    }
  }
}

extension DeliveryProgress {
  /// Where a push stands over our connection whose way there had ended.
  fileprivate init(_ targets: PushTargets) {
    self.init(delivered: targets.acknowledged)
    for (reason, lost) in targets.lost { add(lost, reason) }
  }
}
