import BorealisNet
import Glibc
import HTTP
import Testing

/// Peers that mean harm, or have bad luck.
@Suite struct HTTPHostilePeerTests {
  /// What two readers might frame differently is answered once, with an error, and nothing behind it is
  /// looked at.
  @Test(arguments: [
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nContent-Length: 0\r\n\r\nabcd", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +4\r\n\r\nabcd", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length : 4\r\n\r\nabcd", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n", 501),
    ("GET / HTTP/1.1\nHost: h\n\n", 400), ("GET / HTTP/1.1\r\nHost: h\r\n X: folded\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: h\r\nX\0: y\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\n\r\n", 400), ("GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ("GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505), ("GET / HTTP/1.1\r\nHost: h\r\nExpect: more\r\n\r\n", 417),
    ("\u{16}\u{3}\u{1}\u{2}\r\n", 400),
  ])
  func refusesOnceAndCloses(request: String, status: Int) throws {
    let server = try HTTPTestServer()
    let client = try HTTPTestClient(server)
    try client.send(request + "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n")
    let answer = try client.rest()
    #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && answer.contains("\r\nconnection: close\r\n"))
    #expect(answer.components(of: "HTTP/1.1 ") == 1)
    #expect(server.metric("borealis_http_refused_requests_total") == 1)
  }

  @Test func refusesWhatIsOverTheLimits() throws {
    let server = try HTTPTestServer()
    let field = "X: \(String(repeating: "x", count: 1000))\r\n"
    let requests: [(text: String, status: Int)] = [
      ("GET /\(String(repeating: "a", count: 80_000)) HTTP/1.1\r\n", 414),
      ("GET / HTTP/1.1\r\nHost: h\r\n" + String(repeating: field, count: 100), 431),
      ("GET / HTTP/1.1\r\nHost: h\r\n" + String(repeating: "a: b\r\n", count: 200), 431),
      ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n", 413),
      (
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2000000\r\n\r\n"
          + String(repeating: "b", count: 200_000), 413
      ),
      ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n", 413),
    ]
    for request in requests {
      let client = try HTTPTestClient(server)
      try client.send(request.text)
      #expect(try client.rest().hasPrefix("HTTP/1.1 \(request.status) "))
    }
  }

  /// Each second that a peer may waste is counted from when it began to waste it; nothing extends it.
  @Test func closesSlowPeers() throws {
    var limits = HTTPServerLimits()
    (limits.idleSeconds, limits.headerSeconds, limits.bodySeconds) = (1, 1, 1)
    let server = try HTTPTestServer(limits: limits)
    let beginnings = [
      "GET / HT", "GET / HTTP/1.1\r\nHost: h\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nab",
    ]
    let slow = try beginnings.map { beginning in
      let client = try HTTPTestClient(server)
      try client.send(beginning)
      return client
    }
    let silent = try HTTPTestClient(server)
    let idle = try HTTPTestClient(server)
    try idle.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try idle.body() == "GET / ")
    for client in slow { #expect(try client.rest().hasPrefix("HTTP/1.1 408 ")) }
    #expect(try silent.rest() == "")
    #expect(try idle.rest() == "")
  }

  /// A byte now and then does not extend a deadline.
  @Test(arguments: ["", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10000\r\n\r\n"])
  func closesPeersThatTrickle(beginning: String) throws {
    var limits = HTTPServerLimits()
    (limits.headerSeconds, limits.bodySeconds) = (1, 1)
    let server = try HTTPTestServer(limits: limits)
    let client = try HTTPTestClient(server)
    try client.send(beginning)
    var count = 0
    while count < 5000, !client.hears(withinMilliseconds: 5) {
      try client.send("a")
      count += 1
    }
    #expect(count < 5000)
    #expect(try client.rest().hasPrefix("HTTP/1.1 408 "))
  }

  @Test func forgetsPeersThatVanish() throws {
    let server = try HTTPTestServer()
    let witness = try HTTPTestClient(server)
    let beginnings = ["", "GET /held HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HT", "POST / HTTP/1.1\r\nContent-"]
    for beginning in beginnings {
      let client = try HTTPTestClient(server)
      try client.send(beginning)
      // The server looks at sockets in turn: when these are answered it has read what came before.
      for _ in 0..<3 { #expect(try witness.get("/") == "GET / ") }
      #expect(server.metric("borealis_http_connections") == 2)
      client.reset()
      for _ in 0..<3 { #expect(try witness.get("/") == "GET / ") }
      #expect(server.metric("borealis_http_connections") == 1)
    }
    #expect(try witness.get("/release") == "GET /release ")
    #expect(server.metric("borealis_http_lost_answers_total") == 1)
  }

  /// A client that asks forever and does not read gets what the kernel holds and a bounded queue; others are
  /// served meanwhile. If it reads at last it gets everything, else it is closed.
  @Test(arguments: [true, false]) func boundsWhatWaitsForPeersThatDoNotRead(readsLater: Bool) throws {
    var limits = HTTPServerLimits()
    limits.outboundBytes = 1 << 16
    limits.idleSeconds = 5
    if !readsLater { limits.writeSeconds = 1 }
    let server = try HTTPTestServer(limits: limits)
    let silent = try HTTPTestClient(server)
    let client = try HTTPTestClient(server)
    let count = 4000
    try client.send(String(repeating: "GET /big?10000 HTTP/1.1\r\nHost: h\r\n\r\n", count: count))
    client.shutDownWriting()
    let answered = try settledCount(server)
    #expect(answered < count / 2)
    if readsLater {
      for _ in 0..<count { #expect(try client.response()?.body.count == 10_000) }
      #expect(try client.response() == nil)
    } else {
      // The server closes it for being idle long after it should have closed the other.
      #expect(try silent.rest() == "")
      #expect(server.metric("borealis_http_connections") == 0)
    }
  }

  /// Whoever takes a little of an answer now and then does not hold the rest of it forever; who is quick
  /// enough gets it whole.
  @Test(arguments: [1 << 30, 1]) func closesPeersThatReadTooSlowly(bytesPerSecond: Int) throws {
    var limits = HTTPServerLimits()
    (limits.writeSeconds, limits.writeBytesPerSecond) = (1, bytesPerSecond)
    let server = try HTTPTestServer(limits: limits)
    let pause = try HTTPTestClient(server)
    let client = try HTTPTestClient(server, receiveBytes: 4096)
    try client.send("GET /static HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    var count = 0
    while let bytes = try? client.read(), !bytes.isEmpty {
      count += bytes.count
      // A few KB at a time: too little, but never nothing for a second.
      if bytesPerSecond > 1 { #expect(!pause.hears(withinMilliseconds: 20)) }
    }
    #expect((count > HTTPTestServer.document.count) == (bytesPerSecond == 1))
    #expect(count > 0)
  }

  /// How many requests of others a server has answered once it answers no more of them.
  private func settledCount(_ server: HTTPTestServer) throws -> Int {
    let witness = try HTTPTestClient(server)
    var answered = -1
    var own = 0
    while true {
      for _ in 0..<20 { #expect(try witness.get("/") == "GET / ") }
      own += 20
      let now = (server.metric("borealis_http_requests_total{class=\"2xx\"}") ?? 0) - own
      if now == answered { return now }
      answered = now
    }
  }

  /// Empty lines before a request are no request: they do not extend the time in which one has to come, and
  /// are few.
  @Test func closesPeersThatSendEmptyLines() throws {
    var limits = HTTPServerLimits()
    limits.idleSeconds = 1
    let server = try HTTPTestServer(limits: limits)
    let waiting = try HTTPTestClient(server)
    #expect(try waiting.get("/1") == "GET /1 ")
    try waiting.send("\r")
    var count = 0
    // Each half of a line is read alone, so that a request seems to begin and to end again and again.
    while count < 1000, !waiting.hears(withinMilliseconds: 5) {
      try waiting.send(count.isMultiple(of: 2) ? "\n" : "\r")
      count += 1
    }
    #expect(count < 1000)
    let many = try HTTPTestClient(server)
    try many.send("\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try many.body() == "GET /2 ")
    for _ in 0..<2 {
      try many.send("\r\n")
      // When this is answered the server has seen what came before.
      #expect(try HTTPTestClient(server).get("/") == "GET / ")
    }
    try many.send("\r\n")
    #expect(try many.rest().hasPrefix("HTTP/1.1 400 "))
  }

  /// Whoever does not read gets what the kernel takes before there is room on the other side: little of it
  /// waits there.
  @Test func boundsWhatTheKernelHolds() throws {
    let server = try HTTPTestServer()
    let client = try HTTPTestClient(server, receiveBytes: 4096)
    try client.send("GET /static HTTP/1.1\r\nHost: h\r\n\r\n")
    // The server's side of this connection is the only one on it that holds unsent bytes.
    #expect(client.hears(withinMilliseconds: 10_000))
    for _ in 0..<3 { #expect(try HTTPTestClient(server).get("/") == "GET / ") }
    let queued = try #require(try unsentBytes(of: server, to: client))
    #expect(queued > 0 && queued <= 192 << 10)
    #expect(try client.response()?.body.count == HTTPTestServer.document.count)
  }

  /// What the kernel holds of the bytes from a server to a client, as it tells in /proc/net/tcp.
  private func unsentBytes(of server: HTTPTestServer, to client: HTTPTestClient) throws -> Int? {
    func place(_ port: UInt16) -> String {
      let digits = String(port, radix: 16, uppercase: true)
      return "0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits
    }
    let bytes = try [UInt8](contentsOfFile: "/proc/net/tcp")
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count > 4, fields[1] == place(server.port), fields[2] == place(client.port) else {
        continue
      }
      return Int(fields[4].prefix(8), radix: 16)
    }
    return nil
  }
}

extension String {
  /// How often a text stands in this one.
  fileprivate func components(of text: String) -> Int {
    let (bytes, wanted) = (Array(utf8), Array(text.utf8))
    return bytes.indices.count { bytes[$0...].starts(with: wanted) }
  }
}

extension [UInt8] {
  fileprivate init(contentsOfFile path: String) throws {
    self = []
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { throw SystemError(call: "open", number: errno) }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = read(descriptor, &buffer, buffer.count), count > 0 { self += buffer[..<count] }
  }
}
