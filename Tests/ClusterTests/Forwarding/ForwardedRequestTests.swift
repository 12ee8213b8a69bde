import BorealisBase
import HTTP
import Testing

@testable import Cluster

@Suite struct ForwardedRequestTests {
  private static func forwarded(
    _ request: HTTPRequest, _ client: String? = "192.0.2.7", isSecure: Bool = false,
    purpose: ForwardedRequest.Purpose = .serving
  ) -> ForwardedRequest {
    ForwardedRequest(
      request, requestID: "id-1", client: client.flatMap { IPAddress($0) }, isSecure: isSecure,
      purpose: purpose)
  }

  private static func head(_ forwarded: ForwardedRequest) -> String {
    String(decoding: forwarded.encoded.head, as: UTF8.self)
  }

  @Test func fieldsByteByByte() {
    let request = HTTPRequest(
      method: "POST", target: "/v3/push?a=%20b",
      headers: [
        "Host": "push.example.com:8080", "User-Agent": "curl/8", "Authorization": "Basic eDp5",
        "Content-Type": "application/json", "X-Forwarded-For": "192.0.2.7, 10.0.0.1", "Accept": "a",
        "Accept": "b", "Content-Length": "2", "X-Request-Id": "mine",
      ], body: Array("{}".utf8))
    #expect(
      Self.head(Self.forwarded(request, isSecure: true)) == """
        POST /v3/push?a=%20b HTTP/1.1\r
        borealis-node-request: 1\r
        borealis-node-client: 192.0.2.7\r
        borealis-node-tls: 1\r
        host: push.example.com:8080\r
        user-agent: curl/8\r
        authorization: Basic eDp5\r
        content-type: application/json\r
        x-forwarded-for: 192.0.2.7, 10.0.0.1\r
        accept: a\r
        accept: b\r
        content-length: 2\r
        x-request-id: id-1\r
        \r

        """)
    #expect(Self.forwarded(request).encoded.body == Array("{}".utf8))
  }

  /// The home begins the span of a call, under that of the caller.
  @Test func `The trace of a call goes to the home`() {
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    let request = HTTPRequest(
      method: "GET", target: "/", headers: ["Traceparent": parent, "Tracestate": "a=1", "tracestate": "b=2"])
    let head = Self.head(Self.forwarded(request))
    #expect(head.contains("\r\ntraceparent: \(parent)\r\ntracestate: a=1\r\ntracestate: b=2\r\n"))
  }

  /// Fields of the connection stay behind, and so does what only nodes may say.
  @Test func fieldsThatStayBehind() {
    let request = HTTPRequest(
      method: "GET", target: "/",
      headers: [
        "Connection": "keep-alive, X-Hop ,\tHost, content-length", "X-Hop": "1", "Keep-Alive": "5",
        "Proxy-Connection": "close", "TE": "trailers", "Transfer-Encoding": "chunked", "Upgrade": "h2c",
        "Expect": "100-continue", "Borealis-Node-Client": "10.0.0.1", "borealis-node-tls": "1",
        "borealis-node-method": "DELETE", "borealis-node-screen": "1",
        "borealis-node-app": "0123456789abcdef01234567", "Host": "h", "X-Kept": "2",
      ], body: [1])
    #expect(
      Self.head(Self.forwarded(request, nil)) == """
        GET / HTTP/1.1\r
        borealis-node-request: 1\r
        host: h\r
        x-kept: 2\r
        x-request-id: id-1\r
        content-length: 1\r
        \r

        """)
  }

  @Test func oldRequestsWithoutHost() {
    let request = HTTPRequest(method: "GET", target: "/", minorVersion: 0)
    #expect(Self.head(Self.forwarded(request)).hasSuffix("x-request-id: id-1\r\nhost: \r\n\r\n"))
  }

  /// The home reads what it would have read from the client.
  @Test(arguments: [
    HTTPRequest(method: "HEAD", target: "/v3/push/cid?count=1", headers: ["Host": "h"]),
    HTTPRequest(
      method: "OPTIONS", target: "*", headers: ["Host": "[::1]:80", "Cookie": "a=b; c=d", "Cookie": "e=f"]),
    HTTPRequest(
      method: "POST", target: "/console/", headers: ["Host": "h", "X": "\u{fffd}中", "Content-Length": "3"],
      body: [0, 13, 10]),
  ]) func roundTrip(request: HTTPRequest) throws {
    for client in [nil, "2001:db8::1"] as [String?] {
      var sent = Self.forwarded(request, client, isSecure: client != nil)
      if client != nil { sent.app = .random() }
      let (head, body) = sent.encoded
      var parser = HTTPRequestParser()
      guard case .request(let received) = parser.consume((head + body).span).event else {
        Issue.record("not a request: \(String(decoding: head, as: UTF8.self))")
        return
      }
      let read = try #require(ForwardedRequest(received: received))
      var expected = sent
      expected.request.headers.append("x-request-id", "id-1")
      #expect(read == expected)
      #expect(ForwardedRequest.client(of: received) == sent.client)
    }
  }

  /// To screen a request the home needs its header alone, with the length that was announced.
  @Test(arguments: ["70000", nil] as [String?]) func screening(length: String?) throws {
    var request = HTTPRequest(method: "POST", target: "/v3/files", headers: ["Host": "h"])
    if let length { request.headers.append("content-length", length) }
    let (head, body) = Self.forwarded(request, purpose: .screening).encoded
    #expect(body.isEmpty)
    var parser = HTTPRequestParser()
    guard case .request(let received) = parser.consume(head.span).event else {
      Issue.record("not a request")
      return
    }
    let read = try #require(ForwardedRequest(received: received))
    #expect(read.purpose == .screening && read.request.headers["content-length"] == length)
  }

  @Test func othersAreNoNodes() {
    #expect(ForwardedRequest(received: HTTPRequest(method: "GET", target: "/")) == nil)
    let other = HTTPRequest(method: "GET", target: "/", headers: ["borealis-node-request": "2"])
    #expect(ForwardedRequest(received: other) == nil)
  }

  @Test func answers() {
    #expect(HomeAnswer(HomeAnswer.misdirected) == .notHome)
    // Only a node says so; a handler's 421 is passed on.
    #expect(HomeAnswer(HTTPResponse(status: 421)) == .served(HTTPResponse(status: 421)))
    for isKnown in [false, true] {
      let screened = HomeAnswer.screened(.admitted(bodyBytes: 77, isKnown: isKnown))
      #expect(HomeAnswer(screened) == .admitted(bodyBytes: 77, isKnown: isKnown))
    }
    let received = HTTPResponse(
      status: 200,
      headers: [
        "Date": "now", "X-Request-Id": "id-1", "Strict-Transport-Security": "max-age=1",
        "Connection": "close, x-hop", "X-Hop": "1", "Content-Length": "1", "Set-Cookie": "a=b",
        "Set-Cookie": "c=d", "borealis-node-known": "1", "Retry-After": "1",
      ], body: [7])
    var expected = HTTPResponse(
      status: 200, headers: ["Set-Cookie": "a=b", "Set-Cookie": "c=d", "Retry-After": "1"], body: [7])
    expected.isToKnownCaller = true
    #expect(HomeAnswer(received) == .served(expected))
  }

  @Test(arguments: [
    ("127.0.0.1", true), ("127.9.0.1", true), ("::1", true), ("localhost", true), ("10.0.0.1", false),
    ("::", false), ("0.0.0.0", false), ("node-b", false), ("127.0.0.1.example.com", false),
  ]) func loopback(host: String, isLoopback: Bool) {
    #expect(NodeAddress(name: "n", host: host, port: 1).isLoopback == isLoopback)
  }
}
