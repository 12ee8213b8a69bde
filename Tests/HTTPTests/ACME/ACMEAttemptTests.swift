import BorealisBase
import BorealisCrypto
import HTTP
import PushTesting
import Testing

/// Attempts against an authority in memory.
@Suite struct ACMEAttemptTests {
  private static let issued = ACMEAttempt.Outcome.issued(Array(FakeAuthority.chain.utf8))
  private static let lost = HTTPAnswer(error: "Connection reset by peer")
  private static let order = "https://ca.example/orders/0"

  private func authority() -> FakeAuthority { FakeAuthority(names: AttemptRun.names) }

  @Test func `An order goes its way in the least number of requests`() throws {
    var (run, authority) = (try AttemptRun(), authority())
    #expect(run.finish { authority.answer($1) } == Self.issued)
    #expect(
      run.paths == [
        "/directory", "/account", "/order", "/authorizations/0/0", "/challenges/0/0", "/authorizations/0/0",
        "/authorizations/0/1", "/challenges/0/1", "/authorizations/0/1", "/orders/0", "/finalize/0",
        "/orders/0", "/orders/0", "/certificates/0",
      ])
    #expect(run.kept == [Self.order])
    #expect(run.challenges.map(\.name) == AttemptRun.names)
    #expect(run.challenges.map(\.token) == ["token-0-0", "token-0-1"])
    #expect(run.challenges.allSatisfy { $0.keyAuthorization.hasPrefix($0.token + ".") })
    #expect(run.requests.count == run.paths.count + 1, "one nonce is fetched, the others come with answers")
  }

  /// Number 1 is for the nonce, 3 the new order, 11 to finalize.
  @Test(arguments: 0..<15, [true, false])
  func `A lost request, or a lost answer, loses no order`(number: Int, isCarriedOut: Bool) throws {
    var (run, authority) = (try AttemptRun(), authority())
    let outcome = run.finish { index, request in
      if index == number, !isCarriedOut { return Self.lost }
      let answer = authority.answer(request)
      return index == number ? Self.lost : answer
    }
    #expect(outcome == Self.issued)
    // Nobody knows the URL of an order whose answer was lost.
    let orders = number == 3 && isCarriedOut ? 2 : 1
    #expect(authority.orders.count == orders)
    #expect(authority.orders.reduce(0) { $0 + $1.finalizations } == 1)
    #expect(run.kept == ["https://ca.example/orders/\(orders - 1)"])
    #expect(run.now < 60_000_000_000)
  }

  @Test(arguments: 0..<200)
  func `Whatever gets lost, an attempt ends in time and uses no nonce twice`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var (run, authority) = (try AttemptRun(), authority())
    let share = Int.random(in: 0...60, using: &random)
    var lostOrders = 0
    let outcome = run.finish { _, request in
      guard Int.random(in: 0..<100, using: &random) < share else { return authority.answer(request) }
      let orders = authority.orders.count
      defer { lostOrders += authority.orders.count - orders }
      switch Int.random(in: 0..<5, using: &random) {
      case 0: return Self.lost
      case 1: return HTTPAnswer(status: 503, retryAfter: Int64.random(in: 0...30, using: &random))
      case 2: return FakeAuthority.problem(400, "badNonce")
      case 3:
        _ = authority.answer(request)
        return Self.lost
      default:
        _ = authority.answer(request)
        return HTTPAnswer(status: 200, body: Array("{\"status\":7}".utf8))
      }
    }
    #expect(run.now <= 1_000_000_000 + ACMEAttempt.patience + 200_000_000)
    #expect(run.requests.count < 200)
    let nonces = run.requests.compactMap { if case .post(let post) = $0 { post.nonce } else { nil } }
    #expect(Set(nonces).count == nonces.count)
    #expect(authority.orders.count <= lostOrders + 1)
    if case .failed(let failure) = outcome { #expect(!failure.reason.isEmpty) }
    if share <= 5 { #expect(outcome == Self.issued) }
  }

  @Test(arguments: [
    (FakeAuthority.Order(isAuthorized: [true, true], finalizations: 1), 0),
    (FakeAuthority.Order(isAuthorized: [true, true], finalizations: 1, processing: 0), 0),
    (FakeAuthority.Order(isAuthorized: [true, true]), 1),
    (FakeAuthority.Order(isAuthorized: [true, false]), 1),
  ])
  func `An earlier attempt's order goes on where it was`(
    order: FakeAuthority.Order, finalizations: Int
  ) throws {
    var authority = authority()
    var run = try AttemptRun(order: authority.add(order))
    #expect(run.finish { authority.answer($1) } == Self.issued)
    #expect(authority.orders.count == 1 && run.kept.isEmpty)
    #expect(run.paths.count { $0 == "/finalize/0" } == finalizations)
  }

  @Test(arguments: [
    (Self.order, "a name is not authorized"), ("https://ca.example/orders/7", "malformed: no"),
  ])
  func `An earlier order that is invalid or unknown ends the attempt, and is forgotten`(
    order: String, reason: String
  ) throws {
    var authority = authority()
    _ = authority.add(FakeAuthority.Order(isAuthorized: [true, true], isInvalid: true))
    var run = try AttemptRun(order: order)
    #expect(run.finish { authority.answer($1) } == .failed(ACMEFailure(reason)))
    #expect(run.kept == [nil] && authority.orders.count == 1)
  }

  @Test func `A challenge that fails ends the attempt and the order, with the authority's words`() throws {
    var (run, authority) = (try AttemptRun(), authority())
    authority.isUnconvinced = true
    let outcome = run.finish { authority.answer($1) }
    #expect(outcome == .failed(ACMEFailure("a.example: connection refused")))
    #expect(run.kept == [Self.order, nil])
  }

  @Test(arguments: [
    ("/account", 400, "externalAccountRequired", []), ("/order", 400, "rejectedIdentifier", []),
    ("/orders/0", 403, "unauthorized", [Self.order, nil]), ("/finalize/0", 400, "badCSR", [Self.order, nil]),
    ("/order", 429, "rateLimited", []), ("/finalize/0", 429, "rateLimited", [Self.order]),
    ("/certificates/0", 403, "rateLimited", [Self.order]),
  ])
  func `A refusal ends the attempt; over the limit, the order goes on later`(
    path: String, status: Int, type: String, kept: [String?]
  ) throws {
    var (run, authority) = (try AttemptRun(), authority())
    let outcome = run.finish { _, request in
      guard case .post(let post) = request, post.url == FakeAuthority.site + path else {
        return authority.answer(request)
      }
      var answer = FakeAuthority.problem(status, type, "not\nnow")
      answer.retryAfter = 3600
      return answer
    }
    let isLimit = type == "rateLimited"
    #expect(outcome == .failed(ACMEFailure("\(type): not now", retryAfter: 3600, isLimit: isLimit)))
    #expect(run.kept == kept)
  }

  @Test func `An authority that never decides is given up`() throws {
    var (run, authority) = (try AttemptRun(), authority())
    let outcome = run.finish { _, request in
      guard case .post(let post) = request, post.url.hasPrefix("https://ca.example/orders/") else {
        return authority.answer(request)
      }
      return FakeAuthority.json(200, ["status": "processing"])
    }
    guard case .failed = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(run.kept == [Self.order])
    #expect(run.requests.count < 200)
  }

  @Test func `An authority that answers finalize with an order that is ready is asked slowly`() throws {
    var (run, authority) = (try AttemptRun(), authority())
    authority.isSlow = true
    let outcome = run.finish { authority.answer($1) }
    #expect(outcome == .failed(ACMEFailure("it has not decided yet", retryAfter: 10)))
    #expect(run.kept == [Self.order])
    #expect((20..<100).contains(run.paths.count { $0 == "/finalize/0" }))
    // It decides in the end.
    (run, authority) = (try AttemptRun(), self.authority())
    authority.isSlow = true
    let issued = run.finish { index, request in
      if index == 30 { authority.isSlow = false }
      return authority.answer(request)
    }
    #expect(issued == Self.issued)
  }

  @Test func `An attempt has a bounded number of requests`() throws {
    var (run, authority) = (try AttemptRun(), authority())
    var number = 0
    let outcome = run.finish { _, request in
      // All of a hundred names are authorized, and then the order has others again.
      guard case .post(let post) = request, post.account != nil else { return authority.answer(request) }
      var answer = authority.answer(request)
      number += 1
      answer.status = 200
      answer.fields["Location"] = Self.order
      answer.body = JSONWriter.serialize(
        post.url.contains("/names/")
          ? ["status": "valid", "identifier": ["value": "a.example"]]
          : [
            "status": "pending",
            "authorizations": .array((0..<100).map { .string("https://ca.example/names/\(number)/\($0)") }),
          ])
      return answer
    }
    #expect(outcome == .failed(ACMEFailure("there was no certificate within 1000 requests")))
    #expect(run.requests.count == 1000)
  }

  @Test func `A reason is a line of bounded length`() {
    let long = ACMEFailure(String(repeating: "e\u{301}\u{302}\n", count: 10_000))
    #expect(long.reason.unicodeScalars.count == 500 && long.reason.isPlainLine)
    #expect(ACMEFailure("a\u{2028}b\tc\u{7}d").reason == "a b c d")
  }

  @Test func `A wish to be asked later is followed, also beyond the attempt`() throws {
    var (run, authority) = (try AttemptRun(), authority())
    var isFinalized = false
    let start = run.now
    let outcome = run.finish { _, request in
      var answer = authority.answer(request)
      if case .post(let post) = request, post.url.hasSuffix("/finalize/0") {
        answer.retryAfter = 120
        isFinalized = true
      } else if case .post(let post) = request, post.url == Self.order, isFinalized {
        answer.retryAfter = 4000
      }
      return answer
    }
    #expect(outcome == .failed(ACMEFailure("it has not decided yet", retryAfter: 4000)))
    #expect(run.now - start > 120_000_000_000)
    #expect(run.kept == [Self.order])
  }

  @Test func `Nonces that are refused again and again end the attempt`() throws {
    var run = try AttemptRun()
    var authority = authority()
    let outcome = run.finish { _, request in
      guard case .post = request else { return authority.answer(request) }
      var answer = FakeAuthority.problem(400, "badNonce")
      answer.fields["Replay-Nonce"] = "nonce"
      return answer
    }
    #expect(outcome == .failed(ACMEFailure("badNonce: no")))
    #expect(run.paths.count == 22)
  }

  /// A token becomes a part of a path, and addresses go where the operator has not said.
  @Test(arguments: [
    #"{"status":"pending","authorizations":["http://ca.example/a"]}"#, #"{"status":"pending"}"#,
    #"{"status":"valid","certificate":7}"#, #"{"status":"ready"}"#, #"[]"#, "", "\u{0}",
    #"{"status":"pending","authorizations":[\#(Array(repeating: "\"https://a\"", count: 101).joined(separator: ","))]}"#,
  ])
  func `What makes no sense is asked for again, and then given up`(body: String) throws {
    var (run, authority) = (try AttemptRun(), authority())
    let outcome = run.finish { _, request in
      guard case .post(let post) = request, post.url.contains("/order") else {
        return authority.answer(request)
      }
      var answer = authority.answer(request)
      (answer.status, answer.body) = (200, Array(body.utf8))
      return answer
    }
    #expect(outcome == .failed(ACMEFailure("its answer cannot be understood")))
    #expect(authority.orders.count == 1)
  }

  @Test(arguments: ["../x", "", "a b", "a/b", String(repeating: "a", count: 257)])
  func `Tokens are names, not paths`(token: String) throws {
    var (run, authority) = (try AttemptRun(), authority())
    let outcome = run.finish { _, request in
      guard case .post(let post) = request, post.url.contains("/authorizations/") else {
        return authority.answer(request)
      }
      var answer = authority.answer(request)
      answer.body = JSONWriter.serialize([
        "status": "pending", "identifier": ["value": "a.example"],
        "challenges": [
          [
            "type": "http-01", "url": "https://ca.example/challenges/0/0", "token": .string(token),
            "status": "pending",
          ]
        ],
      ])
      return answer
    }
    guard case .failed = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(run.challenges.isEmpty)
  }
}

@Suite struct ACMEAccountTests {
  @Test func `Requests are signed as RFC 7515 says`() throws {
    let key = try ES256Key.generate()
    let account = try ACMEAccount(key: key)
    let request = try account.sign(
      .post(ACMEPost(url: "https://ca.example/x", nonce: "n", account: nil, payload: ["a": 1])))
    #expect(request.contentType == "application/jose+json")
    let body = try parseJSON(request.body)
    func part(_ name: String) throws -> (text: String, bytes: [UInt8]) {
      let text = try #require(body[name]?.string)
      return (text, try #require(Base64.decodeURL(text.utf8)))
    }
    let (header, payload, signature) = (try part("protected"), try part("payload"), try part("signature"))
    #expect(payload.bytes == Array(#"{"a":1}"#.utf8))
    let fields = try parseJSON(header.bytes)
    #expect(fields["alg"] == "ES256" && fields["nonce"] == "n" && fields["url"] == "https://ca.example/x")
    #expect(fields["kid"] == nil && fields["jwk"]?["crv"] == "P-256" && fields["jwk"]?["kty"] == "EC")
    let verifier = try ES256PublicKey(pem: key.publicKeyPEM())
    #expect(verifier.isValid(signature: signature.bytes, of: Array("\(header.text).\(payload.text)".utf8)))
  }

  /// The key is that of RFC 7515, appendix A.3.
  @Test func `Challenges are answered with the thumbprint of RFC 7638`() throws {
    let pem = """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjpsQnnGQmL+YBIff
      H1136cspYG6+0iY7X1fCE9+E9LKhRANCAAR/zc4ncPbEXUGDy+5v20t7WAczNXvp
      7xO6z248e9FURcfxRM0bvZt+hyzf7bnuufSzaV1uqQskrYpGIyiFiOWt
      -----END PRIVATE KEY-----

      """
    var run = try AttemptRun(key: ES256Key(p8: Array(pem.utf8)))
    var authority = FakeAuthority(names: AttemptRun.names)
    _ = run.finish { authority.answer($1) }
    #expect(
      run.challenges.map(\.keyAuthorization) == [
        "token-0-0.oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U",
        "token-0-1.oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U",
      ])
  }

  @Test func `To read something has an empty payload and names the account`() throws {
    let account = try ACMEAccount(key: ES256Key.generate())
    let request = try account.sign(
      .post(ACMEPost(url: "https://ca.example/x", nonce: "n", account: "https://ca.example/1", payload: nil)))
    let body = try parseJSON(request.body)
    #expect(body["payload"] == "")
    let header = try parseJSON(try #require(Base64.decodeURL((body["protected"]?.string ?? "").utf8)))
    #expect(header["kid"] == "https://ca.example/1" && header["jwk"] == nil)
  }
}
