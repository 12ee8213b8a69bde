import Testing

@testable import BorealisNet

@Suite struct LoopClockTests {
  private static let second: UInt64 = 1_000_000_000

  @Test func `Turns of usual length count in full`() {
    var clock = LoopClock(100 * Self.second)
    for tenths in 1...50 { clock.advance(to: 100 * Self.second + UInt64(tenths) * Self.second / 10) }
    #expect(clock.now == 105 * Self.second && clock.pauses == 0)
  }

  @Test func `A stop counts as one long turn`() {
    var clock = LoopClock(100 * Self.second)
    clock.advance(to: 100 * Self.second + 2 * Self.second)
    #expect(clock.now == 102 * Self.second && clock.pauses == 0)
    clock.advance(to: 5_000 * Self.second)
    #expect(clock.now == 104 * Self.second && clock.pauses == 1)
    clock.advance(to: 5_001 * Self.second)
    #expect(clock.now == 105 * Self.second && clock.pauses == 1)
  }

  @Test func `A clock that goes back stands still`() {
    var clock = LoopClock(100 * Self.second)
    clock.advance(to: 99 * Self.second)
    clock.advance(to: 101 * Self.second)
    #expect(clock.now == 101 * Self.second)
  }
}
