import HTTP
import Testing

/// A client's and a server's session, their bytes carried by hand.
final class SessionPair {
  let client: HTTP2Session
  let server: HTTP2Session
  private(set) var atClient: [HTTP2Event] = []
  private(set) var atServer: [HTTP2Event] = []

  init(client: HTTP2Options = .init(), server: HTTP2Options = .init()) throws {
    self.client = try HTTP2Session(role: .client, options: client)
    self.server = try HTTP2Session(role: .server, options: server)
  }

  /// Carries bytes both ways until none are left, at most `piece` at a time.
  func settle(piece: Int = .max) throws {
    atClient = []
    atServer = []
    while true {
      let toServer = try Self.carry(from: client, to: server, piece, &atServer)
      let toClient = try Self.carry(from: server, to: client, piece, &atClient)
      if toServer + toClient == 0 { return }
    }
  }

  private static func carry(
    from source: HTTP2Session, to sink: HTTP2Session, _ piece: Int, _ seen: inout [HTTP2Event]
  ) throws -> Int {
    var bytes: [UInt8] = []
    try source.drainOutgoing(into: &bytes)
    var start = 0
    while start < bytes.count {
      let end = start + min(piece, bytes.count - start)
      try sink.feed(Array(bytes[start..<end]))
      start = end
    }
    var events: [HTTP2Event] = []
    sink.drainEvents(into: &events)
    seen += events
    return bytes.count
  }
}

func requestHeaders(path: String = "/3/device/00", extra: [(String, String)] = []) -> HTTP2Headers {
  var headers = HTTP2Headers()
  headers.append(":method", text: "POST")
  headers.append(":scheme", text: "https")
  headers.append(":authority", text: "api.example.com")
  headers.append(":path", text: path)
  for (name, value) in extra { headers.append(name: name.utf8, value.utf8) }
  return headers
}

func responseHeaders(_ status: Int) -> HTTP2Headers {
  var headers = HTTP2Headers()
  headers.append(":status", text: String(status))
  return headers
}

@Suite struct HTTP2SessionTests {
  @Test(arguments: [1, 7, 100, Int.max]) func aRequestIsAnswered(piece: Int) throws {
    let pair = try SessionPair()
    try pair.settle(piece: piece)
    #expect(
      pair.atClient.contains(
        .settings(HTTP2PeerSettings(maxConcurrentStreams: 1000, initialWindowSize: 65536))))
    let headers = requestHeaders(extra: [("x-a", "1"), ("x-b", "2"), ("x-a", "3")])
    let id = try pair.client.submitRequest(headers, body: Array("hello".utf8), context: 77)
    try pair.settle(piece: piece)
    let stream = HTTP2Stream(id: id, context: 0)
    #expect(pair.atServer.first == .headers(stream, headers))
    #expect(body(pair.atServer, of: id) == Array("hello".utf8))
    #expect(pair.atServer.contains(.end(stream)))
    try pair.server.submitResponse(id, responseHeaders(200), body: Array("fine".utf8), chunkBytes: 3)
    try pair.settle(piece: piece)
    let own = HTTP2Stream(id: id, context: 77)
    #expect(pair.atClient.first == .headers(own, responseHeaders(200)))
    #expect(body(pair.atClient, of: id) == Array("fine".utf8))
    #expect(pair.atClient.suffix(2) == [.end(own), .closed(own, .noError)])
  }

  @Test func severalStreamsKeepTheirNumbers() throws {
    let pair = try SessionPair()
    try pair.settle()
    var ids: [Int32: UInt32] = [:]
    for number in 0..<50 as Range<UInt32> {
      ids[try pair.client.submitRequest(requestHeaders(), body: [UInt8(number)], context: number)] = number
    }
    try pair.settle()
    for id in ids.keys.shuffled() { try pair.server.submitResponse(id, responseHeaders(200)) }
    try pair.settle()
    for (id, context) in ids {
      #expect(pair.atClient.contains(.closed(HTTP2Stream(id: id, context: context), .noError)))
    }
  }

  @Test func aBodyLargerThanTheWindowArrives() throws {
    let pair = try SessionPair()
    try pair.settle()
    let large = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
    let id = try pair.client.submitRequest(requestHeaders(), body: large, context: 0)
    try pair.settle()
    #expect(body(pair.atServer, of: id) == large)
  }

  @Test func theEndsPlaceIsKnown() throws {
    let pair = try SessionPair()
    try pair.settle()
    let first = try pair.client.submitRequest(requestHeaders(), body: [1, 2, 3], context: 1)
    let second = try pair.client.submitRequest(requestHeaders(), body: [], context: 2)
    #expect(pair.client.endPosition(of: first) == nil)
    let before = pair.client.outgoingPosition
    try pair.settle()
    let end = try #require(pair.client.endPosition(of: first))
    let last = try #require(pair.client.endPosition(of: second))
    #expect(end > before && end <= pair.client.outgoingPosition)
    #expect(last > before && last <= pair.client.outgoingPosition && last != end)
  }

  @Test func aResetCarriesItsCode() throws {
    let pair = try SessionPair()
    try pair.settle()
    let id = try pair.client.submitRequest(requestHeaders(), body: [1], context: 5)
    try pair.settle()
    try pair.server.reset(id, .refusedStream)
    try pair.settle()
    #expect(pair.atClient == [.closed(HTTP2Stream(id: id, context: 5), .refusedStream)])
  }

  @Test func goAwayClosesTheStreamsAboveIt() throws {
    let pair = try SessionPair()
    try pair.settle()
    let ids = try (0..<3).map { try pair.client.submitRequest(requestHeaders(), body: [1], context: $0) }
    try pair.settle()
    try pair.server.goAway(last: ids[0], .noError, debug: Array("bye".utf8))
    try pair.settle()
    #expect(pair.atClient.contains(.goAway(last: ids[0], .noError, debug: Array("bye".utf8))))
    for index in 1...2 {
      let stream = HTTP2Stream(id: ids[index], context: UInt32(index))
      #expect(pair.atClient.contains(.closed(stream, .refusedStream)))
    }
    #expect(!pair.client.acceptsRequests)
    try pair.server.submitResponse(ids[0], responseHeaders(200))
    try pair.settle()
    #expect(pair.atClient.contains(.closed(HTTP2Stream(id: ids[0], context: 0), .noError)))
  }

  @Test func anAnnouncementLeavesTheServerOpen() throws {
    let pair = try SessionPair()
    try pair.settle()
    let id = try pair.client.submitRequest(requestHeaders(), body: [1], context: 0)
    try pair.settle()
    try pair.server.submitResponse(id, responseHeaders(200))
    try pair.server.goAway(last: .max)
    try pair.settle()
    #expect(pair.atClient.contains(.goAway(last: .max, .noError, debug: [])))
    #expect(!pair.server.isFinished)
    try pair.server.goAway(last: id)
    try pair.settle()
    #expect(pair.server.isFinished)
  }

  @Test func limitsChangeOnTheFly() throws {
    let pair = try SessionPair()
    try pair.settle()
    try pair.server.setMaxConcurrentStreams(1)
    try pair.settle()
    #expect(
      pair.atClient == [.settings(HTTP2PeerSettings(maxConcurrentStreams: 1, initialWindowSize: 65536))])
    #expect(pair.atServer.contains(.settingsAcknowledged))
  }

  @Test func aPingIsAnswered() throws {
    let pair = try SessionPair()
    try pair.settle()
    try pair.client.ping(0x0102_0304_0506_0708)
    try pair.settle()
    #expect(pair.atServer == [.ping])
    #expect(pair.atClient == [.pong(0x0102_0304_0506_0708)])
  }

  @Test func tooLongFieldsEndTheStreamOnly() throws {
    var options = HTTP2Options()
    options.headerListBytes = 1000
    let pair = try SessionPair(server: options)
    try pair.settle()
    let long = String(repeating: "x", count: 2000)
    let id = try pair.client.submitRequest(requestHeaders(extra: [("x-a", long)]), body: [], context: 0)
    try pair.settle()
    #expect(!pair.atServer.contains { if case .headers = $0 { true } else { false } })
    #expect(pair.atClient.contains(.closed(HTTP2Stream(id: id, context: 0), .internalError)))
    _ = try pair.client.submitRequest(requestHeaders(), body: [], context: 0)
    try pair.settle()
    #expect(pair.atServer.contains { if case .headers = $0 { true } else { false } })
  }

  @Test func otherProtocolsAreRefused() throws {
    let server = try HTTP2Session(role: .server)
    #expect(throws: HTTP2Error.self) { try server.feed(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)) }
    #expect(server.isFinished)
  }

  private func body(_ events: [HTTP2Event], of id: Int32) -> [UInt8] {
    events.flatMap { event in
      guard case .data(let stream, let bytes) = event, stream.id == id else { return [] as [UInt8] }
      return bytes
    }
  }
}
