import BorealisBase
import Core
import PushTesting
import Testing

/// Apple behind an HTTP proxy (`--outgoing-proxy`).
@Suite struct APNsProxyTests {
  private func world(_ proxy: ConnectProxy) throws -> APNsWorld {
    try APNsWorld(settings: [
      "--outgoing-proxy", "http://127.0.0.1:\(proxy.port)", "--outgoing-proxy-login", "name:secret",
    ])
  }

  @Test func `Pushes go through a tunnel, and TLS is with Apple`() throws {
    let proxy = try ConnectProxy()
    defer { proxy.close() }
    let world = try world(proxy)
    for _ in 0..<3 { #expect(try world.end(of: try world.push()) == .delivered) }
    let requests = proxy.requests
    #expect(!requests.isEmpty)
    for request in requests {
      #expect(request.hasPrefix("CONNECT \(world.apns) HTTP/1.1\r\n"), "\(request)")
      #expect(request.contains("\r\nProxy-Authorization: Basic bmFtZTpzZWNyZXQ=\r\n"), "\(request)")
    }
  }

  @Test(arguments: [
    ("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "the proxy answered 407"),
    ("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", "the proxy answered 502"),
    ("SSH-2.0-OpenSSH_9.2\r\n\r\n", "the proxy does not answer in HTTP"),
    // Closes without an answer, and after it has said that there is a tunnel.
    ("", "it closed the connection"), ("HTTP/1.1 200 OK\r\n\r\n", "TLS with 127.0.0.1 through proxy"),
  ])
  func `What goes wrong at the proxy is reported as the proxy's`(answer: String, text: String) throws {
    let proxy = try ConnectProxy(answering: answer)
    defer { proxy.close() }
    let world = try world(proxy)
    let push = try world.push()
    var failure = ""
    try world.wait("the failure") {
      let service = try world.service()
      failure = service["last_failure"]?.string ?? ""
      return service["state"] == "unreachable"
    }
    #expect(failure.contains(text) && failure.contains("proxy 127.0.0.1 port \(proxy.port)"), "\(failure)")
    #expect(world.entries.isEmpty)
    let chinese = Phrase(problem: failure).chinese
    #expect(chinese.contains("代理") && !chinese.contains(/prox|with/), "\(chinese)")
    // The push waits for the proxy to be mended.
    proxy.answer(nil)
    #expect(try world.end(of: push) == .delivered)
  }
}
