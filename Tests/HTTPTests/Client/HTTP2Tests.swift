import BorealisBase
import HTTP
import Synchronization
import Testing

/// Requests over TLS to servers with HTTP/2, and to those without.
@Suite struct HTTP2Tests {
  /// Requests to a server with HTTP/2 share one connection, and all are under way at the same time.
  @Test func requestsShareAConnection() async throws {
    let together = 20
    let server = try StreamServer { _, connection, number in
      // They must be under way together.
      guard number == together else { return }
      for stream in 0..<Int32(together) { connection.answer(1 + 2 * stream, HTTP2Answer(status: 200)) }
    }
    let transport = try server.client { $0.connectionsPerHost = 2 }
    defer { transport.close() }
    let url = server.url()
    let answers = await withTaskGroup(of: HTTPAnswer.self) { group in
      for _ in 0..<together {
        group.addTask { await transport.send(OutgoingRequest(url: url, body: [1, 2])) }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.map(\.status) == Array(repeating: 200, count: together))
    #expect(server.connections.withLock { $0 } == 1)
  }

  @Test func requestAndAnswer() async throws {
    let server = try StreamServer { request, connection, _ in
      connection.answer(request.streamID, HTTP2Answer(status: 404, body: Array("hello".utf8)))
    }
    let transport = try server.client()
    defer { transport.close() }
    let answer = await transport.send(
      OutgoingRequest(
        url: server.url("/a/b?c=d"), fields: ["Authorization: Bearer x", "TTL:60"], body: Array("{}".utf8)))
    #expect(answer.status == 404 && answer.body == Array("hello".utf8))
    #expect(answer.wasSent && answer.error == nil && answer.retryAfter == nil)
    let request = try #require(server.requests.withLock { $0 }.first)
    #expect(request.method == "POST" && request.path == "/a/b?c=d" && request.body == Array("{}".utf8))
    let fields = Dictionary(uniqueKeysWithValues: request.headers.pairs.map { ($0.name, $0.value) })
    #expect(fields[":authority"] == "localhost:\(server.port)" && fields[":scheme"] == "https")
    #expect(fields["authorization"] == "Bearer x" && fields["ttl"] == "60")
    #expect(fields["content-type"] == "application/json" && fields["content-length"] == "2")
    #expect(fields["user-agent"] == "Borealis")
  }

  @Test func `GET and POST share a connection`() async throws {
    let server = try StreamServer { request, connection, _ in
      connection.answer(request.streamID, HTTP2Answer(status: 200, body: Array(request.method.utf8)))
    }
    let transport = try server.client()
    defer { transport.close() }
    for request in [
      OutgoingRequest.get(server.url("/a")), OutgoingRequest(url: server.url("/a"), body: [1]),
      .get(server.url("/a")),
    ] {
      #expect(await transport.send(request).body == Array(request.method.rawValue.utf8))
    }
    let requests = server.requests.withLock { $0 }
    let names = requests.map { Set($0.headers.pairs.map(\.name)) }
    #expect(names.map { $0.contains("content-type") } == [false, true, false])
    #expect(names.map { $0.contains("content-length") } == [false, true, false])
    #expect(server.connections.withLock { $0 } == 1)
  }

  @Test(
    arguments: [
      (429, "7", 7...7), (503, "7", 7...7), (200, "7", nil), (404, "7", nil), (429, "soon", nil),
      (429, "Wed, 21 Oct 2015 07:28:00 GMT", nil),
      (503, "Fri, 31 Dec 2100 00:00:00 GMT", 1_000_000_000...3_000_000_000),
    ] as [(Int, String, ClosedRange<Int64>?)])
  func retryAfter(status: Int, text: String, expected: ClosedRange<Int64>?) async throws {
    let server = try StreamServer { request, connection, _ in
      var answer = HTTP2Answer(status: status)
      answer.headers.append("retry-after", text: text)
      connection.answer(request.streamID, answer)
    }
    let transport = try server.client()
    defer { transport.close() }
    let seconds = await transport.send(OutgoingRequest(url: server.url(), body: [])).retryAfter
    #expect(expected.map { range in seconds.map { range.contains($0) } ?? false } ?? (seconds == nil))
  }

  /// A body without end costs a bounded amount, and its status counts.
  @Test func longBodies() async throws {
    let server = try StreamServer { request, connection, _ in
      connection.answer(
        request.streamID, HTTP2Answer(status: 200, body: [UInt8](repeating: 120, count: 1_000_000)))
    }
    let transport = try server.client { $0.keptBytes = 10 }
    defer { transport.close() }
    for _ in 0..<3 {
      let answer = await transport.send(OutgoingRequest(url: server.url(), body: []))
      #expect(answer.status == 200 && answer.isSuccess)
      #expect(answer.body.count == 10)
    }
  }

  /// What was certainly not processed is sent again, a few times.
  @Test(arguments: [(1, 200), (2, 200), (3, 0)])
  func refusedStreams(refusals: Int, status: Int) async throws {
    let server = try StreamServer { request, connection, number in
      if number <= refusals {
        connection.reset(request.streamID, .refusedStream)
      } else {
        connection.answer(request.streamID, HTTP2Answer(status: 200))
      }
    }
    let transport = try server.client()
    defer { transport.close() }
    let answer = await transport.send(OutgoingRequest(url: server.url(), body: [1]))
    #expect(answer.status == status && answer.wasSent == (status != 0))
    #expect((answer.error == nil) == (status != 0))
  }

  /// A request above the last stream of a GOAWAY goes over another connection.
  @Test func goAway() async throws {
    let server = try StreamServer { request, connection, number in
      if number == 1 {
        connection.goAway(last: 0, thenClose: true)
      } else {
        connection.answer(request.streamID, HTTP2Answer(status: 200))
      }
    }
    let transport = try server.client()
    defer { transport.close() }
    let answer = await transport.send(OutgoingRequest(url: server.url(), body: [1]))
    #expect(answer.status == 200)
    #expect(server.connections.withLock { $0 } == 2)
  }

  /// What was not sent, and what may have been processed.
  @Test func requestsWithoutAnswer() async throws {
    let server = try StreamServer { _, connection, number in
      if number == 1 { connection.cut() }
    }
    let transport = try server.client { $0.totalMilliseconds = 300 }
    defer { transport.close() }
    let lost = await transport.send(OutgoingRequest(url: server.url(), body: []))
    #expect(lost.status == 0 && lost.error != nil && lost.wasSent)
    let late = await transport.send(OutgoingRequest(url: server.url(), body: []))
    #expect(late.status == 0 && late.error != nil && late.wasSent)
    let nowhere = await transport.send(OutgoingRequest(url: "https://localhost:1/", body: []))
    #expect(nowhere.status == 0 && nowhere.error?.contains("refused") == true && !nowhere.wasSent)
  }

  @Test func certificatesAreChecked() async throws {
    let (server, other) = (try StreamServer(), try StreamServer())
    let transport = try other.client()
    defer { transport.close() }
    let answer = await transport.send(OutgoingRequest(url: server.url(), body: []))
    #expect(answer.error?.contains("certificate") == true && !answer.wasSent)
    // The name counts as well.
    let named = await transport.send(OutgoingRequest(url: "https://127.0.0.2:\(other.port)/", body: []))
    #expect(named.error != nil && !named.wasSent)
    #expect(server.requests.withLock { $0.isEmpty } && other.requests.withLock { $0.isEmpty })
  }

  @Test func addressesAreChecked() async throws {
    let server = try StreamServer()
    let transport = try server.client { $0.allows = { _ in false } }
    defer { transport.close() }
    let answer = await transport.send(OutgoingRequest(url: "https://127.0.0.1:\(server.port)/", body: []))
    #expect(answer.error == "the address is not allowed" && !answer.wasSent)
    #expect(answer.refused == IPAddress("127.0.0.1"))
    #expect(server.connections.withLock { $0 } == 0)
  }

  /// A server that speaks HTTP/1.1 only gets its requests that way.
  @Test func serversWithoutHTTP2() async throws {
    let server = try StreamServer(nil)
    let transport = try server.client()
    defer { transport.close() }
    for number in 1...3 {
      let answer = await transport.send(OutgoingRequest(url: server.url(), body: [1]))
      #expect(answer.status == 201 && answer.error == nil)
      #expect(server.oldRequests.withLock { $0 } == number)
    }
  }

  /// Each request has one outcome also when the transport is closed.
  @Test func everyRequestCompletesOnce() async throws {
    let server = try StreamServer { _, _, _ in }
    let transport = try server.client { $0.mostRequests = 4 }
    let url = server.url()
    let answers = await withTaskGroup(of: HTTPAnswer.self) { group in
      for _ in 0..<8 { group.addTask { await transport.send(OutgoingRequest(url: url, body: [])) } }
      var answers: [HTTPAnswer] = []
      for await answer in group {
        answers.append(answer)
        // The four that are too many come back at once; then the others end with the transport.
        if answers.count == 4 { transport.close() }
      }
      return answers
    }
    #expect(answers.count == 8)
    #expect(answers.filter(\.isClosed).count == 4)
    #expect(answers.filter { $0.error == "too many requests are under way" }.count == 4)
    let late = await transport.send(OutgoingRequest(url: url, body: []))
    #expect(late.isClosed)
  }
}
