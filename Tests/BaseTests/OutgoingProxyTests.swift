import BorealisBase
import Testing

@Suite struct OutgoingProxyTests {
  @Test func `Exceptions are names, domains and networks`() throws {
    let proxy = try #require(
      OutgoingProxy(
        host: "proxy", port: 3128,
        exceptions: ["Push.example.com", ".internal.example", "10.0.0.0/8", "2001:db8::/32", "192.0.2.1"]))
    for host in [
      "push.example.com", "PUSH.example.com", "a.internal.example", "a.b.internal.example", "10.1.2.3",
      "2001:db8::1", "192.0.2.1",
    ] {
      #expect(!proxy.serves(host), "\(host)")
    }
    for host in [
      "example.com", "a.push.example.com", "internal.example", "xinternal.example", "11.0.0.1", "2001:db9::1",
      "192.0.2.2", "10.1.2.3.example.com",
    ] {
      #expect(proxy.serves(host), "\(host)")
    }
    for text in ["", ".", "a b", "example.com:443", "10.0.0.1/8", "https://example.com", "*.example.com"] {
      #expect(OutgoingProxy(host: "proxy", port: 3128, exceptions: [text]) == nil, "\(text)")
    }
  }

  @Test func requests() throws {
    let plain = try #require(OutgoingProxy(host: "proxy", port: 3128))
    #expect(
      String(decoding: plain.request(to: "api.push.apple.com", port: 443), as: UTF8.self)
        == "CONNECT api.push.apple.com:443 HTTP/1.1\r\nHost: api.push.apple.com:443\r\n\r\n")
    let login = try #require(OutgoingProxy(host: "proxy", port: 3128, credentials: "name:secret"))
    #expect(
      String(decoding: login.request(to: "2001:db8::1", port: 80), as: UTF8.self)
        == "CONNECT [2001:db8::1]:80 HTTP/1.1\r\nHost: [2001:db8::1]:80\r\n"
        + "Proxy-Authorization: Basic bmFtZTpzZWNyZXQ=\r\n\r\n")
  }

  @Test(
    arguments: [
      ("", .incomplete), ("HTTP/1.1 200 OK\r\n", .incomplete),
      ("HTTP/1.1 200 Connection established\r\n\r\n", .open), ("HTTP/1.0 200\r\nVia: x\r\n\r\n", .open),
      ("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", .refused("the proxy answered 407")),
      ("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 1\r\n\r\nx", .refused("the proxy answered 502")),
      ("SSH-2.0-x\r\n\r\n", .refused("the proxy does not answer in HTTP")),
      ("HTTP/1.1 2000 x\r\n\r\n", .refused("the proxy does not answer in HTTP")),
      ("HTTP/1.1 200 OK\r\n\r\nx", .refused("the proxy says more than that there is a tunnel")),
      (String(repeating: "x", count: OutgoingProxy.mostBytes), .refused("the proxy does not answer in HTTP")),
    ] as [(String, OutgoingProxy.Answer)])
  func answers(text: String, expected: OutgoingProxy.Answer) {
    #expect(OutgoingProxy.answer(Array(text.utf8)) == expected)
  }
}
