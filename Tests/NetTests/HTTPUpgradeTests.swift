import BorealisBase
import HTTP
import Testing

@Suite struct HTTPUpgradeTests {
  private static let requests = ["/1", "/later", "/away"].map { "GET \($0) HTTP/1.1\r\nHost: h\r\n\r\n" }

  /// The connection leaves with the answers before its own, and with what came behind the request.
  @Test(arguments: [0, 1]) func `A connection goes away with all that belongs to it`(cut: Int) throws {
    let server = try HTTPTestServer()
    let client = try HTTPTestClient(server)
    let parts = [Self.requests.joined() + "more", Self.requests.joined()]
    try client.send(parts[cut])
    #expect(try client.body() == "GET /1 ")
    #expect(try client.body() == "GET /later ")
    let rest = try client.rest()
    #expect(rest.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
    #expect(rest.contains("\r\nconnection: upgrade\r\n"))
    #expect(rest.hasSuffix(cut == 0 ? "\r\n\r\nmore" : "\r\n\r\n"))
    #expect(server.metric("borealis_http_connections") == 0)
    #expect(server.metric("borealis_http_requests_total{class=\"1xx\"}") == 1)
  }

  @Test func `A refused request leaves the connection as it was`() throws {
    let server = try HTTPTestServer()
    let client = try HTTPTestClient(server)
    try client.send("GET /stay HTTP/1.1\r\nHost: h\r\n\r\n")
    let answer = try #require(try client.response())
    #expect(answer.status == 426 && answer.headers["connection"] == "upgrade")
    #expect(try client.get("/1") == "GET /1 ")
  }

  /// What it took along would count for nobody: one that has not read its answers stays.
  @Test(arguments: ["/big?200000", "/static"])
  func `A connection with much to be sent does not go away`(before: String) throws {
    let server = try HTTPTestServer()
    let client = try HTTPTestClient(server, receiveBytes: 4096)
    try client.send(
      [before, "/away"].map { "GET \($0) HTTP/1.1\r\nHost: h\r\nUpgrade: echo\r\n\r\n" }.joined())
    #expect(try client.response()?.body.count == (before == "/static" ? 1 << 20 : 200_000))
    let answer = try #require(try client.response())
    #expect(answer.status == 503 && answer.headers["connection"] == "close")
    #expect(try client.rest() == "")
    #expect(server.metric("borealis_http_requests_total{class=\"1xx\"}") == 0)
  }

  @Test func `A drain does not wait for what went away`() async throws {
    let server = try HTTPTestServer()
    let client = try HTTPTestClient(server)
    try client.send(Self.requests[2])
    _ = try client.rest()
    #expect(try HTTPTestClient(server).get("/drain") == "GET /drain ")
    for await _ in server.drained {}
  }
}
