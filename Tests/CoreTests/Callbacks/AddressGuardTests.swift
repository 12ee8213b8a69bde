import BorealisBase
import Testing

@testable import Core

@Suite struct AddressGuardTests {
  @Test(arguments: [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1",
    "127.255.0.9", "169.254.169.254", "169.254.0.1", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1",
    "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1",
    "239.255.255.250", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
    "64:ff9b::127.0.0.1", "64:ff9b::a00:1", "64:ff9b::169.254.169.254", "64:ff9b:1::8.8.8.8", "100::1",
    "2001::1", "2001:0:1:2:3:4:5:6", "2001:db8::1", "2002:7f00:1::1", "2002:808:808::1", "3fff::1", "4000::1",
    "5f00::1", "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1",
  ])
  func notPublic(_ text: String) throws {
    #expect(!AddressGuard().allows(try #require(IPAddress(text))))
  }

  @Test(arguments: [
    "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
    "128.0.0.1", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.1",
    "192.167.255.255",
    "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
    "2001:200::1", "2606:4700::1111", "2a00:1450::1", "2003::1", "3ffe::1",
  ])
  func isPublic(_ text: String) throws {
    #expect(AddressGuard().allows(try #require(IPAddress(text))))
  }

  @Test(arguments: [
    ("10.0.0.0/8", "10.1.2.3", true), ("10.0.0.0/8", "::ffff:10.1.2.3", true),
    ("10.0.0.0/8", "64:ff9b::10.1.2.3", true), ("10.0.0.0/8", "11.0.0.1", true),
    ("10.0.0.0/8", "192.168.0.1", false), ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false),
    ("10.1.0.0/18", "10.1.63.255", true), ("10.1.0.0/18", "10.1.64.0", false), ("fd00::/8", "fd00::1", true),
    ("fd00::/8", "fc00::1", false), ("::1", "::1", true), ("::1", "127.0.0.1", false),
    ("0.0.0.0/0", "127.0.0.1", true), ("0.0.0.0/0", "::1", false), ("::/0", "fe80::1", true),
    ("2000::/3", "127.0.0.1", false),
  ])
  func named(network: String, address: String, isAllowed: Bool) throws {
    let addresses = AddressGuard(allowing: [try #require(IPNetwork(network))])
    #expect(addresses.allows(try #require(IPAddress(address))) == isAllowed)
  }

  @Test func ownAddressesNeedToBeNamed() throws {
    let (own, other) = (try #require(IPAddress("8.8.8.8")), try #require(IPAddress("8.8.4.4")))
    let translated = try #require(IPAddress("64:ff9b::8.8.8.8"))
    let addresses = AddressGuard { [own] }
    #expect(!addresses.allows(own) && !addresses.allows(translated) && addresses.allows(other))
    let named = AddressGuard(allowing: [try #require(IPNetwork("8.8.8.8"))]) { [own] }
    #expect(named.allows(own) && named.allows(translated))
    #expect(try #require(AddressGuard.ownAddresses()).contains(try #require(IPAddress("127.0.0.1"))))
  }

  @Test func ofUnknownOwnAddressesOnlyNamedNetworksAreAllowed() throws {
    let addresses = AddressGuard(allowing: [try #require(IPNetwork("8.8.8.0/24"))]) { nil }
    #expect(addresses.allows(try #require(IPAddress("8.8.8.8"))))
    #expect(!addresses.allows(try #require(IPAddress("1.1.1.1"))))
    #expect(!addresses.allows(try #require(IPAddress("64:ff9b::1.1.1.1"))))
    #expect(!addresses.allows(try #require(IPAddress("2606:4700::1111"))))
  }

  @Test func addressesAreBytes() {
    #expect(IPAddress(bytes: [1, 2, 3]) == nil)
    #expect(IPAddress(bytes: [10, 0, 0, 1]) == IPAddress("10.0.0.1"))
    let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 1]
    #expect(IPAddress(bytes: mapped) == IPAddress("10.0.0.1"))
    #expect(
      IPAddress(bytes: [0x20, 1, 0xd, 0xb8] + [UInt8](repeating: 0, count: 11) + [1])?.text == "2001:db8::1")
  }
}
