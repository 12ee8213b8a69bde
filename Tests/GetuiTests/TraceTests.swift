import BorealisBase
import Core
import HTTP
import PushTesting
import Testing

@testable import API

/// The traces of calls of Getui's API.
@Suite(.timeLimit(.minutes(2))) struct TraceTests {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
  private static let content = #""push_message":{"transmission":"x"}"#

  private static func body(_ request: Int, _ audience: String) -> String {
    #"{"request_id":"request-000\#(request)","audience":\#(audience),\#(content)}"#
  }

  @Test(arguments: ["/push/all", "/push/single/cid", "/push/single/batch/cid", "/push/list/cid"])
  func `A push is accepted under its call`(path: String) async throws {
    let collector = try TestCollector()
    let tracer = try collector.tracer()
    var routing = RouterOptions()
    routing.tracer = tracer
    let world = try await GetuiWorld(routing: routing)
    let cid = try await world.register().text
    let token = await world.token()
    let one = #"{"cid":["\#(cid)"]}"#
    var body = Self.body(1, path == "/push/all" ? #""all""# : one)
    switch path {
    case "/push/single/batch/cid": body = #"{"is_async":false,"msg_list":[\#(body)]}"#
    case "/push/list/cid":
      let stored = await world.call(
        "POST", "/push/list/message", #"{"request_id":"request-0002",\#(Self.content)}"#, token: token)
      let task = try #require(stored.json["data"]?["taskid"]?.string)
      body = #"{"audience":\#(one),"taskid":"\#(task)","is_async":false}"#
    default: break
    }
    let answer = await world.call(
      "POST", path, body, token: token, headers: ["traceparent": "00-\(Self.trace)-00f067aa0ba902b7-01"])
    #expect(answer.code == 0, "\(answer.message)")
    try await tracer.flush { collector.spans.count == 2 }
    let made = try #require(collector.spans.first { $0.kind == 2 })
    #expect(made.parent == "00f067aa0ba902b7" && made.trace == Self.trace)
    #expect(made.attributes["borealis.app_key"] == world.app.key.text)
    let accepted = try #require(collector.spans.first { $0.name == "accept push" })
    #expect(accepted.parent == made.id && accepted.attributes["borealis.msg_id"] != nil)
    #expect(made.name.hasPrefix("POST /v2/") && made.name.hasSuffix(path))
  }

  @Test func `Calls that may not be made leave no span`() async throws {
    let collector = try TestCollector()
    let tracer = try collector.tracer(share: 1)
    var (limits, routing) = (GatewayLimits(), RouterOptions())
    limits.pushCallsPerMinute = 1
    routing.tracer = tracer
    let world = try await GetuiWorld(limits: limits, routing: routing)
    let token = await world.token()
    #expect(await world.call("POST", "/push/all", "{", token: token).code != 0)
    let limited = await world.call("POST", "/push/all", "{", token: token)
    #expect(limited.code != 0)
    #expect(await world.call("GET", "/user/count", token: "wrong").status != 200)
    let cid = try await world.register().text
    _ = await world.ask("GET", "/user/status/\(cid)")
    try await tracer.flush { collector.spans.contains { $0.name.contains("/user/status/") } }
    #expect(collector.spans.map { $0.attributes["http.route"]?.hasSuffix("/push/all") } == [true, false])
  }
}
