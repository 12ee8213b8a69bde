import Testing

@testable import HTTP

/// `traceparent` and `tracestate` as callers send them (W3C Trace Context, section 3).
@Suite struct TraceContextTests {
  static let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7")

  @Test(arguments: [
    ("00-\(trace)-\(span)-01", true), ("00-\(trace)-\(span)-00", false), ("00-\(trace)-\(span)-03", true),
    ("00-\(trace)-\(span)-fe", false), ("cc-\(trace)-\(span)-01", true),
    // A later version may say more.
    ("01-\(trace)-\(span)-01-what-the-future-brings", true), ("fe-\(trace)-\(span)-01-", true),
  ])
  func validParents(text: String, isSampled: Bool) throws {
    let context = try #require(TraceContext(text))
    #expect(context.trace.text == Self.trace)
    #expect(context.parent == "00-\(Self.trace)-\(Self.span)-\(isSampled ? "01" : "00")")
    #expect(context.isSampled == isSampled)
  }

  @Test(arguments: [
    "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-", "00-\(trace)-\(span)-1",
    "00-\(trace)-\(span)-001", "00-\(trace)-\(span)-01-", "00-\(trace)-\(span)-01-more",
    "01-\(trace)-\(span)-01.more", "ff-\(trace)-\(span)-01", "0g-\(trace)-\(span)-01",
    "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01",
    "00-\(trace.uppercased())-\(span)-01", "00-\(trace)-00F067AA0BA902B7-01", "00-\(trace)-\(span)-0G",
    "00_\(trace)-\(span)-01", "00-\(trace)_\(span)-01", "00-\(trace)-\(span)_01", " 00-\(trace)-\(span)-0",
    "00-4bf92f3577b34da6a3ce929d0e0e473é-0f067aa0ba902b7-01", "00-\(trace)-+0f067aa0ba902b7-01",
    String(repeating: "0", count: 55), String(repeating: "-", count: 55), String(repeating: "é", count: 9000),
  ])
  func invalidParents(text: String) { #expect(TraceContext(text) == nil) }

  @Test(arguments: [
    ("", true), ("rojo=00f067aa0ba902b7", true), ("a=1,b=2, c@d=3", true),
    (String(repeating: "a", count: 512), true), (String(repeating: "a", count: 513), false),
    (Array(repeating: "a=1", count: 32).joined(separator: ","), true),
    (Array(repeating: "a=1", count: 33).joined(separator: ","), false), ("a=é", false), ("a=\t", false),
    ("a=1\r\nX-Other: 2", false),
  ])
  func states(text: String, isPassedOn: Bool) {
    let context = TraceContext("00-\(Self.trace)-\(Self.span)-01", state: text)
    #expect(context?.state == (isPassedOn ? text : ""))
  }

  @Test func fieldsOfRequests() throws {
    let parent = "00-\(Self.trace)-\(Self.span)-01"
    #expect(TraceContext(HTTPHeaders()) == nil)
    #expect(TraceContext(["tracestate": "a=1"]) == nil)
    #expect(TraceContext(["traceparent": parent, "Traceparent": parent]) == nil, "which of them?")
    let plain = try #require(TraceContext(["Traceparent": parent]))
    #expect(plain.fields == ["traceparent: \(parent)"])
    let full = try #require(
      TraceContext(["tracestate": "a=1", "traceparent": parent, "TraceState": "b=2"]))
    #expect(full.fields == ["traceparent: \(parent)", "tracestate: a=1,b=2"])
  }
}
