import BorealisBase
import Testing

@Suite struct URLAuthorityTests {
  @Test(
    arguments: [
      ("example.com", "example.com", nil), ("Push_1.Example.COM:8443", "push_1.example.com", 8443),
      ("127.0.0.1:1", "127.0.0.1", 1), ("[::1]", "[::1]", nil),
      ("[2001:DB8::1]:65535", "[2001:db8::1]", 65535),
      ("[::ffff:192.0.2.1]:443", "[::ffff:192.0.2.1]", 443), ("example.com:", "example.com", nil),
    ] as [(String, String, UInt16?)])
  func `Host and port are read`(text: String, host: String, port: UInt16?) throws {
    let authority = try #require(URLAuthority(text))
    #expect(authority.host == host)
    #expect(authority.port == port)
  }

  @Test(arguments: [
    "", ":80", "a:0", "a:65536", "a:+1", "a:1:2", "a b", "a/b", "user@a", "a?b", "[", "[]", "[]:1", "[abc]",
    "[::1", "[::1]1", "[::1]x:1", "[g::1]", "ä.example.com", "a\u{0}", String(repeating: "a", count: 254),
  ])
  func `What is no authority is refused`(text: String) { #expect(URLAuthority(text) == nil) }
}
