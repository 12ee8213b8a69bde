import BorealisBase

/// What is wanted of a certificate authority.
package struct ACMEPlan: Sendable {
  /// The URL of its directory.
  package let directory: String
  /// DNS names in small letters.
  package let names: [String]
  /// An address for the authority's mail; nil for none.
  package let email: String?
  package let challenge: ACMEChallengeType
  package let account: ACMEAccount
  /// The request for the certificate, in DER form.
  package let request: [UInt8]

  /// Names at least one name. The operator has agreed to the authority's terms of service.
  package init(
    directory: String, names: [String], email: String?, challenge: ACMEChallengeType, account: ACMEAccount,
    request: [UInt8]
  ) {
    (self.directory, self.names, self.email) = (directory, names, email)
    (self.challenge, self.account, self.request) = (challenge, account, request)
  }
}

/// One attempt to get a certificate by ACME (RFC 8555), without I/O. Its owner asks for the next action,
/// carries it out and asks again, after a request behind its answer. It ends within `patience`. Moments are
/// nanoseconds of a clock that never jumps.
///
/// An order outlives attempts and processes: what was lost on the way is found by reading the order again.
package struct ACMEAttempt: Sendable {
  /// What the owner does next.
  package enum Action: Equatable, Sendable {
    /// Send this and pass the answer, or that there is none, to `receive`.
    case send(ACMERequest)
    /// Ask again at a moment.
    case wait(until: UInt64)
    /// Store the URL of the order before anything else, nil that there is none any more.
    case keep(order: String?)
    /// Answer a challenge until the attempt ends; the same may be asked for again.
    case answer(Challenge)
    /// The attempt is over.
    case end(Outcome)
  }

  /// A challenge and its answer.
  package struct Challenge: Equatable, Sendable {
    /// The DNS name.
    package let name: String
    package let token: String
    package let keyAuthorization: String
  }

  /// How an attempt ends.
  package enum Outcome: Equatable, Sendable {
    /// With a certificate and its chain, in PEM form.
    case issued([UInt8])
    /// Without one. The order goes on with the next attempt unless it was forgotten.
    case failed(ACMEFailure)
  }

  private enum Step: Equatable {
    case directory
    case account
    case newOrder
    case order
    case authorization(Int)
    case challenge(String, of: Int)
    case finalize(String)
    case certificate(String)
  }

  /// Nanoseconds for the whole attempt.
  package static let patience: UInt64 = 600_000_000_000
  /// Requests without a useful answer before an attempt fails: with their pauses some three minutes.
  static let mostLosses = 8
  /// Nonces that are refused one after the other.
  static let mostBadNonces = 20
  /// Requests of an attempt: a hundred names need some three each.
  static let mostRequests = 1000
  /// The fields of answers that have to be kept.
  package static let fields = ["Replay-Nonce", "Location"]

  private let plan: ACMEPlan
  private let deadline: UInt64
  private var step = Step.directory
  private var directory: ACMEDirectory?
  private var account: String?
  private var order: String?
  private var authorizations: [String] = []
  /// The URLs of challenges of which the authority knows that they are answered.
  private var answered: Set<String> = []
  private var nonce: String?
  private var pace = Pace()
  private var queue = Queue()

  private struct Pace: Sendable {
    /// Nothing is sent before this moment.
    var earliest: UInt64 = 0
    var requests = 0
    var losses = 0
    var badNonces = 0
    var polls = 0
  }

  /// What comes before the next request.
  private struct Queue: Sendable {
    var actions: [Action] = []
    var outcome: Outcome?
    /// Whether the answer that is awaited is only for its nonce.
    var isForNonce = false
  }

  /// Begins now, with the order of an earlier attempt if there is one.
  package init(_ plan: ACMEPlan, order: String?, now: UInt64) {
    self.plan = plan
    self.order = order
    deadline = now + Self.patience
  }

  // MARK: Requests

  /// What to do now.
  package mutating func next(now: UInt64) -> Action {
    if queue.outcome == nil, now >= deadline {
      fail(ACMEFailure("there was no certificate within \(Self.patience / 60_000_000_000) minutes"))
    } else if queue.outcome == nil, pace.requests == Self.mostRequests {
      fail(ACMEFailure("there was no certificate within \(Self.mostRequests) requests"))
    }
    if !queue.actions.isEmpty { return queue.actions.removeFirst() }
    if let outcome = queue.outcome { return .end(outcome) }
    if now < pace.earliest { return .wait(until: pace.earliest) }
    pace.requests += 1
    guard let directory else { return .send(.get(plan.directory)) }
    guard let nonce else {
      queue.isForNonce = true
      return .send(.get(directory.newNonce))
    }
    self.nonce = nil
    let (url, payload) = content(directory)
    return .send(.post(ACMEPost(url: url, nonce: nonce, account: account, payload: payload)))
  }

  private func content(_ directory: ACMEDirectory) -> (url: String, payload: JSONValue?) {
    switch step {
    case .directory, .account:
      var payload = JSONObject()
      payload.set("termsOfServiceAgreed", true)
      if let email = plan.email { payload.set("contact", [.string("mailto:\(email)")]) }
      return (directory.newAccount, .object(payload))
    case .newOrder:
      let names: [JSONValue] = plan.names.map { ["type": "dns", "value": .string($0)] }
      return (directory.newOrder, ["identifiers": .array(names)])
    case .order: return (order ?? "", nil)
    case .authorization(let index): return (authorizations[index], nil)
    case .challenge(let url, _): return (url, [:])
    case .finalize(let url): return (url, ["csr": .string(Base64.encodeURL(plan.request))])
    case .certificate(let url): return (url, nil)
    }
  }

  // MARK: Answers

  /// Takes the answer to the request that was sent last.
  package mutating func receive(_ answer: HTTPAnswer, now: UInt64) {
    if let fresh = answer.fields["Replay-Nonce"], !fresh.isEmpty { nonce = fresh }
    let isForNonce = queue.isForNonce
    queue.isForNonce = false
    let wish = answer.retryAfter
    switch answer.status {
    case _ where answer.error != nil: lose(answer.error ?? "", wish, now)
    case 200..<300 where isForNonce: if nonce == nil { lose("it gives no nonce", wish, now) }
    case 200..<300:
      pace.badNonces = 0
      if !proceed(answer, wish, now) { lose("its answer cannot be understood", wish, now) }
    case 400..<500 where !isForNonce: refuse(ACMEProblem(answer), answer.status, wish, now)
    default: lose(ACMEProblem(answer).text, wish, now)
    }
  }

  /// Goes on after a success; false if the answer makes no sense.
  private mutating func proceed(_ answer: HTTPAnswer, _ wish: Int64?, _ now: UInt64) -> Bool {
    if case .certificate = step {
      guard String(decoding: answer.body, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----") else {
        return false
      }
      queue.outcome = .issued(answer.body)
      return true
    }
    if case .challenge(let url, let index) = step {
      answered.insert(url)
      step = .authorization(index)
      askAgain(wish, now)
      return true
    }
    if step == .account {
      guard let location = Self.location(answer) else { return false }
      account = location
      step = order == nil ? .newOrder : .order
      return true
    }
    let value = (try? parseJSON(answer.body)) ?? .null
    switch step {
    case .directory:
      directory = ACMEDirectory(value)
      if directory != nil { step = .account }
      return directory != nil
    case .authorization(let index): return proceed(value, authorization: index, wish, now)
    case .newOrder:
      guard let location = Self.location(answer) else { return false }
      order = location
      queue.actions.append(.keep(order: location))
      return proceed(order: value, wish, now)
    default: return proceed(order: value, wish, now)
    }
  }

  private mutating func proceed(order value: JSONValue, _ wish: Int64?, _ now: UInt64) -> Bool {
    guard let state = ACMEOrder(value) else {
      // Whatever it was the answer to: the order is what is read next.
      step = .order
      return false
    }
    switch state {
    // `finalize` may be answered with the state before it.
    case .pending where isFinalizing, .ready where isFinalizing, .processing:
      step = .order
      askAgain(wish, now)
    case .pending(let list):
      // Once all of them were valid the order takes a moment to notice it.
      if step == .order, !authorizations.isEmpty { askAgain(wish, now) }
      authorizations = list
      step = .authorization(0)
    case .ready(let url): step = .finalize(url)
    case .valid(let url): step = .certificate(url)
    case .invalid(let reason): fail(ACMEFailure(reason), forgetsOrder: true)
    }
    return true
  }

  private var isFinalizing: Bool { if case .finalize = step { true } else { false } }

  private mutating func proceed(
    _ value: JSONValue, authorization index: Int, _ wish: Int64?, _ now: UInt64
  ) -> Bool {
    guard let authorization = ACMEAuthorization(value, type: plan.challenge),
      plan.names.contains(authorization.name)
    else { return false }
    switch (authorization.status, authorization.challenge) {
    case ("valid", _):
      pace.polls = 0
      step = index + 1 < authorizations.count ? .authorization(index + 1) : .order
    case ("pending", let challenge?):
      queue.actions.append(
        .answer(
          Challenge(
            name: authorization.name, token: challenge.token,
            keyAuthorization: plan.account.keyAuthorization(challenge.token))))
      if challenge.isPending, !answered.contains(challenge.url) {
        step = .challenge(challenge.url, of: index)
      } else {
        askAgain(wish, now)
      }
    case ("pending", nil):
      fail(
        ACMEFailure("it does not offer the challenge \(plan.challenge.rawValue) for \(authorization.name)"),
        forgetsOrder: true)
    default:
      let problem = authorization.problem ?? "the authorization is \(authorization.status)"
      fail(ACMEFailure("\(authorization.name): \(problem)"), forgetsOrder: true)
    }
    return true
  }

  private static func location(_ answer: HTTPAnswer) -> String? {
    answer.fields["Location"].flatMap { $0.hasPrefix("https://") ? $0 : nil }
  }

  // MARK: Failures

  /// The authority has refused a request.
  private mutating func refuse(_ problem: ACMEProblem, _ status: Int, _ wish: Int64?, _ now: UInt64) {
    let isLimit = problem.type == "rateLimited" || status == 429
    let failure = ACMEFailure(problem.text, retryAfter: wish, isLimit: isLimit)
    switch (problem.type, step) {
    case ("badNonce", _):
      pace.badNonces += 1
      if pace.badNonces > Self.mostBadNonces { fail(failure) }
    case _ where isLimit || status == 408: fail(failure)
    // It may have been done before, with an answer that was lost.
    case ("orderNotReady", .finalize), (_, .challenge): lose(problem.text, wish, now)
    // Before there is an account, nothing was said of the order.
    default: fail(failure, forgetsOrder: account != nil)
    }
  }

  /// There is no useful answer: the authority may have done what it was asked for, or not.
  private mutating func lose(_ reason: String, _ wish: Int64?, _ now: UInt64) {
    pace.losses += 1
    guard pace.losses <= Self.mostLosses else { return fail(ACMEFailure(reason, retryAfter: wish)) }
    switch step {
    case .finalize: step = .order
    case .challenge(_, let index): step = .authorization(index)
    default: break
    }
    pause(max(wish ?? 0, 1 << Int64(min(pace.losses, 5))), reason, now)
  }

  /// What is waited for is not there yet.
  private mutating func askAgain(_ wish: Int64?, _ now: UInt64) {
    pace.polls += 1
    pause(max(1, wish ?? Int64(min(pace.polls, 10))), "it has not decided yet", now)
  }

  private mutating func pause(_ seconds: Int64, _ reason: String, _ now: UInt64) {
    let end = now + UInt64(min(seconds, ACMESchedule.longestWish)) * 1_000_000_000
    guard end < deadline else { return fail(ACMEFailure(reason, retryAfter: seconds)) }
    pace.earliest = end
  }

  private mutating func fail(_ failure: ACMEFailure, forgetsOrder: Bool = false) {
    if forgetsOrder, order != nil {
      order = nil
      queue.actions.append(.keep(order: nil))
    }
    queue.outcome = .failed(failure)
  }
}
