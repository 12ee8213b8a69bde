import BorealisBase
import BorealisCrypto
import HTTP

/// A certificate authority in memory, which takes each nonce once.
struct FakeAuthority {
  struct Order {
    var isAuthorized: [Bool]
    var finalizations = 0
    /// How often it says that it is at work.
    var processing = 2
    var isInvalid = false
  }

  static let site = "https://ca.example"
  static let chain = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"

  let names: [String]
  var orders: [Order] = []
  /// Whether `finalize` is answered with the order as it was.
  var isSlow = false
  /// Whether challenges come to nothing.
  var isUnconvinced = false
  private var nonces: Set<String> = []
  private var lastNonce = 0

  init(names: [String]) { self.names = names }

  /// Adds an order that an earlier attempt has made; gives its URL.
  mutating func add(_ order: Order) -> String {
    orders.append(order)
    return "\(Self.site)/orders/\(orders.count - 1)"
  }

  mutating func answer(_ request: ACMERequest) -> HTTPAnswer {
    switch request {
    case .get("\(Self.site)/directory"):
      return Self.json(
        200,
        [
          "newNonce": .string("\(Self.site)/nonce"), "newAccount": .string("\(Self.site)/account"),
          "newOrder": .string("\(Self.site)/order"),
        ])
    case .get("\(Self.site)/nonce"): return fresh(HTTPAnswer(status: 204))
    case .get: return HTTPAnswer(status: 404)
    case .post(let post):
      guard nonces.remove(post.nonce) != nil else { return fresh(Self.problem(400, "badNonce")) }
      return fresh(answer(post))
    }
  }

  /// An error in the authority's form.
  static func problem(_ status: Int, _ type: String, _ detail: String = "no") -> HTTPAnswer {
    json(status, ["type": .string("urn:ietf:params:acme:error:\(type)"), "detail": .string(detail)])
  }

  static func json(_ status: Int, _ value: JSONValue) -> HTTPAnswer {
    HTTPAnswer(status: status, body: JSONWriter.serialize(value))
  }

  private mutating func fresh(_ answer: HTTPAnswer) -> HTTPAnswer {
    lastNonce += 1
    nonces.insert("nonce-\(lastNonce)")
    var answer = answer
    answer.fields["Replay-Nonce"] = "nonce-\(lastNonce)"
    return answer
  }

  private mutating func answer(_ post: ACMEPost) -> HTTPAnswer {
    let path = post.url.dropFirst(Self.site.count + 1).split(separator: "/").map(String.init)
    if path == ["account"] {
      guard post.account == nil, post.payload?["termsOfServiceAgreed"] == true else {
        return Self.problem(400, "malformed")
      }
      return located("\(Self.site)/accounts/1", Self.json(201, ["status": "valid"]))
    }
    guard post.account == "\(Self.site)/accounts/1" else { return Self.problem(401, "unauthorized") }
    if path == ["order"] {
      let wanted = post.payload?["identifiers"]?.array?.compactMap { $0["value"]?.string }
      guard wanted == names else { return Self.problem(400, "rejectedIdentifier") }
      let url = add(Order(isAuthorized: names.map { _ in false }))
      return located(url, Self.json(201, content(orders.count - 1)))
    }
    let numbers = path.compactMap(Int.init)
    guard let number = numbers.first, orders.indices.contains(number), let kind = path.first else {
      return Self.problem(404, "malformed")
    }
    return answer(kind, number, numbers.last ?? 0, post.payload)
  }

  private mutating func answer(
    _ kind: String, _ number: Int, _ part: Int, _ payload: JSONValue?
  ) -> HTTPAnswer {
    switch kind {
    case "orders":
      if orders[number].finalizations > 0, orders[number].processing > 0 { orders[number].processing -= 1 }
      return Self.json(200, content(number))
    case "authorizations": return Self.json(200, authorization(number, part))
    case "challenges":
      guard payload == [:], !orders[number].isAuthorized[part] else { return Self.problem(400, "malformed") }
      if isUnconvinced { orders[number].isInvalid = true } else { orders[number].isAuthorized[part] = true }
      return Self.json(200, ["status": "processing"])
    case "finalize":
      guard orders[number].isAuthorized.allSatisfy({ $0 }), orders[number].finalizations == 0 else {
        return Self.problem(403, "orderNotReady")
      }
      guard payload?["csr"]?.string != nil else { return Self.problem(400, "badCSR") }
      if isSlow { return Self.json(200, content(number)) }
      orders[number].finalizations += 1
      return Self.json(200, content(number))
    case "certificates": return HTTPAnswer(status: 200, body: Array(Self.chain.utf8))
    default: return Self.problem(404, "malformed")
    }
  }

  private func located(_ url: String, _ answer: HTTPAnswer) -> HTTPAnswer {
    var answer = answer
    answer.fields["Location"] = url
    return answer
  }

  private func content(_ number: Int) -> JSONValue {
    let order = orders[number]
    if order.isInvalid { return ["status": "invalid", "error": ["detail": "a name is not authorized"]] }
    if order.finalizations > 0 {
      return order.processing > 0
        ? ["status": "processing"]
        : ["status": "valid", "certificate": .string("\(Self.site)/certificates/\(number)")]
    }
    if order.isAuthorized.allSatisfy({ $0 }) {
      return ["status": "ready", "finalize": .string("\(Self.site)/finalize/\(number)")]
    }
    let urls = names.indices.map { JSONValue.string("\(Self.site)/authorizations/\(number)/\($0)") }
    return ["status": "pending", "authorizations": .array(urls)]
  }

  private func authorization(_ number: Int, _ part: Int) -> JSONValue {
    let order = orders[number]
    let status = order.isInvalid ? "invalid" : order.isAuthorized[part] ? "valid" : "pending"
    var challenge = JSONObject()
    challenge.set("type", "http-01")
    challenge.set("url", .string("\(Self.site)/challenges/\(number)/\(part)"))
    challenge.set("token", .string("token-\(number)-\(part)"))
    challenge.set("status", .string(status))
    if order.isInvalid { challenge.set("error", ["detail": "connection refused"]) }
    return [
      "status": .string(status), "identifier": ["type": "dns", "value": .string(names[part])],
      "challenges": [["type": "dns-01"], .object(challenge)],
    ]
  }
}

/// What an attempt's owner has seen of it.
struct AttemptRun {
  var attempt: ACMEAttempt
  var now: UInt64 = 1_000_000_000
  var requests: [ACMERequest] = []
  var kept: [String?] = []
  var challenges: [ACMEAttempt.Challenge] = []

  static let names = ["a.example", "b.example"]

  init(order: String? = nil, key: ES256Key? = nil) throws {
    let account = try ACMEAccount(key: key ?? ES256Key.generate())
    attempt = ACMEAttempt(
      ACMEPlan(
        directory: "\(FakeAuthority.site)/directory", names: Self.names, email: "ops@example.com",
        challenge: .http, account: account, request: [1, 2, 3]), order: order, now: now)
  }

  /// Carries the attempt out to its end, with answers to requests that are numbered from 0 on. Time passes
  /// with pauses, and with each request.
  mutating func finish(_ answer: (Int, ACMERequest) -> HTTPAnswer) -> ACMEAttempt.Outcome {
    while true {
      switch attempt.next(now: now) {
      case .send(let request):
        requests.append(request)
        now += 100_000_000
        attempt.receive(answer(requests.count - 1, request), now: now)
      case .wait(let moment): now = max(moment, now + 1)
      case .keep(let order): kept.append(order)
      case .answer(let challenge): if !challenges.contains(challenge) { challenges.append(challenge) }
      case .end(let outcome): return outcome
      }
    }
  }

  /// The paths of requests, without those for nonces.
  var paths: [String] {
    requests.map { request in
      switch request {
      case .get(let url): String(url.dropFirst(FakeAuthority.site.count))
      case .post(let post): String(post.url.dropFirst(FakeAuthority.site.count))
      }
    }.filter { $0 != "/nonce" }
  }
}
