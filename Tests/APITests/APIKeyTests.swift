import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import API

/// API keys: which calls each may make, from where and until when.
@Suite(.timeLimit(.minutes(2))) struct APIKeyTests {
  private static func make(
    _ world: GatewayWorld, _ rights: String, _ more: String = ""
  ) async throws -> (id: Int64, login: String) {
    let answer = await world.call(
      "POST", "/v1/api-keys", #"{"name":"test","rights":[\#(rights)]\#(more)}"#)
    #expect(answer.outcome == "200")
    let secret = try #require(answer.json?["secret"]?.string)
    return (try #require(answer.json?["id"]?.int64), GatewayWorld.basic(world.app.key.text, secret))
  }

  /// The secret in a header: behind the app's key and a colon.
  private static func secret(of login: String) -> String? {
    Base64.decode(login.dropFirst(6).utf8).map { String(decoding: $0.dropFirst(25), as: UTF8.self) }
  }

  private static func concrete(_ pattern: String) -> String {
    pattern.replacing(/\{[a-z_]+\}/, with: "7")
  }

  // MARK: Rights

  @Test func `Each route needs one right, or is not for apps`() {
    for route in Gateway.routes {
      #expect((route.right == nil) == !route.api.isForAppServers, "\(route.method) \(route.pattern)")
    }
    for right in APIRight.allCases { #expect(Gateway.routes.contains { $0.right == right }) }
    let settings = Gateway.routes.filter { $0.right == .settings }.map(\.pattern)
    for pattern in ["/v1/callback", "/v1/sealing", "/v1/facts/wanted", "/v1/api-keys", "/v1/api-keys/{id}"] {
      #expect(settings.contains(pattern), "\(pattern)")
    }
  }

  /// Every route with a key of each right alone: it is refused without the right, and only then.
  @Test(arguments: APIRight.allCases) func `A key opens the routes of its right`(right: APIRight) async throws
  {
    let world = try await GatewayWorld()
    let key = try await Self.make(world, "\"\(right.rawValue)\"")
    for route in Gateway.routes where route.right != nil && route.callers != .group {
      let body = ["POST", "PUT"].contains(route.method) ? "[" : ""
      let path = Self.concrete(route.pattern)
      let answer = await world.call(route.method, path, body, authorization: key.login)
      let isRefused = answer.outcome == "403 2007" && answer.text.contains("lacks the right")
      #expect(isRefused == (route.right != right), "\(route.method) \(path): \(answer.text)")
      guard isRefused, let needed = route.right else { continue }
      #expect(answer.text.contains("this call needs: \(needed.rawValue)"))
      let screened = world.screened(route.method, path, key.login)
      #expect(screened == "403 2007", "\(route.method) \(path): before the body is read")
    }
  }

  @Test func `Keys are for apps alone`() async throws {
    let world = try await GatewayWorld()
    let key = try await Self.make(world, #""push","devices","reports","settings""#)
    for route in Gateway.routes where route.callers == .group || route.api == .admin {
      let path = Self.concrete(route.pattern)
      let answer = await world.call(route.method, path, "{}", authorization: key.login)
      #expect(answer.status == 401, "\(route.method) \(path)")
    }
    let other = try await world.addApp()
    let stolen = GatewayWorld.basic(other.key.text, try #require(Self.secret(of: key.login)))
    #expect(await world.call("GET", "/v3/push/cid", authorization: stolen).outcome == "401 1004")
    #expect(await world.push().outcome == "400 1011", "the master secret stays")
  }

  // MARK: From where, until when

  @Test func `Networks hold for IPv4, IPv6 and behind a trusted proxy`() async throws {
    var limits = GatewayLimits()
    limits.trustedProxies = ["10.0.0.0/8"].compactMap { IPNetwork($0) }
    let world = try await GatewayWorld(limits: limits)
    let key = try await Self.make(world, "\"push\"", #","networks":["192.0.2.0/24","2001:db8::/32"]"#)
    for (peer, forwarded, expected) in [
      ("192.0.2.7", nil, "200"), ("192.0.3.7", nil, "403 2004"), ("2001:db8:1::7", nil, "200"),
      ("2001:db9::7", nil, "403 2004"), ("::ffff:192.0.2.7", nil, "200"), (nil, nil, "403 2004"),
      ("10.1.1.1", "192.0.2.7", "200"), ("10.1.1.1", "192.0.2.7, 198.51.100.1", "403 2004"),
      ("198.51.100.1", "192.0.2.7", "403 2004"), ("10.1.1.1", "2001:db8::1", "200"),
    ] as [(String?, String?, String)] {
      var headers = HTTPHeaders()
      if let forwarded { headers.append("X-Forwarded-For", forwarded) }
      let answer = await world.call(
        "GET", "/v3/push/cid", authorization: key.login, from: peer.flatMap { IPAddress($0) },
        headers: headers)
      #expect(answer.outcome == expected, "\(peer ?? "-") \(forwarded ?? "-")")
    }
    // The app's own networks hold as well, and the master secret is not bound by the key's.
    let id = world.app.id
    try await world.store.change { t throws(StorageError) in
      _ = try t.apps.setAllowedNetworks(app: id, "2001:db8::/32 203.0.113.1")
    }
    while world.app.allows(IPAddress("192.0.2.7")) {
      world.router.tick()
      await awaitCallback { done in world.router.registrations.afterChanges { done(()) } }
    }
    for (peer, login, expected) in [
      ("192.0.2.7", key.login, "403 2004"), ("2001:db8::1", key.login, "200"),
      ("203.0.113.1", key.login, "403 2004"), ("203.0.113.1", "right", "200"),
    ] {
      let answer = await world.call(
        "GET", "/v3/push/cid", authorization: login, from: IPAddress(peer))
      #expect(answer.outcome == expected, "\(peer)")
    }
  }

  @Test func `A key is refused from the moment on when it expires`() async throws {
    let world = try await GatewayWorld()
    let end = Log.iso8601(world.clock.now().milliseconds + 5000)
    let key = try await Self.make(world, "\"push\",\"devices\"", #","expires_at":"\#(end)""#)
    world.clock.advance(milliseconds: 4999)
    #expect(await world.call("GET", "/v3/push/cid", authorization: key.login).outcome == "200")
    let used = world.app.keyUses[key.id]
    world.clock.advance(milliseconds: 1)
    let answer = await world.call("GET", "/v3/push/cid", authorization: key.login)
    #expect(answer.outcome == "401 1004" && answer.text.contains("The API key has expired"))
    #expect(await world.call("GET", "/v3/tags", authorization: key.login).outcome == "401 7004")
    #expect(world.screened("GET", "/v3/push/cid", key.login) == "401 1004")
    #expect(world.app.keyUses[key.id] == used, "that is no use")
    #expect(await world.call("GET", "/v3/push/cid").outcome == "200")
  }

  @Test func `A revoked key is refused at once, also for a body that is on its way`() async throws {
    let world = try await GatewayWorld()
    let (key, other) = (try await Self.make(world, "\"push\""), try await Self.make(world, "\"push\""))
    #expect(world.screened("POST", "/v3/push", key.login) == nil, "the body is read")
    #expect(await world.call("DELETE", "/v1/api-keys/\(key.id)").outcome == "200")
    let answer = await world.call("POST", "/v3/push", "{}", authorization: key.login)
    #expect(answer.outcome == "401 1004")
    #expect(world.screened("POST", "/v3/push", key.login) == "401 1004")
    #expect(await world.call("GET", "/v3/push/cid", authorization: other.login).outcome == "200")
    #expect(await world.call("DELETE", "/v1/api-keys/\(key.id)").outcome == "400 1003")
    for id in ["0", "x", "9999999"] {
      #expect(await world.call("DELETE", "/v1/api-keys/\(id)").outcome == "400 1003")
    }
  }

  /// Many calls race with the revocation: each is served or refused, and none is served that begins after the
  /// answer.
  @Test func `Calls race with the revocation`() async throws {
    let world = try await GatewayWorld()
    let key = try await Self.make(world, "\"push\"")
    await withTaskGroup(of: String.self) { group in
      for _ in 0..<50 {
        group.addTask { await world.call("GET", "/v3/push/cid", authorization: key.login).outcome }
      }
      group.addTask { await world.call("DELETE", "/v1/api-keys/\(key.id)").outcome }
      for await outcome in group { #expect(["200", "401 1004"].contains(outcome)) }
    }
    #expect(await world.call("GET", "/v3/push/cid", authorization: key.login).outcome == "401 1004")
  }

  @Test func `Keys that another process changes count after the next look`() async throws {
    let world = try await GatewayWorld()
    let key = try await Self.make(world, "\"push\"")
    let id = world.app.id
    let other = "brlk" + String(repeating: "a", count: 20)
    try await world.store.change { [now = world.clock.now()] t throws(StorageError) in
      let grant = APIKeyGrant(name: "b", rights: APIRights(.push))
      let new = NewAPIKey(grant, secretHash: SHA256.digest(Array(other.utf8)), secret: other)
      _ = try t.apiKeys.add(new, to: id, limit: 9, at: now)
      _ = try t.apiKeys.revoke(key.id, of: id, at: now)
    }
    #expect(await world.call("GET", "/v3/push/cid", authorization: key.login).outcome == "200")
    await awaitCallback { done in world.router.learnChanges { done(()) } }
    #expect(await world.call("GET", "/v3/push/cid", authorization: key.login).outcome == "401 1004")
    let login = GatewayWorld.basic(world.app.key.text, other)
    #expect(await world.call("GET", "/v3/push/cid", authorization: login).outcome == "200")
  }

  // MARK: The keys' own API

  @Test func `Keys are listed without their secrets, and changes are in the audit log`() async throws {
    let world = try await GatewayWorld()
    let first = try await Self.make(world, "\"push\"", #","networks":["10.0.0.0/8"]"#)
    let manager = try await Self.make(world, #""settings""#)
    _ = await world.call("GET", "/v3/push/cid", authorization: first.login, from: IPAddress("10.1.2.3"))
    let list = await world.call("GET", "/v1/api-keys", authorization: manager.login)
    let keys = try #require(list.json?["keys"]?.array)
    #expect(keys.compactMap { $0["id"]?.int64 } == [first.id, manager.id])
    #expect(keys[0]["rights"] == ["push"] && keys[0]["networks"] == ["10.0.0.0/8"])
    #expect(keys[0]["last_used_at"]?.string == Log.iso8601(world.clock.now().milliseconds))
    #expect(keys[0]["secret_end"]?.string?.count == 4 && keys[0]["secret"] == nil)
    #expect(keys[1]["networks"]?.isNull == true && keys[1]["expires_at"]?.isNull == true)
    let secret = try #require(Self.secret(of: first.login))
    #expect(!list.text.contains(secret))
    #expect(
      await world.call("DELETE", "/v1/api-keys/\(first.id)", authorization: manager.login).outcome == "200")
    let facts = await world.call(
      "PUT", "/v1/facts/wanted", #"{"wanted":["language"]}"#, authorization: manager.login,
      from: IPAddress("10.1.2.3"))
    #expect(facts.outcome == "200")
    let account = world.app.account
    let entries = try await world.store.look { t throws(StorageError) in
      try t.audit.entries(.account(account), before: nil, limit: 10).map(\.entry)
    }
    #expect(entries.map(\.action) == ["app.facts", "key.revoke", "key.create", "key.create"])
    #expect(entries.map(\.who) == ["API (test)", "API (test)", "API", "API"])
    #expect(entries.map(\.target) == ["language", "test", "test: settings", "test: push"])
    #expect(entries[0].address == "10.1.2.3")
    #expect(entries.allSatisfy { !$0.target.contains(secret) })
  }

  @Test func `A key makes no key that may do more than itself`() async throws {
    let world = try await GatewayWorld()
    let end = Log.iso8601(world.clock.now().milliseconds + 100_000)
    let later = Log.iso8601(world.clock.now().milliseconds + 100_001)
    let key = try await Self.make(
      world, #""settings","push""#, #","networks":["10.0.0.0/8"],"expires_at":"\#(end)""#)
    for (body, expected) in [
      (#""rights":["push"],"networks":["10.9.0.0/16"],"expires_at":"\#(end)""#, "200"),
      (#""rights":["reports"],"networks":["10.9.0.0/16"],"expires_at":"\#(end)""#, "403 2007"),
      (#""rights":["push"],"networks":["11.0.0.0/8"],"expires_at":"\#(end)""#, "403 2007"),
      (#""rights":["push"],"expires_at":"\#(end)""#, "403 2007"),
      (#""rights":["push"],"networks":["10.0.0.0/8"]"#, "403 2007"),
      (#""rights":["push"],"networks":["10.0.0.0/8"],"expires_at":"\#(later)""#, "403 2007"),
    ] {
      let answer = await world.call(
        "POST", "/v1/api-keys", #"{"name":"x",\#(body)}"#, authorization: key.login,
        from: IPAddress("10.1.1.1"))
      #expect(answer.outcome == expected, "\(body): \(answer.text)")
    }
  }

  @Test func `An app has a limited number of keys`() async throws {
    let world = try await GatewayWorld()
    var last: Int64 = 0
    for _ in 0..<Apps.keysInApp { last = try await Self.make(world, "\"push\"").id }
    let body = #"{"name":"x","rights":["push"]}"#
    #expect(await world.call("POST", "/v1/api-keys", body).outcome == "400 1012")
    _ = await world.call("DELETE", "/v1/api-keys/\(last)")
    #expect(await world.call("POST", "/v1/api-keys", body).outcome == "200")
  }
}

extension GatewayWorld {
  /// What is answered before the body is read; nil if it is read.
  fileprivate func screened(_ method: String, _ target: String, _ authorization: String) -> String? {
    let head = HTTPRequest(method: method, target: target, headers: ["authorization": authorization])
    guard case .refused(let response) = gateway.screen(head, requestID: "r", peer: nil) else { return nil }
    return response.outcome
  }
}

extension HTTPResponse {
  fileprivate var text: String { String(decoding: body, as: UTF8.self) }
}
