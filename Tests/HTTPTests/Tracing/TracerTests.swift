import BorealisBase
import PushTesting
import Testing

@testable import HTTP

/// Which calls are traced, and what follows from them.
@Suite(.timeLimit(.minutes(2))) struct TracerTests {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

  private func call(sampled: Bool? = nil, trace: String = trace) -> HTTPRequest {
    var request = HTTPRequest(method: "POST", target: "/v3/push")
    guard let sampled else { return request }
    request.headers.append("traceparent", "00-\(trace)-00f067aa0ba902b7-\(sampled ? "01" : "00")")
    request.headers.append("tracestate", "rojo=1")
    return request
  }

  @Test func `The caller decides, if it says so`() async throws {
    let collector = try TestCollector()
    let tracer = try collector.tracer(share: 1)
    let passed = try #require(tracer.begin(call(sampled: false)))
    #expect(
      passed.context.fields == ["traceparent: 00-\(Self.trace)-00f067aa0ba902b7-00", "tracestate: rojo=1"])
    #expect(passed.traceID == Self.trace && passed.child() === passed)
    passed.end("not recorded", [])
    let recorded = try #require(tracer.begin(call(sampled: true)))
    let child = recorded.child()
    #expect(child.context.trace == recorded.context.trace && child.context.span != recorded.context.span)
    child.end("inner", [SpanAttribute("early", "x"), SpanAttribute("late", 1)])
    recorded.end("outer", [])
    try await tracer.flush { collector.spans.count == 2 }
    let (inner, outer) = (collector.spans[0], collector.spans[1])
    #expect([inner.name, outer.name] == ["inner", "outer"])
    #expect([inner, outer].allSatisfy { $0.trace == Self.trace && $0.state == "rojo=1" && !$0.isError })
    #expect(outer.parent == "00f067aa0ba902b7" && outer.kind == 2)
    #expect(inner.parent == outer.id && inner.kind == 1)
    #expect(inner.attributes == ["early": "x", "late": "1"])
  }

  @Test(arguments: [(0.0, 0...0), (1, 1000...1000), (0.5, 350...650), (0.01, 0...60)])
  func `Other calls are traced by share`(share: Double, expected: ClosedRange<Int>) throws {
    let tracer = try TestCollector().tracer(share: share)
    let spans = (0..<1000).compactMap { _ in tracer.begin(call()) }
    #expect(expected.contains(spans.count))
    #expect(Set(spans.map(\.traceID)).count == spans.count, "each has a trace of its own")
  }

  /// Keys of attributes are unique.
  @Test(
    arguments: [
      (0, [:]), (1, ["borealis.msg_id": "1"]), (2, ["borealis.msg_ids": "1,2", "borealis.pushes": "2"]),
      (40, ["borealis.msg_ids": "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", "borealis.pushes": "40"]),
    ] as [(UInt64, [String: String])])
  func `A span names its pushes`(count: UInt64, attributes: [String: String]) async throws {
    let collector = try TestCollector()
    let tracer = try collector.tracer(share: 1)
    let span = try #require(tracer.begin(call()))
    for id in 0..<count { span.add(MessageID(id + 1)) }
    span.end("accept push", [])
    try await tracer.flush { !collector.spans.isEmpty }
    #expect(collector.spans.first?.attributes == attributes)
  }

  @Test func `A span with many children passes its context on`() throws {
    let tracer = try TestCollector().tracer()
    let span = try #require(tracer.begin(call(sampled: true)))
    for _ in 0..<100 { #expect(span.child().isRecorded) }
    let last = span.child()
    #expect(!last.isRecorded && last.context == span.context)
  }

  /// Follows pushes 1, 2 and so on, each in a trace of its own.
  private func follow(_ count: UInt64, _ tracer: Tracer) throws -> [ActiveSpan] {
    try (1...count).map { id in
      let span = try #require(
        tracer.begin(call(sampled: true, trace: "\(id)bf92f3577b34da6a3ce929d0e0e4736")))
      tracer.follow(MessageID(id), of: AppID(1), span)
      return span
    }
  }

  private func id(_ span: ActiveSpan) -> String { Hex.digits(span.context.span, count: 16) }

  @Test func `A callback belongs to the first push and names the others`() async throws {
    let collector = try TestCollector()
    let tracer = try collector.tracer()
    #expect(tracer.begin(notifying: [MessageID(1)]) == nil)
    let spans = try follow(3, tracer)
    tracer.follow(MessageID(9), of: AppID(1), try #require(tracer.begin(call(sampled: false))))
    #expect(tracer.begin(notifying: [MessageID(77)]) == nil, "not remembered")
    // The first one of which spans are recorded: callers often record only a few.
    let ids = [77, 9, 2, 2, 3, 1].map { MessageID($0) }
    let request = try #require(tracer.begin(notifying: ids))
    request.end("send", [], HTTPAnswer(status: 503))
    try await tracer.flush { !collector.spans.isEmpty }
    let sent = try #require(collector.spans.first)
    #expect(sent.trace == spans[1].traceID && sent.parent == id(spans[1]))
    #expect(sent.links == [id(spans[2]), id(spans[0])])
    #expect(sent.kind == 3 && sent.isError && sent.attributes == ["http.response.status_code": "503"])
    // What is not recorded is passed on as it came.
    let passed = try #require(tracer.begin(notifying: [MessageID(9)]))
    #expect(passed.context.fields.first == "traceparent: 00-\(Self.trace)-00f067aa0ba902b7-00")
    #expect(tracer.begin(sending: MessageID(9)) == nil)
  }

  @Test func `Sending and callbacks of a push have spans of their own`() throws {
    let metrics = Metrics()
    let tracer = try TestCollector().tracer(metrics: metrics)
    let spans = try follow(2, tracer)
    for _ in 0..<80 { #expect(tracer.begin(sending: MessageID(1)) != nil) }
    #expect(tracer.begin(sending: MessageID(1)) == nil)
    for _ in 0..<20 {
      let span = try #require(tracer.begin(notifying: [MessageID(1), MessageID(2)]))
      #expect(span.isRecorded && span.traceID == spans[0].traceID)
    }
    // One that has some left is the parent, and after that contexts are passed on.
    let next = try #require(tracer.begin(notifying: [MessageID(1), MessageID(2)]))
    #expect(next.isRecorded && next.traceID == spans[1].traceID)
    let last = try #require(tracer.begin(notifying: [MessageID(1)]))
    #expect(!last.isRecorded && last.context == spans[0].context)
    #expect(metrics.render().contains("\nborealis_spans_dropped_total 0\n"), "a limit is no fault")
  }

  @Test func `Only the newest pushes are remembered`() throws {
    let tracer = try TestCollector().tracer()
    let span = try #require(tracer.begin(call(sampled: true)))
    for id in 1...10_001 as ClosedRange<UInt64> { tracer.follow(MessageID(id), of: AppID(1), span) }
    #expect(!tracer.records(MessageID(1)) && tracer.records(MessageID(2)))
    // Those that are not recorded take no place of others.
    let passed = try #require(tracer.begin(call(sampled: false)))
    for id in 20_000..<40_000 as Range<UInt64> { tracer.follow(MessageID(id), of: AppID(2), passed) }
    #expect(tracer.records(MessageID(2)) && tracer.begin(notifying: [MessageID(39_999)]) != nil)
    #expect(tracer.begin(notifying: [MessageID(20_000)]) == nil)
  }

  @Test func `A busy app makes room itself`() throws {
    let tracer = try TestCollector().tracer()
    let span = try #require(tracer.begin(call(sampled: true)))
    for id in 0..<10 as Range<UInt64> { tracer.follow(MessageID(id), of: AppID(1), span) }
    for id in 100..<30_000 as Range<UInt64> { tracer.follow(MessageID(id), of: AppID(2), span) }
    for id in 10..<20 as Range<UInt64> { tracer.follow(MessageID(id), of: AppID(3), span) }
    #expect((0..<20).allSatisfy { tracer.records(MessageID($0)) })
    #expect(tracer.records(MessageID(29_999)) && !tracer.records(MessageID(20_019)))
    #expect(tracer.records(MessageID(20_020)), "all places are taken")
  }
}
