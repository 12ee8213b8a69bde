import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import Synchronization

/// A pool of connections and the apps that share it: passes their requests to it in turn, so that no app
/// waits for another app's million.
final class APNsDispatcher: APNsSource {
  private struct State: Sendable {
    var pool: APNsPool?
    /// The queues of the apps.
    var members: [APNsQueue] = []
    /// The index of the queue that is first next time.
    var turn = 0
    var token: APNsQueue.Authorization?
    /// Nothing is sent before this moment of `TimeSource.monotonic`.
    var restsUntil: UInt64 = 0
    /// The reason, for people.
    var restReason = ""
    /// Consecutive failures of the host.
    var hostFailures = 0
    /// Until the host responds again, one request at a time probes it.
    var isProbing = false
    var probes = 0
    /// Verifications of credentials, and those in flight.
    var questions: [Question] = []
    var asked: [RequestTag: Question] = [:]
    var questionCount: UInt64 = 0
  }

  /// A verification of a credential for a topic.
  private struct Question: Sendable {
    let topic: String
    let done: @Sendable (CredentialVerdict) -> Void
  }

  /// The environment of all its requests.
  let environment: APNsEnvironment
  private let mint: ProviderTokenMint?
  private let parts: APNsParts
  private let state = Mutex(State())

  /// Makes a dispatcher whose connections authenticate with tokens of a mint, or with a certificate.
  init(environment: APNsEnvironment, mint: ProviderTokenMint?, parts: APNsParts) {
    self.environment = environment
    self.mint = mint
    self.parts = parts
  }

  /// Sets its pool; call first.
  func start(on address: HTTP2Driver.Address, _ configuration: HTTP2PoolConfiguration) {
    let pool = APNsPool(on: address, configuration, source: self)
    state.withLock { $0.pool = pool }
    refreshToken()
  }

  /// The status of its pool.
  var status: HTTP2PoolStatus? { state.withLock { $0.pool }?.status }

  /// Why nothing is sent now, for people; nil if sending is not stopped.
  var problem: String? {
    state.withLock { $0.restsUntil > 0 ? $0.restReason : nil }
  }

  /// The same, and until when.
  var rest: WhyFacts.Rest? {
    let time = parts.time
    return state.withLock { state in
      state.restsUntil > 0
        ? WhyFacts.Rest(reason: state.restReason, until: time.moment(state.restsUntil)) : nil
    }
  }

  /// Whether no queue uses it.
  var isUnused: Bool { state.withLock { $0.members.isEmpty } }

  func add(_ queue: APNsQueue) {
    state.withLock { state in
      guard !state.members.contains(where: { $0 === queue }) else { return }
      state.members.append(queue)
    }
  }

  func remove(_ queue: APNsQueue) {
    state.withLock { state in state.members.removeAll { $0 === queue } }
  }

  func wake() { state.withLock { $0.pool }?.wake() }

  /// Withdraws requests that were not sent yet.
  func recall(_ tags: [UInt64]) { state.withLock { $0.pool }?.recall(tags) }

  func close(drain: Bool) { state.withLock { $0.pool }?.close(drain: drain) }

  // MARK: The pool's questions

  /// An app with this many requests in flight gets none of the scarce streams, if other apps may need them.
  private static let modestFlights = 32

  func popRequests(upTo count: Int, areScarce: Bool) -> [APNsRequest] {
    if let question = popQuestion() { return [question] }
    let (members, turn, token, allowed) = state.withLock { state in
      let isProbe = state.isProbing
      let allowed = !isProbe ? count : state.probes == 0 ? min(1, count) : 0
      defer { state.turn &+= 1 }
      return (state.members, state.turn, state.token, allowed)
    }
    guard !members.isEmpty, allowed > 0 else { return [] }
    var requests: [APNsRequest] = []
    var exhausted: Set<Int> = []
    while requests.count < allowed, exhausted.count < members.count {
      let share = max(1, (allowed - requests.count) / (members.count - exhausted.count))
      for offset in 0..<members.count where requests.count < allowed {
        let index = (turn &+ offset) % members.count
        guard !exhausted.contains(index) else { continue }
        if areScarce, members.count > 1, members[index].queue.counts.inFlight >= Self.modestFlights {
          exhausted.insert(index)
          continue
        }
        let wanted = min(share, allowed - requests.count)
        let more = members[index].popRequests(environment, upTo: wanted, token: token)
        if more.count < wanted { exhausted.insert(index) }
        requests += more
      }
    }
    if allowed < count { state.withLock { $0.probes += requests.count } }
    return requests
  }

  func answered(_ all: [APNsResultEntry]) {
    let results = answerQuestions(all)
    guard !results.isEmpty else { return wakeIfProbing() }
    state.withLock { $0.probes = max(0, $0.probes - results.count) }
    for (app, results) in Self.byApp(results) { parts.queues.find(app)?.answered(results) }
    wakeIfProbing()
  }

  private static func byApp(_ results: [APNsResultEntry]) -> [AppID: [APNsResultEntry]] {
    func app(_ entry: APNsResultEntry) -> AppID { RequestTag(rawValue: entry.tag).app }
    // Most often there is one app.
    if let first = results.first, results.allSatisfy({ app($0) == app(first) }) {
      return [app(first): results]
    }
    return Dictionary(grouping: results, by: app)
  }

  func noticed(_ event: HTTP2PoolEvent) {
    let name = LogValue.text(environment.name)
    switch event {
    case .connected(let address):
      parts.log.info("connected to APNs", ["environment": name, "address": .text(address)])
    case .failed(let reason, let wait):
      parts.log.warning(
        "no connection to APNs",
        ["environment": name, "reason": .text(reason), "retry_ms": .number(Int64(clamping: wait))])
      endQuestions(.unclear(reason))
    case .goAway(let code, let debug):
      parts.log.info(
        "APNs closes a connection", ["environment": name, "code": .text(code), "reason": .text(debug)])
      judge(goAway: debug)
    case .refusedCertificate(let reason):
      endQuestions(.refused(reason))
      pauseCredentials(CredentialVerdict.pauseReason(reason))
    case .lacksHTTP2: break
    case .closed: endQuestions(.unclear("the connections were closed"))
    }
  }

  // MARK: Questions

  /// Verifies this dispatcher's credential for a topic by a push to a token that no device has: APNs rejects
  /// the credential before it checks the token. `done` is called once.
  func ask(about topic: String, _ done: @escaping @Sendable (CredentialVerdict) -> Void) {
    let pool = state.withLock { state in
      state.questions.append(Question(topic: topic, done: done))
      return state.pool
    }
    pool?.wake()
  }

  private func popQuestion() -> APNsRequest? {
    let (count, topic) = state.withLock { state -> (UInt64, String?) in
      guard !state.questions.isEmpty else { return (0, nil) }
      let question = state.questions.removeFirst()
      state.questionCount &+= 1
      state.asked[RequestTag(app: Self.nobody, count: state.questionCount)] = question
      return (state.questionCount, question.topic)
    }
    guard let topic else { return nil }
    return APNsRequest(
      tag: RequestTag(app: Self.nobody, count: count).rawValue, deviceToken: [0], topic: topic,
      type: .background, priority: .considerate, expiration: 0,
      id: APNsID(high: SystemRandom.next(), low: SystemRandom.next()),
      payload: Array(#"{"aps":{"content-available":1}}"#.utf8))
  }

  /// The app in the numbers of requests that belong to no app.
  private static let nobody = AppID(0)

  /// Removes the results of verifications.
  private func answerQuestions(_ results: [APNsResultEntry]) -> [APNsResultEntry] {
    var others: [APNsResultEntry] = []
    for entry in results {
      let tag = RequestTag(rawValue: entry.tag)
      guard tag.app == Self.nobody else {
        others.append(entry)
        continue
      }
      guard let question = state.withLock({ $0.asked.removeValue(forKey: tag) }) else { continue }
      switch entry.result {
      case .answered(let answer, _): question.done(CredentialVerdict(answer))
      case .notSent, .refused:
        // If the next connection fails as well, that is the result.
        state.withLock { $0.questions.append(question) }
        wake()
      case .unknown: question.done(.unclear("Apple gave no answer"))
      }
    }
    return others
  }

  private func endQuestions(_ verdict: CredentialVerdict) {
    let questions = state.withLock { state in
      defer { state.questions = [] }
      return state.questions
    }
    for question in questions { question.done(verdict) }
  }

  // MARK: Tokens and pauses

  /// APNs may end a connection because of the credential, instead of rejecting each request.
  private func judge(goAway debug: String) {
    switch APNsOutcome(goAway: debug) {
    case .newProviderToken:
      guard let token = state.withLock({ $0.token })?.token, !renew(token) else { return }
      restForWrongClock()
    case .pauseCredential(let fault):
      let text = "Apple closed the connection: \(debug)"
      if let seconds = fault.seconds { rest(seconds: seconds, text) } else { pauseCredentials(text) }
    default: break
    }
  }

  /// Pauses the credentials of all apps that use these connections.
  private func pauseCredentials(_ reason: String) {
    // Until all apps have left, which takes up to a second.
    let until = moment(in: 2)
    let (members, pool) = state.withLock { state in
      state.restsUntil = max(state.restsUntil, until)
      state.restReason = reason
      return (state.members, state.pool)
    }
    pool?.pause()
    for queue in members { queue.pauseCredential(of: self, reason) }
  }

  /// Uses the mint's current token, if it has changed.
  private func refreshToken() {
    guard let mint else { return }
    do throws(CryptoError) { adopt(try mint.current()) } catch {
      parts.log.error("no provider token", ["key": .text(mint.keyID), "reason": .text("\(error)")])
    }
  }

  private func adopt(_ token: ProviderToken) {
    let pool = state.withLock { state -> APNsPool? in
      guard state.token?.token != token else { return nil }
      state.token = APNsQueue.Authorization(token)
      return state.pool
    }
    pool?.setAuthorization(token.authorization)
  }

  /// APNs reported a token as expired: uses another one. False if that token had been renewed for the same
  /// reason.
  func renew(_ refused: ProviderToken) -> Bool {
    guard let mint else { return false }
    guard let renewal = try? mint.renewal(of: refused) else { return false }
    switch renewal {
    case .token(let token):
      adopt(token)
      wake()
      return true
    case .tooSoon: return false
    }
  }

  /// The host is overloaded: probes it again after a while with one request.
  func slowDown(seconds wished: Int64? = nil) {
    let now = parts.time.monotonic()
    let pool = state.withLock { state -> APNsPool? in
      state.isProbing = true
      guard state.restsUntil <= now else { return nil }
      state.hostFailures += 1
      var random = SystemRandomNumberGenerator()
      let delay = APNsRetry.slowHost.schedule.delay(afterFailures: min(state.hostFailures, 6), using: &random)
      state.restsUntil = moment(in: max(1, delay / 1000, wished ?? 0))
      state.restReason = "Apple answers 503 ServiceUnavailable"
      return state.pool
    }
    pool?.pause()
  }

  /// The host accepted a push: normal sending resumes.
  func hostAnswers() {
    let pool = state.withLock { state -> APNsPool? in
      guard state.isProbing else { return nil }
      state.isProbing = false
      state.hostFailures = 0
      state.probes = 0
      return state.pool
    }
    pool?.wake()
  }

  private func wakeIfProbing() {
    let pool = state.withLock { $0.isProbing ? $0.pool : nil }
    pool?.wake()
  }

  /// APNs calls a new provider token expired.
  func restForWrongClock() {
    rest(seconds: APNsCredentialFault.clockSeconds, APNsCredentialFault.clockReason)
  }

  /// Sends nothing for a while.
  func rest(seconds: Int64, _ reason: String) {
    let until = moment(in: seconds)
    let pool = state.withLock { state -> APNsPool? in
      guard state.restsUntil < until else { return nil }
      state.restsUntil = until
      state.restReason = reason
      return state.pool
    }
    guard let pool else { return }
    parts.log.error(
      "APNs pauses",
      ["environment": .text(environment.name), "reason": .text(reason), "seconds": .number(seconds)])
    pool.pause()
  }

  /// On the clock that nobody sets.
  private func moment(in seconds: Int64) -> UInt64 {
    parts.time.monotonic() &+ UInt64(clamping: seconds) &* 1_000_000_000
  }

  /// Call once a second.
  func tick() {
    refreshToken()
    let now = parts.time.monotonic()
    let pool = state.withLock { state -> APNsPool? in
      guard state.restsUntil > 0, state.restsUntil <= now else { return nil }
      state.restsUntil = 0
      return state.pool
    }
    guard let pool else { return }
    pool.resume()
    // A rest that has begun meanwhile may have paused before.
    if state.withLock({ $0.restsUntil > 0 }) { pool.pause() }
  }
}

extension CredentialVerdict {
  /// Why a credential is paused that APNs refused, whether it was asked about it or a push showed it.
  static func pauseReason(_ reason: String) -> String { "Apple answered \(reason)" }

  /// What the response to a push to no device says about the credential.
  init(_ answer: APNsAnswer) {
    let long = Timestamp(milliseconds: 0)
    let text = "\(answer.status) \(answer.reason ?? "without a reason")"
    switch APNsOutcome(answer, to: APNsAttempt(sentAt: long, tokenRegisteredAt: long)) {
    case .pauseCredential(let fault) where fault.seconds == nil: self = .refused(text)
    case .pauseTopic: self = .refused("\(text) for this topic")
    case .newProviderToken: self = .unclear("Apple answered \(text): is the server's clock right?")
    case .pauseCredential, .retry: self = .unclear("Apple answered \(text)")
    case .delivered, .wrongEnvironment, .tryOtherEnvironment, .retireToken, .keepToken, .reject:
      self = .accepted
    }
  }
}
