import BorealisDevice
import Testing

@Suite struct BackOffTests {
  @Test(arguments: 0..<50 as Range<UInt64>)
  func staysWithinTheBoundOfEachFailure(seed: UInt64) {
    var backOff = BackOff(seed: seed)
    for failure in 1...20 {
      let seconds = failure >= 9 ? 300 : min(300, 1 << failure)
      let wait = backOff.afterFailure()
      #expect(wait <= UInt64(seconds) * 1000)
      #expect(backOff.failures == failure)
    }
  }

  @Test func spreadsOverTheWholeRange() {
    var lowest = UInt64.max
    var highest: UInt64 = 0
    for seed in 0..<2000 as Range<UInt64> {
      var backOff = BackOff(seed: seed)
      let wait = backOff.afterFailure()
      lowest = min(lowest, wait)
      highest = max(highest, wait)
    }
    #expect(lowest < 20)
    #expect(highest > 1980)
  }

  @Test func addsWhatTheServerAskedFor() {
    for seed in 0..<50 as Range<UInt64> {
      var backOff = BackOff(seed: seed)
      let afterFailure = backOff.afterFailure(retryAfter: 5000)
      #expect((5000...7000).contains(afterFailure))
      var atOnce = BackOff(seed: seed)
      let wait = atOnce.atOnce(retryAfter: 5000)
      #expect((5000...10_000).contains(wait))
      #expect(atOnce.failures == 0)
    }
  }

  @Test func atOnceTurnsIntoBackOff() {
    var backOff = BackOff(seed: 1)
    for _ in 0..<BackOff.mostAtOnce {
      let wait = backOff.atOnce()
      #expect(wait == 0)
    }
    #expect(backOff.failures == 0)
    _ = backOff.atOnce()
    #expect(backOff.failures == 1)
    backOff.succeeded()
    let wait = backOff.atOnce()
    #expect(wait == 0)
    #expect(backOff.failures == 0)
  }

  @Test func successStartsOver() {
    var backOff = BackOff(seed: 3)
    for _ in 0..<12 { _ = backOff.afterFailure() }
    backOff.succeeded()
    let wait = backOff.afterFailure()
    #expect(wait <= 2000)
  }

  @Test func sameSeedSameWaits() {
    var first = BackOff(seed: 9)
    var second = BackOff(seed: 9)
    let waits = (0..<20).map { _ in first.afterFailure() }
    let same = (0..<20).map { _ in second.afterFailure() }
    #expect(waits == same)
    #expect(Set(waits).count > 1)
  }
}
