import BorealisBase
import PushTesting
import Testing

@testable import Core

@Suite struct MessageIDTests {
  /// Homes with clocks that differ and jump, of which each takes over what another has stored, as when an app
  /// moves.
  @Test(arguments: 0..<20)
  func `Homes never give the same ID, and those of each grow`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let clocks = (0..<3).map { _ in ManualClock() }
    let slots = try [0, 1, 127].map { try #require(MessageSlot($0)) }
    var homes = zip(clocks, slots).map { MessageIDs(time: $0, slot: $1) }
    var given: Set<MessageID> = []
    var last: [MessageID] = [MessageID(0), MessageID(0), MessageID(0)]
    var stored = MessageID(0)
    for _ in 0..<20_000 {
      let home = Int.random(in: 0..<3, using: &random)
      switch Int.random(in: 0..<100, using: &random) {
      case 0: clocks[home].advance(milliseconds: Int.random(in: -300...300, using: &random))
      case 1, 2:
        // An app is taken over, or the home starts again.
        if Bool.random(using: &random) { homes[home] = MessageIDs(time: clocks[home], slot: slots[home]) }
        homes[home].raise(to: stored)
        last[home] = max(last[home], stored)
      default:
        let new = homes[home].next()
        #expect(given.insert(new).inserted && new > last[home])
        last[home] = new
        stored = max(stored, new)
      }
    }
  }
}
