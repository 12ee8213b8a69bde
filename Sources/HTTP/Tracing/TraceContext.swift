import BorealisBase

/// The place of a span in a trace, as `traceparent` and `tracestate` pass it from service to service (W3C
/// Trace Context, level 1, https://www.w3.org/TR/trace-context-1/).
package struct TraceContext: Sendable, Equatable {
  /// The ID of a trace: 16 bytes.
  package struct TraceID: Sendable, Hashable {
    let high: UInt64
    let low: UInt64

    /// 32 digits.
    package var text: String { Hex.digits(high, count: 16) + Hex.digits(low, count: 16) }
  }

  /// The most bytes of `tracestate` that are passed on. The specification asks for at least as many.
  static let mostState = 512
  /// The most members of `tracestate` that the specification allows.
  private static let mostMembers = 32

  package let trace: TraceID
  /// The span, not 0.
  package let span: UInt64
  /// Whether spans of the trace are recorded.
  package let isSampled: Bool
  /// What other tracing systems have added, for those who come next; often empty.
  package let state: String

  init(trace: TraceID, span: UInt64, isSampled: Bool, state: String = "") {
    self.trace = trace
    self.span = span
    self.isSampled = isSampled
    self.state = state
  }

  /// Reads the fields of a request; nil if there is no `traceparent`, several, or one that is not valid. An
  /// unusable `tracestate` is dropped.
  package init?(_ headers: HTTPHeaders) {
    guard let parent = headers["traceparent"], headers.count("traceparent") == 1 else { return nil }
    self.init(parent, state: headers.values("tracestate").joined(separator: ","))
  }

  /// Reads the values of the two fields.
  init?(_ parent: String, state: String = "") {
    let bytes = Array(parent.utf8)
    // 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01, and more after another dash in later versions.
    guard bytes.count >= 55, [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
      let version = Hex.value(bytes[0..<2]), version != 0xff,
      bytes.count == 55 || version > 0 && bytes[55] == UInt8(ascii: "-"),
      let high = Hex.value(bytes[3..<19]), let low = Hex.value(bytes[19..<35]), high | low != 0,
      let span = Hex.value(bytes[36..<52]), span != 0, let flags = Hex.value(bytes[53..<55])
    else { return nil }
    self.init(
      trace: TraceID(high: high, low: low), span: span, isSampled: flags & 1 == 1,
      state: Self.isUsable(state) ? state : "")
  }

  private static func isUsable(_ state: String) -> Bool {
    let bytes = state.utf8
    return bytes.count <= mostState && bytes.allSatisfy { (32..<127).contains($0) }
      && bytes.count { $0 == UInt8(ascii: ",") } < mostMembers
  }

  /// The value of `traceparent`.
  var parent: String { "00-\(trace.text)-\(Hex.digits(span, count: 16))-\(isSampled ? "01" : "00")" }

  /// The fields of a request that the span makes.
  package var fields: [String] {
    ["traceparent: \(parent)"] + (state.isEmpty ? [] : ["tracestate: \(state)"])
  }
}
