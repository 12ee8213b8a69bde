import BorealisBase
import BorealisNet
import Cluster
import HTTP
import PushTesting
import Testing

/// Clients and nodes that are slow, gone, or not what they claim to be.
@Suite struct ForwardingPeerTests {
  /// A client that vanishes costs the home's connection nothing.
  @Test func vanishedClients() throws {
    let home = try TestHome()
    let front = try TestFront { $0.connections = 1 }
    front.forwarder.follow(home.address)
    do {
      let client = try TestClient(front)
      try client.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(eventually { home.seen.count == 1 })
      client.reset()
    }
    let other = try TestClient(front)
    try other.send("GET /other HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(eventually { front.waiting == 1 })
    home.answerHeld("too late")
    #expect(try other.response()?.text == "GET /other 0")
    #expect(front.metric("borealis_forward_connections") == 1)
  }

  /// A client that does not read its answer holds up nobody else.
  @Test func slowReaders() throws {
    let home = try TestHome()
    let front = try TestFront { $0.connections = 1 }
    front.forwarder.follow(home.address)
    let slow = try TestClient(front)
    try slow.send("GET /big?16000000 HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(eventually { front.requests("answered") == 1 })
    #expect(try TestClient(front).get("/other")?.status == 200)
    #expect(try slow.read().starts(with: "HTTP/1.1 200 OK".utf8))
  }

  @Test func answersTakeBoundedMemory() throws {
    let home = try TestHome()
    let front = try TestFront { $0.answerBytes = 100_000 }
    front.forwarder.follow(home.address)
    let client = try TestClient(front)
    #expect(try client.get("/big?100000")?.body.count == 100_000)
    #expect(try client.get("/big?100001")?.text == "unanswered /big?100001")
    #expect(try client.get("/big?10")?.body.count == 10)
  }

  @Test func answersHaveATime() throws {
    let home = try TestHome()
    let front = try TestFront { $0.answerSeconds = 0 }
    front.forwarder.follow(home.address)
    #expect(try TestClient(front).get("/held")?.text == "unanswered /held")
    #expect(front.requests("unknown") == 1)
  }

  @Test func othersAreRefused() throws {
    let home = try TestHome()
    #expect(try TestClient(home.address.port).get("/")?.status == 400)
    let large = try TestClient(home.address.port)
    try large.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 500000\r\n\r\n")
    #expect(try large.response()?.status == 400)
    #expect(home.seen.isEmpty)
  }

  // MARK: TLS

  @Test func nodesShowTheirCertificates() throws {
    let files = try NodeFiles()
    let home = try TestHome(tls: try files.node("node-a"), bodyBytes: 16 << 20)
    let front = try TestFront(tls: try files.node("front"), bodyBytes: 16 << 20)
    front.forwarder.follow(home.address)
    let client = try TestClient(front)
    #expect(try client.get("/1")?.text == "GET /1 0")
    // TLS between nodes says nothing about the client.
    #expect(home.seen.first?.isSecure == false)
    #expect(try client.get("/2")?.headers["strict-transport-security"] == nil)
    let body = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    #expect(
      try client.call("POST", "/up", "Authorization: right\r\n", body: body)?.text == "POST /up 2000000")
    #expect(home.seen.last?.request.body == body)
    #expect(try client.get("/big?3000000")?.body.count == 3_000_000)
    #expect(front.metric("borealis_forward_connections") == 1)
  }

  @Test func certificatesOfOthers() throws {
    let (files, others) = (try NodeFiles(), try NodeFiles())
    let a = try files.node("node-a")
    let home = try TestHome(tls: a, nodes: ["front", "node-a"])
    let other = NodeAddress(name: "node-b", host: "127.0.0.1", port: home.address.port)
    let cases: [(name: String, tls: NodeTLS?, home: NodeAddress)] = [
      ("no certificate", nil, home.address),
      ("of another authority", try others.node("front", of: files), home.address),
      ("of a node that is not in the table", try files.node("outsider"), home.address),
      ("the home has another name", try files.node("front"), other),
      ("the home is of another authority", try others.node("front"), home.address),
    ]
    for (name, tls, address) in cases {
      let front = try TestFront(tls: tls) { $0.waitMilliseconds = 300 }
      front.forwarder.follow(address)
      #expect(try TestClient(front).get("/")?.text == "unserved /", "\(name)")
    }
    #expect(home.seen.isEmpty)
    let front = try TestFront(tls: try files.node("front"))
    front.forwarder.follow(home.address)
    #expect(try TestClient(front).get("/")?.status == 200)
  }

  /// Without certificates nothing leaves the machine, whatever a table of nodes says.
  @Test func plainOnlyOnThisMachine() throws {
    let lines = LogLines()
    let front = try TestFront(log: Log(write: lines.add)) { $0.waitMilliseconds = 200 }
    front.forwarder.follow(NodeAddress(name: "node-a", host: "192.0.2.1", port: 7))
    #expect(try TestClient(front).get("/")?.text == "unserved /")
    #expect(lines.all.contains { $0.contains("only nodes on this machine") })
  }

  @Test func hostNamesAreLookedUp() throws {
    let home = try TestHome()
    let front = try TestFront()
    front.forwarder.follow(NodeAddress(name: "node-a", host: "localhost", port: home.address.port))
    #expect(try TestClient(front).get("/")?.status == 200)
  }
}
