import BorealisBase
import BorealisCrypto
import HTTP
import PushTesting
import Synchronization
import Testing

@testable import Console

/// An identity provider without sockets. It is strict: it lets a code be used once, by the client that it was
/// made for, with the verifier and the address of its request.
final class FakeProvider: Sendable {
  static let issuer = "https://login.example.com"
  static let secret = "s3cret: with/other=characters"

  /// A code that was given out.
  private struct Grant {
    let challenge, nonce, redirect: String
  }

  private struct State {
    var claims: [String: JSONValue?] = [:]
    var document: [String: JSONValue?] = [:]
    var userInfo: [String: JSONValue]?
    var answers: [String: HTTPAnswer] = [:]
    var held: (@Sendable () -> Void)?
    var holds = false
    var grants: [String: Grant] = [:]
    var requests: [OutgoingRequest] = []
    var number = 0
  }

  let clock: ManualClock
  private let state = Mutex(State())

  init(_ clock: ManualClock) { self.clock = clock }

  /// What the next tokens say differently; nil for claims that they lack.
  func say(_ claims: [String: JSONValue?]) {
    state.withLock { $0.claims.merge(claims) { $1 } }
  }

  /// What its configuration says differently; nil for what it lacks.
  func publish(_ members: [String: JSONValue?]) {
    state.withLock { $0.document.merge(members) { $1 } }
  }

  /// What UserInfo says; it has no such address before.
  func setUserInfo(_ members: [String: JSONValue]) {
    state.withLock { $0.userInfo = members }
    publish(["userinfo_endpoint": .string("\(Self.issuer)/userinfo")])
  }

  /// What a path answers whatever is asked; nil to answer as usual again.
  func answer(_ path: String, _ answer: HTTPAnswer?) { state.withLock { $0.answers[path] = answer } }

  /// Holds the next answer back; the result lets it go.
  func hold() -> @Sendable () -> Void {
    state.withLock { $0.holds = true }
    return { [self] in state.withLock { $0.held.take() }?() }
  }

  /// The paths that were asked for.
  var paths: [String] { state.withLock { $0.requests.map { Self.path($0.url) } } }

  var requests: [OutgoingRequest] { state.withLock { $0.requests } }

  private static func path(_ url: String) -> String { String(url.dropFirst(issuer.count)) }

  // MARK: The browser's side

  /// The user agrees: where the browser goes then. The request must be complete.
  func authorize(_ address: String, adding more: String = "") throws -> String {
    let prefix = "\(Self.issuer)/authorize?"
    try #require(address.hasPrefix(prefix), "\(address)")
    let query = try #require(HTTPTarget("/?" + address.dropFirst(prefix.count)))
    for (name, value) in [
      ("response_type", "code"), ("client_id", "borealis"), ("scope", "openid email profile"),
      ("redirect_uri", "https://push.example.com/console/login/oidc/callback"),
      ("code_challenge_method", "S256"),
    ] {
      #expect(query[name] == value, "\(name)")
    }
    let (given, nonce) = (try #require(query["state"]), try #require(query["nonce"]))
    let challenge = try #require(query["code_challenge"])
    #expect(given != nonce && given.utf8.count >= 32 && nonce.utf8.count >= 32 && challenge.utf8.count == 43)
    let code = state.withLock { state in
      state.number += 1
      let code = "code-\(state.number)"
      state.grants[code] = Grant(
        challenge: challenge, nonce: nonce, redirect: query["redirect_uri"] ?? "")
      return code
    }
    return "/console/login/oidc/callback?code=\(code)&state=\(given)\(more)"
  }

  // MARK: The server's side

  func send(_ request: OutgoingRequest, _ completion: @escaping @Sendable (HTTPAnswer) -> Void) {
    let answer = answer(to: request)
    let isHeld = state.withLock { state in
      state.requests.append(request)
      guard state.holds else { return false }
      state.holds = false
      state.held = { completion(answer) }
      return true
    }
    if !isHeld { completion(answer) }
  }

  private func answer(to request: OutgoingRequest) -> HTTPAnswer {
    let path = Self.path(request.url)
    if let answer = state.withLock({ $0.answers[path] }) { return answer }
    switch (request.method, path) {
    case (.get, "/.well-known/openid-configuration"):
      return Self.json(
        [
          "issuer": .string(Self.issuer), "authorization_endpoint": .string("\(Self.issuer)/authorize"),
          "token_endpoint": .string("\(Self.issuer)/token"),
        ], state.withLock { $0.document })
    case (.post, "/token"): return tokens(request)
    case (.get, "/userinfo"):
      guard request.fields.contains("Authorization: Bearer access-1") else {
        return HTTPAnswer(status: 401)
      }
      return Self.json(state.withLock { $0.userInfo } ?? [:], [:])
    default: return HTTPAnswer(status: 404)
    }
  }

  private func tokens(_ request: OutgoingRequest) -> HTTPAnswer {
    guard request.contentType == "application/x-www-form-urlencoded", let form = HTTPForm(request.body),
      authenticates(request, form)
    else { return Self.refused("invalid_client", 401) }
    guard form["grant_type"] == "authorization_code", let code = form["code"],
      let grant = state.withLock({ $0.grants.removeValue(forKey: code) }),
      form["redirect_uri"] == grant.redirect,
      Base64.encodeURL(SHA256.digest(Array((form["code_verifier"] ?? "").utf8))) == grant.challenge
    else { return Self.refused("invalid_grant", 400) }
    let token = token(nonce: grant.nonce)
    return Self.json(
      ["access_token": "access-1", "token_type": "Bearer", "id_token": .string(token)], [:])
  }

  private func authenticates(_ request: OutgoingRequest, _ form: HTTPForm) -> Bool {
    let methods = state.withLock { $0.document["token_endpoint_auth_methods_supported"] }
    if case .some(.some(let methods)) = methods, methods.array?.contains("client_secret_basic") == false {
      return form["client_id"] == "borealis" && form["client_secret"] == Self.secret
        && !request.fields.contains { $0.hasPrefix("Authorization") }
    }
    let pair = Base64.encode(Array("borealis:s3cret%3a%20with%2fother%3dcharacters".utf8))
    return request.fields.contains("Authorization: Basic \(pair)") && form["client_secret"] == nil
  }

  private static func refused(_ error: String, _ status: Int) -> HTTPAnswer {
    HTTPAnswer(status: status, body: Array(#"{"error":"\#(error)"}"#.utf8))
  }

  private func token(nonce: String) -> String {
    let now = clock.now().seconds
    let claims: [String: JSONValue] = [
      "iss": .string(Self.issuer), "aud": "borealis", "sub": "kim-1", "nonce": .string(nonce),
      "iat": .number(JSONNumber(now)), "exp": .number(JSONNumber(now + 300)), "email": "kim@example.com",
      "email_verified": true, "name": "Kim",
    ]
    return Self.token(claims, state.withLock { $0.claims })
  }

  /// A token that says something, but for some claims.
  static func token(_ claims: [String: JSONValue], _ changes: [String: JSONValue?] = [:]) -> String {
    let parts = [Array(#"{"alg":"RS256"}"#.utf8), json(claims, changes).body, [1, 2, 3]]
    return parts.map { Base64.encodeURL($0) }.joined(separator: ".")
  }

  private static func json(
    _ members: [String: JSONValue], _ changes: [String: JSONValue?]
  ) -> HTTPAnswer {
    var object = JSONObject()
    for (name, value) in members.merging(changes.compactMapValues { $0 }, uniquingKeysWith: { $1 }) {
      if case .some(nil) = changes[name] { continue }
      object.set(name, value)
    }
    return HTTPAnswer(status: 200, body: JSONWriter.serialize(.object(object)))
  }
}

/// A console with an identity provider.
struct SignOnWorld {
  let clock = ManualClock()
  let provider: FakeProvider
  let world: ConsoleWorld
  /// What the client of the provider has logged.
  let log = LogLines()

  init(sendsMail: Bool = false, _ change: (inout SignOnOptions) -> Void = { _ in }) throws {
    let fake = FakeProvider(clock)
    provider = fake
    var options = SignOnOptions(
      issuer: FakeProvider.issuer, clientID: "borealis", clientSecret: FakeProvider.secret,
      site: "https://push.example.com")
    options.name = "Company account"
    change(&options)
    world = try ConsoleWorld(
      time: clock, sendsMail: sendsMail,
      provider: SignOnProvider(
        options, time: clock, log: Log(level: .debug, write: log.add), send: { fake.send($0, $1) }))
  }

  /// With roles by a claim.
  static func withRoles(_ rules: String..., sendsMail: Bool = false) throws -> SignOnWorld {
    try SignOnWorld(sendsMail: sendsMail) { options in
      options.roleClaim = "groups"
      options.roles = rules.compactMap { RoleRule($0) }
    }
  }

  /// Where the provider sends a browser that has begun to log in.
  func start(_ browser: Browser, at place: String = "/console/login/oidc") async throws -> String {
    let answer = await browser.call("GET", place)
    try #require(answer.status == 303)
    return try provider.authorize(try #require(answer.headers["location"]))
  }

  /// A whole login.
  func logIn(_ browser: Browser) async throws -> (status: Int, text: String) {
    await browser.open(try await start(browser))
  }

  func logIn() async throws -> (status: Int, text: String) { try await logIn(Browser(world)) }
}
