import Testing

@testable import HTTP

@Suite struct SpanCodingTests {
  private static func context(_ span: UInt64, state: String = "") -> TraceContext {
    TraceContext(
      trace: .init(high: 0x4bf9_2f35_77b3_4da6, low: 0xa3ce_929d_0e0e_4736), span: span, isSampled: true,
      state: state)
  }

  /// Byte by byte; IDs are hexadecimal and numbers of 64 bits are text.
  @Test func body() {
    let coding = SpanCoding(resource: [SpanAttribute("service.name", "borealis")], version: "1.2")
    let spans = [
      TraceSpan(
        name: "POST /v3/push", kind: .server, context: Self.context(7, state: "a=1"), parent: 0xf0,
        began: 100,
        ended: 250,
        attributes: [SpanAttribute("http.route", "\"/\""), SpanAttribute("borealis.events", Int64.max)],
        links: [], isError: false),
      TraceSpan(
        name: "send callback", kind: .client, context: Self.context(.max), parent: 0, began: 300, ended: 200,
        attributes: [SpanAttribute("ids", ["1", "2"]), SpanAttribute("repeated", isTrue: true)],
        links: [Self.context(9)], isError: true),
    ]
    let trace = #""traceId":"4bf92f3577b34da6a3ce929d0e0e4736""#
    #expect(
      String(decoding: coding.body(spans, offset: 1_790_000_000_000_000_000), as: UTF8.self) == """
        {"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"borealis"}}]},\
        "scopeSpans":[{"scope":{"name":"borealis","version":"1.2"},"spans":[\
        {\(trace),"spanId":"0000000000000007","traceState":"a=1","parentSpanId":"00000000000000f0",\
        "name":"POST /v3/push","kind":2,"startTimeUnixNano":"1790000000000000100",\
        "endTimeUnixNano":"1790000000000000250","attributes":[{"key":"http.route","value":\
        {"stringValue":"\\"/\\""}},{"key":"borealis.events","value":{"intValue":"9223372036854775807"}}]},\
        {\(trace),"spanId":"ffffffffffffffff","name":"send callback","kind":3,\
        "startTimeUnixNano":"1790000000000000300","endTimeUnixNano":"1790000000000000300",\
        "attributes":[{"key":"ids","value":{"arrayValue":{"values":[{"stringValue":"1"},\
        {"stringValue":"2"}]}}},{"key":"repeated","value":{"boolValue":true}}],\
        "links":[{\(trace),"spanId":"0000000000000009"}],"status":{"code":2}}]}]}]}
        """)
  }

  @Test(
    arguments: [
      ("", nil), ("{}", nil), (#"{"partialSuccess":{}}"#, nil), ("no JSON", nil), ("[]", nil),
      (#"{"partialSuccess":{"rejectedSpans":"0","errorMessage":""}}"#, nil),
      (#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}"#, (3, "too old")),
      (#"{"partialSuccess":{"rejectedSpans":4}}"#, (4, "")),
      (#"{"partialSuccess":{"rejectedSpans":"-4"}}"#, nil),
      (#"{"partialSuccess":{"errorMessage":"soon too old"}}"#, (0, "soon too old")),
    ] as [(String, (UInt64, String)?)])
  func rejections(text: String, expected: (UInt64, String)?) {
    let wanted = expected.map { SpanCoding.Rejection(spans: $0.0, reason: $0.1) }
    #expect(SpanCoding.rejection(Array(text.utf8)) == wanted)
  }

  @Test func messages() {
    let long = String(repeating: "x", count: 300)
    #expect(SpanCoding.message(Array(#"{"code":3,"message":"no"}"#.utf8)) == "no")
    #expect(SpanCoding.message(Array(#"{"message":"\#(long)"}"#.utf8)).count == 200)
    #expect(SpanCoding.message(Array("<html>".utf8)).isEmpty)
  }
}
