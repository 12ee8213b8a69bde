import Cluster
import Testing

/// How long what another node says was on its way.
@Suite struct PeerClockTests {
  private static let second: UInt64 = 1_000_000_000
  /// The other node was booted 1000 seconds before this one.
  private static let ahead: UInt64 = 1_000_000

  /// Something is said each second, and is on its way for 2 ms.
  private static func clock(from start: UInt64, for seconds: UInt64) -> PeerClock {
    var clock = PeerClock()
    for second in 0..<seconds {
      let said = start + second
      clock.note(ahead + said * 1000, now: said * Self.second + 2_000_000)
    }
    return clock
  }

  @Test func `What comes at once has no age`() {
    let clock = Self.clock(from: 50, for: 3)
    #expect(clock.age(Self.ahead + 60_000, now: 60 * Self.second + 2_000_000) == 0)
    #expect(clock.age(Self.ahead + 60_000, now: 60 * Self.second) == 0)
  }

  @Test func `What stood still on its way is late`() {
    var clock = Self.clock(from: 50, for: 3)
    let now = 80 * Self.second + 2_000_000
    #expect(clock.age(Self.ahead + 60_000, now: now) == 20 * Self.second)
    // A backlog that is read at once does not hide it.
    for said in 53...79 { clock.note(Self.ahead + UInt64(said) * 1000, now: now) }
    #expect(clock.age(Self.ahead + 60_000, now: now) == 20 * Self.second)
    #expect(clock.moment(Self.ahead + 60_000) == 60 * Self.second + 2_000_000)
  }

  @Test func `Clocks may run apart a little`() {
    var clock = PeerClock()
    // For an hour the other one goes slower by a millisecond each second.
    for second in UInt64(1)...3600 {
      clock.note(Self.ahead + second * 999, now: second * Self.second)
    }
    #expect(clock.age(Self.ahead + 3600 * 999, now: 3600 * Self.second) < Self.second)
  }

  @Test func `A moment that nobody says, or that cannot be, has no age`() {
    var clock = PeerClock()
    #expect(clock.moment(5) == nil && clock.age(5, now: Self.second) == 0)
    for moment in [0, UInt64.max, 4_000_000_000_000] { clock.note(moment, now: Self.second) }
    #expect(clock.moment(5) == nil)
    clock.note(Self.ahead, now: Self.second)
    for moment in [0, UInt64.max] {
      #expect(clock.moment(moment) == nil && clock.age(moment, now: .max) == 0)
    }
  }
}
