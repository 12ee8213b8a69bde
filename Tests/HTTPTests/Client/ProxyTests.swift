import BorealisBase
import HTTP
import PushTesting
import Synchronization
import Testing

/// Requests through an HTTP proxy, over HTTP/2 and by libcurl.
@Suite struct ProxyTests {
  private func proxy(
    _ server: ConnectProxy, credentials: String? = nil, exceptions: [String] = []
  ) throws -> OutgoingProxy {
    try #require(
      OutgoingProxy(
        host: "127.0.0.1", port: server.port, credentials: credentials, exceptions: exceptions))
  }

  private func curl(_ change: (inout HTTPTransport.Options) -> Void) throws -> HTTPTransport {
    var options = HTTPTransport.Options()
    options.allowsPlainHTTP = true
    options.usesHTTP2 = false
    change(&options)
    return try #require(HTTPTransport(options, thread: "test"))
  }

  @Test func `HTTP/2 goes through a tunnel to the host by its name`() async throws {
    let server = try StreamServer { request, connection, _ in
      connection.answer(request.streamID, HTTP2Answer(status: 201))
    }
    let tunnels = try ConnectProxy()
    defer { tunnels.close() }
    let proxy = try proxy(tunnels, credentials: "name:secret")
    let transport = try server.client { $0.proxy = proxy }
    defer { transport.close() }
    for _ in 0..<3 {
      #expect(await transport.send(OutgoingRequest(url: server.url(), body: [1])).status == 201)
    }
    #expect(tunnels.requests.count == 1)
    let request = try #require(tunnels.requests.first)
    #expect(request.hasPrefix("CONNECT localhost:\(server.port) HTTP/1.1\r\n"))
    #expect(request.contains("\r\nProxy-Authorization: Basic bmFtZTpzZWNyZXQ=\r\n"))
  }

  @Test func `With a guard the proxy is asked for an address that was checked`() async throws {
    let server = try StreamServer { request, connection, _ in
      connection.answer(request.streamID, HTTP2Answer(status: 201))
    }
    let tunnels = try ConnectProxy()
    defer { tunnels.close() }
    let proxy = try proxy(tunnels)
    let transport = try server.client {
      $0.proxy = proxy
      $0.allows = { $0.isV4 }
    }
    defer { transport.close() }
    #expect(await transport.send(OutgoingRequest(url: server.url(), body: [1])).status == 201)
    #expect(tunnels.requests.first?.hasPrefix("CONNECT 127.0.0.1:\(server.port) ") == true)
    let guarded = try server.client {
      $0.proxy = proxy
      $0.allows = { _ in false }
    }
    defer { guarded.close() }
    #expect(
      await guarded.send(OutgoingRequest(url: server.url(), body: [1])).error == "the address is not allowed")
    #expect(tunnels.requests.count == 1)
  }

  @Test func `What the proxy refuses is said`() async throws {
    let tunnels = try ConnectProxy(answering: "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
    defer { tunnels.close() }
    let proxy = try proxy(tunnels)
    let server = try StreamServer()
    let transport = try server.client { $0.proxy = proxy }
    defer { transport.close() }
    let answer = await transport.send(OutgoingRequest(url: server.url(), body: [1]))
    #expect(answer.error?.hasSuffix("the proxy answered 407") == true && !answer.wasSent)
    let curl = try curl { $0.proxy = proxy }
    defer { curl.close() }
    let other = await curl.send(OutgoingRequest(url: "http://192.0.2.1/", body: [1]))
    #expect(other.error == "the proxy answered 407" && other.status == 0 && !other.wasSent)
  }

  @Test func `libcurl asks for tunnels without TLS, too, and for checked addresses`() async throws {
    let server = try TestReceiver()
    defer { server.close() }
    let tunnels = try ConnectProxy()
    defer { tunnels.close() }
    let proxy = try proxy(tunnels, credentials: "name:secret")
    let url = "http://localhost:\(server.port)/hook"
    for (isGuarded, target) in [(false, "localhost"), (true, "127.0.0.1")] {
      let transport = try curl {
        $0.proxy = proxy
        if isGuarded { $0.allows = { $0.isV4 } }
      }
      defer { transport.close() }
      #expect(await transport.send(OutgoingRequest(url: url, body: [1])).status == 200)
      let request = try #require(tunnels.requests.last)
      #expect(request.hasPrefix("CONNECT \(target):\(server.port) HTTP/1."))
      #expect(request.contains("\r\nProxy-Authorization: Basic bmFtZTpzZWNyZXQ=\r\n"))
    }
    #expect(
      server.requests.map { $0.fields["host"] } == Array(repeating: "localhost:\(server.port)", count: 2))
    #expect(server.requests.allSatisfy { $0.fields["proxy-authorization"] == nil })
    let guarded = try curl {
      $0.proxy = proxy
      $0.allows = { _ in false }
    }
    defer { guarded.close() }
    let answer = await guarded.send(OutgoingRequest(url: url, body: [1]))
    #expect(answer.error == "the address is not allowed" && answer.refused != nil && !answer.wasSent)
    #expect(tunnels.requests.count == 2)
  }

  @Test func `Exceptions are reached without the proxy`() async throws {
    let server = try TestReceiver()
    defer { server.close() }
    let tunnels = try ConnectProxy()
    defer { tunnels.close() }
    let proxy = try proxy(tunnels, exceptions: ["127.0.0.0/8"])
    let transport = try curl { $0.proxy = proxy }
    defer { transport.close() }
    #expect(
      await transport.send(OutgoingRequest(url: "http://127.0.0.1:\(server.port)/", body: [1])).status == 200)
    #expect(tunnels.requests.isEmpty)
  }
}
