import BorealisBase
import HTTP
import PushTesting
import Testing

@testable import Channels

/// The spans of requests to makers' services.
@Suite(.timeLimit(.minutes(2))) struct VendorSpanTests {
  /// Refusals come with a successful status, too: "x..." is refused so.
  @Test(arguments: [
    (["a", "xa"], ScriptedVendor.partial, "1", false), (["xa", "xb"], ScriptedVendor.partial, "0", true),
    (["a", "b"], 200, "2", false), (["a", "b"], 500, "2", true),
  ])
  func `A span says how many devices the service took`(
    tokens: [String], status: Int, accepted: String, isError: Bool
  ) async throws {
    let collector = try TestCollector()
    let tracer = try collector.tracer(share: 1)
    let scene = try await VendorScene(mostTokens: 1000, tracer: tracer) { _ in .status(status) }
    defer { scene.end() }
    for token in tokens { try await scene.device(token) }
    let call = try #require(tracer.begin(HTTPRequest(method: "POST", target: "/")))
    let id = try await scene.push(trace: call)
    _ = try await scene.requests(1)
    try await tracer.flush { collector.spans.contains { $0.name.hasPrefix("send ") } }
    let span = try #require(collector.spans.first { $0.name.hasPrefix("send ") })
    #expect(span.attributes["borealis.msg_id"] == id.text && span.attributes["borealis.devices"] == "2")
    #expect(span.attributes["http.response.status_code"] == "\(status)")
    #expect(span.attributes["borealis.accepted"] == accepted && span.isError == isError)
    #expect(span.parent == collector.spans.first { $0.name == "accept push" }?.id)
  }

  @Test func `A request that prepares a push has a span of its own`() async throws {
    let collector = try TestCollector()
    let tracer = try collector.tracer(share: 1)
    let scene = try await VendorScene(prepares: true, tracer: tracer) { _ in .status(200) }
    defer { scene.end() }
    try await scene.device("a")
    let call = try #require(tracer.begin(HTTPRequest(method: "POST", target: "/")))
    _ = try await scene.push(trace: call)
    _ = try await scene.requests(2)
    try await tracer.flush { collector.spans.count == 3 }
    let sent = collector.spans.filter { $0.kind == 3 }
    #expect(sent.map { $0.name.prefix { $0 != " " } } == ["prepare", "send"])
    #expect(sent.allSatisfy { !$0.isError } && sent[0].attributes["borealis.accepted"] == nil)
  }
}
