import BorealisBase
import HTTP
import PushTesting
import Synchronization
import Testing

/// Requests of the client that callbacks and vendors' channels share, over HTTP/1.1.
@Suite struct TransportTests {
  private func transport(_ change: (inout HTTPTransport.Options) -> Void = { _ in }) throws -> HTTPTransport {
    var options = HTTPTransport.Options()
    options.allowsPlainHTTP = true
    change(&options)
    return try #require(HTTPTransport(options, thread: "test"))
  }

  @Test func requestAndAnswer() async throws {
    let server = try TestReceiver { _ in
      .answer("HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello")
    }
    defer { server.close() }
    let transport = try transport()
    defer { transport.close() }
    let answer = await transport.send(
      OutgoingRequest(url: server.url, fields: ["Authorization: Bearer x"], body: Array("{}".utf8)))
    #expect(answer.status == 404)
    #expect(answer.body == Array("hello".utf8))
    #expect(answer.wasSent && answer.error == nil && answer.retryAfter == nil)
    #expect(!answer.isSuccess && answer.problem == "answered 404")
    let request = try #require(server.requests.first)
    #expect(request.line == "POST /hook HTTP/1.1")
    #expect(request.fields["authorization"] == "Bearer x")
    #expect(request.fields["content-type"] == "application/json")
    #expect(request.body == Array("{}".utf8))
  }

  @Test func `GET has no body and no content type`() async throws {
    let server = try TestReceiver { _ in
      .answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    }
    defer { server.close() }
    let transport = try transport()
    defer { transport.close() }
    let answer = await transport.send(.get(server.url, fields: ["Accept: application/json"]))
    #expect(answer.isSuccess && answer.body == Array("{}".utf8))
    let request = try #require(server.requests.first)
    #expect(request.line == "GET /hook HTTP/1.1" && request.body.isEmpty)
    #expect(request.fields["accept"] == "application/json")
    #expect(request.fields["content-type"] == nil && request.fields["content-length"] == nil)
  }

  @Test(
    arguments: [429, 503, 200, 404],
    [
      ("7", 7...7), ("0", nil), ("soon", nil), ("Thu, 01 Jan 1970 00:00:00 GMT", nil),
      ("Thu, 31 Dec 2099 23:59:59 GMT", 3600...3_000_000_000),
    ] as [(String, ClosedRange<Int64>?)])
  func retryAfter(status: Int, field: (text: String, seconds: ClosedRange<Int64>?)) async throws {
    let server = try TestReceiver { _ in .status(status, "Retry-After: \(field.text)\r\n") }
    defer { server.close() }
    let transport = try transport()
    defer { transport.close() }
    let seconds = await transport.send(OutgoingRequest(url: server.url, body: [])).retryAfter
    #expect(seconds.map { field.seconds?.contains($0) == true } ?? (field.seconds == nil))
  }

  /// A body without end costs a bounded amount, and its status counts.
  @Test func longBodies() async throws {
    let server = try TestReceiver { _ in
      .answer(
        "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + String(repeating: "x", count: 500_000))
    }
    defer { server.close() }
    let transport = try transport { $0.keptBytes = 10 }
    defer { transport.close() }
    let answer = await transport.send(OutgoingRequest(url: server.url, body: []))
    #expect(answer.status == 200 && answer.isSuccess)
    #expect(answer.body.count == 10)
  }

  /// What was not sent, and what may have been processed.
  @Test func requestsWithoutAnswer() async throws {
    let transport = try transport { $0.totalMilliseconds = 300 }
    defer { transport.close() }
    let closed = try TestReceiver()
    closed.close()
    let unsent = await transport.send(OutgoingRequest(url: closed.url, body: []))
    #expect(unsent.status == 0 && unsent.error != nil && !unsent.wasSent)
    let silent = try TestReceiver { _ in .hang }
    defer { silent.close() }
    let lost = await transport.send(OutgoingRequest(url: silent.url, body: []))
    #expect(lost.status == 0 && lost.error != nil && lost.wasSent)
    let broken = try TestReceiver { _ in .breakOff }
    defer { broken.close() }
    let half = await transport.send(OutgoingRequest(url: broken.url, body: []))
    #expect(half.status == 200 && half.error != nil && !half.isSuccess)
  }

  @Test func plainHTTPIsRefusedUnlessAllowed() async throws {
    let server = try TestReceiver()
    defer { server.close() }
    let transport = try transport { $0.allowsPlainHTTP = false }
    defer { transport.close() }
    let answer = await transport.send(OutgoingRequest(url: server.url, body: []))
    #expect(answer.error != nil && !answer.wasSent)
    #expect(server.requests.isEmpty)
  }

  @Test func addressesAreChecked() async throws {
    let server = try TestReceiver()
    defer { server.close() }
    let transport = try transport { $0.allows = { _ in false } }
    defer { transport.close() }
    let answer = await transport.send(OutgoingRequest(url: server.url, body: []))
    #expect(answer.error == "the address is not allowed")
    #expect(answer.refused == IPAddress("127.0.0.1"))
    #expect(server.requests.isEmpty)
  }

  /// A name with an address that is not allowed and one that refuses: why the latter failed is what helps.
  @Test func anAllowedAddressThatRefuses() async throws {
    let server = try TestReceiver()
    let port = try #require(server.url.split(separator: ":").last?.split(separator: "/").first)
    server.close()
    // libcurl knows both addresses of this name by itself.
    for (allows, isRefused) in [(true, false), (false, true)] {
      let transport = try transport { $0.allows = { $0.isV4 && allows } }
      defer { transport.close() }
      let answer = await transport.send(OutgoingRequest(url: "http://localhost:\(port)/", body: []))
      #expect((answer.error == "the address is not allowed") == isRefused && answer.error != nil)
      #expect((answer.refused != nil) == isRefused)
    }
  }

  /// The inbox is bounded, and each request has one outcome also when the transport is closed.
  @Test func everyRequestCompletesOnce() async throws {
    let silent = try TestReceiver { _ in .hang }
    defer { silent.close() }
    let transport = try transport { $0.mostRequests = 4 }
    let url = silent.url
    let answers = await withTaskGroup(of: HTTPAnswer.self) { group in
      let sent = Mutex(0)
      for _ in 0..<8 {
        group.addTask { await transport.send(OutgoingRequest(url: url, body: [])) }
      }
      var answers: [HTTPAnswer] = []
      for await answer in group {
        answers.append(answer)
        // The four that are too many come back at once; then the others end with the transport.
        if sent.withLock({
          $0 += 1; return $0
        }) == 4 {
          transport.close()
        }
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

extension HTTPTransport {
  func send(_ post: OutgoingRequest) async -> HTTPAnswer {
    await awaitCallback { done in send(post) { done($0) } }
  }
}
