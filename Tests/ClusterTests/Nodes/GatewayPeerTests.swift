import BorealisBase
import Model
import Testing

@testable import Cluster

/// What a home keeps of a gateway for the case that it asks again.
@Suite struct GatewayPeerTests {
  private func finish(_ numbers: ClosedRange<UInt32>, bytes: Int, at now: UInt64, _ peer: inout GatewayPeer) {
    let handle = Handle(incarnation: Incarnation(1), loop: 0, slot: 1, generation: 1)
    for number in numbers {
      let isNew = peer.begin(number, of: AppID(1))
      #expect(isNew)
      peer.finish(number, AppID(1), handle, [UInt8](repeating: 0, count: bytes), now: now)
    }
  }

  private func kept(_ peer: GatewayPeer) -> [UInt32: Int] {
    peer.requests.compactMapValues { if case .done(_, _, let body) = $0 { body.count } else { nil } }
  }

  /// A device with a thousand tags gets 41 KB when it asks for them, and may do so ten times in a second.
  @Test func `Results are kept as long as there is room, the newest longest`() {
    var peer = GatewayPeer(Incarnation(1))
    finish(1...2000, bytes: 41_000, at: 0, &peer)
    let large = kept(peer)
    #expect(large.values.reduce(0, +) <= 16 << 20)
    #expect(large.count > 350 && large.keys.min() == UInt32(2001 - large.count) && large[2000] == 41_000)
    finish(2001...2001, bytes: 1, at: 59_000_000_000, &peer)
    #expect(kept(peer).count >= large.count)
    finish(2002...2002, bytes: 1, at: 60_000_000_000, &peer)
    #expect(kept(peer) == [2001: 1, 2002: 1])
  }
}
