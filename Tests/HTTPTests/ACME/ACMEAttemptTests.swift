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
    if share == 0 { #expect(outcome == Self.issued) }
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

  @Test func `An order that is invalid or forgotten is replaced at once`() throws {
    var known = authority()
    var run = try AttemptRun(
      order: known.add(FakeAuthority.Order(isAuthorized: [true, true], isInvalid: true)))
    #expect(run.finish { known.answer($1) } == Self.issued)
    #expect(run.kept == [nil, "https://ca.example/orders/1"])
    var unknown = authority()
    var other = try AttemptRun(order: "https://ca.example/orders/7")
    #expect(other.finish { unknown.answer($1) } == Self.issued)
    #expect(other.kept == [nil, Self.order])
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
    #expect(outcome == .failed(ACMEFailure("\(type): not now", retryAfter: 3600)))
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
    #expect(run.requests.count < 100)
  }

  @Test func `A wish to be asked later is followed, also beyond the attempt`() throws {
    var (run, authority) = (try AttemptRun(), authority())
    var isFinalized = false
    let start = run.now
    let outcome = run.finish { _, request in
      var answer = authority.answer(request)
      if case .post(let post) = request, post.url.hasSuffix("/finalize/0") {
        answer.fields["Retry-After"] = "120"
        isFinalized = true
      } else if case .post(let post) = request, post.url == Self.order, isFinalized {
        answer.fields["Retry-After"] = "4000"
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

@Suite struct ACMEScheduleTests {
  private static let day: Int64 = 86_400

  private func moment(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1000) }

  @Test(arguments: [(90 * day, 60 * day, 63 * day), (6 * day, 4 * day, 4 * day + 17_280), (0, 0, 0)])
  func `A certificate is renewed when two thirds of its life are over`(
    life: Int64, earliest: Int64, latest: Int64
  ) {
    for (jitter, expected) in [(0.0, earliest), (1.0, latest)] {
      let renewal = ACMESchedule.renewal(from: moment(1000), to: moment(1000 + life), jitter: jitter)
      #expect(renewal == moment(1000 + expected))
    }
  }

  @Test(arguments: [(90 * day, day), (day, day / 3), (30, 10), (0, 1), (-5, 1)])
  func `A new one is left alone for a while`(life: Int64, rest: Int64) {
    #expect(ACMESchedule.rest(from: moment(0), to: moment(life)) == rest)
  }

  @Test(
    arguments: [
      (1, 30 * day, nil, 900), (2, 30 * day, nil, 1800), (20, 30 * day, nil, day), (20, 2 * day, nil, 21_600),
      (20, 0, nil, 3600), (1, 0, nil, 900), (.max, .max, nil, day), (1, 0, 7200, 7200), (20, 0, 60, 3600),
      (1, 0, .max, 7 * day), (0, 0, -1, 900),
    ] as [(Int, Int64, Int64?, Int64)])
  func `Pauses grow with failures, and are shorter when little time is left`(
    failures: Int, left: Int64, wish: Int64?, expected: Int64
  ) {
    let pause = { ACMESchedule.pause(failures: failures, left: left, retryAfter: wish, jitter: $0) }
    #expect(pause(0) == expected)
    #expect(pause(1) >= expected && pause(1) <= expected + expected / 10)
  }
}
