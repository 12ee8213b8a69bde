import BorealisBase
import BorealisNet
import Testing

@testable import HTTP

@Suite struct HTTPServerTests {
  @Test(arguments: ["/now", "/later"]) func keepsConnectionsAlive(path: String) throws {
    let server = try HTTPTestServer()
    let client = try HTTPTestClient(server)
    for number in 0..<50 {
      try client.send("POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n\(number % 90 + 10)")
      #expect(try client.body() == "POST \(path) \(number % 90 + 10)")
    }
    #expect(server.metric("borealis_http_requests_total{class=\"2xx\"}") == 50)
    #expect(server.metric("borealis_http_connections") == 1)
  }

  /// Requests sent at once are answered in order, whether their answers come at once or from another thread.
  @Test func answersPipelinedRequestsInOrder() throws {
    let server = try HTTPTestServer()
    let client = try HTTPTestClient(server)
    let paths = (0..<300).map { $0.isMultiple(of: 7) ? "/later" : "/\($0)" }
    try client.send(paths.map { "GET \($0) HTTP/1.1\r\nHost: h\r\n\r\n" }.joined())
    for path in paths { #expect(try client.body() == "GET \(path) ") }
  }

  /// A client may shut its side right behind its last request.
  @Test func answersAfterTheClientsEnd() throws {
    let server = try HTTPTestServer()
    let client = try HTTPTestClient(server)
    try client.send("GET /later HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
    client.shutDownWriting()
    #expect(try client.body() == "GET /later ")
    #expect(try client.body() == "GET /2 ")
    #expect(try client.response() == nil)
  }

  @Test func readsChunkedRequestsInPieces() throws {
    let server = try HTTPTestServer()
    let client = try HTTPTestClient(server)
    let text =
      "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    for _ in 0..<2 {
      for byte in text.utf8 { try client.send([byte]) }
      #expect(try client.body() == "POST /c abcde")
    }
  }

  /// A request that is turned away is answered before its body; what follows is no request. A small one is
  /// turned away only if its client waits for leave.
  @Test(
    arguments: [
      ("Content-Length: 40\r\n", "", 3), ("Transfer-Encoding: chunked\r\n", "28\r\n", 3),
      ("Content-Length: 40\r\n", "1", 39), ("Content-Length: 40\r\nExpect: 100-continue\r\n", "", 100),
    ] as [(String, String, Int)])
  func turnsAwayBeforeTheBody(framing: String, start: String, limit: Int) throws {
    var limits = HTTPServerLimits()
    limits.unscreenedBytes = limit
    let server = try HTTPTestServer(limits: limits)
    let client = try HTTPTestClient(server)
    try client.send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try client.body() == "GET /1 ")
    try client.send("POST /barred HTTP/1.1\r\nHost: h\r\nX-Request-Id: mine\r\n\(framing)\r\n\(start)")
    let answer = try #require(try client.response())
    #expect(answer.status == 403 && answer.body == Array("barred h".utf8))
    #expect(answer.headers["connection"] == "close" && answer.headers["x-request-id"] == "mine")
    try client.send("GET /2 HTTP/1.1\r\nHost: h\r\n\r\nGET /3 HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try client.rest() == "")
    #expect(server.metric("borealis_http_requests_total{class=\"4xx\"}") == 1)
    #expect(server.metric("borealis_http_refused_requests_total") == 0)
  }

  /// Whoever sends all of a large body first can still read the answer; one that has come whole is let in.
  @Test func readsTheBodyOfRejectedRequests() throws {
    var limits = HTTPServerLimits()
    limits.message = HTTPLimits(body: 8 << 20)
    limits.lingerBytes = 16
    let server = try HTTPTestServer(limits: limits)
    let client = try HTTPTestClient(server)
    let body = [UInt8](repeating: 120, count: 4 << 20)
    try client.send("POST /barred HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\r\n")
    try client.send(body)
    #expect(try client.response()?.status == 403)
    client.shutDownWriting()
    #expect(try client.rest() == "")
    let whole = try HTTPTestClient(server)
    try whole.send("POST /barred HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\na")
    try whole.send("b")
    #expect(try whole.body() == "POST /barred ab")
  }

  @Test func headHasNoContent() throws {
    let server = try HTTPTestServer()
    let client = try HTTPTestClient(server)
    try client.send("HEAD /h HTTP/1.1\r\nHost: h\r\n\r\nGET /g HTTP/1.1\r\nHost: h\r\n\r\n")
    let head = try #require(try client.response(headOnly: true))
    #expect(head.headers["content-length"] == "8" && head.body.isEmpty)
    #expect(try client.body() == "GET /g ")
  }

  @Test func sendsContinueOnlyToClientsThatWait() throws {
    let server = try HTTPTestServer()
    let client = try HTTPTestClient(server)
    let header = "POST /e HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    try client.send(header)
    #expect(try client.read() == HTTPResponse.continueBytes)
    try client.send("ab")
    #expect(try client.body() == "POST /e ab")
    try client.send(header + "cd")
    let answer = try client.read()
    #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 200 OK\r\n"))
  }

  @Test func closesWhenAskedTo() throws {
    let server = try HTTPTestServer()
    for request in ["GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"] {
      let client = try HTTPTestClient(server)
      try client.send(request)
      let text = try client.rest()
      #expect(text.contains("\r\nconnection: close\r\n") && text.hasSuffix("\r\n\r\nGET / "))
    }
  }

  @Test func namesRequestsAndTheTime() throws {
    let server = try HTTPTestServer()
    let client = try HTTPTestClient(server)
    var ids: Set<String> = []
    for own in ["", "X-Request-Id: my-own.1\r\n", "X-Request-Id: not harmless\r\n"] {
      try client.send("GET / HTTP/1.1\r\nHost: h\r\n\(own)\r\n")
      let headers = try #require(try client.response()).headers
      ids.insert(try #require(headers["x-request-id"]))
      #expect(headers["date"]?.utf8.count == 29)
      #expect(headers["date"]?.hasSuffix(" GMT") == true)
    }
    #expect(ids.count == 3 && ids.contains("my-own.1") && !ids.contains("not harmless"))
  }

  @Test func writesTheDateAsTheRFCDoes() throws {
    struct Fixed: TimeSource {
      let milliseconds: Int64
      func now() -> Timestamp { Timestamp(milliseconds: milliseconds) }
      func monotonic() -> UInt64 { 0 }
    }
    let dates: [(Int64, String)] = [
      (784_111_777_000, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
      (951_825_599_999, "Tue, 29 Feb 2000 11:59:59 GMT"), (-5, "Thu, 01 Jan 1970 00:00:00 GMT"),
    ]
    for (milliseconds, text) in dates {
      let server = try HTTPTestServer(time: Fixed(milliseconds: milliseconds))
      let client = try HTTPTestClient(server)
      try client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try client.response()?.headers["date"] == text)
    }
  }

  /// A second answer to a request neither reaches the client nor answers its next request.
  @Test func dropsSecondAnswers() throws {
    let server = try HTTPTestServer()
    let client = try HTTPTestClient(server)
    for number in 1...5 {
      try client.send("GET /twice HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(try client.body() == "GET /twice ")
      #expect(server.metric("borealis_http_lost_answers_total") == number)
    }
  }

  /// Whatever a handler does, its client hears something, and the connection goes on.
  @Test(arguments: ["/never", "/forgotten"]) func answersWhatNobodyAnswers(target: String) throws {
    var limits = HTTPServerLimits()
    limits.answerSeconds = 1
    let server = try HTTPTestServer(limits: limits)
    let client = try HTTPTestClient(server)
    try client.send("POST \(target) HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx")
    #expect(try client.response()?.status == 503)
    #expect(server.unanswered == ["\(target == "/never" ? "late" : "forgotten") POST \(target)"])
    #expect(server.metric("borealis_http_unanswered_requests_total") == 1)
    #expect(try client.get("/async") == "GET /async ")
    #expect(server.metric("borealis_http_unanswered_requests_total") == 1)
  }

  /// An old exchange does not answer the request that its connection has come to.
  @Test func oldExchangesAnswerNothingNew() throws {
    let server = try HTTPTestServer()
    let client = try HTTPTestClient(server)
    let other = try HTTPTestClient(server)
    for number in 0..<3 {
      try client.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n")
      for _ in 0..<3 { #expect(try other.get("/") == "GET / ") }
      #expect(try other.get("/release") == "GET /release ")
      #expect(try client.body() == "held \(number)")
    }
    #expect(server.metric("borealis_http_lost_answers_total") == 3)
  }

  @Test func drains() async throws {
    let server = try HTTPTestServer()
    let clients = try (0..<4).map { _ in try HTTPTestClient(server) }
    let (waiting, reading, idle, last) = (clients[0], clients[1], clients[2], clients[3])
    try waiting.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n")
    try reading.send("GET /release HTTP/1.1\r\nHost: h\r\n")
    try idle.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try idle.body() == "GET / ")
    try last.send("GET /drain HTTP/1.1\r\nHost: h\r\n\r\nGET /more HTTP/1.1\r\nHost: h\r\n\r\n")
    let answer = try last.rest()
    #expect(answer.contains("\r\nconnection: close\r\n") && answer.hasSuffix("GET /drain "))
    #expect(try idle.rest() == "")
    #expect(try HTTPTestClient(server).rest() == "")
    try reading.send("\r\n")
    #expect(try reading.rest().contains("\r\nconnection: close\r\n"))
    #expect(try waiting.rest().hasSuffix("connection: close\r\n\r\nheld 0"))
    for await _ in server.drained {}
    #expect(server.metric("borealis_http_connections") == 0)
    #expect(server.metric("borealis_http_refused_connections_total") == 1)
  }
}
