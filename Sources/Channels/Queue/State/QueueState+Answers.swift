import BorealisBase
import Model
import Storage

/// Sending, and the handling of results.
extension QueueState {
  mutating func popOutgoing(
    _ service: ServiceID, upTo count: Int, ofContents most: Int, authorization: (any AnyObject & Sendable)?,
    app: AppID, at now: Timestamp
  ) -> [Outgoing] {
    guard let target = targets[service], var queue = ready.removeValue(forKey: service) else { return [] }
    var taken: [Outgoing] = []
    taken.reserveCapacity(min(count, queue.count))
    var contents: Set<ObjectIdentifier> = []
    while taken.count < count, let delivery = queue.next(place: taken.count) {
      guard let push = open[delivery.key], !endIfWithdrawn(delivery), push.awaits(delivery.row.number) else {
        continue
      }
      let content = push.part.content.content(for: delivery.row.number)
      guard contents.count < most || contents.contains(ObjectIdentifier(content)) else {
        queue.append(delivery, isLarge: push.isLarge, atFront: true)
        break
      }
      guard !quotas.holdBack(push.part) else {
        release(delivery)
        continue
      }
      guard now < push.end(for: delivery.row.number) else {
        finish(delivery.key, delivery.row.number, ChannelEnd.expired)
        continue
      }
      guard !delivery.isOutdated(changes, badges, push.part) else {
        retries.add(delivery)
        continue
      }
      guard !held.contains(delivery.key.push), !collapsing.mustWait(delivery, open, inFlight) else {
        tryAgain(delivery, at: now.seconds + 1)
        continue
      }
      guard delivery.isArmed || !push.part.isTriedOnce else {
        arming.append(delivery)
        continue
      }
      if push.part.badge != .unchanged {
        badges.send(delivery.row.number, readAt: delivery.readAt.badges)
      }
      if most < count { contents.insert(ObjectIdentifier(content)) }
      let tag = inFlight.begin(
        InFlightRequest(delivery: delivery, sentAt: now, target: target, authorization: authorization),
        of: app)
      taken.append(
        Outgoing(
          tag: tag, delivery: delivery, push: push.id, expires: push.expires, content: content,
          target: target))
    }
    // Nothing was added in the meantime: `finish` touches no queue.
    ready[service] = queue
    return taken
  }

  /// Removes a request that has its result; nil for an unknown one.
  mutating func complete(_ tag: RequestTag, isAccepted: Bool, _ services: Set<ServiceID>) -> CompletedRequest?
  {
    guard let (flight, hasWorkedSince) = inFlight.complete(tag, isAccepted: isAccepted) else { return nil }
    let push = open[flight.delivery.key]
    return CompletedRequest(
      delivery: flight.delivery, sentAt: flight.sentAt, target: flight.target,
      authorization: flight.authorization, hasWorkedSince: hasWorkedSince,
      isLastTry: push.map { $0.part.isTriedOnce || $0.isWithdrawn } ?? false, services: services)
  }

  /// Applies a verdict; the caller, which knows the order, puts back requests that were not sent.
  mutating func settle(_ delivery: Delivery, _ verdict: DeliveryVerdict, at now: Timestamp) {
    switch verdict {
    case .ended(let result): finish(delivery.key, delivery.row.number, result)
    case .refused(let reason, let isTokenGone):
      fail(delivery.key, delivery.row.number, reason, isTokenGone: isTokenGone)
    case .retry(let schedule, let seconds): retry(delivery, schedule, notBefore: seconds, at: now)
    case .wait(let seconds): tryAgain(delivery, at: now.seconds + seconds)
    case .resend: prepare(delivery, atFront: true)
    case .unsent: break
    }
  }

  private mutating func retry(
    _ failed: Delivery, _ schedule: RetrySchedule, notBefore seconds: Int64, at now: Timestamp
  ) {
    var delivery = failed
    delivery.failures += 1
    guard let push = open[delivery.key], !endIfWithdrawn(delivery) else { return }
    guard let next = push.nextTry(afterFailures: delivery.failures, schedule, notBefore: seconds, at: now)
    else { return finish(delivery.key, delivery.row.number, ChannelEnd.expired) }
    tryAgain(delivery, at: Timestamp(milliseconds: next.milliseconds + 999).seconds)
  }
}
