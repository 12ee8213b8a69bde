import Testing

@testable import PushConsole

@Suite struct LoginThrottleTests {
  private static let second: UInt64 = 1_000_000_000
  private let stranger = [LoginThrottle.Key.strangers(email: "a"), .network("n")]

  @Test func `Strangers are refused after ten failures, for a quarter of an hour`() {
    var throttle = LoginThrottle()
    for round in 0..<10 {
      #expect(throttle.delay(stranger, at: UInt64(round) * Self.second) == 0)
      throttle.fail(stranger, at: UInt64(round) * Self.second)
    }
    #expect(throttle.delay(stranger, at: 10 * Self.second) == 890)
    #expect(throttle.delay(stranger, at: 900 * Self.second) == 0)
  }

  @Test func `A known browser is not kept out by strangers, nor other people by them`() {
    var throttle = LoginThrottle()
    for _ in 0..<50 { throttle.fail([.strangers(email: "a")], at: 0) }
    #expect(throttle.delay([.known(email: "a", browser: "b")], at: 1) == 0)
    #expect(throttle.delay([.strangers(email: "c"), .network("n")], at: 1) == 0)
  }

  @Test func `A network that tries many people is refused`() {
    var throttle = LoginThrottle()
    for person in 0..<100 { throttle.fail([.strangers(email: "\(person)"), .network("n")], at: 0) }
    #expect(throttle.delay([.strangers(email: "x"), .network("n")], at: 1) == 900)
    #expect(throttle.delay([.strangers(email: "x"), .network("m")], at: 1) == 0)
  }

  @Test func `Success forgets a person's failures and one of the network's`() {
    var throttle = LoginThrottle()
    for _ in 0..<10 { throttle.fail(stranger, at: 0) }
    throttle.succeed(stranger)
    #expect(throttle.delay(stranger, at: 1) == 0)
    for _ in 0..<90 { throttle.fail([.network("n")], at: 1) }
    #expect(throttle.delay([.network("n")], at: 2) == 0)
    throttle.fail([.network("n")], at: 2)
    #expect(throttle.delay([.network("n")], at: 3) == 900)
  }

  @Test func `What is taken back is that attempt alone`() {
    var throttle = LoginThrottle()
    for _ in 0..<10 { throttle.fail(stranger, at: 0) }
    throttle.takeBack(stranger)
    #expect(throttle.delay(stranger, at: 1) == 0)
    throttle.fail(stranger, at: 1)
    #expect(throttle.delay(stranger, at: 2) == 900)
  }

  @Test func `Windows that ended are swept`() {
    var throttle = LoginThrottle()
    throttle.fail(stranger, at: 0)
    throttle.fail([.strangers(email: "b")], at: 10 * Self.second)
    throttle.sweep(at: 900 * Self.second)
    #expect(throttle.count == 1)
    throttle.sweep(at: 910 * Self.second)
    #expect(throttle.count == 0)
  }

  @Test func `Memory is bounded, and what is near its limit stays`() {
    var throttle = LoginThrottle(capacity: 100)
    for _ in 0..<10 { throttle.fail(stranger, at: 0) }
    for person in 0..<1000 { throttle.fail([.strangers(email: "flood \(person)")], at: 1) }
    #expect(throttle.delay(stranger, at: 2) == 900)
  }
}
