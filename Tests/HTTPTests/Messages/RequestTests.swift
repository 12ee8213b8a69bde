import HTTP
import Testing

@Suite struct RequestTests {
  @Test func golden() throws {
    let text =
      "POST /v3/push?x=1 HTTP/1.1\r\nHost: api.example:8080\r\nAuthorization:Basic YTpi \t\r\n"
      + "X-Empty:\r\nX-Empty: \u{e9}\r\nContent-Length: 5\r\nUpgrade: h2c\r\n"
      + "Connection: Upgrade, HTTP2-Settings\r\n"
      + "\r\nhello"
    let outcome = parse(text)
    let request = try #require(outcome.requests.first)
    #expect(outcome.requests.count == 1 && outcome.fault == nil && outcome.continues == 0)
    #expect(request.method == "POST" && request.target == "/v3/push?x=1" && request.minorVersion == 1)
    #expect(request.keepAlive)
    #expect(request.body == Array("hello".utf8))
    #expect(request.headers["authorization"] == "Basic YTpi")
    #expect(request.headers.values("x-empty") == ["", "\u{e9}"])
    #expect(
      request.headers.fields.map(\.name) == [
        "host", "authorization", "x-empty", "x-empty", "content-length", "upgrade", "connection",
      ])
  }

  /// The line that was read and what was taken out of it are held both.
  @Test func `What is held of a request has its target`() {
    var parser = HTTPRequestParser()
    let path = "/" + String(repeating: "p", count: 7000)
    let bytes = Array("GET http://h\(path) HTTP/1.1\r\n".utf8)
    _ = parser.consume(bytes.span)
    #expect(parser.latestTarget == path && parser.heldBytes(reserving: 0) >= 14_000)
    parser.reset()
    #expect(parser.heldBytes(reserving: 0) < 7000)
  }

  @Test(arguments: [
    ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", true),
    ("GET / HTTP/1.1\r\nHost:\r\nConnection: Close\r\n\r\n", false),
    ("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, close\r\n\r\n", false), ("GET / HTTP/1.0\r\n\r\n", false),
    ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true),
    ("GET / HTTP/1.7\r\nHost: [::1]:80\r\n\r\n", true),
    ("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", true), ("GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", true),
    ("GET HTTP://b HTTP/1.1\r\nHost: a\r\n\r\n", true), ("POST / HTTP/1.1\r\nHost: a\r\n\r\n", true),
  ]) func valid(text: String, keepAlive: Bool) {
    let outcome = parse(text)
    #expect(outcome.fault == nil && outcome.requests.count == 1)
    #expect(outcome.requests.first?.keepAlive == keepAlive)
    #expect(outcome.requests.first?.target == "/")
    #expect(outcome.requests.first?.body == [])
  }

  @Test(
    arguments: [
      ("GET /", "GET / HTTP/2.0\r\n", .unsupportedVersion),
      ("h2", "PRI * HTTP/2.0\r\n\r\n", .unsupportedVersion),
      ("version", "GET / HTTP/0.9\r\n", .unsupportedVersion), ("0.9", "GET /\r\n", .badStartLine),
      ("case", "GET / http/1.1\r\n", .badStartLine), ("digits", "GET / HTTP/1.10\r\n", .badStartLine),
      ("spaces", "GET  / HTTP/1.1\r\n", .badStartLine), ("tab", "GET\t/ HTTP/1.1\r\n", .badStartLine),
      ("space at end", "GET / HTTP/1.1 \r\n", .badStartLine),
      ("leading", " GET / HTTP/1.1\r\n", .badStartLine),
      ("method", "G(T / HTTP/1.1\r\n", .badStartLine), ("relative", "GET a HTTP/1.1\r\n", .badStartLine),
      ("star", "GET * HTTP/1.1\r\n", .badStartLine), ("fragment", "GET /#a HTTP/1.1\r\n", .badStartLine),
      ("control", "GET /\u{1} HTTP/1.1\r\n", .badStartLine), ("CR", "GET /\r HTTP/1.1\r\n", .badStartLine),
      ("raw", "GET /\u{e9} HTTP/1.1\r\n", .badStartLine), ("ftp", "GET ftp://a/ HTTP/1.1\r\n", .badStartLine),
      ("user", "GET http://u@a/ HTTP/1.1\r\n", .badStartLine), ("empty", "\r\n\r\n\r\n", .badStartLine),
      ("TLS", "\u{16}\u{3}\u{1}\r\n", .badStartLine), ("LF", "GET / HTTP/1.1\n", .bareLineFeed),
      ("long", "\(String(repeating: "M", count: 33)) / HTTP/1.1\r\n", .unknownMethod),
    ] as [(String, String, HTTPFault)]) func badStart(name: String, text: String, fault: HTTPFault)
  {
    #expect(parse(text).fault == fault, "\(name)")
  }

  /// Shapes by which two servers could be brought to see two different requests, and other malformed fields.
  @Test(
    arguments: [
      ("Content-Length: 5\r\nTransfer-Encoding: chunked", .badLength),
      ("Transfer-Encoding: chunked\r\nContent-Length: 0", .badLength),
      ("Content-Length: 5\r\nContent-Length: 5", .badLength),
      ("Content-Length: 5\r\nContent-Length: 6", .badLength),
      ("Content-Length: 5, 5", .badLength), ("Content-Length: 5,6", .badLength),
      ("Content-Length: +5", .badLength),
      ("Content-Length: -5", .badLength), ("Content-Length: 0x5", .badLength),
      ("Content-Length: 5 5", .badLength),
      ("Content-Length:", .badLength), ("Content-Length: 5;", .badLength),
      ("Content-Length: \u{665}", .badLength),
      ("Content-Length: 1048577", .bodyTooLarge), ("Content-Length: 99999999999999999999", .bodyTooLarge),
      ("Content-Length: 18446744073709551621", .bodyTooLarge),
      ("Transfer-Encoding: gzip, chunked", .unsupportedCoding),
      ("Transfer-Encoding: identity", .unsupportedCoding),
      ("Transfer-Encoding: chunked, chunked", .unsupportedCoding),
      ("Transfer-Encoding: xchunked", .unsupportedCoding),
      ("Transfer-Encoding: chunked;q=1", .unsupportedCoding),
      ("Transfer-Encoding: \"chunked\"", .unsupportedCoding),
      ("Transfer-Encoding:", .unsupportedCoding), ("Transfer-Encoding: \u{b}chunked", .badField),
      ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", .badLength),
      ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", .badLength),
      ("Transfer-Encoding : chunked", .badField), ("Content-Length : 5", .badField), ("A\t: b", .badField),
      ("A: b\r\n c: d", .badField), ("A: b\r\n\tc", .badField), (" A: b", .badField), (": b", .badField),
      ("A", .badField), ("A\u{0}: b", .badField), ("A: b\u{0}", .badField), ("A: b\rc: d", .badField),
      ("A: b\r\r\nc: d", .badField), ("A: \u{7f}", .badField), ("A\u{e9}: b", .badField),
      ("A(: b", .badField),
      ("A: b\nTransfer-Encoding: chunked", .bareLineFeed), ("A: b\n", .bareLineFeed), ("Host: b", .badHost),
      ("Expect: 200-ok", .unknownExpectation), ("Expect: 100-continue, x", .unknownExpectation),
    ] as [(String, HTTPFault)]) func badFields(fields: String, fault: HTTPFault)
  {
    let outcome = parse("POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n0\r\n\r\n")
    #expect(outcome.fault == fault)
    #expect(outcome.requests.isEmpty)
  }

  @Test(
    arguments: [
      ("GET / HTTP/1.1\r\n\r\n", .badHost), ("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", .badHost),
      ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", .badHost),
      ("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", .badHost),
      ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", .badLength),
    ] as [(String, HTTPFault)]) func badHeaders(text: String, fault: HTTPFault)
  {
    #expect(parse(text).fault == fault)
  }

  @Test(
    arguments: [
      ("5\r\nhello\r\n0\r\n\r\n", nil), ("5;a=b;c=\"d\"\r\nhello\r\n000\r\nX: y\r\n\r\n", nil),
      ("A\r\n0123456789\r\n0\r\n\r\n", nil), ("\r\n", .badChunk), ("g\r\n", .badChunk),
      ("0x5\r\n", .badChunk),
      ("-5\r\n", .badChunk), ("5 \r\nhello", .badChunk), (" 5\r\nhello", .badChunk),
      ("5\nhello", .bareLineFeed),
      ("5;a\nhello", .bareLineFeed), ("5;\u{0}\r\nhello", .badChunk), ("5;a\rb\r\nhello", .badChunk),
      ("5\r\nhelloX\r\n", .badChunk), ("5\r\nhello\n", .bareLineFeed), ("5\r\nhello0\r\n\r\n", .badChunk),
      ("FFFFFFFFFFFFFFFF\r\n", .badChunk), ("10000000000000005\r\nhello", .badChunk),
      ("7fffffffffffff\r\n", .bodyTooLarge), ("100001\r\n", .bodyTooLarge),
      ("5\r\nhello\r\nfffff\r\n", .bodyTooLarge),
      ("0\r\nX : y\r\n\r\n", .badField), ("0\r\nX\r\n\r\n", .badField),
      ("1;\(String(repeating: "x", count: 300))\r\n", .badChunk),
    ] as [(String, HTTPFault?)]) func chunks(body: String, fault: HTTPFault?)
  {
    let outcome = parse("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n\(body)")
    #expect(outcome.fault == fault)
    #expect(outcome.requests.count == (fault == nil ? 1 : 0))
    #expect(outcome.requests.first.map { $0.body.count >= 5 && $0.headers["x"] == nil } != false)
  }

  /// However a stream is cut in two, and byte by byte, it gives the same requests.
  @Test func everySplit() {
    let stream = Array(
      ("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\n"
        + "hello\r\n6\r\n world\r\n0\r\nT: v\r\n\r\n"
        + "GET /b HTTP/1.1\r\nHost: b\r\n\r\n\r\n"
        + "PUT /c HTTP/1.1\r\nHost: c\r\nContent-Length: 3\r\nExpect: 100-Continue\r\n\r\nabc"
        + "GET /d HTTP/1.0\r\n\r\nGET /e HTTP/1.1\r\nBad : x\r\n\r\n").utf8)
    let whole = parse(stream)
    #expect(whole.requests.map(\.target) == ["/a", "/b", "/c", "/d"])
    #expect(whole.requests.map(\.body) == ["hello world", "", "abc", ""].map { Array($0.utf8) })
    #expect(whole.continues == 1 && whole.fault == .badField)
    for cut in 0...stream.count { #expect(parse(stream, cuts: [cut]) == whole, "\(cut)") }
    #expect(parse(stream, cuts: Array(0..<stream.count)) == whole)
    for step in 2..<40 {
      #expect(parse(stream, cuts: Array(stride(from: 0, to: stream.count, by: step))) == whole)
    }
  }

  /// Bytes behind a request stay with the caller, and a failure is final.
  @Test func leavesTheRest() {
    var parser = HTTPRequestParser()
    let bytes = Array("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET".utf8)
    #expect(parser.isIdle)
    let first = parser.consume(bytes.span)
    #expect(first.consumed == bytes.count - 3 && parser.isIdle)
    #expect(parser.consume(bytes.span, from: first.consumed) == (3, .needMore))
    #expect(!parser.isIdle)
    #expect(parser.consume([10].span) == (1, .failure(.bareLineFeed)))
    #expect(parser.consume(bytes.span) == (0, .failure(.bareLineFeed)))
    #expect(parser.consume(bytes.span, from: 1000) == (0, .failure(.bareLineFeed)))
  }

  /// A peer that sends without end is stopped at the limits, not at the end of memory.
  @Test(
    arguments: [
      ("GET /", "x", 73_728, .targetTooLong), ("GET / HTTP/1.1\r\nA: ", "x", 17_000, .headerTooLarge),
      ("GET / HTTP/1.1\r\n", "a: b\r\n", 700, .headerTooLarge),
      ("GET / HTTP/1.1\r\n", "a:\r\n", 500, .headerTooLarge),
      (
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
        "1;\(String(repeating: "e", count: 99))\r\na\r\n",
        4500, .badChunk
      ),
      (
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "a: b\r\n", 700,
        .headerTooLarge
      ),
      (
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
        "400\r\n\(String(repeating: "b", count: 1024))\r\n",
        1_060_000, .bodyTooLarge
      ),
    ] as [(String, String, Int, HTTPFault)]) func bombs(
      start: String, more: String, bound: Int, fault: HTTPFault
    )
  {
    var parser = HTTPRequestParser()
    _ = parser.consume(Array(start.utf8).span)
    let piece = Array(more.utf8)
    var sent = 0
    while sent <= bound + 1000 {
      if case .failure(let found) = parser.consume(piece.span).event {
        #expect(found == fault)
        break
      }
      sent += piece.count
    }
    #expect(sent <= bound)
  }

  /// So that the API of the path can answer in its own form.
  @Test(arguments: [1, 1000, 100_000]) func `The start of a target that is too long is known`(step: Int) {
    let bytes = Array("GET /v2/app/user/status/\(String(repeating: "x,", count: 40_000))".utf8)
    var parser = HTTPRequestParser()
    var event = HTTPRequestParser.Event.needMore
    for start in stride(from: 0, to: bytes.count, by: step) where event == .needMore {
      event = parser.consume(Array(bytes[start..<min(bytes.count, start + step)]).span).event
    }
    #expect(event == .failure(.targetTooLong))
    #expect(parser.latestTarget.hasPrefix("/v2/app/user/status/x,x,") && parser.latestTarget.count == 256)
  }

  /// A limit that is found out while a body comes holds for that body only.
  @Test func limitsOneBody() {
    for (start, rest, fits) in [
      ("Content-Length: 5\r\n\r\n12", "345", 5),
      ("Transfer-Encoding: chunked\r\n\r\n2\r\n12\r\n", "3\r\n345\r\n0\r\n\r\n", 5),
    ] {
      for limit in [fits - 1, fits] {
        var parser = HTTPRequestParser()
        let bytes = Array(("POST / HTTP/1.1\r\nHost: a\r\n" + start).utf8)
        _ = parser.consume(bytes.span)
        let isAllowed = parser.limitBody(to: limit)
        let more = Array(rest.utf8)
        let (count, event) = parser.consume(more.span)
        guard limit == fits else {
          #expect(!isAllowed || event == .failure(.bodyTooLarge))
          continue
        }
        #expect(isAllowed && count == more.count)
        guard case .request(let request) = event else {
          Issue.record("no request")
          continue
        }
        #expect(request.body == Array("12345".utf8))
        let next = Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n123456".utf8)
        guard case (_, .request) = parser.consume(next.span) else {
          Issue.record("the limit stayed")
          continue
        }
      }
    }
  }

  /// RFC 9112 section 3.2: what is no host with or without a port is answered with 400.
  @Test(arguments: [
    ("a", true), ("a:80", true), ("a:", true), ("a.b-c_d~e:65535", true), ("[::1]", true),
    ("[::1]:8080", true),
    ("1.2.3.4:1", true), ("%41b:080", true), ("", true), ("a:xyz", false), ("a:80:80", false),
    ("a:65536", false),
    ("a:-1", false), ("a: 80", false), ("user@a", false), ("user:pw@a:80", false), (":80", false),
    ("[::1", false),
    ("::1", false), ("[::1]80", false), ("[a]", false), ("[1.2.3.4]", false), ("a%4", false), ("a%zz", false),
    ("a/b", false), ("a,b", false), ("a b", false), ("a?b", false), ("[]", false),
  ]) func hosts(text: String, isHost: Bool) {
    let outcome = parse("GET / HTTP/1.1\r\nHost: \(text)\r\n\r\n")
    #expect(outcome.fault == (isHost ? nil : .badHost))
    guard !text.isEmpty, !text.contains(" "), !text.contains("/"), !text.contains("?") else { return }
    let absolute = parse("GET http://\(text)/x HTTP/1.1\r\nHost: other\r\n\r\n")
    #expect(absolute.fault == (isHost ? nil : .badStartLine))
    // The target's host goes before the field's (RFC 9112 section 3.2.2).
    if isHost { #expect(absolute.requests.map { $0.headers.values("host") } == [[text]]) }
  }

  /// HTTP/1.0 needs no `Host`; then the target's host takes the place of a field.
  @Test(arguments: [(3, nil), (4, HTTPFault.headerTooLarge)]) func hostOfTheTargetCounts(
    fields: Int, fault: HTTPFault?
  ) {
    let limits = HTTPLimits(fields: 4)
    let text = String(repeating: "X: y\r\n", count: fields) + "\r\n"
    #expect(parse("GET http://a/ HTTP/1.0\r\n" + text, limits: limits).fault == fault)
    #expect(parse("GET / HTTP/1.0\r\n" + text, limits: limits).fault == nil)
  }

  @Test func continues() {
    let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
    #expect(parse(head + "Content-Length: 2\r\n\r\n").continues == 1)
    #expect(parse(head + "Transfer-Encoding: chunked\r\n\r\n").continues == 1)
    let empty = parse(head + "Content-Length: 0\r\n\r\n")
    #expect(empty.continues == 0 && empty.requests.count == 1)
    #expect(parse(head + "Content-Length: 9999999\r\n\r\n") == RequestOutcome(fault: .bodyTooLarge))
  }

  @Test func statuses() {
    #expect(Set(HTTPFault.allCases.map(\.status)) == [400, 408, 413, 414, 417, 431, 501, 503, 505])
    #expect(HTTPFault.allCases.allSatisfy { !HTTPResponse.reason($0.status).isEmpty })
  }
}
