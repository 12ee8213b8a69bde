import BorealisNet
import Testing

@testable import DeviceGateway

@Suite struct PeerGuardTests {
  private let one = PeerNetwork(rawValue: 1)
  private let two = PeerNetwork(rawValue: 2)

  @Test func `Refused registrations come back, as many a minute as there are in it`() {
    let peers = PeerGuard(registrationsPerMinute: 2)
    // Nothing was taken.
    peers.returnRegistration(one, at: 0)
    for _ in 0..<2 {
      #expect(peers.mayRegister(one, at: 1))
      peers.returnRegistration(one, at: 1)
      // A network without connections is remembered until its minute is over.
      peers.leave(one, at: 1)
    }
    for _ in 0..<2 {
      #expect(peers.mayRegister(one, at: 2))
      peers.returnRegistration(one, at: 2)
    }
    #expect(!peers.mayRegister(one, at: 3))
    #expect(peers.mayRegister(two, at: 3))
    // One of the minute before is not given back in the next.
    #expect(peers.mayRegister(one, at: 60))
    peers.returnRegistration(two, at: 60)
    peers.returnRegistration(one, at: 60)
    for _ in 0..<2 { #expect(peers.mayRegister(one, at: 61)) }
    #expect(!peers.mayRegister(one, at: 62))
    // What cost nothing comes back always.
    for _ in 0..<9 {
      #expect(peers.mayRegister(two, at: 63))
      peers.returnRegistration(two, at: 63, isFree: true)
    }
  }

  @Test func `A site of IPv6 has four times what one of its networks has`() {
    let peers = PeerGuard(unauthenticated: 2, registrationsPerMinute: 2)
    func network(_ site: UInt64, _ subnet: UInt64) -> PeerNetwork {
      PeerNetwork(rawValue: 0x2001_0db8_0000_0000 | site << 16 | subnet)
    }
    var (granted, entered) = (0, 0)
    for subnet in 0..<100 as Range<UInt64> {
      for _ in 0..<3 {
        granted += peers.mayRegister(network(1, subnet), at: 0) ? 1 : 0
        entered += peers.enter(network(1, subnet), at: 0) ? 1 : 0
      }
    }
    #expect(granted == 8 && entered == 8)
    #expect(peers.mayRegister(network(2, 0), at: 0) && peers.enter(network(2, 0), at: 0))
    // Addresses of IPv4 are networks without a site.
    for address in 0..<100 as Range<UInt64> {
      #expect(peers.mayRegister(PeerNetwork(rawValue: 0xffff_c000_0200 + address), at: 0))
    }
    peers.returnRegistration(network(1, 0), at: 0)
    peers.leave(network(1, 0), at: 0)
    #expect(peers.mayRegister(network(1, 50), at: 0) && !peers.mayRegister(network(1, 51), at: 0))
    #expect(peers.enter(network(1, 50), at: 0) && !peers.enter(network(1, 51), at: 0))
    #expect(peers.mayRegister(network(1, 51), at: 60))
  }

  @Test func `Only a network with over twice as many connections as another has too many`() {
    let peers = PeerGuard(unauthenticated: 10)
    let three = PeerNetwork(rawValue: 3)
    for (network, count) in [(one, 5), (two, 2), (three, 1)] {
      for _ in 0..<count { #expect(peers.enter(network, at: 0)) }
    }
    // The first of several, which is the oldest.
    #expect(peers.mostCrowded([two, one, one, two], overTwice: three) == 1)
    #expect(peers.mostCrowded([two, one], overTwice: two) == 1)
    #expect(peers.mostCrowded([two], overTwice: three) == nil, "twice as many are not over twice")
    #expect(peers.enter(two, at: 0))
    #expect(peers.mostCrowded([two], overTwice: three) == 0)
    #expect(peers.mostCrowded([one], overTwice: two) == nil)
    #expect(peers.mostCrowded([two, one], overTwice: one) == nil)
    #expect(peers.mostCrowded([], overTwice: three) == nil)
  }
}
