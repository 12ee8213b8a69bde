import PushBase
import PushDomain
import PushStorage

/// For whom each outcome of a push's way to Apple stands, by kind of token: one of `APNsEnd`, or a reason of Apple's.
public typealias APNsOutcomes = [APNsTokenKind: [String: NumberSet]]

/// What Apple has answered for a push, to be stored.
public struct APNsAnswers: Sendable {
  /// The push.
  public let id: MessageID
  /// All that is known.
  public let results: APNsOutcomes
  /// What of it is new.
  public let news: APNsOutcomes
  /// Whether there is an outcome for all.
  public let isFinal: Bool

  /// All fields.
  public init(id: MessageID, results: APNsOutcomes, news: APNsOutcomes, isFinal: Bool) {
    self.id = id
    self.results = results
    self.news = news
    self.isFinal = isFinal
  }

  /// How the push ended, if nobody waits for it over our connection.
  private var status: OutcomeStatus {
    func has(_ reason: String) -> Bool { results.values.contains { $0[reason]?.isEmpty == false } }
    if has(APNsEnd.delivered) { return .delivered }
    return has(APNsEnd.expired) ? .expired : .refused
  }

  fileprivate func store(
    of app: AppID, at now: Timestamp, in transaction: WriteTransaction
  ) throws(StorageError) -> [DeliveryEvent] {
    var events: [DeliveryEvent] = []
    for (kind, outcomes) in results {
      // With the last of them all are stored: an earlier attempt may have failed.
      for (reason, all) in outcomes where isFinal || news[kind]?[reason] != nil {
        try transaction.saveAPNsResult(id, kind, reason, targets: all.serialized(), count: all.count)
        guard let numbers = news[kind]?[reason]?.members() else { continue }
        let what: DeliveryEvent.What =
          reason == APNsEnd.delivered ? .delivered(numbers, .apns) : .refused(numbers, reason: reason)
        events.append(DeliveryEvent(push: id, app: app, what: what, at: now))
      }
    }
    if isFinal, try transaction.finishAPNs(id: id, app: app) {
      try transaction.settleUnlessPending(Settlement(id: id, status: status, at: now))
    }
    return events
  }
}

extension Router {
  /// Stores what Apple has answered; `done` says whether it is stored.
  public func store(_ answers: APNsAnswers, of app: App, done: @escaping @Sendable (_ isStored: Bool) -> Void)
  {
    store([answers], of: app, done: done)
  }

  /// Stores what Apple has answered for some pushes in one commit.
  public func store(
    _ answers: [APNsAnswers], of app: App, done: @escaping @Sendable (_ isStored: Bool) -> Void
  ) {
    let (id, now) = (app.id, time.now())
    store.write(canWait: true) { [journal] transaction throws(StorageError) in
      var events: [DeliveryEvent] = []
      for one in answers { events += try one.store(of: id, at: now, in: transaction) }
      try journal.stored(events, in: transaction)
    } completion: { result in
      if case .success = result { done(true) } else { done(false) }
    }
  }

  /// How the way to Apple stands for an app.
  public func apnsStatus(of app: App) -> [APNsServiceStatus] { apns?.status(of: app) ?? [] }
}
