import PushBase
import PushDomain
import PushRouter
import PushStorage
import Synchronization

/// What leaves, and what Apple says to it.
extension APNsQueue {
  /// What follows from answers outside of the queue.
  private enum Effect {
    case retire(Delivery, since: Timestamp, APNsTokenFault)
    case move(Delivery)
    case renew(ProviderToken, environment: APNsEnvironment)
    case pause(APNsEnvironment, APNsCredentialID, reason: String, seconds: Int64?)
    case slowHost(APNsEnvironment)
    case hostIsFine(APNsEnvironment)
    case wake(APNsEnvironment)
  }

  /// At most so many requests for one service, to be sent now.
  func take(_ environment: APNsEnvironment, upTo count: Int, token: ProviderToken?) -> [APNsRequest] {
    let now = parts.time.now()
    let requests = state.withLock { state in
      state.take(environment, upTo: count, token: token, app: app.id, at: now)
    }
    advance()
    return requests
  }

  /// Takes what became of requests.
  func answered(_ results: [APNsResultEntry]) {
    let now = parts.time.now()
    let nanoseconds = parts.time.monotonic()
    var effects: [Effect] = []
    state.withLock { state in
      for entry in results {
        guard let flight = state.flights.removeValue(forKey: RequestTag(rawValue: entry.tag)) else {
          continue
        }
        parts.metrics.count(entry.result)
        settle(flight, entry.result, now, nanoseconds, &state, &effects)
      }
    }
    for effect in effects { carryOut(effect) }
    advance()
  }

  private func settle(
    _ flight: Flight, _ result: APNsResult, _ now: Timestamp, _ nanoseconds: UInt64, _ state: inout State,
    _ effects: inout [Effect]
  ) {
    var delivery = flight.delivery
    let environment = delivery.environment
    switch result {
    case .notSent:
      delivery.refusals += 1
      if let wait = Self.wait(afterRefusals: delivery.refusals) {
        state.tryAgain(delivery, at: now.seconds + wait)
      } else {
        state.prepare(delivery, atFront: true)
        effects.append(.wake(environment))
      }
    case .unknown:
      delivery.failures += 1
      tryAgain(delivery, .lostAnswer, now, &state)
    case .answered(let answer, _):
      let other: APNsEnvironment = environment == .sandbox ? .production : .sandbox
      let attempt = APNsAttempt(
        sentAt: flight.sentAt, tokenRegisteredAt: delivery.row.tokenAt, environment: environment,
        hasOtherCredential: state.exits[other] != nil, otherHasRefused: delivery.otherHasRefused,
        hasRenewedProviderToken: delivery.hasRenewedToken)
      let outcome = APNsOutcome(answer, to: attempt)
      if case .retireToken = outcome {
      } else {
        state.guards[environment, default: TokenGuard()].good(at: nanoseconds)
      }
      if answer.status == 200 { effects.append(.hostIsFine(environment)) }
      settle(delivery, flight, answer, outcome, now, nanoseconds, &state, &effects)
    }
  }

  /// Seconds before a request is sent again that Apple certainly did not process; nil for at once. A server that goes
  /// on refusing must not make us spin.
  private static func wait(afterRefusals refusals: Int) -> Int64? {
    refusals <= 3 ? nil : Int64(min(refusals - 2, 30))
  }

  private func settle(
    _ delivery: Delivery, _ flight: Flight, _ answer: APNsAnswer, _ outcome: APNsOutcome, _ now: Timestamp,
    _ nanoseconds: UInt64, _ state: inout State, _ effects: inout [Effect]
  ) {
    var delivery = delivery
    let environment = delivery.environment
    switch outcome {
    case .delivered: state.finish(delivery.leg, delivery.row.number, Ends.delivered)
    case .wrongEnvironment:
      effects.append(.move(delivery))
      state.finish(delivery.leg, delivery.row.number, Ends.delivered)
    case .retry(let retry):
      delivery.failures += 1
      if retry.scope == .host { effects.append(.slowHost(environment)) }
      tryAgain(delivery, retry, now, &state)
    case .newProviderToken:
      delivery.hasRenewedToken = true
      if let token = flight.token { effects.append(.renew(token, environment: environment)) }
      state.prepare(delivery, atFront: true)
    case .tryOtherEnvironment(let other):
      delivery.otherHasRefused = true
      delivery.environment = other
      state.prepare(delivery, atFront: true)
      effects.append(.wake(other))
    case .retireToken(let since, let fault):
      if fault.mayBeOurs {
        let suspect = SuspectToken(delivery: delivery, fault: fault)
        let verdict = state.guards[environment, default: TokenGuard()].bad(suspect, at: nanoseconds)
        if verdict == .alarm {
          effects.append(.pause(environment, flight.credential, reason: Self.alarm(answer), seconds: nil))
        }
        guard state.guards[environment]?.isAlarmed != true else {
          // Says nothing about the token: it waits until somebody has looked.
          state.tryAgain(delivery, at: now.seconds + 1)
          return
        }
      } else {
        effects.append(.retire(delivery, since: since, fault))
      }
      refuse(delivery, answer, &state)
    case .keepToken, .reject: refuse(delivery, answer, &state)
    case .pauseCredential(let fault):
      effects.append(
        .pause(environment, flight.credential, reason: Self.text(answer, fault), seconds: fault.seconds))
      state.tryAgain(delivery, at: now.seconds + 1)
    case .pauseTopic:
      effects.append(
        .pause(environment, flight.credential, reason: "\(Self.text(answer)) for this topic", seconds: nil))
      state.tryAgain(delivery, at: now.seconds + 1)
    }
  }

  private static func text(_ answer: APNsAnswer, _ fault: APNsCredentialFault? = nil) -> String {
    let text = "Apple answered \(answer.status) \(answer.reason ?? "without a reason")"
    return fault == .clock ? "\(text) to a new provider token: is the server's clock right?" : text
  }

  private static func alarm(_ answer: APNsAnswer) -> String {
    "more than \(TokenGuard<SuspectToken>().percent) % of this minute's device tokens were answered \(answer.status) "
      + "\(answer.reason ?? ""): are they of Apple's other environment, or of another app?"
  }

  private func refuse(_ delivery: Delivery, _ answer: APNsAnswer, _ state: inout State) {
    state.fail(delivery.leg, delivery.row.number, answer.reason ?? "Status\(answer.status)")
  }

  private func tryAgain(_ delivery: Delivery, _ retry: APNsRetry, _ now: Timestamp, _ state: inout State) {
    guard let push = state.open[delivery.leg] else { return }
    var random = SystemRandomNumberGenerator()
    let next = retry.schedule.next(
      afterFailures: delivery.failures, now: now, end: push.expires, using: &random)
    guard let next else {
      state.finish(delivery.leg, delivery.row.number, Ends.expired)
      return
    }
    state.tryAgain(delivery, at: Timestamp(milliseconds: next.milliseconds + 999).seconds)
  }

  // MARK: What follows

  private func carryOut(_ effect: Effect) {
    switch effect {
    case .retire(let delivery, let since, let fault): retire(delivery, since: since, fault)
    case .move(let delivery):
      parts.router.moveToken(
        delivery.row.token, as: delivery.slot, of: delivery.row.number, in: app, to: delivery.environment)
    case .renew(let token, let environment): renew(token, environment)
    case .pause(let environment, let credential, let reason, let seconds):
      pause(environment, credential, reason, seconds)
    case .slowHost(let environment): exit(for: environment)?.lane.slowDown()
    case .hostIsFine(let environment): exit(for: environment)?.lane.hostAnswers()
    case .wake(let environment): exit(for: environment)?.lane.wake()
    }
  }

  /// Takes a token with which Apple found a fault from its registration.
  func retire(_ delivery: Delivery, since: Timestamp, _ fault: APNsTokenFault) {
    parts.metrics.tokensRetired.add()
    parts.router.retireToken(
      delivery.row.token, as: delivery.slot, of: delivery.row.number, in: app, for: fault,
      unlessToldAfter: since)
  }

  private func renew(_ token: ProviderToken, _ environment: APNsEnvironment) {
    guard let exit = exit(for: environment) else { return }
    if exit.lane.renew(token) { return }
    pause(
      environment, exit.credential.id,
      "Apple calls a new provider token expired: is the server's clock right?", nil)
  }

  private func pause(
    _ environment: APNsEnvironment, _ credential: APNsCredentialID, _ reason: String, _ seconds: Int64?
  ) {
    // What is said of a credential that was replaced meanwhile does not concern the new one.
    guard let exit = exit(for: environment), exit.credential.id == credential else { return }
    if let seconds {
      exit.lane.rest(seconds: seconds, reason)
    } else {
      parts.credentials.pause(exit.credential.id, app: app.id, reason: reason)
    }
  }
}

extension APNsQueue.State {
  fileprivate mutating func take(
    _ environment: APNsEnvironment, upTo count: Int, token: ProviderToken?, app: AppID, at now: Timestamp
  ) -> [APNsRequest] {
    guard let exit = exits[environment], var queues = ready.removeValue(forKey: environment) else {
      return []
    }
    var requests: [APNsRequest] = []
    requests.reserveCapacity(min(count, queues.count))
    while requests.count < count {
      // Pushes to a few go first; of every eight places one is for those to many, so that they move too.
      let isLargesTurn = requests.count % 8 == 7
      let next =
        isLargesTurn
        ? queues.many.popFirst() ?? queues.few.popFirst() : queues.few.popFirst() ?? queues.many.popFirst()
      guard let delivery = next else { break }
      guard let push = open[delivery.leg] else { continue }
      guard now < push.expires else {
        finish(delivery.leg, delivery.row.number, APNsQueue.Ends.expired)
        continue
      }
      requestCount &+= 1
      let tag = RequestTag(app: app, count: requestCount)
      flights[tag] = Flight(
        delivery: delivery, sentAt: now, credential: exit.credential.id, token: token)
      requests.append(push.request(for: delivery, tag: tag, topic: exit.credential.topic))
    }
    // What was put in meanwhile is nothing: `finish` touches no queue.
    ready[environment] = queues
    return requests
  }
}

extension ActivePush {
  fileprivate func request(for delivery: Delivery, tag: RequestTag, topic: String) -> APNsRequest {
    var payload: [UInt8] = []
    payload.reserveCapacity(notification.payload.maximumBytes)
    let badge =
      switch notification.badge {
      case .unchanged: Int64(0)
      case .set(let number): Int64(number)
      // The database's number was changed when the device was looked up.
      case .add: delivery.row.badge
      }
    notification.render(messageID: id, badge: badge, into: &payload)
    let suffix = notification.type.topicSuffix
    return APNsRequest(
      tag: tag.rawValue, deviceToken: delivery.row.token, topic: suffix.isEmpty ? topic : topic + suffix,
      type: notification.type, priority: notification.priority,
      expiration: notification.expiration(of: expires), collapseID: notification.collapseID(of: id) ?? [],
      id: APNsID(
        high: id.rawValue, low: UInt64(tag.app.rawValue) << 32 | UInt64(delivery.row.number.rawValue)),
      payload: payload
    )
  }
}
