import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import API

/// Who may call, from where, and how often.
@Suite(.timeLimit(.minutes(2))) struct AccessTests {
  private func change(
    _ world: GatewayWorld, _ body: @escaping @Sendable (WriteTransaction, AppID) throws(StorageError) -> Void
  ) async throws {
    let id = world.app.id
    try await world.store.change { t throws(StorageError) in try body(t, id) }
  }

  /// Has the router look at what changed until something holds; what is read arrives on another thread.
  private func learn(_ world: GatewayWorld, until holds: () async -> Bool) async {
    while await !holds() {
      world.router.tick()
      await awaitCallback { done in world.router.registrations.afterChanges { done(()) } }
    }
  }

  private func rateLimits(_ response: HTTPResponse) -> [String?] {
    ["quota", "limit", "remaining", "reset"].map { response.headers["x-rate-limit-\($0)"] }
  }

  /// A plan's figures hold for its apps within seconds, each API's for itself; what it leaves open is the
  /// server's.
  @Test func plans() async throws {
    let world = try await GatewayWorld()
    #expect(rateLimits(await world.call("GET", "/v3/tags")).first == "600000")
    try await change(world) { t, app throws(StorageError) in
      try t.plans.set(PlanRow(name: "small", pushCalls: 2))
      _ = try t.apps.setPlan(app: app, "small")
    }
    await learn(world) { world.app.plan.name == "small" }
    #expect(rateLimits(await world.call("GET", "/v3/push/cid")) == ["2", "2", "1", "60"])
    #expect(await world.call("GET", "/v3/push/cid").outcome == "200")
    #expect(await world.call("GET", "/v3/push/cid").outcome == "429 2002")
    #expect(rateLimits(await world.call("GET", "/v3/tags")).first == "600000")
    // A larger plan helps at once, in the window that is running.
    try await change(world) { t, _ throws(StorageError) in
      try t.plans.set(PlanRow(name: "small", pushCalls: 5))
    }
    await learn(world) { world.app.plan.pushCalls == 5 }
    #expect(rateLimits(await world.call("GET", "/v3/push/cid")) == ["5", "5", "2", "60"])
    try await change(world) { t, _ throws(StorageError) in
      try t.plans.set(PlanRow(name: "small", pushCalls: 0))
    }
    await learn(world) { world.app.plan.pushCalls == 0 }
    let none = await world.call("GET", "/v3/push/cid")
    #expect(none.outcome == "429 2002" && rateLimits(none) == ["0", "0", "0", "60"])
    #expect(world.metrics.render().contains("borealis_calls_limited_total 2"))
  }

  /// Whoever is refused at the door is told a window that nobody has touched, the same for every key.
  @Test func outsiders() async throws {
    var limits = GatewayLimits()
    limits.pushCallsPerMinute = 5
    let world = try await GatewayWorld(limits: limits)
    try await change(world) { t, app throws(StorageError) in _ = try t.apps.setPlan(app: app, "free") }
    await learn(world) { world.app.plan.name == "free" }
    let right = world.app.key.text
    for authorization in [
      nil, "Basic", GatewayWorld.basic(right, "wrong"), GatewayWorld.basic(AppKey.random().text, "wrong"),
    ] {
      let response = await world.call("POST", "/v3/push", "{}", authorization: authorization)
      #expect(response.outcome == "401 1004" && rateLimits(response) == ["5", "5", "5", "60"])
    }
  }

  /// Windows of those who call no more are forgotten.
  @Test func memory() {
    let limiter = RateLimiter()
    let minute: UInt64 = 60_000_000_000
    for caller in 0..<1000 { _ = limiter.consume(UInt32(caller), quota: 5, at: minute) }
    #expect(limiter.count == 1000)
    #expect(limiter.consume(7, quota: 5, at: 2 * minute - 1).remaining == 3)
    #expect(limiter.consume(7, quota: 5, at: 2 * minute).remaining == 4)
    #expect(limiter.count == 1)
  }

  /// With a list of networks, calls from elsewhere are refused by each API, and take nothing from the budget.
  @Test func networks() async throws {
    let world = try await GatewayWorld()
    let inside = try #require(IPAddress("192.0.2.9"))
    let outside = try #require(IPAddress("192.0.3.9"))
    let six = try #require(IPAddress("2001:db8::9"))
    #expect(await world.call("GET", "/v3/push/cid", from: outside).outcome == "200")
    try await change(world) { t, app throws(StorageError) in
      _ = try t.apps.setAllowedNetworks(app: app, "192.0.2.0/24 2001:db8::/32")
    }
    await learn(world) { !world.app.allows(outside) }
    for path in ["/v3/push/cid", "/v3/tags"] {
      #expect(await world.call("GET", path, from: outside).outcome == "403 2004")
      #expect(await world.call("GET", path, from: nil).outcome == "403 2004")
      #expect(await world.call("GET", path, from: inside).outcome == "200")
      #expect(await world.call("GET", path, from: six).outcome == "200")
    }
    let wrong = GatewayWorld.basic(world.app.key.text, "wrong")
    #expect(
      await world.call("GET", "/v3/push/cid", authorization: wrong, from: outside).outcome == "401 1004")
    // Nobody is believed unless the operator says so.
    let claim: HTTPHeaders = ["X-Forwarded-For": "192.0.2.9"]
    #expect(await world.call("GET", "/v3/push/cid", from: outside, headers: claim).outcome == "403 2004")
    try await change(world) { t, app throws(StorageError) in _ = try t.apps.setAllowedNetworks(app: app, nil)
    }
    await learn(world) { world.app.allows(outside) }
    #expect(await world.call("GET", "/v3/push/cid", from: outside).outcome == "200")
  }

  /// Behind trusted proxies the last address that is none of theirs counts, whatever the caller wrote before
  /// it.
  @Test func proxies() async throws {
    var limits = GatewayLimits()
    limits.trustedProxies = ["10.0.0.0/8", "::1"].compactMap { IPNetwork($0) }
    let world = try await GatewayWorld(limits: limits)
    try await change(world) { t, app throws(StorageError) in
      _ = try t.apps.setAllowedNetworks(app: app, "192.0.2.0/24 10.9.9.9/32")
    }
    await learn(world) { !world.app.allows(nil) }
    for (peer, forwarded, expected) in [
      ("10.1.1.1", ["192.0.2.9"], "200"), ("::1", ["198.51.100.1, 192.0.2.9"], "200"),
      ("10.1.1.1", ["192.0.2.9, 198.51.100.1"], "403 2004"),
      ("10.1.1.1", ["198.51.100.1,192.0.2.9 ,\t10.2.2.2"], "200"),
      ("10.1.1.1", ["198.51.100.1", "192.0.2.9"], "200"),
      ("10.1.1.1", ["192.0.2.9", "198.51.100.1"], "403 2004"),
      ("10.1.1.1", [], "403 2004"), ("10.9.9.9", [], "200"),
      ("10.1.1.1", ["192.0.2.9, nonsense"], "403 2004"),
      ("10.1.1.1", ["192.0.2.9:4711, 10.2.2.2:80"], "200"), ("10.1.1.1", ["[::ffff:192.0.2.9]:4711"], "200"),
      ("10.1.1.1", ["192.0.2.9, [::1]"], "200"), ("10.1.1.1", ["192.0.2.9:x"], "403 2004"),
      ("10.1.1.1", ["192.0.2.9:"], "403 2004"), ("10.1.1.1", ["[192.0.2.9]:1"], "403 2004"),
      ("10.1.1.1", ["[::ffff:192.0.2.9"], "403 2004"), ("10.1.1.1", ["192.0.2.9:65536"], "403 2004"),
      ("10.1.1.1", ["[::ffff:192.0.2.9]x"], "403 2004"),
      ("10.1.1.1", ["192.0.2.9,"], "200"), ("198.51.100.1", ["192.0.2.9"], "403 2004"),
    ] {
      var headers = HTTPHeaders()
      for value in forwarded { headers.append("X-Forwarded-For", value) }
      let peer = try #require(IPAddress(peer))
      let response = await world.call("GET", "/v3/push/cid", from: peer, headers: headers)
      #expect(response.outcome == expected, "\(peer.text) \(forwarded)")
    }
  }

  /// Two secrets are good until the old one is retired.
  @Test func rotation() async throws {
    let world = try await GatewayWorld()
    let hash = SHA256.digest(Array("new secret".utf8))
    func outcomes() async -> [String] {
      var outcomes: [String] = []
      for secret in [GatewayWorld.secret, "new secret", "wrong"] {
        let login = GatewayWorld.basic(world.app.key.text, secret)
        outcomes.append(await world.call("GET", "/v3/push/cid", authorization: login).outcome)
      }
      return outcomes
    }
    #expect(await outcomes() == ["200", "401 1004", "401 1004"])
    try await change(world) { t, app throws(StorageError) in
      _ = try t.apps.rotateSecret(app: app, hash: hash, .begin)
    }
    await learn(world) { world.app.accepts(masterSecret: Array("new secret".utf8)) }
    #expect(await outcomes() == ["200", "200", "401 1004"])
    // Whoever retires the old one wants to know whether somebody still needs it.
    #expect(world.app.hasOldSecret && world.app.oldSecretUsedAt == world.clock.now())
    try await change(world) { t, app throws(StorageError) in _ = try t.apps.retireSecret(app: app) }
    await learn(world) { !world.app.accepts(masterSecret: Array(GatewayWorld.secret.utf8)) }
    #expect(!world.app.hasOldSecret && world.app.oldSecretUsedAt == nil)
    #expect(await outcomes() == ["401 1004", "200", "401 1004"])
  }

  /// The tenth broadcast of a free app's day is its last; the code is JPush's.
  @Test func broadcasts() async throws {
    let world = try await GatewayWorld()
    _ = try await world.register()
    try await change(world) { t, app throws(StorageError) in _ = try t.apps.setPlan(app: app, "free") }
    await learn(world) { world.app.plan.name == "free" }
    for _ in 0..<10 { #expect(await world.push().outcome == "200") }
    #expect(await world.push().outcome == "403 2008")
    #expect(
      await world.push(#""notification":{"alert":"x"},"options":{"time_to_live":259201}"#).outcome
        == "400 1003")
  }

  // MARK: By the header alone

  private func screened(
    _ world: GatewayWorld, _ method: String, _ target: String, _ authorization: String?,
    from peer: IPAddress? = nil, _ fields: HTTPHeaders = [:]
  ) -> String? {
    var headers = fields
    if let authorization { headers.append("authorization", authorization) }
    let head = HTTPRequest(method: method, target: target, headers: headers)
    switch world.gateway.screen(head, requestID: "r", peer: peer) {
    case .refused(let response): return response.outcome
    case .admitted(let bodyBytes, let isKnown):
      #expect(
        isKnown
          == (target.hasPrefix("/v3")
            && authorization == GatewayWorld.basic(world.app.key.text, GatewayWorld.secret)))
      #expect(
        bodyBytes
          == (target == "/v1/receipts"
            ? 8 << 10 : target == "/v3/files/alias" ? 10 << 20 + 16 << 10 : 256 << 10))
      return nil
    }
  }

  /// What needs no credentials takes little; and of a body that is too large, or compressed, the header
  /// tells.
  @Test func bodiesByTheirHeaders() async throws {
    let world = try await GatewayWorld()
    let right = GatewayWorld.basic(world.app.key.text, GatewayWorld.secret)
    func outcome(_ target: String, _ fields: HTTPHeaders, _ authorization: String? = nil) -> String? {
      screened(world, "POST", target, authorization, fields)
    }
    #expect(outcome("/v1/receipts", ["Content-Length": "8192"]) == nil)
    #expect(outcome("/v1/receipts", ["Content-Length": "8193"]) == "400 1005")
    #expect(outcome("/v1/receipts", ["Content-Length": "99999999999999999999"]) == "400 1005")
    #expect(outcome("/v3/push", ["Content-Length": "262144"], right) == nil)
    #expect(outcome("/v3/push", ["Content-Length": "262145"], right) == "400 1005")
    #expect(outcome("/v3/push", ["Content-Length": "262145"]) == "401 1004")
    #expect(outcome("/v3/push", ["Content-Encoding": "gzip"], right) == "415 1003")
    let receipts = #"{"shown":["\#(String(repeating: "1", count: 9000))"]}"#
    #expect(await world.call("POST", "/v1/receipts", receipts).outcome == "400 1005")
  }

  /// What a compressed body says is not found out: it is refused in the words of each API, not read as bad
  /// JSON.
  @Test(arguments: [
    ("/v3/push", "415 1003"), ("/v3/devices/status", "415 7002"), ("/v3/schedules", "415 8100"),
    ("/v1/receipts", "415 1003"),
  ])
  func compressedBodies(path: String, expected: String) async throws {
    let world = try await GatewayWorld()
    for coding in ["gzip", "GZip", "br", "identity, gzip"] {
      let answer = await world.call("POST", path, "{}", headers: ["Content-Encoding": coding])
      #expect(answer.outcome == expected && answer.headers["accept-encoding"] == "identity")
    }
    #expect(await world.call("POST", path, "{}", headers: ["Content-Encoding": "Identity"]).status != 415)
    let outsider = await world.call(
      "POST", path, "{}", authorization: nil, headers: ["Content-Encoding": "gzip"])
    #expect(outsider.status == (path == "/v1/receipts" ? 415 : 401))
  }

  /// Every 401 says by what it could be another answer (RFC 9110 section 11.6.1).
  @Test func challenges() async throws {
    let world = try await GatewayWorld()
    let key = world.app.key.text
    let receipt =
      #"{"app_key":"\#(key)","registration_id":"0000000000000000001","secret":"\#(String(repeating: "0", count: 32))","shown":[1]}"#
    var count = 0
    for (path, body) in [
      ("/v3/push", "{}"), ("/v3/devices/status", "{}"), ("/v3/schedules", "{}"), ("/v3/received", ""),
      ("/v1/app", "{}"),
      ("/v3/grouppush", "{}"), ("/v1/receipts", receipt),
    ] {
      for authorization in [
        nil, "Bearer x", GatewayWorld.basic(key, "wrong"), GatewayWorld.basic("group-" + key, "wrong"),
      ] {
        let answer = await world.call(
          path == "/v3/received" ? "GET" : "POST", path, body, authorization: authorization)
        #expect(answer.status == 401, "\(path)")
        // A key and its secret open nothing where the body names a device.
        let scheme =
          path == "/v1/receipts" ? #"Device realm="Borealis""# : #"Basic realm="Borealis", charset="UTF-8""#
        #expect(answer.headers["www-authenticate"] == scheme, "\(path)")
        count += 1
      }
    }
    #expect(count == 28)
    #expect(await world.push().headers["www-authenticate"] == nil)
  }

  /// JPush's headers stand on every answer, those to what is not there too; such calls are not counted.
  @Test func budgetsOfWhatIsNotThere() async throws {
    let world = try await GatewayWorld()
    func left(_ answer: HTTPResponse) -> [String?] {
      ["quota", "limit", "remaining"].map { answer.headers["x-rate-limit-" + $0] } + [
        answer.headers["x-rate-limit-reset"] == nil ? nil : "s"
      ]
    }
    _ = await world.call("GET", "/v3/push/cid")
    for (method, path, status, quota, used) in [
      ("PUT", "/v3/push", 405, 6_000_000, 1), ("GET", "/v3/push/nothing/here", 404, 6_000_000, 1),
      ("GET", "/nothing", 404, 6_000_000, 1),
      ("GET", "/%", 400, 6_000_000, 1), ("PUT", "/v3/devices/x", 405, 600_000, 0),
      ("GET", "/v3/device/x/y/z", 404, 600_000, 0),
      ("PATCH", "/v3/schedules", 405, 60_000, 0), ("GET", "/v3/report/x/y", 404, 600_000, 0),
    ] {
      let answer = await world.call(method, path)
      #expect(answer.status == status, "\(path)")
      #expect(left(answer) == ["\(quota)", "\(quota)", "\(quota - used)", "s"], "\(method) \(path)")
      // Whoever is nobody learns nothing.
      let outsider = await world.call(
        method, path, authorization: GatewayWorld.basic(world.app.key.text, "wrong"))
      #expect(left(outsider) == ["\(quota)", "\(quota)", "\(quota)", "s"], "\(method) \(path)")
    }
    let open = await world.call("POST", "/healthz")
    #expect(open.status == 405 && left(open) == [nil, nil, nil, nil])
  }

  /// What the header tells is told before the body: the same as with it.
  @Test func screening() async throws {
    let world = try await GatewayWorld()
    let key = world.app.key.text
    let right = GatewayWorld.basic(key, GatewayWorld.secret)
    let group = GatewayWorld.basic("group-" + key, GatewayWorld.secret)
    for (method, target, authorization, expected) in [
      ("POST", "/v3/push", right, nil), ("POST", "/v3/files/alias", right, nil),
      ("POST", "/v3/push", nil, "401 1004"), ("POST", "/v3/devices/status", nil, "401 7001"),
      ("POST", "/v3/push", GatewayWorld.basic(key, "wrong"), "401 1004"),
      ("POST", "/v3/schedules", GatewayWorld.basic(key, "wrong"), "401 8101"),
      ("POST", "/v3/push", "Bearer x", "401 1004"), ("POST", "/v3/push", group, "401 1004"),
      ("POST", "/v3/grouppush", right, "401 1004"), ("PUT", "/v3/push", right, "405 1001"),
      ("POST", "/v3/nothing", right, "404 1003"), ("POST", "/%", right, "400 1003"),
      // Only the database knows these.
      ("POST", "/v3/push", GatewayWorld.basic(AppKey.random().text, "x"), nil),
      ("POST", "/v3/grouppush", group, nil), ("POST", "/v1/app", right, nil),
      ("POST", "/v1/receipts", nil, nil),
    ] as [(String, String, String?, String?)] {
      #expect(screened(world, method, target, authorization) == expected, "\(method) \(target)")
      guard let expected else { continue }
      let whole = await world.call(method, target, "{}", authorization: authorization)
      #expect(whole.outcome == expected, "\(method) \(target)")
    }
    let outside = try #require(IPAddress("192.0.3.9"))
    try await change(world) { t, app throws(StorageError) in
      _ = try t.apps.setAllowedNetworks(app: app, "192.0.2.0/24")
    }
    await learn(world) { !world.app.allows(outside) }
    #expect(screened(world, "POST", "/v3/push", right, from: outside) == "403 2004")
    try await world.setDisabled(true)
    #expect(screened(world, "POST", "/v3/push", right, from: outside) == "403 2003")
    #expect(world.log.all.contains { $0.contains("/v3/push") && $0.contains("403") })
  }
}
