import BorealisBase
import Storage
import Testing

@testable import Core

@Suite struct DestinationLimiterTests {
  let a = Self.target(1)
  let b = Self.target(2)
  static let empty = DestinationLimiter(limits: .init(all: 12, app: 3, host: 4, destination: 2, probes: 1))

  private static func target(
    _ app: UInt32, account: UInt32 = 1, origin: String = "", host: String = "x"
  ) -> CallbackTarget {
    CallbackTarget(
      sender: CallbackSender(app: AppID(app), account: AccountID(account)), origin: origin, host: host)
  }

  /// Starts requests to receivers that do not answer, each to another, while one may start; returns how many
  /// have.
  private static func fill(
    _ limiter: inout DestinationLimiter, app: UInt32, account: UInt32, from first: Int = 1
  ) -> Int {
    var number = first
    while limiter.begin(
      Int64(app) * 1000 + Int64(number),
      to: target(app, account: account, origin: "o\(number)", host: "\(app).\(number)"), at: 0)
    {
      number += 1
    }
    return number - first
  }

  @Test func aDestinationHasItsShare() {
    var limiter = Self.empty
    let first = limiter.begin(1, to: a, at: 0)
    let again = limiter.begin(1, to: a, at: 0)
    let second = limiter.begin(2, to: a, at: 0)
    let third = limiter.begin(3, to: a, at: 0)
    #expect(first && !again && second && !third)
    let other = limiter.begin(4, to: b, at: 0)
    #expect(other && limiter.places.taken == 3)
    limiter.end(1, to: a)
    let freed = limiter.begin(3, to: a, at: 0)
    #expect(freed)
  }

  @Test func anAppAndAHostHaveTheirShares() {
    var limiter = Self.empty
    var begun: [Bool] = []
    for number in 1...4 {
      begun.append(
        limiter.begin(Int64(number), to: Self.target(1, origin: "o\(number)", host: "h\(number)"), at: 0))
    }
    #expect(begun == [true, true, true, false])
    for number in 5...9 {
      let target = Self.target(UInt32(number), host: number < 9 ? "h1" : "h2")
      begun.append(limiter.begin(Int64(number), to: target, at: 0))
    }
    #expect(begun.dropFirst(4) == [true, true, true, false, true])
  }

  @Test func whatFailsRestsAndIsAskedOnce() {
    var limiter = Self.empty
    let second: UInt64 = 1_000_000_000
    _ = limiter.begin(1, to: a, at: 0)
    limiter.answered(a, isSuccess: false, chance: 1, at: 0)
    limiter.end(1, to: a)
    #expect(limiter.availableCapacity(of: a.destination, at: second - 1).count == 0)
    #expect(limiter.availableCapacity(of: a.destination, at: second).count == 1)
    let probe = limiter.begin(1, to: a, at: second)
    let beside = limiter.begin(2, to: a, at: second)
    #expect(probe && !beside)
    limiter.answered(a, isSuccess: false, chance: 1, at: second)
    limiter.end(1, to: a)
    #expect(limiter.availableCapacity(of: a.destination, at: 3 * second - 1).count == 0)
    let later = limiter.begin(2, to: a, at: 3 * second)
    #expect(later)
    limiter.answered(a, isSuccess: true, chance: 1, at: 3 * second)
    limiter.end(2, to: a)
    #expect(limiter.availableCapacity(of: a.destination, at: 3 * second).count == 2)
    #expect(limiter.places.taken == 0)
  }

  @Test func probesHaveAShare() {
    var limiter = Self.empty
    for target in [a, b] {
      _ = limiter.begin(1, to: target, at: 0)
      limiter.answered(target, isSuccess: false, chance: 0, at: 0)
      limiter.end(1, to: target)
    }
    let later: UInt64 = 100_000_000_000
    let first = limiter.begin(1, to: a, at: later)
    let second = limiter.begin(2, to: b, at: later)
    #expect(first && !second)
    limiter.answered(a, isSuccess: true, chance: 0, at: later)
    let third = limiter.begin(2, to: b, at: later)
    #expect(third)
  }

  @Test func restsGrowToAMinute() {
    var limiter = Self.empty
    var now: UInt64 = 0
    for _ in 0..<30 {
      _ = limiter.begin(1, to: a, at: now)
      limiter.answered(a, isSuccess: false, chance: 1, at: now)
      limiter.end(1, to: a)
      now += 60_000_000_000
      #expect(limiter.availableCapacity(of: a.destination, at: now).count == 1)
    }
    #expect(limiter.availableCapacity(of: a.destination, at: now - 1).count == 0)
    limiter.forgetIdle(at: now + 600_000_000_000)
    #expect(limiter.availableCapacity(of: a.destination, at: 0).count == 2)
  }

  @Test func `An account with many failing receivers lets another's be remembered`() {
    var limiter = DestinationLimiter(limits: .init(failing: 100))
    func fail(_ target: CallbackTarget, at now: UInt64 = 0) {
      _ = limiter.begin(1, to: target, at: now)
      limiter.answered(target, isSuccess: false, chance: 1, at: now)
      limiter.end(1, to: target)
    }
    let first = Self.target(9, account: 2)
    fail(first)
    for number in 0..<1000 {
      fail(Self.target(1, account: 1, origin: "o\(number)"), at: UInt64(number))
    }
    #expect((40...100).contains(limiter.count))
    #expect(limiter.availableCapacity(of: first.destination, at: 0).count == 0)
    let latest = Self.target(1, account: 1, origin: "o999")
    #expect(limiter.availableCapacity(of: latest.destination, at: 0).count == 0)
  }

  // MARK: Room for others

  @Test(arguments: [1, 2, 8, 12]) func `Slow receivers of some apps leave room for another app`(apps: UInt32)
  {
    var limiter = DestinationLimiter()
    for app in 1...apps {
      let begun = Self.fill(&limiter, app: app, account: 1)
      #expect((1...8).contains(begun), "\(app)")
    }
    #expect(limiter.places.taken <= 48)
    let others = Self.fill(&limiter, app: 1000, account: 1)
    #expect(others >= 1, "an app of the same account")
    let elsewhere = Self.fill(&limiter, app: 1001, account: 2)
    #expect(elsewhere >= 2, "an app of another account")
  }

  @Test func `An account alone has three quarters`() {
    var limiter = DestinationLimiter()
    for app in 1...100 { _ = Self.fill(&limiter, app: UInt32(app), account: 1) }
    #expect(limiter.places.taken == 48)
    let other = Self.fill(&limiter, app: 1000, account: 2)
    #expect(other >= 2)
  }

  @Test func `Failing receivers of some apps leave room to probe another`() {
    var limiter = DestinationLimiter()
    var targets: [CallbackTarget] = []
    for app in UInt32(1)...9 {
      for number in 1...8 {
        targets.append(Self.target(app, origin: "o\(number)", host: "\(app).\(number)"))
      }
    }
    for target in targets {
      _ = limiter.begin(1, to: target, at: 0)
      limiter.answered(target, isSuccess: false, chance: 1, at: 0)
      limiter.end(1, to: target)
    }
    let later: UInt64 = 2_000_000_000
    var begun: [UInt32: Int] = [:]
    for target in targets where limiter.begin(1, to: target, at: later) {
      begun[target.sender.app.rawValue, default: 0] += 1
    }
    #expect((1...9).allSatisfy { begun[$0, default: 0] >= 1 })
    #expect(begun.values.reduce(0, +) < 32)
  }
}
