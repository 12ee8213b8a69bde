import BorealisNet
import HTTP
import Synchronization
import Testing

/// A server that begins no more requests, so that another process can go on with its connections.
@Suite struct HTTPHoldTests {
  private static let request = "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n"

  /// Whether a server is idle, with patience for slow peers and without.
  private static func idleness(_ server: HTTPTestServer) -> [Bool] {
    let found = Mutex<[Bool]>([])
    server.onServer { server in
      let idle = [server.isIdle(despiteSlowPeers: false), server.isIdle(despiteSlowPeers: true)]
      found.withLock { $0 = idle }
    }
    return found.withLock { $0 }
  }

  private static func idleSockets(_ server: HTTPTestServer) -> Int {
    let count = Atomic<Int>(0)
    server.onServer { count.store($0.idleSockets.count, ordering: .relaxed) }
    return count.load(ordering: .relaxed)
  }

  @Test func `What comes between two requests is not read until the hold is over`() throws {
    let server = try HTTPTestServer()
    let client = try HTTPTestClient(server)
    try client.send(Self.request)
    #expect(try client.body() == "GET /1 ")
    server.onServer { $0.beginHold() }
    try client.send("GET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
    // Each is a turn, and the socket is readable in it.
    for _ in 0..<10 { #expect(Self.idleness(server) == [true, true]) }
    #expect(Self.idleSockets(server) == 1)
    server.onServer { $0.endHold() }
    #expect(try client.body() == "GET /2 ")
    try client.send(Self.request)
    #expect(try client.body() == "GET /1 ")
  }

  @Test func `A request under way is waited for, and its connection is not passed on`() throws {
    let server = try HTTPTestServer()
    let (client, other) = (try HTTPTestClient(server), try HTTPTestClient(server))
    try other.send(Self.request)
    #expect(try other.body() == "GET /1 ")
    try client.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n")
    while Self.idleness(server) != [false, false] {}
    try other.send("GET /release HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try other.body() == "GET /release ")
    #expect(try client.body() == "held 0")
    try client.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n")
    while Self.idleness(server) != [false, false] {}
    server.onServer { $0.beginHold() }
    #expect(Self.idleness(server) == [false, false] && Self.idleSockets(server) == 1)
    server.onServer { $0.endHold() }
    #expect(Self.idleness(server) == [false, false])
  }

  @Test func `Peers that are slow are waited for only with patience`() throws {
    let server = try HTTPTestServer()
    let half = try HTTPTestClient(server)
    try half.send("POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n12")
    while Self.idleness(server) != [false, true] {}
    let deaf = try HTTPTestClient(server, receiveBytes: 4096)
    try deaf.send("GET /big?20000000 HTTP/1.1\r\nHost: h\r\n\r\n" + Self.request)
    while (server.metric("borealis_http_requests_total{class=\"2xx\"}") ?? 0) < 1 {}
    #expect(Self.idleness(server) == [false, true])
    #expect(Self.idleSockets(server) == 0)
  }
}
