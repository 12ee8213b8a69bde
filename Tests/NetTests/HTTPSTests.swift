import BorealisNet
import Glibc
import HTTP
import Testing

@Suite struct HTTPSTests {
  private let files: TLSTestFiles
  private let trust: TLSContext

  init() throws {
    signal(SIGPIPE, SIG_IGN)
    files = try TLSTestFiles()
    trust = try TLSContext.client(caFile: files.certificate)
  }

  @Test func servesSeveralConnections() throws {
    let server = try HTTPTestServer(tls: files.server())
    let clients = try (0..<5).map { _ in try HTTPTestClient(server, tls: trust) }
    for path in ["/a", "/later", "/b"] {
      for client in clients { #expect(try client.get(path) == "GET \(path) ") }
    }
    let paths = (0..<300).map { $0.isMultiple(of: 7) ? "/later" : "/\($0)" }
    try clients[0].send(paths.map { "GET \($0) HTTP/1.1\r\nHost: h\r\n\r\n" }.joined())
    for path in paths { #expect(try clients[0].body() == "GET \(path) ") }
  }

  /// Bodies larger than a TLS record, the socket's buffers and the server's, and several of them in a row.
  @Test func carriesLargeBodies() throws {
    let server = try HTTPTestServer(tls: files.server())
    let client = try HTTPTestClient(server, tls: trust)
    let body = String(repeating: "0123456789abcdef", count: 60_000)
    for _ in 0..<2 {
      try client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body)
      #expect(try client.body() == "POST / " + body)
    }
    try client.send(String(repeating: "GET /big?3000000 HTTP/1.1\r\nHost: h\r\n\r\n", count: 5))
    for _ in 0..<5 { #expect(try client.response()?.body.count == 3_000_000) }
  }

  /// Bytes that TLS has decrypted and the server had no room for are not forgotten, though the socket is
  /// empty.
  @Test func readsWhatTheSocketDoesNotTellOf() throws {
    let server = try HTTPTestServer(tls: files.server())
    let client = try HTTPTestClient(server, tls: trust)
    let other = try HTTPTestClient(server, tls: trust)
    // With a request behind the one that is held the server stops to read, and what follows gathers in the
    // socket.
    try client.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
    for _ in 0..<3 { #expect(try other.get("/") == "GET / ") }
    // Seven records, the last of which does not fit into the server's buffer of 64 KiB.
    let header = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 69930\r\n\r\n"
    let bytes = Array(header.utf8) + [UInt8](repeating: 98, count: 69_930)
    for start in stride(from: 0, to: bytes.count, by: 10_000) {
      try client.send(Array(bytes[start..<min(start + 10_000, bytes.count)]))
    }
    #expect(try other.get("/release") == "GET /release ")
    #expect(try client.body() == "held 0")
    #expect(try client.body() == "GET /2 ")
    #expect(try client.response()?.body.count == "POST / ".utf8.count + 69_930)
  }

  @Test func closesProperly() throws {
    let server = try HTTPTestServer(tls: files.server())
    let client = try HTTPTestClient(server, tls: trust)
    try client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    // Reading to the end throws when the server closes without saying so within TLS.
    #expect(try client.rest().hasSuffix("\r\n\r\nGET / "))
  }

  /// Plain HTTP, and garbage, on a TLS port end the connection without a reset and without an HTTP answer.
  @Test(arguments: [
    "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "\u{16}\u{3}\u{1}\u{0}\u{5}hello", "\0\0\0\0\0\0\0\0",
  ])
  func refusesWhatIsNotTLS(text: String) throws {
    let server = try HTTPTestServer(tls: files.server())
    let witness = try HTTPTestClient(server, tls: trust)
    let client = try HTTPTestClient(server)
    try client.send(text)
    #expect(try !client.rest().contains("HTTP"))
    #expect(server.metric("borealis_http_failed_handshakes_total") == 1)
    #expect(try witness.get("/") == "GET / ")
  }

  @Test func closesSlowHandshakes() throws {
    var limits = HTTPServerLimits()
    limits.handshakeSeconds = 1
    let server = try HTTPTestServer(limits: limits, tls: files.server())
    for beginning in ["", "\u{16}\u{3}\u{1}"] {
      let client = try HTTPTestClient(server)
      try client.send(beginning)
      #expect(try client.rest() == "")
    }
    #expect(server.metric("borealis_http_failed_handshakes_total") == 2)
  }

  /// Whoever is in the middle of a handshake has asked for nothing yet; whoever is in the middle of a request
  /// gets its answer.
  @Test func drains() async throws {
    let server = try HTTPTestServer(tls: files.server())
    let shaking = try HTTPTestClient(server)
    try shaking.send("\u{16}\u{3}\u{1}")
    let half = try HTTPTestClient(server, tls: trust)
    try half.send("GET /half HTTP/1.1\r\n")
    // The handshake takes more than one turn of the loop, so what was sent before it is seen before.
    #expect(try HTTPTestClient(server, tls: trust).get("/drain") == "GET /drain ")
    #expect(try shaking.rest() == "")
    try half.send("Host: h\r\n\r\n")
    let answer = try half.rest()
    #expect(answer.contains("\r\nconnection: close\r\n") && answer.hasSuffix("GET /half "))
    for await _ in server.drained {}
    #expect(server.metric("borealis_http_connections") == 0)
  }

  @Test func manyHandshakesAtOnce() throws {
    var limits = HTTPServerLimits()
    limits.handshakesPerTurn = 1
    let server = try HTTPTestServer(limits: limits, tls: files.server())
    for _ in 0..<20 { #expect(try HTTPTestClient(server, tls: trust).get("/") == "GET / ") }
  }
}
