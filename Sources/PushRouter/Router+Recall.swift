import PushBase
import PushDomain
import PushStorage

/// Taking pushes back for their senders.
extension Router {
  /// Takes a push back: who does not have it yet never gets it. `reply` says how many it still waited for. The audit log
  /// says it in the same commit, if there is something to note.
  public func recall(
    _ id: MessageID, in app: App, noting note: AuditRow? = nil,
    reply: @escaping @Sendable (Result<Int, APIError>) -> Void
  ) {
    let now = time.now()
    writeBehind.flushEnds()
    store.write { [self] transaction throws(StorageError) -> NumberSet? in
      guard let push = try transaction.reading.push(id: id), push.app == app.id else { return nil }
      try takeBack(id, of: app, .recalled, at: now, in: transaction)
      if let note { try transaction.audit(note) }
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
    let refused = try takeBackFromQueue(id, of: app, at: now, in: transaction)
    try transaction.finishAPNs(id: id, app: app.id)
    // Also when our own part has ended before: this is the end then.
    try journal.stored(refused, in: transaction)
    try transaction.endSteadyPush(id: id)
    let progress = app.directory.progress(id)
    try settle(EndedPush(id, status, progress: progress), of: app, at: now, in: transaction)
  }

  /// Stores that those for whom Apple has not answered will not get the push.
  private func takeBackFromQueue(
    _ id: MessageID, of app: App, at now: Timestamp, in transaction: WriteTransaction
  ) throws(StorageError) -> [DeliveryEvent] {
    guard let rows = try transaction.reading.targets(of: id), rows.isAPNsPending, rows.push.expiresAt > now,
      let targets = PushTargets(rows, at: now)
    else { return [] }
    var events: [DeliveryEvent] = []
    for (kind, left) in targets.unanswered where !left.isEmpty {
      try transaction.saveAPNsResult(
        id, kind, APNsEnd.takenBack, targets: left.serialized(), count: left.count)
      let what = DeliveryEvent.What.refused(left.members(), reason: APNsEnd.takenBack)
      events.append(DeliveryEvent(push: id, app: app.id, what: what, at: now))
    }
    return events
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
}
