import BorealisBase
import BorealisProtocol
import Glibc
import PushTesting
import Testing

/// Devices over WebSocket, against the program (Docs/protocol.md, section 8).
@Suite struct WebSocketTests {
  let folder = TemporaryFolder()
  var data: String { folder.path + "/data" }

  private static func status(_ bytes: [UInt8], at address: String) throws -> HTTPCall {
    let socket = try TestSocket(address)
    try socket.send(bytes)
    return try HTTPCall(answerOn: socket)
  }

  @Test func `A device over WebSocket gets what one over TCP gets`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    let identity = try TestDevice.register(server.device, app: app.key, install: "one")
    let kept = try server.push("kept", to: identity, as: app).document?["msg_id"]?.string
    let device = try TestDevice.login(TestWebSocket(server.http), app: app.key, identity)
    let first = try device.arrival()
    #expect(first.isOffline && first.id == kept)
    try device.acknowledge(first)
    let live = try server.push(String(repeating: "x", count: 1000), to: identity, as: app)
    let second = try device.arrival()
    #expect(!second.isOffline && second.id == live.document?["msg_id"]?.string)
    let answer = try server.call("GET", "/metrics").body
    #expect(answer.contains("\nborealis_device_websockets_total 1\n"))
    #expect(answer.contains("\nborealis_http_requests_total{class=\"1xx\"} 1\n"))
    // Over TCP again, what was acknowledged does not come.
    let plain = try TestDevice.login(server.device, app: app.key, identity)
    #expect(try plain.arrival().id == second.id)
  }

  /// Requests before the handshake are answered, and frames that came with it are not lost.
  @Test func `The handshake may come in one packet with what stands around it`() throws {
    let server = try TestServer(data: data)
    var frames: [UInt8] = []
    ClientFrame.hello(Hello(clientName: "test")).encode(into: &frames)
    let socket = try TestSocket(server.http)
    try socket.send(
      HTTPCall.request("GET", "/healthz") + HTTPCall.request("GET", "/healthz") + TestWebSocket.request()
        + TestWebSocket.frame(0x82, frames))
    var text: [UInt8] = []
    // 200, 200, 101, and a message with HELLO_OK, which begins with its length and type.
    while text.firstRange(of: [0x82, 0x0f, 0x0e, 0x90]) == nil {
      let more = try socket.receive()
      guard !more.isEmpty else { throw TestDevice.Unexpected() }
      text += more
    }
    let answers = String(decoding: text, as: UTF8.self)
    #expect(answers.ranges(of: "HTTP/1.1 200 OK").count == 2)
    #expect(answers.ranges(of: "HTTP/1.1 101 Switching Protocols").count == 1)
  }

  @Test func `A bad handshake is refused with what is wrong, and the connection stays`() throws {
    let server = try TestServer(data: data, ["--device-origins", "https://app.example.com"])
    let close = "Connection: close"
    let cases: [([UInt8], Int)] = [
      (HTTPCall.request("GET", "/device", headers: [close]), 426),
      (TestWebSocket.request(version: "8", headers: [close]), 426),
      (TestWebSocket.request(method: "POST", headers: [close, "Content-Length: 0"]), 405),
      (TestWebSocket.request(headers: [close, "Content-Length: 2"]) + [1, 2], 400),
      (TestWebSocket.request(headers: [close, "Sec-WebSocket-Key: c2hvcnQ="]), 400),
      (TestWebSocket.request(headers: [close, "Origin: https://evil.example"]), 403),
      (TestWebSocket.request(path: "/devices", headers: [close]), 404),
    ]
    for (request, status) in cases {
      let answer = try Self.status(request, at: server.http)
      #expect(answer.status == status, "\(String(decoding: request, as: UTF8.self))")
      if status == 426 { #expect(answer.head.contains("\r\nupgrade: websocket\r\n")) }
    }
    for origin in ["http://test", "https://test", "https://app.example.com"] {
      _ = try TestWebSocket(server.http, headers: ["Origin: \(origin)"])
    }
    // An operator whose proxy spoils a handshake finds out why.
    try server.program.wait(forError: "device over WebSocket refused reason=not_asked origin=\"\"")
    let metrics = try server.call("GET", "/metrics").body
    for (reason, count) in [("not_asked", 1), ("bad_key", 1), ("foreign_origin", 1), ("has_body", 1)] {
      let line = "\nborealis_device_websocket_refusals_total{reason=\"\(reason)\"} \(count)\n"
      #expect(metrics.contains(line), "\(reason)")
    }
    let two = try TestSocket(server.http)
    try two.send(TestWebSocket.request(version: "8") + HTTPCall.request("GET", "/healthz", headers: [close]))
    let both = try HTTPCall(answerOn: two)
    #expect(both.status == 426 && both.body.contains("HTTP/1.1 200 OK"))
  }

  /// Where the pages are is known then: a name that merely leads here is none of ours.
  @Test func `With a public address only its pages are our own`() throws {
    let server = try TestServer(data: data, ["--public-url", "https://push.example.com"])
    let rebound = TestWebSocket.request(headers: ["Connection: close", "Origin: http://test"])
    #expect(try Self.status(rebound, at: server.http).status == 403)
    _ = try TestWebSocket(server.http, headers: ["Origin: https://push.example.com"])
    try server.program.wait(
      forError: "reason=foreign_origin origin=http://test host=test client=127.0.0.1")
  }

  @Test(
    arguments: [
      ([0x82, 0x02, 0x01, 0x01], 1002), ([0x81, 0x80, 0, 0, 0, 0], 1003),
      ([0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0], 1009),
      ([0x09, 0x80, 0, 0, 0, 0], 1002), ([0x80, 0x80, 0, 0, 0, 0], 1002),
    ] as [([UInt8], UInt16)])
  func `A client that breaks the rules is told which, and others are served`(
    bytes: [UInt8], code: UInt16
  ) throws {
    let server = try TestServer(data: data, ["--loops", "1"])
    let app = try server.makeApp()
    let identity = try TestDevice.register(server.device, app: app.key, install: "one")
    let line = try TestWebSocket(server.http)
    let bad = try TestDevice.login(line, app: app.key, identity)
    try line.socket.send(bytes)
    #expect(try bad.isClosed())
    #expect(line.closeCode == code)
    let good = try TestDevice.login(TestWebSocket(server.http), app: app.key, identity)
    let sent = try server.push("hi", to: identity, as: app)
    #expect(try good.arrival().id == sent.document?["msg_id"]?.string)
  }

  @Test func `SIGTERM tells them to come back, and ends`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    let identity = try TestDevice.register(server.device, app: app.key, install: "one")
    let line = try TestWebSocket(server.http)
    let device = try TestDevice.login(line, app: app.key, identity)
    server.program.signal(SIGTERM)
    guard case .goAway(.drain, _, "") = try device.next() else { throw TestDevice.Unexpected() }
    #expect(try device.isClosed())
    #expect(line.closeCode == 1001)
    #expect(try server.program.end().status == 0)
  }

  @Test func `A handshake that ends behind SIGTERM is told to come back`() throws {
    let server = try TestServer(data: data, ["--loops", "1"])
    let request = TestWebSocket.request()
    let late = try TestSocket(server.http)
    try late.send(Array(request[..<20]))
    let idle = try TestSocket(server.http)
    #expect(try server.call("GET", "/readyz").status == 200)
    server.program.signal(SIGTERM)
    #expect(try idle.receive().isEmpty)
    try late.send(Array(request[20...]))
    let answer = try HTTPCall(answerOn: late)
    #expect(answer.status == 503)
    #expect(answer.head.lowercased().contains("\r\nconnection: close"))
    #expect(try server.program.end().status == 0)
  }
}
