import HTTP
import PushTesting
import Testing

/// What comes of requests that waited while the process stood still.
@Suite struct HTTPPauseTests {
  private static func request(_ target: String) -> String { "GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n" }

  /// The client has given up, and may have asked for something else at another server.
  @Test func `A request whose client has left during a stop is not carried out`() throws {
    let clock = ManualClock()
    let server = try HTTPTestServer(clock: clock)
    let (left, stays) = (try HTTPTestClient(server), try HTTPTestClient(server))
    #expect(try left.get("/1") == "GET /1 ")
    #expect(try stays.get("/2") == "GET /2 ")
    try server.whileStopped {
      try left.send(Self.request("/held"))
      left.shutDownWriting()
      try stays.send(Self.request("/3"))
      clock.advance(seconds: 5)
    }
    #expect(try stays.body() == "GET /3 ")
    #expect(try left.response() == nil)
    // Nothing is held that would be answered now.
    #expect(try stays.get("/release") == "GET /release ")
    #expect(server.metric("borealis_http_requests_total{class=\"2xx\"}") == 4)
  }

  @Test func `A request that may have waited longer than its client does is refused`() throws {
    let clock = ManualClock()
    let server = try HTTPTestServer(clock: clock)
    let client = try HTTPTestClient(server)
    #expect(try client.get("/1") == "GET /1 ")
    try server.whileStopped {
      try client.send(Self.request("/held"))
      clock.advance(seconds: 20)
    }
    let answer = try #require(try client.response())
    #expect(answer.status == 503 && answer.headers["retry-after"] == "2")
    server.handle.waitUntilCaughtUp()
    let next = try HTTPTestClient(server)
    #expect(try next.get("/2") == "GET /2 ")
  }

  /// Clients may end their side behind a request when nothing stood still.
  @Test func `A short stop changes nothing`() throws {
    let clock = ManualClock()
    let server = try HTTPTestServer(clock: clock)
    let client = try HTTPTestClient(server)
    #expect(try client.get("/1") == "GET /1 ")
    try server.whileStopped {
      try client.send(Self.request("/2"))
      client.shutDownWriting()
      clock.advance(seconds: 3)
    }
    #expect(try client.body() == "GET /2 ")
  }
}
