import PushBase
import PushStorage
import Testing

@testable import PushCallbacks

@Suite struct DestinationLimiterTests {
  let a = CallbackDestination(app: AppID(1), origin: "")
  let b = CallbackDestination(app: AppID(2), origin: "")
  static let empty = DestinationLimiter(limits: .init(all: 6, app: 3, host: 4, destination: 2, probes: 1))

  @Test func aDestinationHasItsShare() {
    var limiter = Self.empty
    let first = limiter.begin(1, of: a, host: "x", at: 0)
    let again = limiter.begin(1, of: a, host: "x", at: 0)
    let second = limiter.begin(2, of: a, host: "x", at: 0)
    let third = limiter.begin(3, of: a, host: "x", at: 0)
    #expect(first && !again && second && !third)
    let other = limiter.begin(4, of: b, host: "x", at: 0)
    #expect(other && limiter.busy == 3)
    limiter.end(1, of: a, host: "x")
    let freed = limiter.begin(3, of: a, host: "x", at: 0)
    #expect(freed)
  }

  @Test func anAppAndAHostHaveTheirShares() {
    var limiter = Self.empty
    var begun: [Bool] = []
    for number in 1...4 {
      let destination = CallbackDestination(app: AppID(1), origin: "o\(number)")
      begun.append(limiter.begin(Int64(number), of: destination, host: "h\(number)", at: 0))
    }
    #expect(begun == [true, true, true, false])
    for number in 5...9 {
      let destination = CallbackDestination(app: AppID(UInt32(number)), origin: "")
      begun.append(limiter.begin(Int64(number), of: destination, host: number < 9 ? "h1" : "h2", at: 0))
    }
    #expect(begun.dropFirst(4) == [true, true, true, false, false])
    #expect(limiter.availableCapacity == 0)
  }

  @Test func whatFailsRestsAndIsAskedOnce() {
    var limiter = Self.empty
    let second: UInt64 = 1_000_000_000
    _ = limiter.begin(1, of: a, host: "x", at: 0)
    limiter.answered(a, isSuccess: false, chance: 1, at: 0)
    limiter.end(1, of: a, host: "x")
    #expect(limiter.availableCapacity(of: a, at: second - 1).count == 0)
    #expect(limiter.availableCapacity(of: a, at: second).count == 1)
    let probe = limiter.begin(1, of: a, host: "x", at: second)
    let beside = limiter.begin(2, of: a, host: "x", at: second)
    #expect(probe && !beside)
    limiter.answered(a, isSuccess: false, chance: 1, at: second)
    limiter.end(1, of: a, host: "x")
    #expect(limiter.availableCapacity(of: a, at: 3 * second - 1).count == 0)
    let later = limiter.begin(2, of: a, host: "x", at: 3 * second)
    #expect(later)
    limiter.answered(a, isSuccess: true, chance: 1, at: 3 * second)
    limiter.end(2, of: a, host: "x")
    #expect(limiter.availableCapacity(of: a, at: 3 * second).count == 2)
    #expect(limiter.busy == 0)
  }

  @Test func probesHaveAShare() {
    var limiter = Self.empty
    for destination in [a, b] {
      _ = limiter.begin(1, of: destination, host: "x", at: 0)
      limiter.answered(destination, isSuccess: false, chance: 0, at: 0)
      limiter.end(1, of: destination, host: "x")
    }
    let later: UInt64 = 100_000_000_000
    let first = limiter.begin(1, of: a, host: "x", at: later)
    #expect(first && limiter.availableCapacity(of: b, at: later).count == 0)
    limiter.answered(a, isSuccess: true, chance: 0, at: later)
    #expect(limiter.availableCapacity(of: b, at: later).count == 1)
  }

  @Test func restsGrowToAMinute() {
    var limiter = Self.empty
    var now: UInt64 = 0
    for _ in 0..<30 {
      _ = limiter.begin(1, of: a, host: "x", at: now)
      limiter.answered(a, isSuccess: false, chance: 1, at: now)
      limiter.end(1, of: a, host: "x")
      now += 60_000_000_000
      #expect(limiter.availableCapacity(of: a, at: now).count == 1)
    }
    #expect(limiter.availableCapacity(of: a, at: now - 1).count == 0)
    limiter.forgetIdle(at: now + 600_000_000_000)
    #expect(limiter.availableCapacity(of: a, at: 0).count == 2)
  }
}
