import HTTP
import Testing

@Suite struct ResponseTests {
  private func text(_ response: HTTPResponse, keepAlive: Bool = true, headOnly: Bool = false, minor: Int = 1)
    -> String
  {
    var bytes: [UInt8] = []
    response.serialize(into: &bytes, keepAlive: keepAlive, headOnly: headOnly, date: "D", minorVersion: minor)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func serialize() {
    let response = HTTPResponse(status: 200, headers: ["Content-Type": "text/plain"], body: Array("hi".utf8))
    let head = "HTTP/1.1 200 OK\r\ndate: D\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n"
    #expect(text(response) == head + "\r\nhi")
    #expect(text(response, headOnly: true) == head + "\r\n")
    #expect(text(response, keepAlive: false) == head + "connection: close\r\n\r\nhi")
    #expect(text(response, minor: 0) == head + "connection: keep-alive\r\n\r\nhi")
    var named: [UInt8] = []
    HTTPResponse(status: 204, headers: ["X-Request-Id": "other"]).serialize(
      into: &named, keepAlive: true, requestID: "mine")
    #expect(String(decoding: named, as: UTF8.self) == "HTTP/1.1 204 No Content\r\nx-request-id: mine\r\n\r\n")
    let empty = HTTPResponse(status: 204, body: [1])
    #expect(text(empty) == "HTTP/1.1 204 No Content\r\ndate: D\r\n\r\n")
    #expect(text(HTTPResponse(status: -1)).hasPrefix("HTTP/1.1 500 "))
  }

  /// No value and no name can begin a line of its own or change the framing.
  @Test func injection() {
    let response = HTTPResponse(
      status: 200,
      headers: [
        "a": "b\r\nset-cookie: c", "x\r\ny": "z", "": "e", "n": "\0\u{7f}\té", "Content-Length": "9",
        "date": "x",
        "Transfer-Encoding": "chunked", "Connection": "upgrade",
      ])
    #expect(
      text(response)
        == "HTTP/1.1 200 OK\r\ndate: D\r\na: b  set-cookie: c\r\nn:   \té\r\ncontent-length: 0\r\n\r\n")
  }

  private func parse(_ text: String, headOnly: Bool = false, cuts: [Int]? = nil) -> [HTTPResponseParser.Event]
  {
    let bytes = Array(text.utf8)
    var parser = HTTPResponseParser()
    parser.expectsHeadOnly = headOnly
    var events: [HTTPResponseParser.Event] = []
    var start = 0
    for end in (cuts ?? []) + [bytes.count] {
      let piece = Array(bytes[start..<end])
      var taken = 0
      while true {
        let (consumed, event) = parser.consume(piece.span, from: taken)
        taken += consumed
        if event == .needMore { break }
        events.append(event)
        if case .failure = event { return events }
      }
      start = end
    }
    let last = parser.finish()
    return last == .needMore ? events : events + [last]
  }

  @Test func everySplit() {
    let stream =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
      + "HTTP/1.1 201\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
      + "HTTP/1.1 204 No Content\r\n\r\n"
      + "HTTP/1.0 404 Not Found\r\nServer: x\r\n\r\nto the end"
    let whole = parse(stream)
    #expect(
      whole == [
        .response(
          HTTPResponse(status: 200, headers: ["content-length": "2"], body: Array("hi".utf8)), keepAlive: true
        ),
        .response(
          HTTPResponse(status: 201, headers: ["transfer-encoding": "chunked"], body: Array("hi".utf8)),
          keepAlive: true), .response(HTTPResponse(status: 204), keepAlive: true),
        .response(
          HTTPResponse(status: 404, headers: ["server": "x"], body: Array("to the end".utf8)),
          keepAlive: false),
      ])
    for cut in 0...stream.utf8.count { #expect(parse(stream, cuts: [cut]) == whole, "\(cut)") }
    #expect(parse(stream, cuts: Array(0..<stream.utf8.count)) == whole)
  }

  /// A parser reads what a serializer wrote.
  @Test func roundTrip() {
    for (length, keepAlive) in [(0, true), (1, false), (70_000, true)] {
      let body = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
      var bytes: [UInt8] = []
      HTTPResponse(status: 200, body: body).serialize(into: &bytes, keepAlive: keepAlive)
      var parser = HTTPResponseParser()
      guard case .response(let response, let kept) = parser.consume(bytes.span).event else {
        Issue.record("no response")
        continue
      }
      #expect(response.body == body && kept == keepAlive)
    }
    #expect(parse("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", headOnly: true).count == 1)
  }

  @Test(
    arguments: [
      ("HTTP/1.1 99 X\r\n", .badStartLine), ("HTTP/1.1 2000\r\n", .badStartLine),
      ("HTTP/1.1  200\r\n", .badStartLine),
      ("HTTP/1.1 2x0 OK\r\n", .badStartLine), ("HTTP/2.0 200 OK\r\n", .unsupportedVersion),
      ("\r\n", .badStartLine),
      ("HTTP/1.1 200 OK\n", .bareLineFeed), ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n", .cutShort),
      ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", .badLength), ("HTT", .cutShort),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n", .cutShort),
    ] as [(String, HTTPFault)]) func invalid(text: String, fault: HTTPFault)
  {
    #expect(parse(text) == [.failure(fault)])
  }
}
