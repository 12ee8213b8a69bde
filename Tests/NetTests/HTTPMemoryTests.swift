import BorealisNet
import Testing

@testable import HTTP

/// What connections hold is counted, and bounded for all of them together.
@Suite struct HTTPMemoryTests {
  private func server(_ memory: HTTPMemory, message: HTTPLimits = HTTPLimits()) throws -> HTTPTestServer {
    var limits = HTTPServerLimits()
    limits.unscreenedBytes = 0
    limits.uncountedBytes = 4 << 10
    limits.message = message
    return try HTTPTestServer(limits: limits, memory: memory)
  }

  private func head(_ length: Int, _ fields: String = "", path: String = "/body") -> String {
    "POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: \(length)\r\n\(fields)\r\n"
  }

  /// The server has read what came before when this is answered.
  private func settle(_ server: HTTPTestServer) throws {
    for _ in 0..<3 { #expect(try HTTPTestClient(server).get("/") == "GET / ") }
  }

  /// What an unauthenticated client has sent counts, not what it announces; when memory is short it gets 503.
  @Test func unauthenticatedHoldWhatTheySend() throws {
    let memory = HTTPMemory(bytes: 1 << 20, step: 1 << 10)
    let server = try server(memory)
    var slow: [HTTPTestClient] = []
    for _ in 0..<20 {
      let client = try HTTPTestClient(server)
      try client.send(head(1 << 20))
      slow.append(client)
    }
    try settle(server)
    #expect(memory.held == 0)
    let large = try HTTPTestClient(server)
    try large.send(head(1 << 20))
    try large.send([UInt8](repeating: 120, count: 200_000))
    #expect(try large.response()?.status == 503)
    try settle(server)
    #expect(memory.held <= 1 << 18)
    // What is known of a sender is worth the other half.
    let known = try HTTPTestClient(server)
    try known.send(head(150_000, "X-Known: yes\r\n", path: "/length"))
    try known.send([UInt8](repeating: 120, count: 150_000))
    #expect(try known.body() == "150000")
    withExtendedLifetime(slow) {}
  }

  /// Of a sender who is known the whole body is counted at once, so that it is taken or refused as a whole.
  @Test func knownSendersAreTakenWholeOrNotAtAll() throws {
    let memory = HTTPMemory(bytes: 4 << 20, step: 1 << 10)
    let server = try server(memory)
    let first = try HTTPTestClient(server)
    try first.send(head(600_000, "X-Known: yes\r\n", path: "/length") + "x")
    try settle(server)
    #expect(memory.held >= 600_000)
    let second = try HTTPTestClient(server)
    try second.send(head(600_000, "X-Known: yes\r\n") + "x")
    #expect(try second.response()?.status == 503)
    // Another network's share is its own, also behind a proxy.
    let third = try HTTPTestClient(server)
    try third.send(head(600_000, "X-Known: yes\r\nX-Forwarded-For: 192.0.2.1\r\n") + "x")
    try settle(server)
    #expect(memory.held >= 1_200_000)
    try first.send([UInt8](repeating: 120, count: 599_999))
    #expect(try first.body() == "600000")
    third.reset()
    try settle(server)
    #expect(memory.held == 0)
  }

  /// A body holds memory until its request is answered, however it came.
  @Test func requestsHoldMemoryUntilTheyAreAnswered() throws {
    let memory = HTTPMemory(bytes: 1 << 20, step: 1 << 10)
    let server = try server(memory)
    let held = try HTTPTestClient(server)
    try held.send(head(30_000, path: "/held") + String(repeating: "x", count: 30_000))
    try settle(server)
    #expect(memory.held >= 30_000)
    #expect(try HTTPTestClient(server).get("/release") == "GET /release ")
    #expect(try held.body() == "held 0")
  }

  /// Unauthenticated clients that hold their part do not stop known callers, nor another's client behind a
  /// proxy, also if a body comes in one read.
  @Test func wholeBodiesCountForTheirSenders() throws {
    let memory = HTTPMemory(bytes: 1 << 20, step: 1 << 10)
    let server = try server(memory)
    let body = String(repeating: "x", count: 20_000)
    var unauthenticated: [HTTPTestClient] = []
    for _ in 0..<6 {
      let client = try HTTPTestClient(server)
      try client.send(head(20_000, path: "/held") + body)
      unauthenticated.append(client)
    }
    try settle(server)
    #expect(memory.held >= 120_000)
    for (fields, answer) in [
      ("", nil), ("X-Known: yes\r\n", "20000"), ("X-Forwarded-For: 192.0.2.1\r\n", "20000"),
    ] {
      let client = try HTTPTestClient(server)
      try client.send(head(20_000, fields, path: "/length") + body)
      let response = try #require(try client.response())
      #expect(response.status == (answer == nil ? 503 : 200))
      if let answer { #expect(response.body == Array(answer.utf8)) }
    }
    withExtendedLifetime(unauthenticated) {}
  }

  /// What a header is refused for holds for a body that came with it, too.
  @Test func wholeBodiesAreScreened() throws {
    let server = try server(HTTPMemory())
    let body = String(repeating: "x", count: 20_000)
    let client = try HTTPTestClient(server)
    try client.send(head(20_000, path: "/small") + body)
    #expect(try client.response()?.status == 413)
    let other = try HTTPTestClient(server)
    try other.send(head(20_000, path: "/barred") + body)
    #expect(try other.response()?.status == 403)
  }

  /// Pipelined requests, fields and answers count as well; a static answer does not.
  @Test func everythingCounts() throws {
    let memory = HTTPMemory(bytes: 16 << 20, step: 1 << 10)
    let server = try server(memory)
    let field = "X: \(String(repeating: "x", count: 10_000))\r\n"
    let fields = try HTTPTestClient(server)
    try fields.send("GET / HTTP/1.1\r\nHost: h\r\n" + field)
    try settle(server)
    #expect((10_000...64_000).contains(memory.held))
    fields.reset()
    let pipelined = try HTTPTestClient(server)
    let request = "GET /held HTTP/1.1\r\nHost: h\r\n\r\n"
    try pipelined.send(String(repeating: request, count: 1000))
    try settle(server)
    #expect(memory.held >= 20_000)
    pipelined.reset()
    let reader = try HTTPTestClient(server, receiveBytes: 4096)
    try reader.send("GET /static HTTP/1.1\r\nHost: h\r\n\r\n")
    try settle(server)
    #expect(memory.held == 0)
    let other = try HTTPTestClient(server, receiveBytes: 4096)
    try other.send("GET /big?1500000 HTTP/1.1\r\nHost: h\r\n\r\n")
    try settle(server)
    #expect(memory.held >= 1_000_000)
    #expect(try other.response()?.body.count == 1_500_000)
    #expect(try reader.response()?.body == HTTPTestServer.document)
    #expect(memory.fallen() >= 1_000_000 && memory.fallen() == 0)
  }

  /// A route says how large its bodies may be, whether their length is announced or not.
  @Test(arguments: [
    ("Content-Length: 9\r\n", "1"), ("Transfer-Encoding: chunked\r\n", "5\r\n12345\r\n4\r\n"),
  ])
  func routesBoundTheirBodies(framing: String, start: String) throws {
    let server = try server(HTTPMemory())
    let client = try HTTPTestClient(server)
    try client.send("POST /small HTTP/1.1\r\nHost: h\r\n\(framing)\r\n" + start)
    #expect(try client.response()?.status == 413)
    let other = try HTTPTestClient(server)
    try other.send("POST /small HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\n1")
    try other.send("2345678")
    #expect(try other.body() == "POST /small 12345678")
  }

  @Test func shares() {
    let memory = HTTPMemory(bytes: 80, step: 5)
    let networks = (1...5).map { PeerNetwork(rawValue: $0) }
    var first: HTTPMemory.Share? = memory.share(for: networks[0], isKnown: true)
    let second = memory.share(for: networks[0], isKnown: true)
    let unauthenticated = memory.share(for: networks[0], isKnown: false)
    #expect(first?.hold(11) == true && first?.hold(15) == true && memory.held == 15)
    #expect(second.hold(5) && !second.hold(6) && !unauthenticated.hold(1))
    #expect(first?.hold(3) == true && memory.held == 10)
    // Unauthenticated clients have half of a share.
    #expect(!unauthenticated.hold(1))
    let others = networks[1...].map { memory.share(for: $0, isKnown: false) }
    // And half of the whole.
    #expect(others.map { $0.hold(10) } == [true, true, true, true])
    #expect(!memory.share(for: nil, isKnown: false).hold(1))
    let anybody = memory.share(for: nil, isKnown: true)
    #expect(anybody.hold(30) && !anybody.hold(31) && memory.held == 80)
    first = nil
    #expect(memory.held == 75 && anybody.hold(35) && memory.fallen() == 0)
    #expect(anybody.hold(0) && memory.fallen() == 35)
  }
}
