import BorealisBase
import BorealisCrypto

/// The simulator without its sockets: requests in, decisions out. It belongs to one thread.
final class Simulator {
  var rules: APNsRules
  var script = FailureScript()
  var policy = ConnectionPolicy()
  private(set) var log: SimulatorLog
  /// Gets each request once it is decided.
  var whenLogged: ((LogEntry) -> Void)?

  private var connectionCount: UInt64 = 0
  /// Tokens that a 410 was answered for.
  private var gone: Set<SimulatedDeviceToken> = []
  /// Of each key the provider tokens that were seen: their digests and when they were made.
  private var providerTokens: [String: [UInt128: Timestamp]] = [:]
  private static let tokensOfAKey = 1000
  /// RFC 9113 section 7.
  private static let refusedStream: UInt32 = 7

  init(rules: APNsRules = APNsRules(), log: SimulatorLog = SimulatorLog()) {
    self.rules = rules
    self.log = log
  }

  // MARK: Connections

  /// A connection is up.
  func open(certificate: ClientCertificate?, now: Timestamp) -> SimulatedConnection {
    connectionCount += 1
    log.count {
      $0.connections += 1
      $0.openConnections += 1
    }
    return SimulatedConnection(number: connectionCount, certificate: certificate, at: now)
  }

  /// A connection is gone.
  func close(_ connection: SimulatedConnection) {
    log.count { $0.openConnections -= 1 }
    if !script.isEmpty { script.forget(connection: connection.number) }
  }

  /// How many streams a new connection may have at once: one until it is authenticated.
  func initialStreams(certificate: ClientCertificate?) -> UInt32 { certificate == nil ? 1 : policy.streams }

  /// Counts what the transport sees.
  func count(_ change: (inout SimulatorLog.Totals) -> Void) { log.count(change) }

  /// Counts a fault that belongs to no request.
  func count(_ finding: Finding) { log.count(finding) }

  /// Deletes requests and totals.
  func clearLog() { log.clear() }

  /// Sets or removes the state of a token; an earlier 410 for it is dropped.
  func set(_ token: SimulatedDeviceToken, _ state: SimulatedTokens.State?) {
    rules.tokens.set(token, state)
    gone.remove(token)
  }

  /// Deletes all states of tokens.
  func forgetTokens() {
    rules.tokens.removeAll()
    gone = []
  }

  // MARK: Requests

  /// Decides about a complete request.
  func handle(
    _ request: SimulatedRequest, on connection: SimulatedConnection, stream: Int32, now: Timestamp
  ) -> Decision {
    connection.requests += 1
    connection.lastRequest = now
    var outcome = rules.judge(
      request, certificate: connection.certificate, &connection.providerTokens, now: now)
    if let token = outcome.newToken { note(token, request, &outcome) }
    let id = request[.id].flatMap { NotificationID.isValid($0) ? $0 : nil } ?? NotificationID.make()
    let rule =
      script.isEmpty || !outcome.verdict.isAccepted
      ? nil : script.match(token: outcome.token, connection: connection.number)
    if case .answer(let verdict, _, _)? = rule?.action { outcome.verdict = verdict }
    noteGone(&outcome)
    let isAccepted = outcome.verdict.isAccepted && rule?.action.accepts ?? true
    var decision = decide(rule, outcome.verdict, id: id, stream, connection)
    applyPolicy(outcome, isAccepted, stream, connection, &decision)
    let entry = log.add(
      LogEntry(
        time: now, connection: connection.number, stream: stream, id: id, token: outcome.token,
        request: request, verdict: outcome.verdict, action: rule?.action.name, findings: outcome.findings,
        isAccepted: isAccepted, isAnswered: decision.isAnswer))
    whenLogged?(entry)
    connection.highestStream = max(connection.highestStream, stream)
    return decision
  }

  private func decide(
    _ rule: FailureRule?, _ verdict: Verdict, id: HeaderValue, _ stream: Int32,
    _ connection: SimulatedConnection
  ) -> Decision {
    var answer = Decision.Answer(
      verdict: verdict, id: id, uniqueID: rules.environment == .sandbox ? NotificationID.make() : nil)
    guard let rule else { return Decision(stream: .answer(answer)) }
    var decision = Decision(stream: .answer(answer), delay: rule.delay)
    switch rule.action {
    case .delay: break
    case .answer(_, let body, let retryAfter):
      answer.body = body
      answer.retryAfter = retryAfter
      decision.stream = .answer(answer)
    case .reset(let code, _): decision.stream = .reset(code: code)
    case .silence: decision.stream = .nothing
    case .goAway(let last, let code, let reason):
      let number: Decision.GoAwayLast
      switch last {
      case .before:
        number = .stream(connection.highestStream)
        // A later stream may have been complete before this one; the GOAWAY then says nothing of this one.
        let isCovered = stream > connection.highestStream
        decision.stream = isCovered ? .nothing : .reset(code: Self.refusedStream)
      case .this: number = .stream(max(connection.highestStream, stream))
      case .announce: number = .announced
      }
      decision.connection = [.goAway(last: number, code: code, reason: reason)]
    case .cut:
      decision.stream = .nothing
      decision.connection = [.cut]
    case .freeze:
      decision.stream = .nothing
      decision.connection = [.freeze]
    case .streams(let count): decision.connection = [.streams(count)]
    }
    return decision
  }

  private func applyPolicy(
    _ outcome: APNsRules.Outcome, _ isAccepted: Bool, _ stream: Int32, _ connection: SimulatedConnection,
    _ decision: inout Decision
  ) {
    if outcome.isAuthenticated, !connection.isAuthenticated {
      connection.isAuthenticated = true
      // Ahead of a GOAWAY that the script may ask for.
      if connection.certificate == nil { decision.connection.insert(.streams(policy.streams), at: 0) }
    }
    let status = outcome.verdict.status
    if 400..<500 ~= status, status != 410 {
      connection.refusals += 1
      if policy.limitsAfterRefusal, !connection.isLimited {
        connection.isLimited = true
        decision.connection.append(.streams(1))
      }
      if let most = policy.refusalsBeforeClose, connection.refusals == most {
        decision.connection.append(
          .goAway(last: .stream(max(connection.highestStream, stream)), code: 0, reason: nil))
      }
    } else if isAccepted, connection.isLimited {
      connection.isLimited = false
      decision.connection.append(.streams(policy.streams))
    }
  }

  // MARK: What a sender should not do

  /// Remembers tokens that got a 410, and finds pushes to them.
  private func noteGone(_ outcome: inout APNsRules.Outcome) {
    guard let token = outcome.token, outcome.verdict.status == 410 || !gone.isEmpty else { return }
    if gone.contains(token) { outcome.findings.append(.pushAfterGone) }
    if outcome.verdict.status == 410 { gone.insert(token) }
  }

  /// Remembers a provider token, and finds those that were made too soon after another.
  private func note(
    _ token: ProviderTokenState.Verified, _ request: SimulatedRequest, _ outcome: inout APNsRules.Outcome
  ) {
    let digest = SHA256.digest128(Array(request[.authorization] ?? []))
    let name = UInt128(digest.0) << 64 | UInt128(digest.1)
    var seen = providerTokens[token.key.keyID] ?? [:]
    guard seen[name] == nil, seen.count < Self.tokensOfAKey else { return }
    let isClose = seen.values.contains { other in
      abs(token.issuedAt.milliseconds - other.milliseconds) < rules.providerTokens.changeInterval
    }
    if isClose { outcome.findings.append(.providerTokenSpacing) }
    seen[name] = token.issuedAt
    providerTokens[token.key.keyID] = seen
    log.count { $0.providerTokens += 1 }
  }
}
