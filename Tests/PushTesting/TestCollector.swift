import BorealisBase
import HTTP

/// A collector of traces, which takes spans over OTLP/HTTP.
package final class TestCollector: Sendable {
  /// A span as it came.
  package struct Span: Sendable {
    package let name: String
    package let trace: String
    package let id: String
    /// Empty for the first one of a trace.
    package let parent: String
    package let state: String
    package let kind: Int64
    /// Numbers and flags as text, lists with commas; with the mark `repeated` for a key that is not unique.
    package let attributes: [String: String]
    /// The spans of other traces.
    package let links: [String]
    package let isError: Bool
    package let (began, ended): (Int64, Int64)
  }

  /// What serves it.
  package let receiver: TestReceiver

  /// `script` is asked with the number of the request, from 1 on.
  package init(_ script: @escaping @Sendable (Int) -> TestReceiver.Act = { _ in .status(200) }) throws {
    receiver = try TestReceiver(script)
  }

  deinit { receiver.close() }

  /// The setting `otlp-endpoint`.
  package var endpoint: String { "http://127.0.0.1:\(receiver.port)" }

  /// A tracer that sends to it; what happens by itself in a server `tick` of its exporter does.
  package func tracer(
    share: Double = 0, time: any TimeSource = SystemTime(), metrics: Metrics = Metrics(), log: Log = .silent,
    _ change: (inout SpanExporter.Options) -> Void = { _ in }
  ) throws -> Tracer {
    var options = SpanExporter.Options(url: endpoint + "/v1/traces")
    change(&options)
    guard
      let exporter = SpanExporter(options, metrics: SpanMetrics(metrics), time: time, log: log)
    else { throw TestReceiver.Failure() }
    return Tracer(share: share, exporter)
  }

  /// The spans of each request so far.
  package var batches: [[Span]] {
    receiver.requests.map { request in
      let document = try? parseJSON(request.body)
      let scope = document?["resourceSpans"]?.array?.first?["scopeSpans"]?.array?.first
      return (scope?["spans"]?.array ?? []).map(Self.span)
    }
  }

  /// All spans so far.
  package var spans: [Span] { batches.flatMap { $0 } }

  private static func span(_ json: JSONValue) -> Span {
    func text(_ name: String) -> String { json[name]?.string ?? "" }
    var attributes: [String: String] = [:]
    for one in json["attributes"]?.array ?? [] {
      let (key, value) = (one["key"]?.string ?? "", one["value"])
      let list = value?["arrayValue"]?["values"]?.array?.compactMap { $0["stringValue"]?.string }
      let text =
        value?["stringValue"]?.string ?? value?["intValue"]?.string ?? list?.joined(separator: ",")
        ?? value?["boolValue"]?.bool.map { "\($0)" }
      // OpenTelemetry leaves it open what becomes of a key that comes twice.
      attributes[key] = attributes[key] == nil ? text : "repeated"
    }
    return Span(
      name: text("name"), trace: text("traceId"), id: text("spanId"), parent: text("parentSpanId"),
      state: text("traceState"), kind: json["kind"]?.int64 ?? 0, attributes: attributes,
      links: (json["links"]?.array ?? []).compactMap { $0["spanId"]?.string },
      isError: json["status"]?["code"]?.int64 == 2,
      began: Int64(text("startTimeUnixNano")) ?? 0, ended: Int64(text("endTimeUnixNano")) ?? 0)
  }
}

extension Tracer {
  /// Sends what waits until something holds, for a minute at most.
  package func flush(until condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while try await !condition() {
      guard ContinuousClock.now < end else { throw TestReceiver.Failure() }
      exporter.tick()
      try await Task.sleep(for: .milliseconds(5))
    }
  }
}
