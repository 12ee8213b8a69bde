import PushBase
import PushChannels
import Testing

@Suite struct TokenGuardTests {
  static let second: UInt64 = 1_000_000_000

  @Test func aFewBadTokensAreConfirmedAfterAMinute() {
    var guardian = TokenGuard<Int>()
    for index in 0..<1000 {
      let now = UInt64(index) * Self.second / 100
      guardian.good(at: now)
      // Every 20th answer is bad: 5 percent.
      if index % 20 == 0 {
        let verdict = guardian.bad(index, at: now)
        #expect(verdict == .fine)
      }
    }
    let early = guardian.confirmed(at: 60 * Self.second - 1)
    #expect(early == [])
    let first = guardian.confirmed(at: 60 * Self.second)
    #expect(first == [0])
    let rest = guardian.confirmed(at: 70 * Self.second)
    #expect(rest == Array(stride(from: 20, to: 1000, by: 20)))
    let none = guardian.confirmed(at: 500 * Self.second)
    #expect(none == [])
  }

  /// A swapped setting: nearly every answer is bad. The alarm comes once, early, and no token is lost.
  @Test func manyBadTokensRaiseTheAlarm() {
    var guardian = TokenGuard<Int>()
    var alarms: [Int] = []
    for index in 0..<500 {
      if guardian.bad(index, at: UInt64(index) * Self.second / 50) == .alarm { alarms.append(index) }
    }
    #expect(alarms == [9])
    #expect(guardian.isAlarmed)
    let lost = guardian.confirmed(at: 1000 * Self.second)
    #expect(lost == [])
    guardian.reset()
    #expect(!guardian.isAlarmed)
    let verdict = guardian.bad(1, at: 1001 * Self.second)
    #expect(verdict == .fine, "what was counted before is forgotten")
  }

  /// The share is that of the last minute: a good hour before does not hide a bad minute, and old trouble is forgotten.
  @Test func onlyTheLastMinuteCounts() {
    var guardian = TokenGuard<Int>(percent: 10, minimum: 10)
    for index in 0..<10_000 { guardian.good(at: UInt64(index) * Self.second / 1000) }
    for index in 0..<9 {
      let verdict = guardian.bad(index, at: 100 * Self.second)
      #expect(verdict == .fine)
    }
    let later = guardian.bad(9, at: 160 * Self.second)
    #expect(later == .fine, "the nine are a minute old")
    for index in 0..<8 { _ = guardian.bad(index, at: 161 * Self.second) }
    let last = guardian.bad(9, at: 162 * Self.second)
    #expect(last == .alarm)
  }

  @Test(arguments: [(1000, 100, false), (1000, 112, true), (90, 10, false), (89, 10, true), (0, 9, false)])
  func theShareIsExact(_ good: Int, _ bad: Int, _ isAlarm: Bool) {
    var guardian = TokenGuard<Int>(percent: 10, minimum: 10)
    for _ in 0..<good { guardian.good(at: 5 * Self.second) }
    for index in 0..<bad { _ = guardian.bad(index, at: 6 * Self.second) }
    #expect(guardian.isAlarmed == isAlarm)
  }

  @Test func aClockThatStandsOrTurnsIsHarmless() {
    var guardian = TokenGuard<Int>()
    _ = guardian.bad(1, at: .max)
    _ = guardian.bad(2, at: 0)
    guardian.good(at: .max)
    let confirmed = guardian.confirmed(at: 5)
    #expect(confirmed == [])
  }
}
