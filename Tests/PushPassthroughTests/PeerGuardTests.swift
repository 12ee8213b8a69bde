import PushNet
import Testing

@testable import PushPassthrough

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
