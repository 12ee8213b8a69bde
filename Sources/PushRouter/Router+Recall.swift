import PushBase
import PushDomain
import PushStorage

/// A push that Apple will not bring to some, for whom it waits here now.
private struct TakenFromApple: Sendable {
  let row: PushRow
  let numbers: [RegistrationNumber]
  /// Who has it over our connection, if its way there had ended before.
  let delivered: NumberSet?
}

/// Taking pushes back, from the sender or from Apple.
extension Router {
  // MARK: Recalling

  /// Takes a push back: who does not have it yet never gets it. `reply` says how many it still waited for.
  public func recall(
    _ id: MessageID, in app: App, reply: @escaping @Sendable (Result<Int, APIError>) -> Void
  ) {
    let now = time.now()
    writeBehind.flushEnds()
    store.write { [self] transaction throws(StorageError) -> NumberSet? in
      guard let push = try transaction.reading.push(id: id), push.app == app.id else { return nil }
      try takeBack(id, of: app, .recalled, at: now, in: transaction)
      if let target = push.target { return NumberSet([target]) }
      return push.targets.flatMap { NumberSet(serialized: $0) } ?? NumberSet()
    } completion: { [self] result in
      switch result {
      case .failure(let error):
        reply(.failure(error.kind == .overloaded ? .timeout : .internalError))
      case .success(nil): reply(.failure(.invalidValue("msg_id is unknown")))
      case .success(let audience?):
        let count = withdraw(id, of: app, .recalled, at: now)
        for channel in channels { channel.recall(id, app: app, audience: audience) }
        reply(.success(count))
      }
    }
  }

  /// Stores that a push is taken back, with all that is known until now of whom it has reached.
  func takeBack(
    _ id: MessageID, of app: App, _ status: OutcomeStatus, at now: Timestamp, in transaction: WriteTransaction
  ) throws(StorageError) {
    if let rows = try transaction.reading.targets(of: id), rows.isAPNsPending, rows.push.expiresAt > now,
      let targets = PushTargets(rows, at: now)
    {
      for (kind, left) in targets.unanswered where !left.isEmpty {
        try transaction.saveAPNsResult(
          id, kind, APNsEnd.takenBack, targets: left.serialized(), count: left.count)
      }
    }
    try transaction.finishAPNs(id: id, app: app.id)
    try transaction.endSteadyPush(id: id)
    let progress = app.directory.progress(id)
    try settle(EndedPush(id, status, progress: progress), of: app, at: now, in: transaction)
  }

  /// Stores the end of a push over our connection at once.
  func settle(
    _ ended: EndedPush, of app: App, at now: Timestamp, in transaction: WriteTransaction
  ) throws(StorageError) {
    let over = try transaction.settle([ended.settlement(at: now)])
    try ended.saveDropped(in: transaction)
    guard over.isEmpty else { return }
    try journal.stored([DeliveryEvent(ended, app: app.id, at: now)], in: transaction)
  }

  /// A push that was taken back waits for nobody any more; returns for how many it did.
  func withdraw(
    _ id: MessageID, of app: App, _ status: OutcomeStatus, at now: Timestamp
  ) -> Int {
    let (waiting, progress) = app.directory.withdraw(id)
    // Something may have been acknowledged since the sets were stored.
    if let progress { writeBehind.end([EndedPush(id, status, progress: progress)], of: app, at: now) }
    return waiting + (apns?.withdraw(id, of: app) ?? 0)
  }

  /// Apple will not bring a push to some devices, and the push's strategy wants our connection then: it waits for them
  /// there, and Apple's part is over for them. Nothing changes for those for whom it waits there already, or has come
  /// that way.
  public func takeBackFromApple(_ id: MessageID, in app: App, for refused: [RegistrationNumber]) {
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
      // What had ended goes on, with those who have it.
      let known = rows.isPending ? nil : PushTargets(rows, at: now)
      let delivered = known?.acknowledged
      for (reason, targets) in known?.lost ?? [:] {
        try transaction.saveDropped(id: id, reason: reason.rawValue, targets: targets.serialized())
      }
      try transaction.reopen(
        id: id, app: app.id, expiresAt: push.expiresAt, delivered: delivered?.serialized())
      return TakenFromApple(row: push, numbers: numbers, delivered: delivered)
    } completion: { [self] result in
      guard case .success(let taken?) = result, let push = StoredPush(taken.row) else { return }
      let (row, numbers) = (taken.row, taken.numbers)
      contents.insert(id, push)
      let live = LivePush(app: app, id: id, push: push, isLate: true)
      let expires = row.expiresAt.secondsRoundedUp
      let dispatch = app.directory.open(
        id, .few(numbers, expires: expires), progress: taken.delivered.map { DeliveryProgress(delivered: $0) }
      )
      writeBehind.note(dispatch.change, of: app, at: now)
      for device in dispatch.reachable {
        for channel in channels { channel.deliver(live, to: device.number, at: device.location) }
      }
    }
  }

  // MARK: Contents

  /// The contents of pushes that wait for a device, in the order asked; those that are gone are left out. `found` may be
  /// called on this thread or on a reader's.
  public func contents(
    of ids: [MessageID],
    found: @escaping @Sendable (Result<[(MessageID, StoredPush)], DeviceFailure>) -> Void
  ) {
    let known = ids.map { ($0, contents.find($0)) }
    let missing = known.filter { $0.1 == nil }.map(\.0)
    guard !missing.isEmpty else {
      found(.success(known.compactMap { id, content in content.map { (id, $0) } }))
      return
    }
    store.read { transaction throws(StorageError) in
      try transaction.contents(of: missing)
    } completion: { [self] result in
      guard case .success(let stored) = result else {
        found(.failure(.unavailable))
        return
      }
      var read: [MessageID: StoredPush] = [:]
      for case (let id, let found?) in zip(missing, stored) {
        guard let content = StoredPush(found) else { continue }
        // After a restart many devices ask for the same one.
        contents.insert(id, content)
        read[id] = content
      }
      found(.success(known.compactMap { id, content in (content ?? read[id]).map { (id, $0) } }))
    }
  }
}
