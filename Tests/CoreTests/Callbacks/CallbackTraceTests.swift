import BorealisBase
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// Callbacks of pushes that are traced.
@Suite(.timeLimit(.minutes(2))) struct CallbackTraceTests {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

  private func call(_ tracer: Tracer, _ flags: String, trace: String = trace) throws -> ActiveSpan {
    let headers: HTTPHeaders = [
      "traceparent": "00-\(trace)-00f067aa0ba902b7-\(flags)", "tracestate": "rojo=1",
    ]
    return try #require(tracer.begin(HTTPRequest(method: "POST", target: "/v3/push", headers: headers)))
  }

  @Test func `A callback carries the trace of its push, and each try has a span`() async throws {
    let collector = try TestCollector()
    let tracer = try collector.tracer()
    let world = try await CallbackWorld(tracer: tracer)
    let receiver = try TestReceiver { .status($0 == 1 ? 500 : 200) }
    defer { receiver.close() }
    try await world.set(receiver.url, types: .delivered)
    let device = try await world.register()
    let id = try await world.push(trace: try call(tracer, "01"))
    _ = world.router.deliveries.acknowledge([id], by: device.number, in: world.app)
    try await world.tick { receiver.requests.count == 2 }
    try await tracer.flush { collector.spans.count == 3 }
    let accepted = try #require(collector.spans.first { $0.name == "accept push" })
    let sent = collector.spans.filter { $0.name == "send callback" }
    #expect(sent.map(\.isError) == [true, false])
    #expect(sent.allSatisfy { $0.kind == 3 && $0.trace == Self.trace && $0.parent == accepted.id })
    #expect(sent.map { $0.attributes["borealis.attempt"] } == ["1", "2"])
    #expect(sent.map { $0.attributes["http.response.status_code"] } == ["500", "200"])
    #expect(sent.allSatisfy { $0.attributes["borealis.events"] == "1" })
    #expect(
      receiver.requests.map { $0.fields["traceparent"] }
        == sent.map { "00-\(Self.trace)-\($0.id)-01" })
    #expect(receiver.requests.allSatisfy { $0.fields["tracestate"] == "rojo=1" })
    // The signature is of the body alone.
    #expect(receiver.requests.allSatisfy { $0.fields["x-borealis-signature"] != nil })
  }

  /// Events of several pushes go in one request.
  @Test func `A callback for several pushes belongs to the first, and names the others`() async throws {
    let collector = try TestCollector()
    let tracer = try collector.tracer()
    let world = try await CallbackWorld(tracer: tracer)
    let receiver = try TestReceiver()
    defer { receiver.close() }
    try await world.set(receiver.url, types: .delivered)
    let device = try await world.register()
    let other = "5bf92f3577b34da6a3ce929d0e0e4736"
    let ids = [
      try await world.push(), try await world.push(trace: try call(tracer, "01")),
      try await world.push(trace: try call(tracer, "01", trace: other)),
    ]
    _ = world.router.deliveries.acknowledge(ids, by: device.number, in: world.app)
    try await world.tick { receiver.eventIDs.count == 3 }
    try await tracer.flush { collector.spans.count { $0.name == "send callback" } >= receiver.requests.count }
    let sent = collector.spans.filter { $0.name == "send callback" }
    #expect(sent.count == 1 && sent.first?.attributes["borealis.events"] == "3")
    let links = collector.spans.filter { $0.name == "accept push" && $0.trace != sent.first?.trace }.map(\.id)
    #expect(links.count == 1 && sent.first?.links == links)
  }

  @Test func `What the caller does not record is passed on as it came`() async throws {
    let collector = try TestCollector()
    let tracer = try collector.tracer()
    let world = try await CallbackWorld(tracer: tracer)
    let receiver = try TestReceiver()
    defer { receiver.close() }
    try await world.set(receiver.url, types: .delivered)
    let device = try await world.register()
    let id = try await world.push(trace: try call(tracer, "00"))
    _ = world.router.deliveries.acknowledge([id], by: device.number, in: world.app)
    try await world.tick { receiver.requests.count == 1 }
    #expect(receiver.requests[0].fields["traceparent"] == "00-\(Self.trace)-00f067aa0ba902b7-00")
    #expect(receiver.requests[0].fields["tracestate"] == "rojo=1")
    tracer.exporter.close(until: SystemTime().monotonic() + 10_000_000_000)
    #expect(collector.spans.isEmpty)
  }

  @Test func `Pushes that are not traced have callbacks without a trace`() async throws {
    let collector = try TestCollector()
    let world = try await CallbackWorld(tracer: try collector.tracer(share: 1))
    let receiver = try TestReceiver()
    defer { receiver.close() }
    try await world.set(receiver.url, types: .delivered)
    let device = try await world.register()
    let id = try await world.push()
    _ = world.router.deliveries.acknowledge([id], by: device.number, in: world.app)
    try await world.tick { receiver.requests.count == 1 }
    #expect(receiver.requests[0].fields["traceparent"] == nil)
  }

  @Test(arguments: [
    ("[]", []), ("no JSON", []), (#"{"msg_id":"7"}"#, []),
    (#"[{"msg_id":"7","params":{"msg_id":"8"}},{"msg_id":"9"},{"msg_id":"7"},{"event":"ping"}]"#, [7, 9]),
    (#"[{"msg_id":7},{"msg_id":"x"},{"msg_id":"-1"},{"msg_id":""}]"#, []),
  ])
  func pushesOfABody(text: String, ids: [UInt64]) {
    #expect(CallbackEvent.pushes(in: Array(text.utf8)).map(\.rawValue) == ids)
  }
}
