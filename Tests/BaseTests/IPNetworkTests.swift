import BorealisBase
import Testing

@Suite struct IPNetworkTests {
  @Test(arguments: [
    ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:DB8:0:0::1", "2001:db8::1"),
    ("::", "::"), ("::1", "::1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
  ])
  func `An address is read and written`(text: String, written: String) throws {
    let address = try #require(IPAddress(text))
    #expect(address.text == written)
    #expect(IPAddress(written) == address)
  }

  @Test(arguments: [
    ("192.0.2.1", "192.0.2.1"), ("2001:db8::1", "2001:db8::"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
  ])
  func `Of an IPv6 address the first half counts`(text: String, network: String) throws {
    #expect(try #require(IPAddress(text)).network.text == network)
  }

  @Test func `A site is 48 bits of an IPv6 address`() throws {
    #expect(IPAddress("2001:db8:1:2:3:4:5:6")?.site?.text == "2001:db8:1::")
    #expect(try #require(IPAddress("192.0.2.1")).site == nil)
  }

  @Test(arguments: [
    "", "1", "1.2.3", "1.2.3.4.5", "256.0.0.1", "1.2.3.4 ", " 1.2.3.4", "fe80::1%eth0", "[::1]", "::1::",
    "g::",
    "localhost", "1.2.3.4\0", "1:2:3:4:5:6:7:8:9", String(repeating: "1", count: 100),
  ])
  func `What is no address is not read`(text: String) { #expect(IPAddress(text) == nil) }

  @Test(arguments: [
    (
      "10.0.0.0/8", ["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3"],
      ["9.255.255.255", "11.0.0.0", "::a00:1"]
    ),
    ("192.0.2.7", ["192.0.2.7"], ["192.0.2.6", "192.0.2.8"]),
    ("192.0.2.6/31", ["192.0.2.6", "192.0.2.7"], ["192.0.2.5", "192.0.2.8"]),
    ("0.0.0.0/0", ["0.0.0.0", "255.255.255.255"], ["::1", "2001:db8::1"]),
    ("2001:db8::/32", ["2001:db8::", "2001:db8:ffff::1"], ["2001:db9::", "32.1.13.184"]),
    ("2001:db8:0:0:8000::/65", ["2001:db8::8000:0:0:1"], ["2001:db8::1"]),
    ("2001:db8::/64", ["2001:db8::ffff:ffff:ffff:ffff"], ["2001:db8:0:1::"]),
    ("::1/128", ["::1"], ["::2", "0.0.0.1"]),
    ("::/0", ["::1", "192.0.2.1", "2001:db8::1"], []),
    ("::ffff:0:0/96", ["192.0.2.1"], ["::1"]),
  ])
  func `A network holds its addresses and no others`(text: String, inside: [String], outside: [String]) throws
  {
    let network = try #require(IPNetwork(text))
    #expect(IPNetwork(network.text) == network)
    for address in inside { #expect(network.contains(try #require(IPAddress(address))), "\(address)") }
    for address in outside { #expect(!network.contains(try #require(IPAddress(address))), "\(address)") }
  }

  @Test(arguments: [
    "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.0/ 8",
    "10.0.0.0/0x8",
    "10.0.0.0/9999", "10.0.0.1/8", "10.1.0.0/8", "2001:db8::1/64", "2001:db8::/129", "::1/0", "any",
  ])
  func `What is no network is not read`(text: String) { #expect(IPNetwork(text) == nil) }
}
