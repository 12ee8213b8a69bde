import PushBase
import PushChannels
import PushDomain
import PushRouter
import PushStorage
import Synchronization

/// The handling of results.
extension APNsQueue {
  /// Consequences of results outside of the queue.
  private enum Effect {
    case retire(FaultyToken)
    case move(Delivery)
    case renew(ProviderToken, environment: APNsEnvironment)
    case pause(APNsEnvironment, APNsCredentialID?, reason: String, seconds: Int64?)
    case slowHost(APNsEnvironment, seconds: Int64?)
    case hostRecovered(APNsEnvironment)
  }

  /// Handles the results of requests.
  func answered(_ results: [APNsResultEntry]) {
    var effects: [Effect] = []
    let tags = results.map { entry in
      let isTaken = if case .answered(let answer, _) = entry.result { answer.isAccepted } else { false }
      return (tag: entry.tag, isTaken: isTaken)
    }
    let nanoseconds = parts.time.monotonic()
    queue.complete(tags) { index, completed in
      parts.metrics.count(results[index].result)
      return judge(&completed, results[index].result, nanoseconds, &effects)
    }
    for effect in effects { carryOut(effect) }
  }

  private func judge(
    _ completed: inout CompletedRequest, _ result: APNsResult, _ nanoseconds: UInt64,
    _ effects: inout [Effect]
  ) -> DeliveryVerdict {
    switch result {
    // The connection ended before the request was sent; the pool waits if that repeats.
    case .notSent: return .unsent
    case .refused:
      completed.delivery.refusals += 1
      return Self.wait(afterRefusals: completed.delivery.refusals).map { .wait(seconds: $0) } ?? .resend
    case .unknown:
      completed.noteAuthorization(isRefused: false)
      return completed.isLastTry ? .ended(ChannelEnd.noAnswer) : .retry(APNsRetry.lostAnswer.schedule)
    case .answered(let answer, _):
      let environment = completed.delivery.service.environment
      let other: APNsEnvironment = environment == .sandbox ? .production : .sandbox
      let attempt = APNsAttempt(
        sentAt: completed.sentAt, tokenRegisteredAt: completed.delivery.row.tokenAt, environment: environment,
        hasOtherCredential: completed.services.contains(other.service),
        otherHasRefused: completed.delivery.otherHasRefused,
        hasRenewedProviderToken: completed.hasRenewedAuthorization)
      var outcome = APNsOutcome(answer, to: attempt)
      completed.noteAuthorization(isRefused: outcome == .newProviderToken)
      if case .retireToken = outcome, completed.hasWorkedSince { outcome = .keepToken }
      if answer.isAccepted {
        noteWorking(completed, nanoseconds)
        effects.append(.hostRecovered(environment))
      }
      return judge(&completed, answer, outcome, nanoseconds, &effects)
    }
  }

  /// A token works: earlier suspicions are cleared. If it is the other service that took it, that says nothing for its own.
  private func noteWorking(_ completed: CompletedRequest, _ nanoseconds: UInt64) {
    let sentAt = completed.sentAt
    let token = FaultyToken(completed.delivery, .unregistered, since: sentAt, refusedAt: sentAt)
    let home = completed.delivery.home
    guards.withLock { guards in
      if home == completed.delivery.service {
        guards[home.environment, default: TokenGuard()].works(token, at: nanoseconds) {
          $0.refusedAt <= sentAt
        }
      } else {
        guards[home.environment]?.clear(token) { $0.refusedAt <= sentAt }
      }
    }
  }

  /// Seconds before a request is sent again that APNs certainly did not process; nil for immediately. A server that keeps
  /// refusing must not cause a busy loop.
  private static func wait(afterRefusals refusals: Int) -> Int64? {
    refusals <= 3 ? nil : Int64(min(refusals - 2, 30))
  }

  private func judge(
    _ completed: inout CompletedRequest, _ answer: APNsAnswer, _ outcome: APNsOutcome, _ nanoseconds: UInt64,
    _ effects: inout [Effect]
  ) -> DeliveryVerdict {
    let environment = completed.delivery.service.environment
    let refusal = DeliveryVerdict.refused(answer.reason ?? "Status\(answer.status)")
    switch outcome {
    case .delivered: return .ended(ChannelEnd.delivered)
    case .wrongEnvironment:
      effects.append(.move(completed.delivery))
      return .ended(ChannelEnd.delivered)
    case .retry(let retry):
      if retry.scope == .host { effects.append(.slowHost(environment, seconds: answer.retryAfter)) }
      return .retry(retry.schedule, notBefore: answer.retryAfter ?? 0)
    case .newProviderToken:
      if let token = (completed.authorization as? Authorization)?.token {
        effects.append(.renew(token, environment: environment))
      }
      return .resend
    case .tryOtherEnvironment(let other):
      completed.delivery.otherHasRefused = true
      completed.delivery.service = other.service
      return .resend
    case .retireToken(let since, let fault):
      let faulty = FaultyToken(completed.delivery, fault, since: since, refusedAt: completed.sentAt)
      guard fault.mayBeOurs else {
        effects.append(.retire(faulty))
        return refusal
      }
      // The environment that the device reported counts, also if the other one was tried afterwards.
      let home = completed.delivery.home.environment
      let verdict = guards.withLock { $0[home, default: TokenGuard()].bad(faulty, at: nanoseconds) }
      if verdict == .alarm {
        // The rejected credential, unless the response came from the other environment.
        let credential = home.service == completed.delivery.service ? Self.credential(completed) : nil
        effects.append(.pause(home, credential, reason: Self.alarm(answer), seconds: nil))
      }
      guard verdict != .suspected else { return refusal }
      // Says nothing about the token: it waits, at an alarm until somebody resumes, and then tries its own environment first.
      completed.delivery.service = home.service
      completed.delivery.otherHasRefused = false
      return .wait(seconds: 1)
    case .keepToken, .reject: return refusal
    case .pauseCredential(let fault):
      effects.append(
        .pause(
          environment, Self.credential(completed), reason: Self.text(answer, fault), seconds: fault.seconds)
      )
      return .wait(seconds: 1)
    case .pauseTopic:
      effects.append(
        .pause(
          environment, Self.credential(completed), reason: "\(Self.text(answer)) for this topic", seconds: nil
        ))
      return .wait(seconds: 1)
    }
  }

  private static func credential(_ completed: CompletedRequest) -> APNsCredentialID? {
    (completed.target as? Target)?.credential.id
  }

  private static func text(_ answer: APNsAnswer, _ fault: APNsCredentialFault? = nil) -> String {
    let text = "Apple answered \(answer.status) \(answer.reason ?? "without a reason")"
    return fault == .clock ? "\(text) to a new provider token: is the server's clock right?" : text
  }

  private static func alarm(_ answer: APNsAnswer) -> String {
    "nearly all device tokens are answered \(answer.status) \(answer.reason ?? ""): are they of Apple's other environment, or of another app?"
  }

  // MARK: What follows

  private func carryOut(_ effect: Effect) {
    switch effect {
    case .retire(let faulty): retire(faulty)
    case .move(let delivery):
      parts.router.registrations.move(delivery.token, of: delivery.row.number, in: app)
    case .renew(let token, let environment): renew(token, environment)
    case .pause(let environment, let credential, let reason, let seconds):
      pause(environment, credential, reason, seconds)
    case .slowHost(let environment, let seconds):
      target(for: environment)?.dispatcher.slowDown(seconds: seconds)
    case .hostRecovered(let environment): target(for: environment)?.dispatcher.hostAnswers()
    }
  }

  /// Removes a token that APNs rejected from its registration.
  func retire(_ faulty: FaultyToken) {
    parts.metrics.tokensRetired.add()
    parts.router.registrations.retire(
      faulty.token, of: faulty.number, in: app, TokenEnd(faulty.fault), unlessToldAfter: faulty.since)
  }

  private func renew(_ token: ProviderToken, _ environment: APNsEnvironment) {
    guard let target = target(for: environment) else { return }
    if target.dispatcher.renew(token) { return }
    pause(environment, target.credential.id, APNsCredentialFault.clockReason, nil)
  }

  /// Pauses the credential of a dispatcher.
  func pauseCredential(of dispatcher: APNsDispatcher, _ reason: String) {
    guard let target = target(for: dispatcher.environment), target.dispatcher === dispatcher else { return }
    pause(dispatcher.environment, target.credential.id, reason, nil)
  }

  private func pause(
    _ environment: APNsEnvironment, _ credential: APNsCredentialID?, _ reason: String, _ seconds: Int64?
  ) {
    // A response about a credential that was replaced in the meantime does not concern the new one.
    guard let target = target(for: environment), credential == nil || target.credential.id == credential
    else {
      return
    }
    if let seconds {
      target.dispatcher.rest(seconds: seconds, reason)
    } else {
      parts.credentials.pause(target.credential.id, app: app.id, reason: reason)
    }
  }
}

extension APNsCredentialFault {
  /// The message about a wrong clock.
  static let clockReason = "Apple calls a new provider token expired: is the server's clock right?"
}
