import BorealisBase
import HTTP
import Synchronization

/// The identity provider, as a client of it sees it: the authorization code flow of OpenID Connect Core 1.0.
/// Safe to use from any thread.
package final class SignOnProvider: Sendable {
  /// Sends a request to the provider; the answer may come on any thread.
  package typealias Send =
    @Sendable (OutgoingRequest, _ completion: @escaping @Sendable (HTTPAnswer) -> Void) -> Void
  private typealias Waiter = @Sendable (Result<ProviderDocument, SignOnFailure>) -> Void

  /// What is known of the provider's configuration.
  private enum Configuration: Sendable {
    case unknown
    /// It was asked for, and who waits for it.
    case requested([Waiter])
    /// It, or why there is none, until a moment of the clock that never jumps.
    case known(Result<ProviderDocument, SignOnFailure>, until: UInt64)

    var waiters: [Waiter] { if case .requested(let waiters) = self { waiters } else { [] } }
  }

  /// Bounds of what the provider says.
  static let limits = JSONLimits(maxDepth: 16, maxBytes: 256 << 10, maxMembers: 5000)
  /// Requests under way; more are refused.
  private static let mostRequests = 32
  /// Nanoseconds for which the configuration counts, and a failure to get it; failures and refusals of a kind
  /// are logged as often.
  private static let (freshness, rest): (UInt64, UInt64) = (3_600_000_000_000, 5_000_000_000)

  let options: SignOnOptions
  let time: any TimeSource
  let log: Log
  private let send: Send
  private let end: @Sendable () -> Void
  private let configuration = Mutex(Configuration.unknown)
  /// When something of a kind was logged last.
  private let logged = Mutex<[String: UInt64]>([:])

  /// `send` sends with bounded time and size, `end` ends that.
  package init(
    _ options: SignOnOptions, time: any TimeSource, log: Log, send: @escaping Send,
    end: @escaping @Sendable () -> Void = {}
  ) {
    (self.options, self.time, self.log) = (options, time, log)
    (self.send, self.end) = (send, end)
  }

  /// One that sends from a thread of its own, through a proxy if there is one and the provider is not on this
  /// machine; `authorities` is a PEM file of certificates to trust in addition to the system's. Nil if the
  /// system cannot start the thread.
  package convenience init?(
    _ options: SignOnOptions, proxy: OutgoingProxy?, authorities: String?, time: any TimeSource, log: Log
  ) {
    var transfer = HTTPTransport.Options()
    (transfer.proxy, transfer.authorities) = (options.isPlain ? nil : proxy, authorities)
    transfer.allowsPlainHTTP = options.isPlain
    transfer.usesHTTP2 = false
    (transfer.connectMilliseconds, transfer.totalMilliseconds) = (3000, 8000)
    (transfer.keptBytes, transfer.mostBytes) = (Self.limits.maxBytes, Self.limits.maxBytes)
    transfer.mostRequests = Self.mostRequests
    guard let transport = HTTPTransport(transfer, thread: "sign-on") else { return nil }
    self.init(
      options, time: time, log: log, send: { transport.send($0, completion: $1) },
      end: { transport.close() })
  }

  /// Logs a failure.
  func note(_ reason: String) {
    if isDue("failure") { log.warning("identity provider failed", ["reason": .text(reason)]) }
  }

  /// Logs that somebody was not let in.
  func note(refusal: SignOn.Refusal) {
    // Its failure has a line of its own.
    if refusal == .provider { return }
    let kind = refusal.kind
    if refusal.isOfPerson || isDue(kind) { log.info("single sign-on refused", ["reason": .text(kind)]) }
  }

  /// Whether nothing of a kind was logged just now: visitors cannot fill the log.
  private func isDue(_ kind: String) -> Bool {
    let now = time.monotonic()
    return logged.withLock { last in
      if let last = last[kind], now < last &+ Self.rest { return false }
      last[kind] = now
      return true
    }
  }

  /// Ends requests under way.
  func close() { end() }

  // MARK: Configuration

  /// The provider's configuration. One request is for all who ask meanwhile.
  func document() async -> Result<ProviderDocument, SignOnFailure> {
    await awaitCallback { done in
      let now = time.monotonic()
      var isFirst = false
      let known = configuration.withLock { state -> Result<ProviderDocument, SignOnFailure>? in
        if case .known(let result, let end) = state, now < end { return result }
        isFirst = state.waiters.isEmpty
        state = .requested(state.waiters + [done])
        return nil
      }
      if let known { return done(known) }
      if isFirst { request() }
    }
  }

  private func request() {
    let request = OutgoingRequest.get(
      ProviderDocument.address(of: options.issuer), fields: ["Accept: application/json"])
    send(request) { [self] answer in
      let result = Result { () throws(SignOnFailure) in
        try ProviderDocument(try Self.json(answer, "its configuration"), of: options.issuer)
      }
      var isKnown = false
      if case .success = result { isKnown = true }
      let end = time.monotonic() &+ (isKnown ? Self.freshness : Self.rest)
      let waiters = configuration.withLock { state in
        defer { state = .known(result, until: end) }
        return state.waiters
      }
      for waiter in waiters { waiter(result) }
    }
  }

  private func forget() {
    configuration.withLock { if case .known(.success, _) = $0 { $0 = .unknown } }
  }

  // MARK: The flow

  /// Where to send the browser (OpenID Connect Core 1.0, section 3.1.2.1).
  func address(_ document: ProviderDocument, _ ticket: SignOnTicket) -> String {
    let query = AddressText.query([
      ("response_type", "code"), ("client_id", options.clientID), ("redirect_uri", options.redirectURI),
      ("scope", options.scopes.joined(separator: " ")), ("state", ticket.state), ("nonce", ticket.nonce),
      ("code_challenge", ticket.challenge), ("code_challenge_method", "S256"),
    ])
    let endpoint = document.authorizationEndpoint
    return endpoint.contains("?") ? "\(endpoint)&\(query.dropFirst())" : endpoint + query
  }

  /// The claims about the person with whose code the browser came back.
  func claims(
    code: String, _ ticket: SignOnTicket, _ document: ProviderDocument
  ) async -> Result<IdentityClaims, SignOnFailure> {
    let answer = await ask(tokenRequest(code, ticket, document))
    do throws(SignOnFailure) {
      let tokens = try Self.tokens(answer)
      guard let token = tokens["id_token"]?.string else { throw .provider("it sent no ID token") }
      let expected = IDToken.Expectation(
        issuer: options.issuer, clientID: options.clientID, nonce: ticket.nonce)
      let claims = IdentityClaims(try IDToken.claims(token, expected, at: time.now()), options)
      guard !claims.isComplete, let endpoint = document.userInfoEndpoint,
        let access = tokens["access_token"]?.string, Self.isToken(access)
      else { return .success(claims) }
      // Claims of scopes are there, unless the provider puts them into the token as well (section 5.4).
      let more = await ask(
        OutgoingRequest.get(
          endpoint, fields: ["Accept: application/json", "Authorization: Bearer \(access)"]))
      return .success(try claims.completed(by: try Self.json(more, "its UserInfo")))
    } catch {
      return .failure(error)
    }
  }

  /// Asks an endpoint. If it is not there, it may have moved, and the configuration is requested again.
  private func ask(_ request: OutgoingRequest) async -> HTTPAnswer {
    let answer: HTTPAnswer = await awaitCallback { send(request, $0) }
    if Self.isElsewhere(answer) { forget() }
    return answer
  }

  /// Other failures say nothing about the address, and some can be caused by a browser.
  private static func isElsewhere(_ answer: HTTPAnswer) -> Bool {
    if answer.error != nil { return !answer.wasSent }
    return (300..<400).contains(answer.status) || [404, 405, 410].contains(answer.status)
  }

  /// Section 3.1.3.1, with the verifier (RFC 7636, section 4.5).
  private func tokenRequest(
    _ code: String, _ ticket: SignOnTicket, _ document: ProviderDocument
  ) -> OutgoingRequest {
    var form = [
      ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", options.redirectURI),
      ("code_verifier", ticket.verifier),
    ]
    var fields = ["Accept: application/json"]
    switch document.clientAuthentication {
    case .basic:
      // Both are encoded first (RFC 6749, section 2.3.1).
      let pair = "\(AddressText.encode(options.clientID)):\(AddressText.encode(options.clientSecret))"
      fields.append("Authorization: Basic \(Base64.encode(Array(pair.utf8)))")
    case .post: form += [("client_id", options.clientID), ("client_secret", options.clientSecret)]
    }
    let body = form.map { "\($0.0)=\(AddressText.encode($0.1))" }.joined(separator: "&")
    return OutgoingRequest(
      url: document.tokenEndpoint, fields: fields, body: Array(body.utf8),
      contentType: "application/x-www-form-urlencoded")
  }

  /// The answer of the token endpoint; the errors are those of RFC 6749, section 5.2.
  private static func tokens(_ answer: HTTPAnswer) throws(SignOnFailure) -> JSONValue {
    if answer.error == nil, [400, 401].contains(answer.status),
      let error = (try? parseJSON(answer.body, limits: limits))?["error"]?.string
    {
      if error == "invalid_grant" { throw .codeRefused }
      throw .provider("its token endpoint answered \(answer.status): \(error.prefix(100))")
    }
    return try json(answer, "its token endpoint")
  }

  private static func json(_ answer: HTTPAnswer, _ what: String) throws(SignOnFailure) -> JSONValue {
    if let problem = answer.problem { throw .provider("\(what): \(problem)") }
    guard let value = try? parseJSON(answer.body, limits: limits), value.object != nil else {
      throw .provider("\(what): the answer is not JSON, or too large")
    }
    return value
  }

  /// Whether a text may stand in a header field (RFC 6750, section 2.1).
  private static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 32 << 10 && text.utf8.allSatisfy { (33..<127).contains($0) }
  }
}
