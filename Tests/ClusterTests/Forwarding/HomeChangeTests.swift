import BorealisBase
import Cluster
import HTTP
import PushTesting
import Testing

/// Homes that come, go and end in the middle of something.
@Suite struct HomeChangeTests {
  @Test func requestsWaitForAHome() throws {
    let front = try TestFront { $0.waitMilliseconds = 60_000 }
    let client = try TestClient(front)
    try client.send("GET /early HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(eventually { front.waiting == 1 })
    let home = try TestHome()
    front.forwarder.follow(home.address)
    #expect(try client.response()?.text == "GET /early 0")
    #expect(front.waiting == 0 && front.metric("borealis_forward_repeats_total") == 0)
  }

  @Test func waitingEnds() throws {
    let front = try TestFront { $0.waitMilliseconds = 200 }
    for target in ["/v3/push", "/v2/app/push/all"] {
      let answer = try #require(try TestClient(front).call("POST", target, body: [1]))
      #expect(answer.status == 503 && answer.text == "unserved \(target)")
      #expect(answer.headers["retry-after"] == "2")
    }
    // A large body is not read meanwhile.
    let client = try TestClient(front)
    try client.send("POST /large HTTP/1.1\r\nHost: h\r\nContent-Length: 500000\r\n\r\n")
    #expect(try client.response()?.text == "unserved /large")
    #expect(front.requests("refused") == 3 && front.waiting == 0)
  }

  @Test func waitingTakesBoundedMemory() throws {
    let front = try TestFront {
      ($0.waitMilliseconds, $0.waitingBytes, $0.exempt) = (60_000, 256 << 10, [])
    }
    // Unauthenticated clients of one network have an eighth.
    let clients = try (0..<30).map { _ in try TestClient(front) }
    for client in clients {
      try client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1024\r\n\r\n")
      try client.send([UInt8](repeating: 1, count: 1024))
    }
    #expect(eventually { (front.waiting ?? 0) + (front.requests("refused") ?? 0) == 30 })
    #expect((4...16).contains(front.waiting ?? 0))
    let home = try TestHome()
    front.forwarder.follow(home.address)
    let statuses = try clients.map { try $0.response()?.status }
    #expect(statuses.filter { $0 == 200 }.count == home.seen.count)
    #expect(statuses.allSatisfy { $0 == 200 || $0 == 503 })
  }

  /// A node that is not the home says so, and the request goes to the next one; its handlers see nothing of
  /// it.
  @Test func nodesThatAreNotHomeRefuse() throws {
    let (old, new) = (try TestHome("node-a"), try TestHome("node-b"))
    let front = try TestFront { $0.waitMilliseconds = 60_000 }
    front.forwarder.follow(old.address)
    let client = try TestClient(front)
    #expect(try client.get("/1")?.status == 200)
    old.isHome = false
    try client.send("GET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
    let large = try TestClient(front)
    try large.send(
      Array("POST /3 HTTP/1.1\r\nHost: h\r\nAuthorization: unknown\r\nContent-Length: 6000\r\n\r\n".utf8)
        + [UInt8](repeating: 1, count: 6000))
    #expect(eventually { front.waiting == 2 })
    front.forwarder.follow(new.address)
    #expect(try client.response()?.text == "GET /2 0")
    #expect(try large.response()?.text == "POST /3 6000")
    #expect(old.seen.map(\.request.target) == ["/1"])
    #expect(new.seen.count == 2)
    #expect((front.metric("borealis_forward_repeats_total") ?? 0) >= 1)
  }

  /// Neither of two nodes that take each other for the home passes a request on a second time.
  @Test func nothingGoesInCircles() throws {
    let node = try TestHome(isHome: false)
    let front = try TestFront { $0.waitMilliseconds = 300 }
    front.forwarder.follow(node.address)
    #expect(try TestClient(front).get("/")?.text == "unserved /")
    #expect(node.seen.isEmpty)
    // It tries now and then, not all the time.
    #expect((front.metric("borealis_forward_repeats_total") ?? 99) <= 6)
  }

  @Test func nobodyListens() throws {
    let gone = try RawHome { _, _ in }
    let lines = LogLines()
    let front = try TestFront(log: Log(write: lines.add)) { $0.waitMilliseconds = 60_000 }
    // This ends its only connection and its listener.
    let last = try TestClient(gone.address.port)
    try last.send("\r\n\r\n")
    _ = try last.response()
    front.forwarder.follow(gone.address)
    let client = try TestClient(front)
    try client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(eventually { lines.all.contains { $0.contains("cannot reach the home for requests") } })
    let home = try TestHome()
    front.forwarder.follow(home.address)
    #expect(try client.response()?.status == 200)
    #expect(eventually { lines.all.contains { $0.contains("home reachable for requests") } })
  }

  /// The home ends after it got a request: whether it has run is not known, and no other home gets it.
  @Test func killedWithTheRequest() throws {
    let (first, second) = (try TestHome("node-a"), try TestHome("node-b"))
    let front = try TestFront()
    front.forwarder.follow(first.address)
    let client = try TestClient(front)
    try client.send("POST /held HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx")
    #expect(eventually { first.seen.count == 1 })
    first.kill()
    front.forwarder.follow(second.address)
    let answer = try #require(try client.response())
    #expect(answer.status == 503 && answer.text == "unanswered /held")
    #expect(second.seen.isEmpty && front.requests("unknown") == 1)
    #expect(try client.get("/next")?.text == "GET /next 0")
  }

  /// The home has a request whole, unread, when it closes its idle connections: the request goes to the next
  /// home.
  @Test func closesTheConnectionOfARequestUnderWay() throws {
    let (old, new) = (try TestHome("node-a"), try TestHome("node-b"))
    let front = try TestFront { $0.waitMilliseconds = 60_000 }
    front.forwarder.follow(old.address)
    // Two connections to the home.
    let clients = try [TestClient(front), TestClient(front), TestClient(front)]
    for client in clients.prefix(2) { try client.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n") }
    #expect(eventually { old.seen.count == 2 })
    old.answerHeld("late")
    for client in clients.prefix(2) { #expect(try client.response()?.text == "late") }
    // The home stands still.
    try clients[0].send("GET /drain HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(eventually { old.seen.count == 3 })
    try clients[1].send("POST /crossing HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx")
    // The loop has passed that on before it answers this.
    try clients[2].send("?\r\n\r\n")
    #expect(try clients[2].response()?.status == 400)
    front.forwarder.follow(new.address)
    old.drain()
    #expect(try clients[0].response()?.text == "GET /drain 0")
    #expect(try clients[1].response()?.text == "POST /crossing 1")
    #expect(old.seen.count == 3 && new.seen.map(\.request.target) == ["/crossing"])
    #expect(front.requests("unknown") == 0)
  }

  @Test func killedInTheMiddleOfAnAnswer() throws {
    let raw = try RawHome { raw, connection in
      raw.read(connection, until: "\r\n\r\n")
      raw.send(connection, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    }
    let front = try TestFront()
    front.forwarder.follow(raw.address)
    #expect(try TestClient(front).get("/broken")?.text == "unanswered /broken")
    #expect(raw.text.hasPrefix("GET /broken HTTP/1.1\r\nborealis-node-request: 1\r\n"))
  }

  @Test(arguments: [
    "SSH-2.0-x\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
    "HTTP/1.1 204 No Content\r\nborealis-node-answer: admitted 5 known\r\n\r\n",
  ]) func answersThatAreNone(text: String) throws {
    let raw = try RawHome { raw, connection in
      raw.read(connection, until: "\r\n\r\n")
      raw.send(connection, text)
      raw.read(connection, until: "never")
    }
    let front = try TestFront()
    front.forwarder.follow(raw.address)
    #expect(try TestClient(front).get("/")?.text == "unanswered /")
  }

  /// The home ends before it can have got all of a request: the next one gets it.
  @Test func killedBeforeTheEndOfTheRequest() throws {
    let raw = try RawHome { raw, connection in
      raw.read(connection, until: "\r\n\r\n")
      raw.send(
        connection, "HTTP/1.1 204 No Content\r\nborealis-node-answer: admitted 16777216 known\r\n\r\n")
      raw.read(connection, bytes: 1000)
    }
    let home = try TestHome(bodyBytes: 16 << 20)
    let front = try TestFront(bodyBytes: 16 << 20) { $0.waitMilliseconds = 60_000 }
    front.forwarder.follow(raw.address)
    let client = try TestClient(front)
    let body = (0..<14_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
    try client.send(
      Array(
        "POST /up HTTP/1.1\r\nHost: h\r\nAuthorization: right\r\nContent-Length: \(body.count)\r\n\r\n".utf8)
        + body)
    #expect(eventually { front.waiting == 1 })
    front.forwarder.follow(home.address)
    #expect(try client.response()?.text == "POST /up 14000000")
    #expect(home.seen.count == 1 && home.seen.last?.request.body == body)
    #expect(front.requests("unknown") == 0 && front.metric("borealis_forward_repeats_total") == 1)
  }

  /// A home that stands still answers nothing; when it is known to be dead its clients need not wait longer.
  @Test func deadNodesAnswerNothing() throws {
    let (first, second) = (try TestHome("node-a"), try TestHome("node-b"))
    let front = try TestFront()
    front.forwarder.follow(first.address)
    let client = try TestClient(front)
    try client.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(eventually { first.seen.count == 1 })
    front.forwarder.follow(second.address)
    // An earlier home may still answer.
    let other = try TestClient(front)
    #expect(try other.get("/other")?.status == 200)
    first.answerHeld("late")
    #expect(try client.response()?.text == "late")
    try client.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(eventually { second.seen.count == 2 })
    front.forwarder.follow(first.address)
    front.forwarder.abandon(second.address)
    #expect(try client.response()?.text == "unanswered /held")
    #expect(try client.get("/next")?.status == 200)
  }

  /// What a dead node has not got completely is sent to the next home, and not first over an idle connection
  /// to the dead one.
  @Test func deadNodesGetNothingMore() throws {
    let end = Semaphore()
    defer { end.signal() }
    let dead = try TestHome(bodyBytes: 16 << 20) { request, exchange, isSecure in
      // Its loop stands still: nothing is read any more.
      if request.target == "/block" {
        BlockingCall.forbid(false)
        end.wait()
      }
      TestHome.echo(request, exchange, isSecure)
    }
    let next = try TestHome("node-b", bodyBytes: 16 << 20)
    let front = try TestFront(bodyBytes: 16 << 20) { $0.waitMilliseconds = 60_000 }
    front.forwarder.follow(RequestHomes(installation: .node(dead.address), apps: [:]))
    let clients = try (0..<4).map { _ in try TestClient(front) }
    #expect(try clients[0].get("/")?.status == 200)
    for client in clients[1...2] { try client.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n") }
    #expect(eventually { dead.seen.count == 3 })
    #expect(try clients[3].get("/last")?.status == 200)
    dead.answerHeld("late")
    for client in clients[1...2] { #expect(try client.response()?.text == "late") }
    // Of three connections the one made last stays idle.
    #expect(front.metric("borealis_forward_connections") == 3)
    // Its body may come, and does once nobody reads it.
    let body = [UInt8](repeating: 7, count: 14_000_000)
    let answered = front.requests("answered") ?? 0
    try clients[0].send(
      "POST /up HTTP/1.1\r\nHost: h\r\nAuthorization: right\r\nContent-Length: \(body.count)\r\n\r\n")
    #expect(eventually { front.requests("answered") == answered + 1 })
    try clients[1].send("GET /block HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(eventually { dead.seen.last?.request.target == "/block" })
    let known = front.lookups.value
    try clients[0].send(body)
    #expect(eventually { front.lookups.value == known + 1 })
    front.forwarder.abandon(dead.address)
    #expect(try clients[1].response()?.text == "unanswered /block")
    front.forwarder.follow(RequestHomes(installation: .node(next.address), apps: [:]))
    #expect(try clients[0].response()?.text == "POST /up 14000000")
    #expect(front.requests("unknown") == 1 && front.metric("borealis_forward_repeats_total") == 1)
  }

  /// A home that ends and starts again at its address is found at once.
  @Test func startsAgain() throws {
    let first = try TestHome(port: FixedPort.reserve())
    let front = try TestFront { $0.waitMilliseconds = 60_000 }
    front.forwarder.follow(first.address)
    let client = try TestClient(front)
    #expect(try client.get("/1")?.status == 200)
    first.kill()
    #expect(eventually { front.metric("borealis_forward_connections") == 0 })
    var second: TestHome?
    #expect(
      eventually {
        second = try? TestHome(port: first.address.port)
        return second != nil
      })
    #expect(try client.get("/2")?.text == "GET /2 0")
  }

  /// This process becomes the home: what waits is its own.
  @Test func becomesTheHome() throws {
    let front = try TestFront { $0.waitMilliseconds = 60_000 }
    let client = try TestClient(front)
    try client.send("GET /mine HTTP/1.1\r\nHost: h\r\n\r\n")
    let large = try TestClient(front)
    try large.send("POST /large HTTP/1.1\r\nHost: h\r\nContent-Length: 500000\r\n\r\n")
    #expect(eventually { front.waiting == 2 })
    front.serve { request, exchange, _ in
      exchange.respond(HTTPResponse(status: 200, body: Array("own \(request.target)".utf8)))
    }
    #expect(try client.response()?.text == "own /mine")
    #expect(try large.response()?.status == 401)
  }
}
