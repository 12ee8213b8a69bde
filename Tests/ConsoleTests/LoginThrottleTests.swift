import Storage
import Testing

@testable import Console

@Suite struct LoginThrottleTests {
  private static let second: UInt64 = 1_000_000_000
  private let unknown = [LoginThrottle.Key.unknownBrowsers(email: "a"), .network("n")]

  @Test func `Unknown browsers are refused after ten failures, for a quarter of an hour`() {
    var throttle = LoginThrottle()
    for round in 0..<10 {
      #expect(throttle.delay(unknown, at: UInt64(round) * Self.second) == 0)
      throttle.fail(unknown, at: UInt64(round) * Self.second)
    }
    #expect(throttle.delay(unknown, at: 10 * Self.second) == 890)
    #expect(throttle.delay(unknown, at: 900 * Self.second) == 0)
  }

  @Test func `A known browser is not kept out by unknownBrowsers, nor other people by them`() {
    var throttle = LoginThrottle()
    for _ in 0..<50 { throttle.fail([.unknownBrowsers(email: "a")], at: 0) }
    #expect(throttle.delay([.known(email: "a", browser: "b")], at: 1) == 0)
    #expect(throttle.delay([.unknownBrowsers(email: "c"), .network("n")], at: 1) == 0)
  }

  @Test func `A network that tries many people is refused`() {
    var throttle = LoginThrottle()
    for person in 0..<100 { throttle.fail([.unknownBrowsers(email: "\(person)"), .network("n")], at: 0) }
    #expect(throttle.delay([.unknownBrowsers(email: "x"), .network("n")], at: 1) == 900)
    #expect(throttle.delay([.unknownBrowsers(email: "x"), .network("m")], at: 1) == 0)
  }

  @Test func `Success forgets a person's failures and one of the network's`() {
    var throttle = LoginThrottle()
    for _ in 0..<10 { throttle.fail(unknown, at: 0) }
    throttle.succeed(unknown)
    #expect(throttle.delay(unknown, at: 1) == 0)
    for _ in 0..<90 { throttle.fail([.network("n")], at: 1) }
    #expect(throttle.delay([.network("n")], at: 2) == 0)
    throttle.fail([.network("n")], at: 2)
    #expect(throttle.delay([.network("n")], at: 3) == 900)
  }

  @Test func `What is recalled is that attempt alone`() {
    var throttle = LoginThrottle()
    for _ in 0..<10 { throttle.fail(unknown, at: 0) }
    throttle.refund(unknown)
    #expect(throttle.delay(unknown, at: 1) == 0)
    throttle.fail(unknown, at: 1)
    #expect(throttle.delay(unknown, at: 2) == 900)
  }

  @Test func `Windows that ended are swept`() {
    var throttle = LoginThrottle()
    throttle.fail(unknown, at: 0)
    throttle.fail([.unknownBrowsers(email: "b")], at: 10 * Self.second)
    throttle.sweep(at: 900 * Self.second)
    #expect(throttle.count == 1)
    throttle.sweep(at: 910 * Self.second)
    #expect(throttle.count == 0)
  }

  @Test func `Memory is bounded, and what is near its limit stays`() {
    var throttle = LoginThrottle(capacity: 100)
    for _ in 0..<10 { throttle.fail(unknown, at: 0) }
    for person in 0..<1000 { throttle.fail([.unknownBrowsers(email: "flood \(person)")], at: 1) }
    #expect(throttle.delay(unknown, at: 2) == 900)
  }

  @Test func `Codes are refused for twice as long each time, up to a day, until one is right`() {
    var throttle = LoginThrottle()
    let key = LoginThrottle.Key.code(PersonID(1))
    var now: UInt64 = 0
    var waits: [Int] = []
    for _ in 0..<9 {
      for number in 1...10 {
        let isLast = throttle.fail([key], at: now)
        #expect(isLast == (number == 10))
      }
      let wait = throttle.delay([key], at: now)
      waits.append(wait / 60)
      now += UInt64(wait) * Self.second
      throttle.sweep(at: now)
      #expect(throttle.delay([key], at: now) == 0)
    }
    #expect(waits == [15, 30, 60, 120, 240, 480, 960, 1440, 1440])
    throttle.succeed([key])
    for _ in 0..<10 { throttle.fail([key], at: now) }
    #expect(throttle.delay([key], at: now) == 900)
  }

  /// Nine at a time, with a rest of a quarter of an hour, are no way around it.
  @Test func `Codes are not forgotten before a day without any`() {
    var throttle = LoginThrottle()
    let key = LoginThrottle.Key.knownCode(PersonID(1), browser: "b")
    for _ in 0..<9 { throttle.fail([key], at: 0) }
    let isLast = throttle.fail([key], at: 3600 * Self.second)
    #expect(isLast)
    #expect(throttle.delay([key], at: 3600 * Self.second) == 900)
    #expect(
      throttle.delay([.code(PersonID(1)), .knownCode(PersonID(1), browser: "c")], at: 3600 * Self.second) == 0
    )
    throttle.sweep(at: (2 * 86_400 + 3600) * Self.second)
    #expect(throttle.count == 0)
  }

  @Test func `A site with many networks has a limit of its own`() {
    var throttle = LoginThrottle()
    for number in 0..<400 {
      throttle.fail([.unknownBrowsers(email: "\(number)"), .network("\(number)"), .site("s")], at: 0)
    }
    #expect(throttle.delay([.network("new"), .site("s")], at: 1) == 900)
    throttle.succeed([.site("s")])
    #expect(throttle.delay([.network("new"), .site("s")], at: 1) == 0)
  }
}
