import BorealisCrypto
import BorealisNet
import Glibc
import HTTP
import Synchronization
import Testing

@Suite struct HTTP2ServerTests {
  /// Answers with the request's body.
  static let echo: TestServer.Answer = { request, connection in
    connection.answer(request.streamID, HTTP2Answer(status: 200, body: request.body))
  }

  @Test func aRequestIsAnswered() throws {
    let server = try TestServer { request, connection in
      let text = "\(request.method) \(request.path) \(request.headers.count(of: "x-a")) \(connection.id)"
      connection.answer(request.streamID, HTTP2Answer(status: 201, body: Array(text.utf8), chunkBytes: 2))
    }
    let client = try TestClient(server)
    #expect(client.tls?.applicationProtocol == "h2")
    #expect(try client.post([1, 2], path: "/a") == .noError)
    #expect(client.body == Array("POST /a 0 1".utf8))
  }

  @Test func delayedAnswersComeInTheOrderOfTheirTimes() throws {
    let server = try TestServer { request, connection in
      let delay = UInt64(request.body.first ?? 0)
      connection.answer(
        request.streamID, HTTP2Answer(status: 200, body: request.body), afterMilliseconds: delay)
    }
    let client = try TestClient(server)
    for delay in [120, 60, 0] as [UInt8] {
      _ = try client.session.submitRequest(requestHeaders(), body: [delay], context: UInt32(delay))
    }
    try client.until { if case .closed(let stream, _) = $0 { stream.context == 120 } else { false } }
    #expect(client.body == [0, 60, 120])
  }

  @Test func streamsAreReset() throws {
    let server = try TestServer { request, connection in
      connection.reset(request.streamID, HTTP2ErrorCode(rawValue: UInt32(request.body.first ?? 0)))
    }
    let client = try TestClient(server)
    #expect(try client.post([7]) == .refusedStream)
    #expect(try client.post([2]) == .internalError)
    #expect(try client.post([200]) == HTTP2ErrorCode(rawValue: 200))
  }

  @Test func goAwayThenCloseDeliversWhatWasQueued() throws {
    let server = try TestServer { request, connection in
      connection.answer(request.streamID, HTTP2Answer(status: 200, body: [9]))
      connection.goAway(debug: Array("{}".utf8), thenClose: true)
    }
    let client = try TestClient(server)
    #expect(try client.post([1]) == .noError)
    try client.until {
      if case .goAway(1, .noError, let debug) = $0 { debug == Array("{}".utf8) } else { false }
    }
    #expect(client.body == [9])
    #expect(client.untilEnd() == "the peer closed")
  }

  @Test func aCutConnectionEnds() throws {
    let server = try TestServer { _, connection in connection.cut() }
    let client = try TestClient(server)
    #expect(throws: TestClient.Failed.self) { try client.post([1]) }
    // The client may see the end before the server's owner is told.
    for _ in 0..<10_000 where server.ends.withLock({ $0.isEmpty }) { usleep(1000) }
    #expect(server.ends.withLock { $0 } == ["cut"])
  }

  @Test func limitsAndSignsOfLifeAreTold() throws {
    let server = try TestServer { request, connection in
      connection.setMaxConcurrentStreams(1)
      connection.answer(request.streamID, HTTP2Answer(status: 200))
    }
    let client = try TestClient(server)
    #expect(try client.post([]) == .noError)
    try client.until {
      if case .settings(let settings) = $0 { settings.maxConcurrentStreams == 1 } else { false }
    }
    try client.session.ping(5)
    try client.until { $0 == .pong(5) }
    let notices = server.notices.withLock { $0 }
    #expect(notices.filter { $0 == .settingsAcknowledged }.count == 2)
    #expect(notices.contains(.ping))
  }

  @Test func tooLargeBodiesAreRefused() throws {
    var options = HTTP2ServerOptions()
    options.bodyBytes = 1000
    let server = try TestServer(options: options, answer: Self.echo)
    let client = try TestClient(server)
    #expect(try client.post([UInt8](repeating: 1, count: 1001)) == .enhanceYourCalm)
    #expect(try client.post([UInt8](repeating: 1, count: 1000)) == .noError)
  }

  @Test func manyLargeBodiesComeBack() throws {
    let server = try TestServer(answer: Self.echo)
    let client = try TestClient(server)
    let body = (0..<60_000).map { UInt8(truncatingIfNeeded: $0) }
    for _ in 0..<20 { #expect(try client.post(body) == .noError) }
    #expect(client.body.count == 20 * 60_000)
  }

  @Test func clientsWithoutH2AreRefused() throws {
    let server = try TestServer(answer: Self.echo)
    #expect(throws: TestClient.Failed.self) { try TestClient(server, protocols: ["http/1.1"]) }
    #expect(throws: TestClient.Failed.self) { try TestClient(server, protocols: []) }
    var options = HTTP2ServerOptions()
    options.requiresALPN = false
    let lax = try TestServer(options: options, answer: Self.echo)
    let client = try TestClient(lax, protocols: [])
    #expect(client.tls?.applicationProtocol == nil)
    #expect(try client.post([1]) == .noError)
  }

  @Test func clientCertificatesAreAskedFor() throws {
    let own = try TestIdentity(name: "client", usage: .client)
    let server = try TestServer(clients: .optional(.pem(own.certificate))) { request, connection in
      connection.answer(request.streamID, HTTP2Answer(status: connection.peerCertificate == nil ? 403 : 200))
    }
    let without = try TestClient(server)
    _ = try without.post([1])
    #expect(statuses(without) == [403])
    let with = try TestClient(server, identity: own.identity)
    _ = try with.post([1])
    #expect(statuses(with) == [200])
    let outsider = try TestIdentity(name: "client", usage: .client)
    #expect(throws: TestClient.Failed.self) { try TestClient(server, identity: outsider.identity) }
    let strict = try TestServer(clients: .required(.pem(own.certificate)), answer: Self.echo)
    #expect(throws: TestClient.Failed.self) { try TestClient(strict) }
    #expect(try TestClient(strict, identity: own.identity).post([1]) == .noError)
  }

  @Test func aFrozenConnectionGoesOnAfterwards() throws {
    let server = try TestServer { request, connection in
      connection.answer(request.streamID, HTTP2Answer(status: 200), afterMilliseconds: 20)
      if request.path == "/freeze" { connection.freeze() }
    }
    let client = try TestClient(server)
    _ = try client.session.submitRequest(requestHeaders(path: "/freeze"), body: [], context: 0)
    // Another connection is served meanwhile, until long after the answer was due.
    let other = try TestClient(server)
    for _ in 0..<3 { #expect(try other.post([1]) == .noError) }
    #expect(!client.events.contains { if case .headers = $0 { true } else { false } })
  }

  private func statuses(_ client: TestClient) -> [Int] {
    client.events.compactMap { if case .headers(_, let headers) = $0 { headers.status } else { nil } }
  }
}
