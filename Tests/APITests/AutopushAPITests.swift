import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import PushTesting
import Synchronization
import Testing

@testable import API
@testable import Storage

/// A browser with subscriptions, and the push service, without sockets.
private struct AutopushWorld {
  static let origin = "https://push.example.com"

  let world: GatewayWorld
  let api: AutopushAPI
  let browser: RegistrationID
  let number: RegistrationNumber
  let secretHash: (UInt64, UInt64)

  let log = LogLines()
  /// With registrations that are older than the browser's.
  let outsiders: [RegistrationNumber]

  init(
    limits: GatewayLimits = GatewayLimits(), mostWaiting: Int = 200, outsiders count: Int = 0
  ) async throws {
    world = try await GatewayWorld(limits: limits)
    var outsiders: [RegistrationNumber] = []
    for _ in 0..<count { outsiders.append(try await world.router.newDevice(in: world.app).number) }
    self.outsiders = outsiders
    let lines = log
    api = AutopushAPI(
      app: world.app.key, origin: Self.origin, router: world.router, gateway: world.gateway,
      metrics: AutopushMetrics(world.metrics), log: Log(level: .info) { lines.add($0) }, time: world.clock,
      mostWaiting: mostWaiting)
    let device = try await world.router.newDevice(in: world.app)
    (browser, number) = (device.id, device.number)
    secretHash = SHA256.digest128(device.secret)
  }

  /// A new subscription; only the owner of a key may send to it, if one is named.
  func subscribe(_ digit: Int = 1, key: [UInt8]? = nil) async throws -> EndpointToken {
    let name = "\(digit)b671a64-40d5-491e-99b0-da01ff1f3341"
    let token = EndpointToken(try #require(SubscriptionID(name)), key: key, secretHash: secretHash)
    try await changeTags(.edit(add: [token.tag], remove: []), of: number)
    return token
  }

  func changeTags(_ edit: TagEdit, of number: RegistrationNumber) async throws {
    try await awaitCallback { done in
      world.router.registrations.changeTags(edit, of: number, in: world.app) { done($0) }
    }.get()
  }

  func call(
    _ method: String, _ target: String, _ body: [UInt8] = [], _ headers: HTTPHeaders = [:]
  ) async -> HTTPResponse {
    let request = HTTPRequest(method: method, target: target, headers: headers, body: body)
    return await awaitCallback { done in
      api.handle(request, CallReply(requestID: "request-7") { done($0) })
    }
  }

  func post(
    _ token: EndpointToken, _ body: [UInt8] = [1, 2, 3], ttl: String? = "60", _ more: HTTPHeaders = [:]
  ) async -> HTTPResponse {
    var headers: HTTPHeaders = body.isEmpty ? [:] : ["Content-Encoding": "aes128gcm"]
    if let ttl { headers.append("TTL", ttl) }
    for field in more.fields { headers.set(field.name, field.value) }
    return await call("POST", EndpointToken.path + token.text, body, headers)
  }

  var waiting: [MessageID] { world.pending(browser) }

  /// The bodies that wait, in base64url.
  func bodies() async throws -> [String] {
    let found = await awaitCallback { done in
      world.router.deliveries.contents(of: waiting) { done($0) }
    }
    return try found.get().compactMap { WebPushMessage($0.1.content, .android)?.data }
  }

  /// The fields of a proof by a key.
  func proof(
    _ key: ES256Key, audience: String = origin, seconds: Int64 = 3600, algorithm: String = "ES256",
    by signer: ES256Key? = nil
  ) throws -> (token: String, key: String) {
    let head = Base64.encodeURL(Array(#"{"typ":"JWT","alg":"\#(algorithm)"}"#.utf8))
    let claims = #"{"aud":"\#(audience)","exp":\#(world.clock.now().seconds + seconds),"sub":"mailto:a@b.c"}"#
    let text = head + "." + Base64.encodeURL(Array(claims.utf8))
    let signature = try (signer ?? key).sign(Array(text.utf8))
    return ("\(text).\(Base64.encodeURL(signature))", Base64.encodeURL(try key.publicPoint()))
  }
}

extension HTTPResponse {
  /// Status and error number of a refusal in the form of Mozilla's push service; the status alone of others.
  fileprivate var fault: String {
    guard let json, json["code"]?.int64 == Int64(status), json["message"]?.string?.isEmpty == false,
      json["error"]?.string == Self.reason(status), let number = json["errno"]
    else { return "\(status)" }
    return "\(status) \(number.int64.map { String($0) } ?? "null")"
  }
}

@Suite struct AutopushAPITests {
  @Test func `A message waits for the browser, and its address takes it back`() async throws {
    let world = try await AutopushWorld()
    let token = try await world.subscribe()
    let created = await world.post(token, [9, 8], ttl: "120")
    #expect(created.status == 201 && created.headers["ttl"] == "120" && created.body.isEmpty)
    let place = try #require(created.headers["location"])
    #expect(place.hasPrefix(AutopushWorld.origin + EndpointToken.path + token.text + "/"))
    #expect(try await world.bodies() == [Base64.encodeURL([9, 8])])
    let path = String(place.dropFirst(AutopushWorld.origin.utf8.count))
    #expect(await world.call("DELETE", String(path.dropLast()) + "~").fault == "404 102")
    #expect(await world.call("DELETE", path + "x").fault == "404 102")
    let wrong = await world.call("GET", path)
    #expect(wrong.fault == "405 null" && wrong.headers["allow"] == "DELETE")
    #expect(world.waiting.count == 1)
    #expect(await world.call("DELETE", path).status == 204)
    #expect(world.waiting.isEmpty)
    // There is nothing to take back any more.
    #expect(await world.call("DELETE", path).fault == "404 102")
  }

  @Test func `Taking back counts as a call of the app`() async throws {
    var limits = GatewayLimits()
    limits.pushCallsPerMinute = 1
    let world = try await AutopushWorld(limits: limits)
    let place = try #require(await world.post(try await world.subscribe(), ttl: "120").headers["location"])
    let path = String(place.dropFirst(AutopushWorld.origin.utf8.count))
    #expect(await world.call("DELETE", path).fault == "429 null")
    #expect(world.waiting.count == 1)
    world.world.clock.advance(seconds: 59)
    #expect(await world.call("DELETE", path).fault == "429 null")
    world.world.clock.advance(seconds: 1)
    #expect(await world.call("DELETE", path).status == 204)
  }

  @Test func `Each mistake has its status and number`() async throws {
    let world = try await AutopushWorld()
    let token = try await world.subscribe()
    let (free, long) = ([UInt8](), [UInt8](repeating: 1, count: 4097))
    let cases: [(HTTPResponse, String)] = [
      (await world.post(token, ttl: nil), "400 111"),
      (await world.post(token, ttl: "-1"), "400 112"),
      (await world.post(token, ttl: ""), "400 112"),
      (await world.post(token, ttl: "1.5"), "400 112"),
      (await world.post(token, free, ["Topic": String(repeating: "a", count: 33)]), "400 113"),
      (await world.post(token, free, ["Topic": ""]), "400 113"),
      (await world.post(token, free, ["Topic": "a b"]), "400 113"),
      (await world.post(token, [1], ["Content-Encoding": "gzip"]), "400 110"),
      (await world.post(token, [1], ["Content-Encoding": "aesgcm"]), "400 110"),
      (await world.post(token, [1], ["Content-Encoding": "aesgcm", "Encryption": "salt=AA"]), "400 110"),
      (await world.post(token, [1], ["Encryption": "salt=AA"]), "400 110"),
      (await world.call("POST", EndpointToken.path + token.text, [1], ["TTL": "1"]), "400 110"),
      (await world.post(token, long), "413 104"),
      (await world.call("GET", EndpointToken.path + token.text), "405 null"),
      (await world.call("POST", EndpointToken.path), "404 102"),
      (await world.call("POST", EndpointToken.path + "abc", [], ["TTL": "1"]), "404 102"),
      (await world.call("DELETE", EndpointToken.path + token.text + "/1"), "404 102"),
      (await world.post(token, [1], ["Authorization": "Basic YTpi"]), "401 109"),
      (await world.post(token, [1], ["Authorization": "vapid t=a.b.c"]), "401 109"),
      (await world.post(token, [1], ["Authorization": "WebPush a.b.c"]), "401 109"),
    ]
    for (place, (answer, fault)) in cases.enumerated() { #expect(answer.fault == fault, "case \(place)") }
    #expect(world.waiting.isEmpty)
    let head = HTTPRequest(
      method: "POST", target: EndpointToken.path + token.text, headers: ["Content-Length": "4097"])
    guard case .refused(let refusal) = world.api.screen(head, requestID: "1", peer: nil) else {
      Issue.record("a large body would be read")
      return
    }
    #expect(refusal.fault == "413 104")
    #expect(world.world.metrics.render().contains(#"borealis_autopush_answers_total{status="413"} 2"#))
  }

  @Test func `Bodies of the older encryption keep what the browser needs`() async throws {
    let world = try await AutopushWorld()
    let token = try await world.subscribe()
    let fields: HTTPHeaders = [
      "Content-Encoding": "aesgcm", "Encryption": #"keyid="p256dh";salt="AAAA=""#,
      "Crypto-Key": #"keyid="p256dh"; dh="BBBB==",p256ecdsa=CCCC"#,
    ]
    #expect(await world.post(token, [1], fields).status == 201)
    let found = await awaitCallback { done in
      world.world.router.deliveries.contents(of: world.waiting) { done($0) }
    }
    let message = try #require(try found.get().first.flatMap { WebPushMessage($0.1.content, .android) })
    #expect(message.encoding == "aesgcm" && message.encryption == "keyid=p256dh;salt=AAAA")
    #expect(message.cryptoKey == "keyid=p256dh;dh=BBBB,p256ecdsa=CCCC")
  }

  @Test func `A subscription ends, and nobody else can have its address`() async throws {
    let world = try await AutopushWorld()
    let token = try await world.subscribe()
    let outsider = try await world.world.router.newDevice(in: world.world.app)
    try await world.changeTags(.edit(add: [token.tag], remove: []), of: outsider.number)
    #expect(await world.post(token).status == 201)
    #expect(world.waiting.count == 1 && world.world.pending(outsider.id).isEmpty)
    try await world.changeTags(.edit(add: [], remove: [token.tag]), of: world.number)
    #expect(await world.post(token).fault == "410 106")
    #expect(world.world.pending(outsider.id).isEmpty)
  }

  @Test func `Older registrations with its tag do not hide a browser`() async throws {
    let world = try await AutopushWorld(outsiders: 5)
    let token = try await world.subscribe()
    for outsider in world.outsiders {
      try await world.changeTags(.edit(add: [token.tag], remove: []), of: outsider)
    }
    #expect(await world.post(token).status == 201)
    #expect(world.waiting.count == 1)
  }

  @Test func `Only the owner of the key sends`() async throws {
    let world = try await AutopushWorld()
    let (key, other) = (try ES256Key.generate(), try ES256Key.generate())
    let token = try await world.subscribe(key: try key.publicPoint())
    func send(_ proof: (token: String, key: String)) async -> String {
      await world.post(token, [1], ["Authorization": "vapid t=\(proof.token), k=\(proof.key)"]).fault
    }
    #expect(await world.post(token).fault == "401 109")
    #expect(await send(try world.proof(key)) == "201")
    #expect(await send(try world.proof(other)) == "403 109")
    #expect(await send(try world.proof(key, by: other)) == "401 109")
    #expect(await send(try world.proof(key, audience: "https://other.example.com")) == "401 109")
    #expect(await send(try world.proof(key, seconds: -1)) == "401 109")
    #expect(await send(try world.proof(key, seconds: 86_400)) == "201")
    #expect(await send(try world.proof(key, seconds: 86_500)) == "401 109")
    #expect(await send(try world.proof(key, algorithm: "none")) == "401 109")
    let draft = try world.proof(key)
    let fields: HTTPHeaders = [
      "Authorization": "WebPush \(draft.token)", "Crypto-Key": "p256ecdsa=\(draft.key)",
    ]
    #expect(await world.post(token, [2], fields).fault == "201")
    // The address without the proof of the key is nobody's.
    let cut = try #require(EndpointToken(token.tag))
    #expect(await world.post(cut).fault == "410 106")
  }

  @Test func `A topic replaces what waits, for the same subscription only`() async throws {
    let world = try await AutopushWorld()
    let (token, other) = (try await world.subscribe(1), try await world.subscribe(2))
    for (place, (at, topic)) in [
      (token, "a"), (token, "b"), (other, "a"), (token, "a"), (token, "a"),
    ].enumerated() {
      #expect(await world.post(at, [UInt8(place)], ["Topic": topic]).status == 201)
    }
    #expect(try await world.bodies() == [[1], [2], [4]].map { Base64.encodeURL($0) })
    // Also one that has waited for longer than a push can be overridden.
    #expect(await world.post(token, [5], ttl: "600000", ["Topic": "c"]).status == 201)
    world.world.clock.advance(seconds: 100_000)
    #expect(await world.post(token, [6], ["Topic": "c"]).status == 201)
    #expect(try await world.bodies() == [Base64.encodeURL([6])])
  }

  @Test func `Of messages with one topic at the same time the last one stays`() async throws {
    let world = try await AutopushWorld()
    let token = try await world.subscribe()
    let answers = await withTaskGroup(of: (number: Int, answer: HTTPResponse).self) { group in
      for number in 0..<40 {
        group.addTask { (number, await world.post(token, [UInt8(number)], ["Topic": "t"])) }
      }
      return await group.reduce(into: [(number: Int, answer: HTTPResponse)]()) { $0.append($1) }
    }
    #expect(answers.allSatisfy { $0.answer.status == 201 })
    let last = try #require(world.waiting.first)
    #expect(world.waiting.count == 1)
    let number = answers.first { $0.answer.headers["location"]?.contains("/\(last.text).") == true }?.number
    #expect(try await world.bodies() == [Base64.encodeURL([UInt8(try #require(number))])])
    // It is the newest of all that were accepted.
    let ids = answers.compactMap { $0.answer.headers["location"]?.split(separator: "/").last }
      .compactMap { MessageID(decimal: Array($0.prefix { $0 != "." }.utf8)) }
    #expect(ids.count == 40 && ids.max() == last)
  }

  /// As after a restart: what waits is known from the database only.
  @Test func `Topics are found again when they are not remembered`() async throws {
    let world = try await AutopushWorld()
    let token = try await world.subscribe()
    #expect(await world.post(token, [1], ["Topic": "t"]).status == 201)
    #expect(await world.post(token, [2], ["Topic": "u"]).status == 201)
    // More than are remembered of a browser.
    for number in 0..<300 {
      world.world.app.directory.webPushTopics.set(
        [MessageID(UInt64(number))],
        under: WebPushTopic(subscription: token.subscription, name: "\(number)"), of: world.number)
    }
    #expect(await world.post(token, [3], ["Topic": "t"]).status == 201)
    #expect(try await world.bodies() == [[2], [3]].map { Base64.encodeURL($0) })
  }

  @Test func `A message that is sent again is the same one`() async throws {
    let world = try await AutopushWorld()
    let (token, other) = (try await world.subscribe(1), try await world.subscribe(2))
    let first = await world.post(token, [1, 2])
    #expect(await world.post(token, [1, 2]).headers["location"] == first.headers["location"])
    #expect(world.waiting.count == 1)
    #expect(await world.post(other, [1, 2]).status == 201)
    #expect(world.waiting.count == 2)
    // Nothing tells two without a body apart.
    for _ in 0..<2 { #expect(await world.post(token, []).status == 201) }
    #expect(world.waiting.count == 4)
    // One that is not kept is for whoever is there now.
    let places = [await world.post(token, [7], ttl: "0"), await world.post(token, [7], ttl: "0")].map {
      $0.headers["location"]
    }
    #expect(places[0] != nil && places[1] != nil && places[0] != places[1])
  }

  @Test func `Times to live are cut, and with none nothing waits`() async throws {
    let world = try await AutopushWorld()
    let token = try await world.subscribe()
    let long = await world.post(token, ttl: "99999999999999999999")
    #expect(long.status == 201 && long.headers["ttl"] == "864000")
    #expect(world.waiting.count == 1)
    let none = await world.post(token, [7], ttl: "0")
    #expect(none.status == 201 && none.headers["ttl"] == "0")
    #expect(world.waiting.count == 1)
  }

  @Test func `Limits and a disabled app are for later`() async throws {
    var limits = GatewayLimits()
    limits.pushCallsPerMinute = 1
    let world = try await AutopushWorld(limits: limits)
    let token = try await world.subscribe()
    #expect(await world.post(token, [1]).status == 201)
    let busy = await world.post(token, [2])
    #expect(busy.fault == "429 null" && busy.headers["retry-after"] == "60")
    #expect(world.world.metrics.render().contains("borealis_calls_limited_total 1\n"))
    try await world.world.setDisabled(true)
    #expect(await world.post(token, [3]).fault == "503 201")
  }

  @Test func `So many messages wait for a browser, and no more`() async throws {
    let world = try await AutopushWorld(mostWaiting: 3)
    let token = try await world.subscribe()
    var statuses: [Int] = []
    for number in 0..<5 { statuses.append(await world.post(token, [UInt8(number)]).status) }
    #expect(statuses == [201, 201, 201, 429, 429])
    // Not over the limit of a minute.
    #expect(world.world.metrics.render().contains("borealis_calls_limited_total 0\n"))
    world.world.clock.advance(seconds: 61)
    #expect(await world.post(token, [9]).status == 201)
  }

  @Test func `A message that replaces another needs no room`() async throws {
    let world = try await AutopushWorld(mostWaiting: 2)
    let token = try await world.subscribe()
    var statuses: [Int] = []
    for (place, topic) in ["a", "b", "a", "c"].enumerated() {
      statuses.append(await world.post(token, [UInt8(place)], ["Topic": topic]).status)
    }
    #expect(statuses == [201, 201, 201, 429])
    #expect(try await world.bodies() == [[1], [2]].map { Base64.encodeURL($0) })
  }

  @Test func `So many messages go to a browser in a minute, and no more`() async throws {
    let world = try await AutopushWorld()
    let token = try await world.subscribe()
    var statuses: [Int] = []
    for number in 0...AutopushAPI.mostPerMinute {
      statuses.append(await world.post(token, [UInt8(number)], ttl: "0").status)
    }
    #expect(statuses == [Int](repeating: 201, count: AutopushAPI.mostPerMinute) + [429])
    let other = try await world.world.router.newDevice(in: world.world.app)
    let name = try #require(SubscriptionID("9b671a64-40d5-491e-99b0-da01ff1f3341"))
    let free = EndpointToken(name, key: nil, secretHash: SHA256.digest128(other.secret))
    try await world.changeTags(.edit(add: [free.tag], remove: []), of: other.number)
    #expect(await world.post(free).status == 201)
    world.world.clock.advance(seconds: 60)
    #expect(await world.post(token).status == 201)
  }

  @Test(
    arguments: [(nil, nil, 1), (60, nil, 1), (nil, 100, 1), (60, 100, 0)] as [(Int?, Int?, Int)])
  func `A plan without limits is warned of`(calls: Int?, registrations: Int?, count: Int) async throws {
    let world = try await AutopushWorld()
    try await world.world.setPlan(PlanRow(name: "small", pushCalls: calls, registrations: registrations))
    world.api.start()
    #expect(world.log.all.count { $0.contains("has no limit") } == count)
  }

  /// Whatever a request's fields hold, it is answered.
  @Test func `Fields at random are answered`() async throws {
    let world = try await AutopushWorld()
    let token = try await world.subscribe()
    var random = SeededRandom(seed: 11)
    let pieces = [
      "vapid ", "t=", "k=", ",", ".", "a", "=", "\"", "WebPush ", "e30", "salt=", "dh=", ";", " ", "é", "9",
      "aesgcm", "aes128gcm",
    ]
    for _ in 0..<500 {
      var fields = HTTPHeaders()
      for name in ["authorization", "crypto-key", "encryption", "content-encoding", "topic", "ttl"] {
        let count = Int.random(in: 0...8, using: &random)
        fields.append(name, (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined())
      }
      let answer = await world.call("POST", EndpointToken.path + token.text, [1], fields)
      #expect([201, 400, 401].contains(answer.status), "\(fields)")
    }
  }
}
