import BorealisBase
import BorealisNet
import Testing

/// Headers of the PROXY protocol, those of its specification among them.
@Suite struct ProxyHeaderTests {
  private static let six = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"

  @Test(arguments: [
    ("PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n", "192.168.0.1"),
    ("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n", "255.255.255.255"),
    ("PROXY TCP6 \(six) \(six) 65535 65535\r\n", six),
    ("PROXY TCP6 ::ffff:192.0.2.1 ::1 1 2\r\n", "192.0.2.1"),
    ("PROXY UNKNOWN\r\n", nil), ("PROXY UNKNOWN \(six) \(six) 65535 65535\r\n", nil),
  ])
  func version1(text: String, source: String?) {
    expectHeader(Array(text.utf8), source)
  }

  @Test(arguments: [
    "PROXY \r\n", "PROXY TCP4\r\n", "PROXY TCP4 192.0.2.1 192.0.2.2 1\r\n",
    "PROXY TCP4 192.0.2.1 192.0.2.2 1 2 3\r\n",
    "PROXY TCP4  192.0.2.1 192.0.2.2 1 2\r\n", "PROXY TCP4 ::1 ::2 1 2\r\n",
    "PROXY TCP6 192.0.2.1 192.0.2.2 1 2\r\n",
    "PROXY TCP4 192.0.2.1 192.0.2.2 1 65536\r\n", "PROXY TCP4 192.0.2.1 192.0.2.2 +1 2\r\n",
    "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\n", "PROXY UDP4 192.0.2.1 192.0.2.2 1 2\r\n",
    "PROXY tcp4 192.0.2.1 192.0.2.2 1 2\r\n",
    "PROXY\tTCP4 192.0.2.1 192.0.2.2 1 2\r\n", "proxy TCP4 192.0.2.1 192.0.2.2 1 2\r\n", "GET / HTTP/1.1\r\n",
    "\u{16}\u{3}",
    "PROXY UNKNOWN" + String(repeating: " x", count: 60) + "\r\n", "\n", "PROXY \n",
  ])
  func otherText(text: String) {
    #expect(ProxyHeader.scan(Array(text.utf8)) == .invalid)
  }

  private static let signature: [UInt8] = [
    0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a,
  ]
  private static let tcp4: [UInt8] = [192, 0, 2, 1, 192, 0, 2, 2, 0xdc, 0x04, 0x01, 0xbb]
  private static let tcp6: [UInt8] =
    [0x20, 0x01, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [7] + [UInt8](repeating: 1, count: 20)
  /// PP2_TYPE_NOOP.
  private static let more: [UInt8] = [0x04, 0x00, 0x02, 0x00, 0x00]

  @Test func version2() {
    func header(_ command: UInt8, _ family: UInt8, _ rest: [UInt8]) -> [UInt8] {
      Self.signature + [command, family, UInt8(rest.count >> 8), UInt8(rest.count & 0xff)] + rest
    }
    let six = "2001:db8::7"
    expectHeader(header(0x21, 0x11, Self.tcp4), "192.0.2.1")
    expectHeader(header(0x21, 0x21, Self.tcp6), six)
    expectHeader(header(0x21, 0x11, Self.tcp4 + Self.more), "192.0.2.1")
    expectHeader(header(0x21, 0x21, Self.tcp6 + [UInt8](repeating: 0, count: 4096 - 16 - 36)), six)
    // The balancer's own, what it does not know, and what is not TCP.
    for (command, family, rest) in [
      (0x20, 0x00, []), (0x20, 0x11, Self.tcp4), (0x21, 0x00, []), (0x21, 0x00, Self.more),
      (0x21, 0x12, Self.tcp4),
      (0x21, 0x31, [UInt8](repeating: 0, count: 216)),
    ] as [(UInt8, UInt8, [UInt8])] {
      expectHeader(header(command, family, rest), nil)
    }
    for bytes in [
      header(0x22, 0x11, Self.tcp4), header(0x11, 0x11, Self.tcp4),
      header(0x21, 0x11, Array(Self.tcp4.dropLast())),
      header(0x21, 0x21, Array(Self.tcp6.dropLast())), header(0x21, 0x11, [UInt8](repeating: 0, count: 4081)),
      Array(Self.signature.dropLast()) + [0x0d] + Self.tcp4,
    ] {
      #expect(ProxyHeader.scan(bytes) == .invalid)
    }
  }

  /// Complete with its last byte, whatever follows; before that never.
  private func expectHeader(_ bytes: [UInt8], _ source: String?) {
    for count in 0..<bytes.count {
      #expect(ProxyHeader.scan(Array(bytes[..<count])) == .needMore, "\(count) of \(bytes)")
    }
    for following in [[], [0], Array("PROXY UNKNOWN\r\n".utf8)] as [[UInt8]] {
      guard case .header(let header) = ProxyHeader.scan(bytes + following) else {
        Issue.record("\(bytes)")
        return
      }
      #expect(header.count == bytes.count && header.source == source.flatMap { IPAddress($0) })
    }
  }
}
