import BorealisBase
import PushTesting
import Testing

@testable import HTTP

/// What becomes of spans when the collector takes them, refuses them or is away.
@Suite(.timeLimit(.minutes(2))) struct SpanExporterTests {
  let clock = ManualClock()
  let metrics = Metrics()
  let lines = LogLines()

  private func tracer(
    _ collector: TestCollector, _ change: (inout SpanExporter.Options) -> Void = { _ in }
  ) throws -> Tracer {
    try collector.tracer(
      share: 1, time: clock, metrics: metrics, log: Log(level: .info) { [lines] in lines.add($0) }, change)
  }

  private func record(_ count: Int, _ tracer: Tracer) throws {
    for number in 0..<count {
      let span = try #require(tracer.begin(HTTPRequest(method: "GET", target: "/")))
      span.end("\(number)", [])
    }
  }

  private func count(_ name: String) -> Int {
    let start = "\nborealis_spans_\(name)_total "
    let text = metrics.render()
    guard let found = text.firstRange(of: start) else { return -1 }
    return Int(text[found.upperBound...].prefix { $0.isNumber }) ?? -1
  }

  /// Waits until the thread of the exporter has done what it was asked for.
  private func settle(_ tracer: Tracer) async {
    for _ in 0..<3 {
      tracer.exporter.tick()
      await awaitCallback { done in tracer.exporter.transport.run { done(()) } }
    }
  }

  @Test func `Spans go out in batches, in order`() async throws {
    let collector = try TestCollector()
    let tracer = try tracer(collector) { options in
      options.batch = 2
      options.fields = ["Authorization: Bearer x"]
      options.resource = [SpanAttribute("service.name", "test")]
      options.version = "1.2"
    }
    try record(5, tracer)
    try await tracer.flush { collector.spans.count == 5 }
    #expect(collector.spans.map(\.name) == ["0", "1", "2", "3", "4"])
    #expect(collector.batches.allSatisfy { $0.count <= 2 })
    let now = clock.now().milliseconds * 1_000_000
    #expect(collector.spans.allSatisfy { $0.began == now && $0.ended == now })
    for request in collector.receiver.requests {
      #expect(request.line == "POST /v1/traces HTTP/1.1")
      #expect(request.fields["content-type"] == "application/json")
      #expect(request.fields["authorization"] == "Bearer x")
    }
    try await tracer.flush { count("exported") == 5 }
    #expect(count("dropped") == 0 && lines.all.isEmpty)
    tracer.exporter.close(until: SystemTime().monotonic() + 10_000_000_000)
    try record(1, tracer)
    #expect(count("dropped") == 1, "none after the end")
  }

  @Test(arguments: [
    (429, "Retry-After: 7\r\n", 7), (503, "Retry-After: 7\r\n", 7), (502, "", 1), (504, "", 1),
  ])
  func `A busy collector gets the batch again later`(status: Int, field: String, seconds: Int) async throws {
    let collector = try TestCollector { .status($0 == 1 ? status : 200, $0 == 1 ? field : "") }
    let tracer = try tracer(collector)
    try record(1, tracer)
    try await tracer.flush { !lines.all.isEmpty }
    #expect(
      lines.all.count == 1 && lines.all[0].contains("cannot export spans reason=\"answered \(status)\""))
    clock.advance(milliseconds: seconds * 1000 - 1)
    await settle(tracer)
    #expect(collector.batches.count == 1)
    clock.advance(seconds: 2)
    try await tracer.flush { lines.all.count == 2 }
    #expect(lines.all[1].contains("spans are exported again"))
    #expect(collector.spans.map(\.name) == ["0", "0"])
    #expect(count("exported") == 1 && count("dropped") == 0)
  }

  @Test func `A batch that the collector refuses is dropped, and the next one is sent`() async throws {
    let body = #"{"code":3,"message":"a span without a name"}"#
    let collector = try TestCollector {
      $0 == 1
        ? .answer("HTTP/1.1 400 No\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)") : .status(200)
    }
    let tracer = try tracer(collector)
    try record(3, tracer)
    try await tracer.flush { count("dropped") == 3 }
    try record(1, tracer)
    try await tracer.flush { count("exported") == 1 }
    #expect(collector.batches.map(\.count) == [3, 1] && count("dropped") == 3)
    #expect(lines.all.first?.contains("answered 400: a span without a name") == true)
  }

  @Test func `Spans that the collector rejects count as dropped`() async throws {
    // Longer than what is kept of other servers' answers.
    let text = "too old" + String(repeating: "!", count: 5000)
    let body = #"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"\#(text)"}}"#
    let collector = try TestCollector { _ in
      .answer("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }
    let tracer = try tracer(collector)
    try record(3, tracer)
    try await tracer.flush { count("exported") == 1 }
    #expect(count("dropped") == 2)
    try record(3, tracer)
    try await tracer.flush { count("exported") == 2 }
    await settle(tracer)
    #expect(lines.all.count == 1, "what lasts is told once")
    #expect(lines.all[0].contains("the collector has rejected spans spans=2 reason=\"too old!"))
  }

  /// A batch is under way, ten spans wait, and no more are kept; the batch is given up after five tries.
  @Test func `A collector that is away costs a bounded amount`() async throws {
    let collector = try TestCollector()
    collector.receiver.close()
    let tracer = try tracer(collector) { ($0.mostWaiting, $0.batch) = (10, 4) }
    try record(1000, tracer)
    #expect(count("dropped") >= 986 && count("exported") == 0)
    try await tracer.flush {
      clock.advance(seconds: 100)
      return count("dropped") == 1000
    }
    #expect(lines.all.count == 1, "what lasts is told once")
  }

  @Test func `What waits is sent at the end`() throws {
    let collector = try TestCollector()
    let tracer = try tracer(collector) { $0.batch = 2 }
    try record(5, tracer)
    tracer.exporter.close(until: SystemTime().monotonic() + 60_000_000_000)
    #expect(collector.spans.count == 5 && count("exported") == 5)
  }

  /// The end may come at any moment, also while a batch is being written.
  @Test func `What is being written at the end is sent`() throws {
    let (collector, clock) = (try TestCollector(), SystemTime())
    for round in 0..<40 as Range<UInt64> {
      let metrics = Metrics()
      let tracer = try collector.tracer(share: 1, metrics: metrics)
      try record(512, tracer)
      let end = clock.monotonic() + round * 100_000
      while clock.monotonic() < end {}
      tracer.exporter.close(until: clock.monotonic() + 60_000_000_000)
      #expect(metrics.render().contains("\nborealis_spans_exported_total 512\n"), "\(round)")
    }
  }

  /// Without a deadline the receiver would keep the process for ten seconds, and the test fails at its limit
  /// if it is never let go.
  @Test func `A collector that hangs does not keep the end waiting`() throws {
    let collector = try TestCollector { _ in .hang }
    let tracer = try tracer(collector)
    try record(1, tracer)
    let began = SystemTime().monotonic()
    tracer.exporter.close(until: began + 100_000_000)
    #expect(SystemTime().monotonic() - began < 9_000_000_000)
    #expect(count("exported") == 0)
  }

  /// A clock that is set moves the spans that are sent afterwards.
  @Test func `Times follow the wall clock`() async throws {
    let collector = try TestCollector()
    let tracer = try tracer(collector)
    clock.setWall(minutes: 60)
    try record(1, tracer)
    try await tracer.flush { !collector.spans.isEmpty }
    #expect(collector.spans.first?.began == clock.now().milliseconds * 1_000_000)
  }
}
