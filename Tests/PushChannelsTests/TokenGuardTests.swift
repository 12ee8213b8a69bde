import PushBase
import PushChannels
import Testing

@Suite struct TokenGuardTests {
  static let second: UInt64 = 1_000_000_000
  /// A guard that knows some tokens, from 100_000 on, which worked at this second.
  private func makeGuard(knowing count: Int, at second: UInt64) -> TokenGuard<Int> {
    var guardian = TokenGuard<Int>()
    for token in 0..<count { guardian.works(100_000 + token, at: second * Self.second) { _ in true } }
    return guardian
  }

  @Test func `A few bad tokens are confirmed after a minute in which others work`() {
    var guardian = makeGuard(knowing: 50, at: 0)
    for token in 0..<5 {
      let verdict = guardian.bad(token, at: UInt64(token) * Self.second)
      #expect(verdict == .suspected)
    }
    guardian.works(3, at: 6 * Self.second) { _ in true }
    let early = guardian.confirmed(at: 60 * Self.second - 1)
    #expect(early == [])
    let first = guardian.confirmed(at: 60 * Self.second)
    #expect(first == [0])
    let rest = guardian.confirmed(at: 70 * Self.second)
    #expect(rest == [1, 2, 4], "3 has worked since")
  }

  /// Whoever has an app's public key can tell as many as they like.
  @Test(arguments: [10, 300]) func `Invented tokens beside good ones raise no alarm and are given up`(
    count: Int
  ) {
    var guardian = makeGuard(knowing: 20, at: 1)
    for round in 0..<3 as Range<UInt64> {
      for token in 0..<count {
        let verdict = guardian.bad(token, at: (1 + 10 * round) * Self.second)
        #expect(verdict == .suspected)
      }
    }
    #expect(!guardian.isAlarmed)
    let given = guardian.confirmed(at: 61 * Self.second)
    #expect(given == Array(0..<count))
  }

  /// After a start the answers about invented tokens may come first.
  @Test func `Tokens that work are waited for`() {
    var guardian = TokenGuard<Int>()
    var verdicts: [TokenGuard<Int>.Verdict] = []
    for token in 0..<15 { verdicts.append(guardian.bad(token, at: Self.second)) }
    #expect(verdicts.prefix(9).allSatisfy { $0 == .suspected })
    #expect(verdicts.dropFirst(9).allSatisfy { $0 == .unclear })
    for token in 100..<103 { guardian.works(token, at: 3 * Self.second) { _ in true } }
    let later = guardian.bad(14, at: 8 * Self.second)
    #expect(later == .suspected)
    let given = guardian.confirmed(at: 61 * Self.second)
    #expect(given == Array(0..<15))
  }

  /// A first credential that is wrong: nothing has ever worked. The alarm comes once, and no token is lost.
  @Test func `If no token works the alarm is raised and none is lost`() {
    var guardian = TokenGuard<Int>()
    var alarms: [UInt64] = []
    for step in 0..<500 as Range<UInt64> {
      let moment = step * Self.second / 50
      if guardian.bad(Int(step % 40), at: moment) == .alarm { alarms.append(moment / Self.second) }
    }
    #expect(alarms == [5])
    let lost = guardian.confirmed(at: 1000 * Self.second)
    #expect(lost == [])
    guardian.reset()
    #expect(!guardian.isAlarmed)
    let verdict = guardian.bad(1, at: 1001 * Self.second)
    #expect(verdict == .suspected)
    let few = guardian.confirmed(at: 1061 * Self.second)
    #expect(few == [], "none has worked")
  }

  /// The service's side has changed: tokens are refused that have worked.
  @Test(arguments: [(40, 3, true), (40, 2, false), (3, 3, true), (2, 2, false)])
  func `Lost tokens raise the alarm at once`(known: Int, lost: Int, isAlarm: Bool) {
    var guardian = makeGuard(knowing: known, at: 0)
    for token in 0..<lost { _ = guardian.bad(100_000 + token, at: 100 * Self.second) }
    #expect(guardian.isAlarmed == isAlarm)
    let given = guardian.confirmed(at: 160 * Self.second)
    #expect(given == [], "none has worked since")
  }

  /// The share is that of the last minute.
  @Test(arguments: [(1000, 100, false), (1000, 112, true), (90, 10, false), (89, 10, true), (89, 9, false)])
  func `The share of lost tokens is exact`(working: Int, lost: Int, isAlarm: Bool) {
    var guardian = makeGuard(knowing: 2000, at: 0)
    for token in 0..<working { guardian.works(100_000 + token, at: 100 * Self.second) { _ in true } }
    for token in 0..<lost { _ = guardian.bad(101_500 + token, at: 101 * Self.second) }
    #expect(guardian.isAlarmed == isAlarm)
  }

  /// More tokens than are remembered one by one.
  @Test func `Of many tokens a part shows that they are lost`() {
    var guardian = makeGuard(knowing: 50_000, at: 0)
    for token in 0..<50_000 where !guardian.isAlarmed {
      _ = guardian.bad(100_000 + token, at: 100 * Self.second)
    }
    #expect(guardian.isAlarmed)
  }

  @Test func `A clock that stands or turns is harmless`() {
    var guardian = TokenGuard<Int>()
    _ = guardian.bad(1, at: .max)
    _ = guardian.bad(2, at: 0)
    guardian.works(3, at: .max) { _ in true }
    let confirmed = guardian.confirmed(at: 5)
    #expect(confirmed == [])
  }
}
