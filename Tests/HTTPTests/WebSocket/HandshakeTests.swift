import HTTP
import Testing

@Suite struct HandshakeTests {
  private typealias Refusal = WebSocketHandshake.Refusal

  /// The client's side of RFC 6455, section 1.3, with changes; nil takes a field away.
  private static func request(
    _ changes: [(String, String?)] = [], method: String = "GET", minorVersion: Int = 1, body: [UInt8] = []
  ) -> HTTPRequest {
    var fields: [(String, String)] = [
      ("host", "server.example.com"), ("upgrade", "websocket"), ("connection", "Upgrade"),
      ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="), ("origin", "http://server.example.com"),
      ("sec-websocket-version", "13"),
    ]
    for (name, value) in changes {
      fields.removeAll { $0.0 == name }
      if let value { fields += value.split(separator: "\n").map { (name, String($0)) } }
    }
    var request = HTTPRequest(method: method, target: "/device", minorVersion: minorVersion, body: body)
    for (name, value) in fields { request.headers.append(name, value) }
    return request
  }

  private static func refusal(
    _ request: HTTPRequest, _ origins: [String] = [], site: String? = nil
  ) -> Refusal? {
    guard let rule = OriginRule(others: origins, site: site) else { return nil }
    do throws(Refusal) {
      _ = try WebSocketHandshake.answer(to: request, origins: rule)
      return nil
    } catch {
      return error
    }
  }

  @Test func `The handshake of RFC 6455 gets its answer`() throws {
    let rule = try #require(OriginRule())
    for request in [
      Self.request(),
      Self.request([("upgrade", "h2c, WebSocket"), ("connection", "keep-alive, upgrade"), ("origin", nil)]),
      Self.request([("sec-websocket-protocol", "a, b"), ("sec-websocket-extensions", "permessage-deflate")]),
    ] {
      let response = try WebSocketHandshake.answer(to: request, origins: rule)
      var bytes: [UInt8] = []
      response.serialize(into: &bytes, keepAlive: true)
      #expect(
        String(decoding: bytes, as: UTF8.self) == """
          HTTP/1.1 101 Switching Protocols\r
          upgrade: websocket\r
          sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r
          connection: upgrade\r
          \r

          """)
    }
  }

  @Test func `Everything else is refused, with what is wrong`() {
    let cases: [(HTTPRequest, Refusal)] = [
      (Self.request([("upgrade", nil)]), .notAsked),
      (Self.request([("upgrade", "h2c")]), .notAsked),
      (Self.request([("connection", "keep-alive")]), .notAsked),
      (Self.request(minorVersion: 0), .notAsked),
      (Self.request(method: "POST"), .wrongMethod),
      (Self.request([("sec-websocket-version", "8")]), .wrongVersion),
      (Self.request([("sec-websocket-version", nil)]), .wrongVersion),
      (Self.request([("sec-websocket-version", "13\n13")]), .wrongVersion),
      (Self.request([("sec-websocket-key", nil)]), .badKey),
      (Self.request([("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==\ndGhlIHNhbXBsZSBub25jZQ==")]), .badKey),
      (Self.request([("sec-websocket-key", "dGhlIHNhbXBsZSBub25j")]), .badKey),
      (Self.request([("sec-websocket-key", "*GhlIHNhbXBsZSBub25jZQ==")]), .badKey),
      (Self.request(body: [1]), .hasBody),
      (Self.request([("transfer-encoding", "chunked")]), .hasBody),
      (Self.request([("origin", "http://evil.example")]), .foreignOrigin),
      (Self.request([("origin", "null")]), .foreignOrigin),
      (Self.request([("origin", "http://server.example.com\nhttp://evil.example")]), .foreignOrigin),
    ]
    for (request, expected) in cases { #expect(Self.refusal(request) == expected, "\(request.headers)") }
  }

  @Test(
    arguments: [
      ("http://server.example.com", [], true), ("https://server.example.com", [], true),
      ("https://SERVER.example.com", [], true), ("https://server.example.com:8443", [], false),
      ("https://server.example.com.evil.example", [], false), ("https://app.example.com", [], false),
      ("https://app.example.com", ["https://app.example.com"], true),
      ("https://app.example.com", ["HTTPS://App.Example.com"], true),
      ("http://app.example.com", ["https://app.example.com"], false), ("null", ["*"], true),
    ] as [(String, [String], Bool)])
  func `Pages of our own host and of those that are listed may connect`(
    origin: String, others: [String], isAllowed: Bool
  ) {
    let found = Self.refusal(Self.request([("origin", origin)]), others)
    #expect(found == (isAllowed ? nil : Refusal.foreignOrigin))
  }

  @Test(arguments: ["capacitor://localhost", "ionic://localhost", "app+x-1.y://shop:8100", "null", "file://"])
  func `Pages within apps may be listed, and are foreign otherwise`(origin: String) {
    let request = Self.request([("origin", origin)])
    #expect(Self.refusal(request) == .foreignOrigin)
    #expect(Self.refusal(request, ["https://app.example.com"]) == .foreignOrigin)
    #expect(Self.refusal(request, [origin.uppercased()]) == nil)
    #expect(OriginRule(others: [origin]) != nil)
  }

  /// A page of a name that was made to lead here says that name in both fields.
  @Test(
    arguments: [
      ("http://evil.example:8080", "evil.example:8080", "https://push.example.com", false),
      ("http://evil.example:8080", "evil.example:8080", nil, true),
      ("https://push.example.com", "push.example.com", "https://push.example.com", true),
      ("https://push.example.com", "upstream", "https://Push.example.com", true),
      ("https://push.example.com", "upstream", "https://push.example.com:443", true),
      ("https://push.example.com:8443", "upstream", "https://push.example.com:8443", true),
      ("https://push.example.com:8443", "upstream", "https://push.example.com", false),
      ("http://10.0.0.5:8080", "10.0.0.5:8080", "https://push.example.com", true),
      ("http://[::1]:8080", "[::1]:8080", "https://push.example.com", true),
      ("http://localhost:8080", "localhost:8080", "https://push.example.com", true),
      ("http://10.0.0.5.evil.example", "10.0.0.5.evil.example", "https://push.example.com", false),
    ] as [(String, String, String?, Bool)])
  func `Where our pages are is not taken from the request if it is known`(
    origin: String, host: String, site: String?, isAllowed: Bool
  ) {
    let found = Self.refusal(Self.request([("origin", origin), ("host", host)]), site: site)
    #expect(found == (isAllowed ? nil : Refusal.foreignOrigin))
  }

  @Test(arguments: [
    "app.example.com", "https://", "https://app.example.com/", "1ftp://a", "https://a b", "", "a b://c",
    "://a",
    "capacitor://", "https://a,https://b",
  ])
  func `What is no origin is not taken for one`(text: String) {
    #expect(OriginRule(others: [text]) == nil)
  }

  @Test func `Refusals are answers that help`() {
    for refusal in Refusal.allCases {
      var bytes: [UInt8] = []
      refusal.response.serialize(into: &bytes, keepAlive: true)
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(text.hasPrefix("HTTP/1.1 4"))
      #expect(text.contains("\r\nconnection: upgrade\r\n") == (refusal.response.status == 426), "\(text)")
      #expect(text.contains("\r\nsec-websocket-version: 13\r\n") == (refusal == .wrongVersion))
    }
  }

  @Test(
    arguments: [
      ("https://push.example.com", "https://push.example.com"),
      ("https://push.example.com:443", "https://push.example.com"),
      ("HTTP://Push.example.com:80", "http://push.example.com"),
      ("https://push.example.com:80", "https://push.example.com:80"),
      ("https://push.example.com:8443", "https://push.example.com:8443"),
      ("https://[::1]:443", "https://[::1]"),
      ("push.example.com", nil), ("ftp://push.example.com", nil),
    ] as [(String, String?)])
  func `An origin has no usual port`(url: String, origin: String?) {
    #expect(OriginRule.origin(of: url) == origin)
  }
}
