import BorealisBase
import BorealisNet
import HTTP
import Testing

/// Who makes room for whom when there are as many connections as there may be.
@Suite struct HTTPRoomTests {
  private func server(_ connections: Int, share: Int = .max, exempt: [IPNetwork] = []) throws
    -> HTTPTestServer
  {
    var limits = HTTPServerLimits()
    limits.connections = connections
    return try HTTPTestServer(limits: limits, peers: HTTPPeerLimit(connections: share, exempt: exempt))
  }

  /// A connection that the server has accepted, since it has answered over it.
  private func client(_ server: HTTPTestServer, from address: String = "127.0.0.1", _ path: String = "/")
    throws
    -> HTTPTestClient
  {
    let client = try HTTPTestClient(server, from: address)
    #expect(try client.get(path) == "GET \(path) ")
    return client
  }

  private func evicted(_ server: HTTPTestServer) -> Int? {
    server.metric("borealis_http_evicted_connections_total")
  }

  /// As many silent connections as one address can make, and more: another is answered at once, each time.
  @Test func theSilentMakeRoom() throws {
    let server = try server(20)
    var silent: [HTTPTestClient] = []
    for _ in 0..<50 { silent.append(try HTTPTestClient(server)) }
    for number in 0..<30 { _ = try client(server, from: "127.0.0.2", "/\(number)") }
    #expect(server.metric("borealis_http_refused_connections_total") == 0)
    #expect(try silent[0].rest() == "")
    #expect(server.metric("borealis_http_connections").map { $0 <= 20 } == true)
  }

  /// The longest silent goes first; half a request is silence.
  @Test func theOldestGoesFirst() throws {
    let server = try server(3)
    let first = try client(server)
    let second = try client(server)
    let third = try client(server)
    #expect(try first.get("/again") == "GET /again ")
    try second.send("GET /half HTTP/1.1\r\n")
    #expect(try first.get("/again") == "GET /again ")
    let fourth = try client(server)
    #expect(try second.rest() == "")
    let fifth = try client(server)
    #expect(try third.rest() == "")
    for client in [first, fourth, fifth] { #expect(try client.get("/still") == "GET /still ") }
    #expect(evicted(server) == 2)
  }

  /// Who has shown who he is keeps his connection while there is a outsider's, and whoever is being answered
  /// keeps it in any case.
  @Test func workGoesBeforeSilence() throws {
    let server = try server(3)
    let known = try client(server, "/known")
    let busy = try HTTPTestClient(server)
    try busy.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try known.get("/known") == "GET /known ")
    for number in 0..<5 { _ = try client(server, "/\(number)") }
    #expect(try known.get("/known") == "GET /known ")
    #expect(try known.get("/release") == "GET /release ")
    #expect(try busy.body() == "held 0")
    // Only known ones are left: the one that was idle longest goes.
    let others = try [client(server, "/known"), client(server, "/known"), client(server, "/known")]
    #expect(try known.rest() == "")
    for other in others { #expect(try other.get("/") == "GET / ") }
  }

  /// Who is found to be known by a request's header keeps his place while its body comes.
  @Test func uploadsOfTheKnownAreFinished() throws {
    let server = try server(2)
    let upload = try HTTPTestClient(server)
    try upload.send(
      "POST /length HTTP/1.1\r\nHost: h\r\nX-Known: yes\r\nContent-Length: 100000\r\n\r\nx")
    let other = try client(server)
    #expect(try other.get("/again") == "GET /again ")
    let later = try (0..<3).map { try client(server, "/\($0)") }
    try upload.send([UInt8](repeating: 120, count: 99_999))
    #expect(try upload.body() == "100000")
    #expect(evicted(server) == 3)
    withExtendedLifetime(later) {}
  }

  /// All are being answered: there is no room.
  @Test func nobodyIsCutOff() throws {
    let server = try server(2)
    let busy = try [HTTPTestClient(server), HTTPTestClient(server)]
    for client in busy {
      try client.send("GET /known HTTP/1.1\r\nHost: h\r\n\r\nGET /held HTTP/1.1\r\nHost: h\r\n\r\n")
    }
    for client in busy { #expect(try client.body() == "GET /known ") }
    // Their second requests were in the same read as the first ones.
    #expect(try HTTPTestClient(server).rest() == "")
    #expect(evicted(server) == 0)
  }

  /// A network that has its share makes room by itself; others, and those behind whom others stand, are not
  /// touched.
  @Test func networksHaveShares() throws {
    let server = try server(100, share: 2, exempt: [IPNetwork("127.0.0.9")].compactMap { $0 })
    let other = try client(server, from: "127.0.0.2")
    let first = try client(server)
    let second = try client(server)
    let third = try client(server)
    #expect(try first.rest() == "")
    #expect(evicted(server) == 1)
    let proxied = try (0..<5).map { _ in try client(server, from: "127.0.0.9") }
    for client in proxied + [other, second, third] { #expect(try client.get("/") == "GET / ") }
    #expect(evicted(server) == 1)
  }

  /// A network whose connections are all in use gets no more than its share.
  @Test func aShareIsABound() throws {
    let server = try server(100, share: 1)
    let busy = try HTTPTestClient(server)
    try busy.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n")
    let other = try client(server, from: "127.0.0.2")
    #expect(try HTTPTestClient(server).rest() == "")
    #expect(server.metric("borealis_http_refused_connections_total") == 1)
    #expect(try other.get("/") == "GET / ")
  }
}
