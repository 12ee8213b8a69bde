import BorealisBase
import Cluster
import HTTP
import Testing

/// Requests that go to the home and answers that come back.
@Suite struct ForwardingTests {
  @Test func passesRequestsOnAndAnswersBack() throws {
    let home = try TestHome()
    let front = try TestFront(isSecure: true)
    front.forwarder.follow(home.address)
    let client = try TestClient(front)
    let answer = try #require(
      try client.call("POST", "/v3/push?x=%20", "X-Request-Id: my-id\r\nX-Own: a\r\n", body: Array("{}".utf8))
    )
    #expect(answer.status == 200 && answer.text == "POST /v3/push?x=%20 2")
    #expect(answer.headers["x-from"] == "home" && answer.headers.values("x-request-id") == ["my-id"])
    #expect(answer.headers.values("date").count == 1 && answer.headers.values("content-length").count == 1)
    #expect(!answer.headers.fields.contains { $0.name.hasPrefix("borealis-node") })
    let seen = try #require(home.seen.first)
    #expect(seen.requestID == "my-id" && seen.isSecure && seen.peer == IPAddress("127.0.0.1"))
    #expect(
      seen.request.headers == ["Host": "h", "X-Own": "a", "Content-Length": "2", "X-Request-Id": "my-id"])
    // The connection to the home is used again.
    for number in 0..<20 { #expect(try client.get("/\(number)")?.text == "GET /\(number) 0") }
    #expect(front.metric("borealis_forward_connections") == 1)
    #expect(front.requests("answered") == 21 && front.metric("borealis_forward_waits_total") == 1)
  }

  /// A client behind a proxy is the proxy's client at the home as well, and nobody can claim to be another.
  @Test func theHomeKnowsTheClient() throws {
    let home = try TestHome()
    let network = try #require(IPNetwork("127.0.0.0/8"))
    let (direct, proxied) = (try TestFront(), try TestFront(proxies: [network]))
    let fields =
      "X-Forwarded-For: 198.51.100.4\r\nborealis-node-client: 192.0.2.1\r\nborealis-node-tls: 1\r\n"
    for front in [direct, proxied] {
      front.forwarder.follow(home.address)
      #expect(try TestClient(front).get("/", fields)?.status == 200)
    }
    #expect(home.seen.map(\.peer?.text) == ["127.0.0.1", "198.51.100.4"])
    #expect(home.seen.allSatisfy { !$0.isSecure && $0.request.headers["x-forwarded-for"] == "198.51.100.4" })
  }

  @Test func answersToHeadHaveTheLengthOfGet() throws {
    let home = try TestHome()
    let front = try TestFront()
    front.forwarder.follow(home.address)
    let client = try TestClient(front)
    let answer = try #require(try client.call("HEAD", "/big?777"))
    #expect(answer.body.isEmpty && answer.headers["content-length"] == "777")
    #expect(home.seen.first?.request.method == "HEAD")
    #expect(try client.get("/after")?.text == "GET /after 0")
  }

  @Test func largeBodiesGoBothWays() throws {
    let home = try TestHome(bodyBytes: 16 << 20)
    let front = try TestFront(bodyBytes: 16 << 20)
    front.forwarder.follow(home.address)
    let client = try TestClient(front)
    let body = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    #expect(
      try client.call("POST", "/up", "Authorization: right\r\n", body: body)?.text == "POST /up 2000000")
    #expect(home.seen.last?.request.body == body)
    let large = try #require(try client.get("/big?3000000"))
    #expect(large.body == (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    // In chunks it arrives with its length.
    let chunks = "10000\r\n" + String(repeating: "a", count: 65_536) + "\r\n0\r\n\r\n"
    try client.send(
      "POST /chunks HTTP/1.1\r\nHost: h\r\nAuthorization: right\r\nTransfer-Encoding: chunked\r\n\r\n"
        + chunks)
    #expect(try client.response()?.text == "POST /chunks 65536")
    #expect(home.seen.last?.request.headers["transfer-encoding"] == nil)
  }

  /// Many at a time share the connections, each gets its own answer.
  @Test func answersGoToTheirClients() throws {
    let home = try TestHome()
    let front = try TestFront { $0.connections = 3 }
    front.forwarder.follow(home.address)
    let clients = try (0..<40).map { _ in try TestClient(front) }
    for round in 0..<5 {
      for (number, client) in clients.enumerated() {
        try client.send("GET /\(round)/\(number) HTTP/1.1\r\nHost: h\r\n\r\n")
      }
      for (number, client) in clients.enumerated() {
        #expect(try client.response()?.text == "GET /\(round)/\(number) 0")
      }
    }
    #expect((1...3).contains(front.metric("borealis_forward_connections") ?? 0))
  }

  // MARK: Large bodies of clients without access

  /// The home decides by the header; the body is not read.
  @Test func refusesBodiesBeforeTheyCome() throws {
    let home = try TestHome()
    let front = try TestFront()
    front.forwarder.follow(home.address)
    let client = try TestClient(front)
    try client.send("POST /v3/push HTTP/1.1\r\nHost: h\r\nContent-Length: 500000\r\n\r\n")
    let answer = try #require(try client.response())
    #expect(answer.status == 401 && answer.text == "who?" && answer.headers["www-authenticate"] == "Basic")
    #expect(answer.headers["connection"] == "close")
    // One that came whole as well.
    let whole = try #require(
      try TestClient(front).call("POST", "/", body: [UInt8](repeating: 1, count: 6000)))
    #expect(whole.status == 401)
    #expect(home.seen.isEmpty)
    // And one that is longer than its route takes.
    let long = try TestClient(front)
    try long.send(
      "POST / HTTP/1.1\r\nHost: h\r\nAuthorization: small\r\nContent-Length: 9000\r\n\r\n")
    #expect(try long.response()?.status == 413)
    #expect(home.seen.isEmpty)
  }

  @Test func letsClientsContinue() throws {
    let home = try TestHome()
    let front = try TestFront()
    front.forwarder.follow(home.address)
    let client = try TestClient(front)
    try client.send(
      "POST /up HTTP/1.1\r\nHost: h\r\nAuthorization: unknown\r\nExpect: 100-continue\r\nContent-Length: 60000\r\n\r\n"
    )
    #expect(String(decoding: try client.read(), as: UTF8.self) == "HTTP/1.1 100 Continue\r\n\r\n")
    #expect(home.seen.isEmpty)
    try client.send([UInt8](repeating: 2, count: 60_000))
    #expect(try client.response()?.text == "POST /up 60000")
    #expect(home.seen.last?.request.headers["expect"] == nil)
  }

  /// Pipelined requests keep their order behind one that the home is asked about.
  @Test func requestsBehindAQuestionKeepTheirOrder() throws {
    let home = try TestHome()
    let front = try TestFront()
    front.forwarder.follow(home.address)
    let client = try TestClient(front)
    let body = String(repeating: "b", count: 5000)
    try client.send(
      "POST /first HTTP/1.1\r\nHost: h\r\nAuthorization: unknown\r\nContent-Length: 5000\r\n\r\n\(body)"
        + "GET /second HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try client.response()?.text == "POST /first 5000")
    #expect(try client.response()?.text == "GET /second 0")
  }

  /// A client that the home knows keeps its connection when others make room, and its bodies need no
  /// question.
  @Test func knownClientsAreKnownHere() throws {
    let home = try TestHome()
    let front = try TestFront()
    front.forwarder.follow(home.address)
    let client = try TestClient(front)
    #expect(try client.get("/", "Authorization: right\r\n")?.status == 200)
    let before = front.requests("answered")
    let body = [UInt8](repeating: 1, count: 6000)
    #expect(try client.call("POST", "/", "Authorization: right\r\n", body: body)?.status == 200)
    #expect(front.requests("answered") == (before ?? 0) + 1)
  }
}
