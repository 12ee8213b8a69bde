import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import API

/// The log of requests, as calls of the APIs fill it.
@Suite(.timeLimit(.minutes(2))) struct RequestLogTests {
  private static func logged(
    _ world: GatewayWorld, _ change: (inout APIRequestFilter) -> Void = { _ in }, of app: App? = nil
  ) async throws -> [APIRequestRow] {
    var filter = APIRequestFilter()
    change(&filter)
    let list = await world.router.requestLog.list(
      of: app ?? world.app, filter, before: .newest, limit: 1000)
    return try list.get().rows
  }

  private static func line(_ row: APIRequestRow) -> String {
    let call = row.call
    return
      "\(call.kind) \(call.method) \(call.route) \(call.status) \(call.code) \(call.address?.text ?? "-") "
      + "\(call.key ?? 0) ×\(row.count) \(call.message)"
  }

  @Test func `A refused call is found by code and by address`() async throws {
    let world = try await GatewayWorld()
    let peer = try #require(IPAddress("192.0.2.9"))
    for _ in 0..<3 { _ = await world.call("GET", "/v3/push/cid", from: peer) }
    _ = await world.call("POST", "/v3/push", #"{"platform":"all"}"#, from: peer)
    _ = await world.call("POST", "/v3/devices/status", "[]", from: IPAddress("2001:db8::1"))
    #expect(
      try await Self.logged(world) { $0.code = 1002 }.map(Self.line) == [
        "refused POST /v3/push 400 1002 192.0.2.9 0 ×1 Missing parameter: audience: '…' "
          + "or an object with any of tag, tag_and, tag_not, alias, registration_id, segment, "
          + "abtest, live_activity_id"
      ])
    let found = try await Self.logged(world) { $0.address = "2001:db8::1" }
    #expect(found.map(\.call.route) == ["/v3/devices/status"] && found[0].call.status == 400)
    let good = try await Self.logged(world) { $0.kinds = [.successful] }
    #expect(good.map(Self.line) == ["successful GET /v3/push/cid 200 0 192.0.2.9 0 ×3 "])
  }

  @Test func `A call without the right is one line with the name of its key`() async throws {
    let world = try await GatewayWorld()
    let made = await world.call("POST", "/v1/api-keys", #"{"name":"stats","rights":["reports"]}"#)
    let login = GatewayWorld.basic(world.app.key.text, try #require(made.json?["secret"]?.string))
    let id = try #require(made.json?["id"]?.int64)
    #expect(await world.call("POST", "/v3/push", "{}", authorization: login).outcome == "403 2007")
    let rows = try await Self.logged(world) { $0.key = id }
    #expect(
      rows.map(Self.line) == [
        "refused POST /v3/push 403 2007 - \(id) ×1 The API key lacks the right that this call needs: push"
      ])
  }

  @Test func `Unauthenticated calls, unknown paths and other apps are told apart`() async throws {
    let world = try await GatewayWorld()
    let other = try await world.addApp()
    let wrong = GatewayWorld.basic(world.app.key.text, "wrong")
    _ = await world.call("GET", "/v3/push/cid", authorization: wrong)
    _ = await world.call("GET", "/v3/nothing/ann", authorization: wrong)
    _ = await world.call("GET", "/v3/nothing/ann")
    _ = await world.call("BREW", "/v3/push")
    _ = await world.call("GET", "/v3/push/cid", as: other)
    _ = await world.call("GET", "/healthz")
    _ = await world.call("POST", "/v1/receipts", "{}", authorization: wrong)
    _ = await world.call("POST", "/v1/app", "{}")
    let lines = try await Self.logged(world).map(Self.line)
    #expect(
      Set(lines) == [
        "unauthenticated GET /v3/push/cid 401 1004 - 0 ×1 The key is unknown or the secret is wrong",
        "unauthenticated GET - 404 1003 - 0 ×1 There is no such path",
        "refused GET - 404 1003 - 0 ×1 There is no such path",
        "refused - - 405 1001 - 0 ×1 Only POST is accepted here, not BREW",
      ])
    #expect(try await Self.logged(world, of: other).map(\.call.route) == ["/v3/push/cid"])
  }

  @Test func `What is refused before the body is read is logged once`() async throws {
    let world = try await GatewayWorld()
    let made = await world.call("POST", "/v1/api-keys", #"{"name":"stats","rights":["reports"]}"#)
    let login = GatewayWorld.basic(world.app.key.text, try #require(made.json?["secret"]?.string))
    for authorization in [login, GatewayWorld.basic(world.app.key.text, "wrong")] {
      let head = HTTPRequest(method: "POST", target: "/v3/push", headers: ["authorization": authorization])
      guard case .refused(let response) = world.gateway.screen(head, requestID: "r", peer: nil) else {
        Issue.record("the body is read")
        continue
      }
      #expect(response.status == (authorization == login ? 403 : 401))
    }
    let rows = try await Self.logged(world) { $0.kinds = [.refused, .unauthenticated] }
    #expect(Set(rows.map(\.call.kind)) == [.refused, .unauthenticated] && rows.allSatisfy { $0.count == 1 })
  }

  /// A name of a person in each place of each call.
  @Test func `No name and no ID of a request is in the log`() async throws {
    let world = try await GatewayWorld()
    let device = try await world.register()
    let (inPath, alias, unknown) = ("bob-sinclar", "ann-margret", "190e35f7e0712345678")
    let bodies = [
      #"{"platform":"all","audience":{"alias":["\#(alias) "],"tag":["\#(alias)\n"]},"notification":{"alert":"\#(alias)"}}"#,
      #"{"platform":"all","audience":{"registration_id":["\#(unknown)"]},"notification":{"alert":"x"}}"#,
      #"{"platform":"all","audience":{"alias":["\#(alias)"]},"notification":{"alert":"x"}}"#,
      #"{"platform":"\#(alias)","audience":"\#(alias)","cid":"\#(alias)"}"#,
      #"{"registration_ids":{"add":["\#(unknown)","\#(alias)"],"remove":["\#(device.text)"]}}"#,
      #"{"registration_ids":["\#(unknown)","\#(alias)"],"msg_id":1,"date":"\#(alias)"}"#,
      #"{"alias":"\#(alias)#","tags":{"add":["\#(alias)#"]},"mobile":"\#(alias)"}"#,
      #"{"devices":{"\#(unknown)":"\#(alias)"},"wanted":["\#(alias)"],"url":"\#(alias)","name":"\#(alias)"}"#,
      #"{"pushlist":{"7":{"platform":"all","target":"\#(alias)"}}}"#, "{\"\(alias)",
    ]
    for route in Gateway.routes where route.api.isForAppServers && route.callers != .group {
      for name in [inPath, unknown, "\(inPath)%20'x'"] {
        let path = route.pattern.replacing(/\{[a-z_]+\}/, with: name)
        let query =
          "?"
          + ["alias", "registration_id", "tag", "page", "platform", "count", "msg_ids"]
          .map { "\($0)=\(inPath)" }.joined(separator: "&")
        let tried = ["POST", "PUT"].contains(route.method) ? bodies : [""]
        for body in tried { _ = await world.call(route.method, path + query, body) }
      }
      _ = await world.call(route.method, route.pattern + "/" + inPath)
    }
    let rows = try await Self.logged(world)
    #expect(rows.count > 60)
    for row in rows {
      let line = Self.line(row)
      for word in [inPath, "sinclar", alias, "margret", unknown, device.text] {
        #expect(!line.contains(word), "\(line)")
      }
    }
  }

  @Test func `Messages lose their values and keep their words`() {
    for (message, kept) in [
      ("alias 'o'neil' is invalid: it doesn't fit", "alias '…' is invalid: it doesn't fit"),
      ("The app's server doesn't know it", "The app's server doesn't know it"),
      ("registration_id '190e35f7e0712345678' is unknown", "registration_id '…' is unknown"),
      ("names several devices: 190e35f7e0712345678, 290e35f7e0712345678", "names several devices: … …"),
      ("devices.190e35f7e0712345678 is wrong", "… is wrong"),
      ("says \"too long\" twice", "says \"…\" twice"), ("page=bob is wrong", "… is wrong"),
      (String(repeating: "错", count: 100), String(repeating: "错", count: 65) + "…"),
    ] {
      let target = HTTPTarget("/v3/x?page=bob")
      #expect(AnswerFault(code: 1, message: message, target: target, pattern: "/v3/x").text == kept)
    }
    #expect(AnswerFault(code: 1, message: "There is no such path: /v3/ann").text == "There is no such path")
  }
}
