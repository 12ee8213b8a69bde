import BorealisBase
import Core
import Model
import Storage
import Synchronization

/// The handling of results.
extension APNsQueue {
  /// Consequences of results outside of the queue.
  private enum Effect {
    case retire(AnsweredToken)
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
      let isAccepted = if case .answered(let answer, _) = entry.result { answer.isAccepted } else { false }
      return (tag: entry.tag, isAccepted: isAccepted)
    }
    var spans = APNsSpans(parts.router.tracer, of: app.key)
    queue.complete(tags) { index, completed in
      parts.metrics.count(results[index].result)
      spans?.note(completed, results[index].result)
      return judge(&completed, results[index].result, &effects)
    }
    spans?.end()
    for effect in effects { carryOut(effect) }
  }

  private func judge(
    _ completed: inout CompletedRequest, _ result: APNsResult, _ effects: inout [Effect]
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
        noteWorking(completed)
        effects.append(.hostRecovered(environment))
      }
      return judge(&completed, answer, outcome, &effects)
    }
  }

  /// A token works. If it is the other service that took it, that says nothing for its own.
  private func noteWorking(_ completed: CompletedRequest) {
    let delivery = completed.delivery
    let token = AnsweredToken(
      delivery, delivery.token, sentAt: completed.sentAt, reportedBy: completed.sentAt)
    if delivery.home == delivery.service {
      let credential = Self.credential(completed).map { String($0.rawValue) } ?? ""
      queue.tokens.works(token, of: delivery.home, with: credential)
    } else {
      queue.tokens.clear(token, of: delivery.home)
    }
  }

  /// Seconds before a request is sent again that APNs certainly did not process; nil for immediately. A
  /// server that keeps refusing must not cause a busy loop.
  private static func wait(afterRefusals refusals: Int) -> Int64? {
    refusals <= 3 ? nil : Int64(min(refusals - 2, 30))
  }

  private func judge(
    _ completed: inout CompletedRequest, _ answer: APNsAnswer, _ outcome: APNsOutcome,
    _ effects: inout [Effect]
  ) -> DeliveryVerdict {
    let environment = completed.delivery.service.environment
    let refusal = DeliveryVerdict.refused(answer.text)
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
      return .refused(refuse(completed, answer, fault, since: since, &effects))
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

  /// Apple refuses a token, which is given up or kept; with which reason the push ends.
  private func refuse(
    _ completed: CompletedRequest, _ answer: APNsAnswer, _ fault: APNsTokenFault, since: Timestamp,
    _ effects: inout [Effect]
  ) -> String {
    let delivery = completed.delivery
    let token = AnsweredToken(
      delivery, delivery.token, sentAt: completed.sentAt, end: TokenEnd(fault), reportedBy: since)
    // The environment that the device reported counts, also if the other one was tried afterwards.
    let isHome = delivery.home == delivery.service
    let kept = queue.tokens.refuses(
      token, of: delivery.home,
      with: isHome ? Self.credential(completed).map { String($0.rawValue) } : nil,
      isCertain: !fault.mayBeOurs && answer.knownReason != nil, reason: answer.text)
    if kept == nil { effects.append(.retire(token)) }
    return kept ?? answer.text
  }

  private static func credential(_ completed: CompletedRequest) -> APNsCredentialID? {
    (completed.target as? Target)?.credential.id
  }

  private static func text(_ answer: APNsAnswer, _ fault: APNsCredentialFault? = nil) -> String {
    let text = "Apple answered \(answer.status) \(answer.reason ?? "without a reason")"
    return fault == .clock ? "\(text) to a new provider token: is the server's clock right?" : text
  }

  // MARK: What follows

  private func carryOut(_ effect: Effect) {
    switch effect {
    case .retire(let token): retire(token)
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
  private func retire(_ refused: AnsweredToken) {
    parts.metrics.tokensRetired.add()
    parts.router.registrations.retire(
      refused.token, of: refused.number, in: app, refused.end, unlessReportedAfter: refused.reportedBy)
  }

  private func renew(_ token: ProviderToken, _ environment: APNsEnvironment) {
    guard let target = target(for: environment) else { return }
    if target.dispatcher.renew(token) { return }
    target.dispatcher.restForWrongClock()
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

extension APNsAnswer {
  /// With which reason a push ends that is refused.
  fileprivate var text: String { reason ?? "Status\(status)" }
}

extension APNsCredentialFault {
  /// For how many seconds a wrong clock stops the sending.
  static let clockSeconds: Int64 = 30
  /// The message about a wrong clock.
  static let clockReason = "Apple calls a new provider token expired: is the server's clock right?"
}
