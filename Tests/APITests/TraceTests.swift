import BorealisBase
import Core
import HTTP
import PushTesting
import Storage
import Testing

@testable import API

/// The traces of calls and of what they make.
@Suite(.timeLimit(.minutes(2))) struct TraceTests {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
  private static let headers: HTTPHeaders = ["traceparent": "00-\(trace)-00f067aa0ba902b7-01"]
  private static let content = #""notification":{"alert":"x"}"#
  private static let push = #"{"platform":"all","audience":"all",\#(content)}"#

  let collector: TestCollector
  let tracer: Tracer
  let world: GatewayWorld

  init() async throws {
    collector = try TestCollector()
    tracer = try collector.tracer()
    var routing = RouterOptions()
    routing.tracer = tracer
    world = try await GatewayWorld(routing: routing)
  }

  private func call(
    _ method: String, _ target: String, _ body: String = "", authorization: String? = "right"
  ) async -> HTTPResponse {
    await world.call(method, target, body, authorization: authorization, headers: Self.headers)
  }

  @Test func `A push is accepted under its call`() async throws {
    _ = try await world.register()
    let answer = await call("POST", "/v3/push", Self.push)
    let id = try #require(answer.messageID)
    try await tracer.flush { collector.spans.count == 2 }
    let made = try #require(collector.spans.first { $0.name == "POST /v3/push" })
    let accepted = try #require(collector.spans.first { $0.name == "accept push" })
    #expect([made.trace, accepted.trace] == [Self.trace, Self.trace])
    #expect(made.parent == "00f067aa0ba902b7" && made.kind == 2 && !made.isError)
    #expect(
      made.attributes == [
        "http.request.method": "POST", "http.route": "/v3/push", "http.response.status_code": "200",
        "borealis.request_id": "request-7", "borealis.app_key": world.app.key.text,
      ])
    #expect(accepted.parent == made.id && accepted.kind == 1 && !accepted.isError)
    #expect(accepted.attributes == ["borealis.msg_id": id.text])
    #expect(made.began <= accepted.began && accepted.ended <= made.ended)
    let next = try #require(tracer.begin(notifying: [id]))
    #expect(next.traceID == Self.trace)
    #expect(world.log.all.contains { $0.contains("status=200") && $0.contains(" trace=\(Self.trace)\n") })
  }

  @Test func `What is refused says so`() async throws {
    // Nobody is there.
    #expect(await call("POST", "/v3/push", Self.push).outcome == "400 1011")
    try await tracer.flush { collector.spans.count == 2 }
    #expect(collector.spans.first { $0.name == "accept push" }?.attributes == ["borealis.error_code": "1011"])
    #expect(collector.spans.allSatisfy { !$0.isError }, "the caller's mistake")
    // A call without a push.
    #expect(await call("GET", "/v3/push/cid").status == 200)
    try await tracer.flush { collector.spans.count == 3 }
    #expect(collector.spans.last?.name == "GET /v3/push/cid")
  }

  @Test(arguments: [false, true])
  func `A name that was used before gives the first push`(hasSpeed: Bool) async throws {
    _ = try await world.register()
    if hasSpeed { try await world.setPlan(PlanRow(name: "slow", speed: 1000)) }
    let cid = "\(world.app.key.text)-1"
    let body = #"{"cid":"\#(cid)","platform":"all","audience":"all",\#(Self.content)}"#
    let first = try #require(await call("POST", "/v3/push", body).messageID)
    #expect(await call("POST", "/v3/push", body).messageID == first)
    try await tracer.flush { collector.spans.count == 4 }
    #expect(
      collector.spans.filter { $0.name == "accept push" }.map(\.attributes) == [
        ["borealis.msg_id": first.text], ["borealis.msg_id": first.text, "borealis.repeated": "true"],
      ])
  }

  @Test func `Callers who may not make calls leave no span`() async throws {
    let end = Log.iso8601(world.clock.now().milliseconds + 5000)
    let made = await world.call(
      "POST", "/v1/api-keys", #"{"name":"test","rights":["devices"],"expires_at":"\#(end)"}"#)
    let secret = try #require(made.json?["secret"]?.string)
    let key = GatewayWorld.basic(world.app.key.text, secret)
    #expect(await call("GET", "/v3/push/cid", authorization: key).outcome == "403 2007")
    world.clock.advance(seconds: 5)
    #expect(await call("GET", "/v3/push/cid", authorization: key).outcome == "401 1004")
    try await setNetworks("192.0.2.0/24")
    #expect(await call("GET", "/v3/push/cid").outcome == "403 2004")
    try await setNetworks(nil)
    try await world.setDisabled(true)
    #expect(await call("GET", "/v3/push/cid").status >= 400)
    try await world.setDisabled(false)
    #expect(await call("GET", "/v3/tags").status == 200)
    try await tracer.flush { !collector.spans.isEmpty }
    #expect(collector.spans.map(\.name) == ["GET /v3/tags"])
  }

  private func setNetworks(_ networks: String?) async throws {
    let id = world.app.id
    try await world.store.change { t throws(StorageError) in
      _ = try t.apps.setAllowedNetworks(app: id, networks)
    }
    while world.app.allows(nil) != (networks == nil) {
      world.router.tick()
      await awaitCallback { done in world.router.registrations.afterChanges { done(()) } }
    }
  }

  @Test func `Calls over the limit leave no span`() async throws {
    var (limits, routing) = (GatewayLimits(), RouterOptions())
    limits.pushCallsPerMinute = 2
    routing.tracer = tracer
    let world = try await GatewayWorld(limits: limits, routing: routing)
    for status in [200, 200, 429, 429] {
      #expect(await world.call("GET", "/v3/push/cid", headers: Self.headers).status == status)
    }
    #expect(await world.call("GET", "/v3/tags", headers: Self.headers).status == 200)
    try await tracer.flush { collector.spans.contains { $0.name == "GET /v3/tags" } }
    #expect(collector.spans.map(\.name) == ["GET /v3/push/cid", "GET /v3/push/cid", "GET /v3/tags"])
  }

  /// Before a body is read nothing is recorded; the log has the caller's trace.
  @Test func `A refusal by the header leaves no span`() async throws {
    let wrong = GatewayWorld.basic(world.app.key.text, "wrong")
    var headers = Self.headers
    headers.append("authorization", wrong)
    let head = HTTPRequest(method: "POST", target: "/v3/push", headers: headers)
    guard case .refused(let answer) = world.gateway.screen(head, requestID: "r", peer: nil) else {
      Issue.record("not refused")
      return
    }
    #expect(answer.status == 401)
    #expect(world.log.all.last?.hasSuffix(" trace=\(Self.trace)\n") == true)
    #expect(await call("GET", "/v3/tags").status == 200)
    try await tracer.flush { !collector.spans.isEmpty }
    #expect(collector.spans.map(\.name) == ["GET /v3/tags"])
  }

  @Test func `Calls of which nothing is recorded`() async throws {
    // Without traceparent, and a share of 0.
    #expect(await world.call("GET", "/v3/push/cid").status == 200)
    // With a wrong secret, without one, on an unknown path, and where anybody may call.
    let wrong = GatewayWorld.basic(world.app.key.text, "wrong")
    #expect(await call("GET", "/v3/push/cid", authorization: wrong).status == 401)
    #expect(await call("GET", "/v3/push/cid", authorization: nil).status == 401)
    #expect(await call("GET", "/v3/nothing").status == 404)
    #expect(await call("GET", "/healthz").status == 200)
    #expect(await call("GET", "/v3/push/cid").status == 200)
    try await tracer.flush { !collector.spans.isEmpty }
    #expect(collector.spans.count == 1)
    // The log names the trace nevertheless.
    let refused = world.log.all.filter { $0.contains("status=401") }
    #expect(refused.count == 2 && refused.allSatisfy { $0.hasSuffix(" trace=\(Self.trace)\n") })
    #expect(world.log.all[0].contains("status=200") && !world.log.all[0].contains("trace="))
  }

  @Test func `Each push of a batch has a span under the call`() async throws {
    let ids = try await world.registerMany(2)
    let key = world.app.key.text
    let list = ids.map {
      #""\#(key)-\#($0.text)":{"platform":"all","target":"\#($0.text)",\#(Self.content)}"#
    }
    let body = #"{"pushlist":{\#(list.joined(separator: ","))}}"#
    #expect(await call("POST", "/v3/push/batch/regid/single", body).status == 200)
    try await tracer.flush { collector.spans.count == 3 }
    let made = try #require(collector.spans.first { $0.kind == 2 })
    let accepted = collector.spans.filter { $0.name == "accept push" }
    #expect(accepted.count == 2 && accepted.allSatisfy { $0.parent == made.id })
    #expect(Set(accepted.map { $0.attributes["borealis.msg_id"] }).count == 2)
  }

  @Test func `A large batch has spans for the first hundred pushes, and all belong to the trace`()
    async throws
  {
    let target = try await world.register().text
    let key = world.app.key.text
    let list = (0..<110).map {
      #""\#(key)-\#($0)":{"platform":"all","target":"\#(target)",\#(Self.content)}"#
    }
    let answer = await call(
      "POST", "/v3/push/batch/regid/single", #"{"pushlist":{\#(list.joined(separator: ","))}}"#)
    let ids = (answer.json?.object?.members ?? []).compactMap { member in
      member.value["msg_id"]?.string.flatMap { MessageID(decimal: Array($0.utf8)) }
    }
    #expect(answer.status == 200 && ids.count == 110)
    try await tracer.flush { collector.spans.contains { $0.kind == 2 } }
    #expect(collector.spans.count == 101)
    #expect(ids.count { tracer.records($0) } == 100)
    #expect(ids.allSatisfy { tracer.begin(notifying: [$0])?.traceID == Self.trace })
  }

  @Test func `A push to a group is one acceptance`() async throws {
    let second = try await world.addApp()
    _ = (try await world.register(), try await world.register(in: second))
    let group = try await world.makeGroup([world.app, second])
    var headers = Self.headers
    headers.append("authorization", GatewayWorld.basic("group-\(group.key)", group.secret))
    let body = #"{"cid":"\#(group.key)-1","platform":"all","audience":"all",\#(Self.content)}"#
    let request = HTTPRequest(
      method: "POST", target: "/v3/grouppush", headers: headers, body: Array(body.utf8))
    var answers: [HTTPResponse] = []
    for _ in 0..<2 {
      answers.append(
        await awaitCallback { done in
          world.gateway.handle(request, CallReply(requestID: "r") { done($0) })
        })
    }
    #expect(answers.map(\.status) == [200, 200])
    try await tracer.flush { collector.spans.count == 4 }
    let accepted = collector.spans.filter { $0.name == "accept push" }
    #expect(accepted.map(\.parent) == collector.spans.filter { $0.kind == 2 }.map(\.id))
    var ids: Set<String> = []
    for app in [world.app, second] {
      let id = try #require(answers[0].json?[app.key.text]?["msg_id"]?.string)
      ids.insert(id)
      let push = try #require(MessageID(decimal: Array(id.utf8)))
      #expect(tracer.begin(notifying: [push])?.traceID == Self.trace)
    }
    #expect(accepted.count == 2)
    for span in accepted {
      let named = span.attributes["borealis.msg_ids"]?.split(separator: ",").map(String.init) ?? []
      #expect(Set(named) == ids && named.count == 2 && span.attributes["borealis.pushes"] == "2")
    }
    #expect(accepted.map { $0.attributes["borealis.repeated"] } == [nil, "true"])
  }
}
