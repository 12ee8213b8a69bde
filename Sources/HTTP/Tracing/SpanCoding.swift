import BorealisBase

/// Writes spans as OTLP has them in JSON: Protobuf's JSON mapping, but IDs in hexadecimal and enumerations
/// as numbers (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
struct SpanCoding: Sendable {
  /// What the spans come from: `service.name` and so on.
  let resource: [SpanAttribute]
  let version: String

  /// The body of a request. `offset` is what a moment lacks to the Unix time, in nanoseconds.
  func body(_ spans: [TraceSpan], offset: Int64) -> [UInt8] {
    var writer = JSONWriter(capacity: 512 + spans.count * 768)
    writer.beginObject()
    Self.element("resourceSpans", &writer) { writer in
      writer.key("resource")
      writer.beginObject()
      Self.write(resource, to: &writer)
      writer.endObject()
      Self.element("scopeSpans", &writer) { writer in
        writer.key("scope")
        writer.beginObject()
        writer.member("name", "borealis")
        writer.member("version", version)
        writer.endObject()
        writer.key("spans")
        writer.beginArray()
        for span in spans { Self.write(span, offset, to: &writer) }
        writer.endArray()
      }
    }
    writer.endObject()
    return writer.bytes
  }

  /// A list with one object.
  private static func element(
    _ name: String, _ writer: inout JSONWriter, _ members: (inout JSONWriter) -> Void
  ) {
    writer.key(name)
    writer.beginArray()
    writer.beginObject()
    members(&writer)
    writer.endObject()
    writer.endArray()
  }

  private static func write(_ span: TraceSpan, _ offset: Int64, to writer: inout JSONWriter) {
    writer.beginObject()
    write(span.context, to: &writer)
    if span.parent != 0 { writer.member("parentSpanId", Hex.digits(span.parent, count: 16)) }
    writer.member("name", span.name)
    writer.member("kind", span.kind.rawValue)
    writer.member("startTimeUnixNano", String(Int64(bitPattern: span.began) &+ offset))
    writer.member("endTimeUnixNano", String(Int64(bitPattern: max(span.began, span.ended)) &+ offset))
    write(span.attributes, to: &writer)
    if !span.links.isEmpty {
      writer.key("links")
      writer.beginArray()
      for link in span.links {
        writer.beginObject()
        write(link, to: &writer)
        writer.endObject()
      }
      writer.endArray()
    }
    if span.isError {
      writer.key("status")
      writer.beginObject()
      writer.member("code", 2)
      writer.endObject()
    }
    writer.endObject()
  }

  private static func write(_ context: TraceContext, to writer: inout JSONWriter) {
    writer.member("traceId", context.trace.text)
    writer.member("spanId", Hex.digits(context.span, count: 16))
    if !context.state.isEmpty { writer.member("traceState", context.state) }
  }

  private static func write(_ attributes: [SpanAttribute], to writer: inout JSONWriter) {
    writer.key("attributes")
    writer.beginArray()
    for attribute in attributes {
      writer.beginObject()
      writer.member("key", attribute.name)
      writer.key("value")
      writer.beginObject()
      switch attribute.value {
      case .text(let text): writer.member("stringValue", text)
      // As text, like all numbers of 64 bits there.
      case .number(let number): writer.member("intValue", String(number))
      case .flag(let isTrue): writer.member("boolValue", isTrue)
      case .texts(let texts): write(texts, to: &writer)
      }
      writer.endObject()
      writer.endObject()
    }
    writer.endArray()
  }

  private static func write(_ texts: [String], to writer: inout JSONWriter) {
    writer.key("arrayValue")
    writer.beginObject()
    writer.key("values")
    writer.beginArray()
    for text in texts {
      writer.beginObject()
      writer.member("stringValue", text)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
  }

  /// Spans of a request that the collector has not taken, though it answered with 200.
  struct Rejection: Equatable {
    /// How many. With 0 the reason is a warning.
    let spans: UInt64
    let reason: String
  }

  /// The most characters of a collector's message that go to the log.
  private static let mostMessage = 200

  /// What an answer with 200 says of spans that were not accepted; nil if all were, without a word.
  static func rejection(_ body: [UInt8]) -> Rejection? {
    guard let said = (try? parseJSON(body))?["partialSuccess"] else { return nil }
    let spans = said["rejectedSpans"]
    let count = UInt64(clamping: spans?.int64 ?? spans?.string.flatMap { Int64($0) } ?? 0)
    let reason = cut(said["errorMessage"]?.string)
    return count == 0 && reason.isEmpty ? nil : Rejection(spans: count, reason: reason)
  }

  /// What an answer with an error says (`google.rpc.Status`); often empty.
  static func message(_ body: [UInt8]) -> String { cut((try? parseJSON(body))?["message"]?.string) }

  private static func cut(_ text: String?) -> String { String((text ?? "").prefix(mostMessage)) }
}
