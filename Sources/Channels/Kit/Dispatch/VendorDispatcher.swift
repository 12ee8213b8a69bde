import BorealisBase
import Core
import HTTP
import Model
import Storage
import Synchronization

/// Sends an app's requests to a vendor with one credential: takes what the queue has ready, with a bounded
/// number of requests under way, and carries out what the answers mean. Its work runs on the thread of the
/// HTTP client.
final class VendorDispatcher<V: Vendor>: ServiceTarget {
  /// The most requests of an app without an answer: a connection with HTTP/2 has room for about as many.
  static var mostInFlight: Int { 100 }

  /// Which credential it is.
  let id: String
  /// Which of the vendor's services it sends to.
  let service: ServiceID
  let credential: V.Credential
  let marks: ReceiptMarks
  let app: AppKey
  let vendor: V
  let parts: VendorParts
  let pauseCredential: @Sendable (String) -> Void
  let access = AccessTokens()
  weak let queue: ChannelQueue?
  let state = Mutex(DispatcherState())
  /// The requests that wait for the one that prepares their push.
  let preparing = Mutex<[ObjectIdentifier: [Batch]]>([:])

  private let restChanged: @Sendable (VendorDispatcher) -> Void

  /// `pauseCredential` stops the use of the credential for a reason. `restChanged` is told when a rest begins
  /// or ends.
  init(
    _ vendor: V, _ parts: VendorParts, id: String, service: ServiceID, _ credential: V.Credential,
    _ marks: ReceiptMarks, _ queue: ChannelQueue, pauseCredential: @escaping @Sendable (String) -> Void,
    restChanged: @escaping @Sendable (VendorDispatcher) -> Void
  ) {
    self.vendor = vendor
    self.parts = parts
    self.id = id
    self.service = service
    self.restChanged = restChanged
    self.credential = credential
    self.marks = marks
    app = queue.app.key
    self.queue = queue
    self.pauseCredential = pauseCredential
  }

  func accepts(_ slot: TokenSlot) -> Bool { slot == vendor.slot }

  func wake() {
    let isFirst = state.withLock { state in
      defer { state.isWoken = true }
      return !state.isWoken && !state.isClosed
    }
    if isFirst { parts.transport.run { [weak self] in self?.work() } }
  }

  /// Requests are handed to the HTTP client at once: none waits here.
  func recall(_ tags: [UInt64]) {}

  /// Starts nothing new.
  func close() { state.withLock { $0.isClosed = true } }

  var isIdle: Bool { state.withLock { $0.inFlight == 0 && !$0.isAsking } }

  var inFlight: Int { state.withLock { $0.inFlight } }

  var view: VendorServiceView { state.withLock { $0.view } }

  /// Why nothing is sent now, for people; nil if sending is not stopped.
  var rest: String? { state.withLock { $0.restsUntil > 0 ? $0.restReason : nil } }

  /// Why nothing that counts against a quota is sent now, and until when; nil if that is not so.
  func rest(for quota: String?) -> WhyFacts.Rest? {
    let (restsUntil, reason) = state.withLock { ($0.restsUntil, $0.restReason) }
    if restsUntil > 0 { return WhyFacts.Rest(reason: reason, until: parts.time.moment(restsUntil)) }
    return quota.flatMap { queue?.quotas.usedUp($0) }.map {
      WhyFacts.Rest(reason: $0.reason, until: parts.time.moment($0.until))
    }
  }

  /// Call once a second.
  func tick() {
    let nanoseconds = parts.time.monotonic()
    let isRested = state.withLock { state in
      let isRested = state.restsUntil > 0 && state.restsUntil <= nanoseconds
      if isRested { state.restsUntil = 0 }
      return isRested
    }
    if isRested {
      restChanged(self)
      wake()
    }
  }

  // MARK: Sending, on the client's thread

  private func work() {
    state.withLock { $0.isWoken = false }
    guard let queue else { return }
    while true {
      let (room, isProbing) = state.withLock { state in
        guard !state.isClosed, state.restsUntil == 0 else { return (0, false) }
        return ((state.isProbing ? 1 : Self.mostInFlight) - state.inFlight, state.isProbing)
      }
      guard room > 0, let token = accessToken() else { return }
      let most = mostTokens
      let taken = queue.popOutgoing(
        service, upTo: most == 1 || isProbing ? room : most,
        ofContents: most == 1 ? .max : max(1, room / max(1, vendor.fewestTokens - 1)),
        authorization: token)
      guard !taken.isEmpty else { return }
      let batches = batches(of: taken)
      state.withLock { $0.inFlight += batches.count }
      if vendor.profile.abilities.contains(.isCostly) {
        parts.makers.forEach(batches) { [self] in send($0, token, queue) }
      } else {
        for batch in batches { send(batch, token, queue) }
      }
    }
  }

  func accessToken() -> AccessToken? {
    switch access.step(at: parts.time.now()) {
    case .use(let token): return token
    case .wait: return nil
    case .ask:
      askForAccess { [weak self] verdict in
        if case .refused(let reason) = verdict { self?.pauseCredential(reason) }
      }
      return nil
    }
  }

  /// Asks for a token of access. A refusal is the verdict; failures are tried again.
  func askForAccess(_ done: @escaping @Sendable (CredentialVerdict) -> Void) {
    let post: OutgoingRequest
    switch vendor.authorize(credential, at: parts.time.now()) {
    case .ask(let request): post = request
    case .granted(let value, let seconds):
      access.set(value, seconds: seconds, at: parts.time.now())
      done(.accepted)
      return wake()
    case .impossible(let reason):
      access.failed()
      return done(.refused(reason))
    }
    state.withLock { $0.isAsking = true }
    parts.transport.send(post) { [self] answer in
      state.withLock { $0.isAsking = false }
      guard !answer.isClosed else { return access.failed() }
      note(answer)
      let said: AccessAnswer =
        answer.status == 0
        ? .later(answer.error ?? "no answer", seconds: nil) : vendor.readToken(answer)
      switch said {
      case .token(let value, let seconds):
        access.set(value, seconds: seconds, at: parts.time.now())
        state.withLock { state in
          state.failures = 0
          state.isProbing = false
        }
        parts.metrics.count("access_granted", of: vendor.info.name)
        done(.accepted)
        wake()
      case .refused(let reason):
        access.failed()
        parts.metrics.count("access_refused", of: vendor.info.name)
        done(.refused(reason))
      case .later(let reason, let seconds):
        access.failed()
        parts.metrics.count("access_failed", of: vendor.info.name)
        rest(seconds: seconds.map { min($0, RetrySchedule.longestAsked) }, reason)
        done(.unclear(reason))
      }
    }
  }

  func send(_ batch: Batch, _ token: AccessToken, _ queue: ChannelQueue) {
    if let refusal = batch.content.refusal {
      state.withLock { $0.inFlight -= 1 }
      return queue.complete(batch.deliveries.map { ($0.tag.rawValue, false) }) { _, _ in .refused(refusal) }
    }
    let left = (batch.expires.milliseconds - parts.time.now().milliseconds) / 1000
    let tokens = batch.deliveries.map(\.delivery.row.token)
    let target = VendorTarget(
      tokens: tokens, push: batch.push, badge: batch.badge, secondsToLive: max(0, left),
      passing: passing(batch.push, tokens))
    let post: OutgoingRequest
    switch vendor.request(batch.content, to: target, with: credential, access: token) {
    case .post(let request): post = request
    case .first(let request): return prepare(batch, with: request, token, queue)
    case .ended(let outcome):
      state.withLock { $0.inFlight -= 1 }
      return answered(batch, VendorAnswer(outcome), lost: nil)
    }
    let span = beginSpan(of: batch)
    parts.transport.send(post) { [self] answer in
      state.withLock { $0.inFlight -= 1 }
      // Without an answer it is sent again after the next start.
      guard !answer.isClosed else { return }
      note(answer)
      if let said = vendor.quota(in: answer) { note(said) }
      let said = answer.status == 0 ? nil : vendor.interpret(answer, for: tokens)
      end(span, of: batch, answer, said)
      answered(batch, said, lost: answer)
      wake()
    }
  }

  // MARK: Answers

  func answered(_ batch: Batch, _ said: VendorAnswer?, lost answer: HTTPAnswer?) {
    // Tokens that work come first: they show that the credential is right.
    let answers = batch.deliveries.map { ($0, said?.outcome(for: $0.delivery.row.token)) }
    let ordered = answers.filter { $0.1 == .accepted } + answers.filter { $0.1 != .accepted }
    let outcomes = ordered.map(\.1)
    if outcomes.first == .accepted { passed.note(batch.push) }
    for outcome in outcomes {
      parts.metrics.count(
        outcome?.name ?? (answer?.wasSent == true ? "no_answer" : "not_sent"), of: vendor.info.name)
    }
    var effects: [VendorEffect] = []
    let results = ordered.map { ($0.0.tag.rawValue, $0.1 == .accepted) }
    let isShared = batch.deliveries.count > 1
    queue?.complete(results) { place, completed in
      guard let outcome = outcomes[place] else {
        return judge(&completed, lost: answer ?? HTTPAnswer(), &effects)
      }
      let isOwn = said?.exceptions[completed.delivery.row.token] != nil
      if isShared, !isOwn, outcome.isForeignToken {
        completed.delivery.mostTogether = batch.deliveries.count / 2
        effects.append(.probe)
        return .resend
      }
      // What is said of one token is not said of the credential.
      if isOwn, case .pauseAndAlertOperator(let reason) = outcome { return .refused(reason) }
      if case .prepareAgain = outcome { batch.content.forgetPreparation() }
      return judge(&completed, outcome, of: batch, isShared: isShared && !isOwn, &effects)
    }
    var hasStopped = false
    for effect in effects {
      // Of a request that stops the sending each delivery says so.
      if effect.stopsSending {
        guard !hasStopped else { continue }
        hasStopped = true
      }
      carryOut(effect)
    }
  }

  /// The pushes that the service took for some device.
  private let passed = PassedPushes()

  private func judge(
    _ completed: inout CompletedRequest, lost answer: HTTPAnswer, _ effects: inout [VendorEffect]
  ) -> DeliveryVerdict {
    completed.noteAuthorization(isRefused: false)
    effects.append(.rest(seconds: nil, answer.error ?? "no answer"))
    guard answer.wasSent else { return .unsent }
    return completed.isLastTry ? .ended(ChannelEnd.noAnswer) : .retry(RetrySchedule(firstSeconds: 10))
  }

  private func judge(
    _ completed: inout CompletedRequest, _ outcome: VendorOutcome, of batch: Batch, isShared: Bool,
    _ effects: inout [VendorEffect]
  ) -> DeliveryVerdict {
    if case .refreshAuthOnce(let reason) = outcome {
      if let token = completed.authorization as? AccessToken { effects.append(.dropAccess(token)) }
      guard completed.hasRenewedAuthorization else {
        completed.noteAuthorization(isRefused: true)
        return .resend
      }
      completed.noteAuthorization(isRefused: false)
      return judge(&completed, renewed: vendor.refusedAgain(reason), of: batch, isShared: isShared, &effects)
    }
    completed.noteAuthorization(isRefused: false)
    return judge(&completed, renewed: outcome, of: batch, isShared: isShared, &effects)
  }

  private func judge(
    _ completed: inout CompletedRequest, renewed outcome: VendorOutcome, of batch: Batch, isShared: Bool,
    _ effects: inout [VendorEffect]
  ) -> DeliveryVerdict {
    switch outcome {
    case .accepted:
      queue?.tokens.works(AnsweredToken(completed), of: service, with: id)
      effects.append(.answers)
      return .ended(ChannelEnd.delivered)
    case .dropDeadToken(let reason):
      effects.append(.answers)
      return refuse(completed, .byService, isCertain: true, reason, &effects)
    case .dropToken(let reason):
      effects.append(.answers)
      return refuse(completed, .byService, isShared: isShared, reason, &effects)
    case .dropForeignToken(let reason):
      // Where one token can have a whole request refused, only one that is taken shows that others may go
      // along.
      if vendor.mostTokens == 1 { effects.append(.answers) }
      return refuse(completed, .otherApp, isShared: isShared, reason, &effects)
    case .suspectToken(let reason):
      effects.append(.answers)
      guard passed.contains(batch.push) else { return .refused(reason) }
      return refuse(completed, .wrongService, isShared: isShared, reason, &effects)
    case .retryAfter(let schedule, let wished, let rests, let reason):
      let seconds = wished.map { min($0, RetrySchedule.longestAsked) }
      if rests { effects.append(.rest(seconds: seconds, reason)) } else { effects.append(.answers) }
      guard let seconds else { return .retry(schedule) }
      // The service knows better than the schedule; one that asks for hardly any time again and again gets
      // more.
      return .retry(RetrySchedule(firstSeconds: 0), notBefore: seconds)
    case .stopUntilQuotaReset(let reason):
      effects.append(useUp(batch.content.quota, reason))
      return .wait(seconds: 1)
    case .sendSinglyUntilQuotaReset:
      let now = parts.time.now()
      state.withLock { $0.sendsSinglyUntil = now.seconds + now.secondsToQuotaReset }
      effects.append(.answers)
      return .wait(seconds: 1)
    case .prepareAgain:
      effects.append(.answers)
      return .retry(RetrySchedule(firstSeconds: 1))
    case .pauseAndAlertOperator(let reason), .refreshAuthOnce(let reason):
      effects.append(.pause(reason))
      return .wait(seconds: 1)
    case .rejectContent(let reason):
      effects.append(.answers)
      return .refused(reason)
    }
  }

  /// The service refuses a token, which is given up or kept.
  private func refuse(
    _ completed: CompletedRequest, _ end: TokenEnd, isCertain: Bool = false, isShared: Bool = false,
    _ reason: String, _ effects: inout [VendorEffect]
  ) -> DeliveryVerdict {
    // A request that was sent later has shown that the token is good.
    guard !completed.hasWorkedSince, let queue else { return .refused(reason) }
    let token = AnsweredToken(completed, end: end)
    let kept = queue.tokens.refuses(
      token, of: service, with: id, isCertain: isCertain, isShared: isShared, reason: reason)
    if kept == nil { effects.append(.retire(token)) }
    return .refused(kept ?? reason, isTokenGone: kept == nil)
  }

  private func carryOut(_ effect: VendorEffect) {
    switch effect {
    case .retire(let token): retire(token)
    case .dropAccess(let token): access.drop(token)
    case .rest(let seconds, let reason): rest(seconds: seconds, reason)
    case .pause(let reason): pauseCredential(reason)
    case .answers:
      state.withLock { state in
        state.failures = 0
        state.isProbing = false
      }
    case .probe: state.withLock { $0.isProbing = true }
    }
  }

  private func retire(_ refused: AnsweredToken) {
    guard let queue else { return }
    parts.metrics.countRetired(of: vendor.info.name)
    parts.router.registrations.retire(
      refused.token, of: refused.number, in: queue.app, refused.end, unlessReportedAfter: refused.reportedBy)
  }

  /// Sends nothing for a while, and then probes with one request; without a time, longer each time.
  private func rest(seconds wished: Int64?, _ reason: String) {
    let now = parts.time.monotonic()
    let begins = state.withLock { state in
      state.isProbing = true
      let isResting = state.restsUntil > 0
      if !isResting { state.failures += 1 }
      var random = SystemRandomNumberGenerator()
      let delay = RetrySchedule(firstSeconds: 1).delay(
        afterFailures: min(state.failures, 6), using: &random)
      // What was under way when it began says nothing new.
      guard !isResting || wished != nil else { return false }
      let seconds = UInt64(clamping: max(1, wished ?? delay / 1000))
      state.restsUntil = max(state.restsUntil, now &+ seconds &* 1_000_000_000)
      state.restReason = named(reason)
      return !isResting
    }
    guard begins else { return }
    restChanged(self)
    parts.log.warning(
      "channel pauses", ["channel": .text(vendor.info.name), "reason": .text(named(reason))])
  }

  /// A reason with the service that it is about.
  func named(_ reason: String) -> String {
    let name = vendor.name(of: service)
    return name.isEmpty ? reason : "\(name): \(reason)"
  }
}
