import BorealisBase
import Storage
import Synchronization
import Testing

@testable import Core

@Suite struct PushRateLimiterTests {
  /// What became of those that had to wait, in order.
  private final class Journal: Sendable {
    private let entries = Mutex<[String]>([])
    func add(_ entry: String) { entries.withLock { $0.append(entry) } }
    func drain() -> [String] {
      entries.withLock { entries in
        defer { entries = [] }
        return entries
      }
    }
  }

  private let pools = PushRateLimiter()
  private let journal = Journal()
  private let shared = PlanRow(name: "free", speed: 100, sharesSpeed: true)
  private static let second: UInt64 = 1_000_000_000

  private func admit(
    _ name: String, _ cost: Int, app: UInt32, plan: PlanRow? = nil, at now: UInt64
  ) -> PushRateLimiter.Admission {
    let journal = journal
    return pools.admit(cost, app: AppID(app), plan: plan ?? shared, at: now) {
      journal.add(name)
    } expire: {
      journal.add("late " + name)
    }
  }

  /// Without a speed nothing waits and nothing is remembered.
  @Test func unlimited() {
    for _ in 0..<100 {
      #expect(admit("a", 1_000_000, app: 1, plan: PlanRow(name: "unlimited"), at: 0) == .now)
    }
    #expect(pools.waiting == 0)
  }

  /// Apps of a plan share its bucket; those that wait take turns, whoever has more waiting.
  @Test func turns() {
    let start = 5 * Self.second
    #expect(admit("x", 60, app: 1, at: start) == .now)
    #expect(admit("x", 60, app: 2, at: start) == .now)
    for name in ["a1", "a2", "a3"] { #expect(admit(name, 50, app: 1, at: start) == .waits) }
    #expect(admit("b1", 50, app: 2, at: start) == .waits)
    pools.tick(at: start)
    #expect(journal.drain() == [])
    pools.tick(at: start + Self.second)
    #expect(journal.drain() == ["a1", "b1"])
    pools.tick(at: start + 2 * Self.second)
    #expect(journal.drain() == ["a2", "a3"])
    #expect(pools.waiting == 0)
  }

  /// A push to very many goes at once and is paid for by those after it; a full bucket holds a second's
  /// speed.
  @Test func debt() {
    let plan = PlanRow(name: "paid", speed: 100)
    #expect(admit("x", 1000, app: 1, plan: plan, at: 0) == .now)
    #expect(admit("a", 1, app: 1, plan: plan, at: 0) == .waits)
    pools.tick(at: 9 * Self.second)
    #expect(journal.drain() == [])
    pools.tick(at: 9 * Self.second + Self.second / 2)
    #expect(journal.drain() == ["a"])
    pools.tick(at: 1000 * Self.second)
    #expect(admit("x", 100, app: 1, plan: plan, at: 1000 * Self.second) == .now)
    #expect(admit("b", 1, app: 1, plan: plan, at: 1000 * Self.second) == .waits)
  }

  /// One app's push to very many holds the others up for a second; the rest of the debt is its own.
  @Test func ownDebt() {
    #expect(admit("x", 1000, app: 1, at: 0) == .now)
    #expect(admit("a", 1, app: 1, at: 0) == .waits)
    #expect(admit("b", 1, app: 2, at: 0) == .waits)
    pools.tick(at: Self.second)
    #expect(journal.drain() == [])
    pools.tick(at: Self.second + Self.second / 10)
    #expect(journal.drain() == ["b"])
    // Half of what flows in is the others', all the time.
    var sent = 0
    for tenth in 12...81 as ClosedRange<UInt64> {
      let now = tenth * Self.second / 10
      if admit("c", 5, app: 2, at: now) == .now { sent += 1 }
      pools.tick(at: now)
      let ran = journal.drain()
      #expect(ran.allSatisfy { $0 == "c" })
      sent += ran.count
    }
    #expect((68...70).contains(sent))
    // 5 of the 800 were paid before these 7 seconds, and 350 in them: at least 4.4 seconds are left.
    pools.tick(at: 9 * Self.second)
    #expect(journal.drain().allSatisfy { $0 == "c" })
    #expect(pools.waiting == 1)
  }

  /// Debts of several apps are paid alike, to the last device.
  @Test func debtsOfSeveral() {
    #expect(admit("x", 400, app: 1, at: 0) == .now)
    pools.charge(300, app: AppID(2), plan: shared, at: 0)
    // 200 and 300 beyond the second's 100. The bucket is out of debt after one second and full after three.
    for app in [1, 2, 3] as [UInt32] { #expect(admit("\(app)", 1, app: app, at: 0) == .waits) }
    pools.tick(at: 2 * Self.second)
    #expect(journal.drain() == ["3"])
    pools.tick(at: 5 * Self.second)
    #expect(journal.drain() == [])
    pools.tick(at: 6 * Self.second + Self.second / 10)
    #expect(journal.drain() == ["1"])
    pools.tick(at: 7 * Self.second + Self.second / 10)
    #expect(journal.drain() == ["2"])
  }

  /// What was taken for nothing is there again: first the app's own debt is less, then the bucket is fuller.
  @Test func `What is given back leaves things as they were`() {
    #expect(admit("x", 40, app: 1, at: 0) == .now)
    #expect(admit("again", 1000, app: 1, at: 0) == .now)
    pools.giveBack(1000, app: AppID(1), plan: shared, at: 0)
    #expect(admit("y", 60, app: 1, at: 0) == .now, "60 are left, and no debt")
    #expect(admit("a", 1, app: 1, at: 0) == .waits)
    pools.giveBack(1000, app: AppID(2), plan: shared, at: 0)
    pools.tick(at: 0)
    #expect(journal.drain() == ["a"])
    #expect(admit("z", 99, app: 2, at: 0) == .now, "never more than a second's speed")
    #expect(admit("b", 1, app: 2, at: 0) == .waits)
  }

  /// When there are no more ticks nobody waits.
  @Test func close() {
    #expect(admit("x", 150, app: 1, at: 0) == .now)
    #expect(admit("a", 1, app: 1, at: 0) == .waits)
    pools.close()
    #expect(journal.drain() == ["late a"])
    #expect(admit("b", 1, app: 2, at: 0) == .closed)
    #expect(admit("c", 1, app: 2, at: Self.second) == .now)
    #expect(pools.waiting == 0)
  }

  /// Apps of a plan that does not share have buckets of their own.
  @Test func apart() {
    let plan = PlanRow(name: "paid", speed: 10)
    #expect(admit("x", 100, app: 1, plan: plan, at: 0) == .now)
    #expect(admit("a", 1, app: 1, plan: plan, at: 0) == .waits)
    #expect(admit("x", 100, app: 2, plan: plan, at: 0) == .now)
  }

  /// A charge goes at once, whatever the bucket holds; those after it wait until it is paid for.
  @Test func charges() {
    let plan = PlanRow(name: "paid", speed: 10)
    for _ in 0..<2 { pools.charge(10, app: AppID(1), plan: plan, at: 0) }
    #expect(admit("a", 1, app: 1, plan: plan, at: 0) == .waits)
    pools.tick(at: Self.second)
    #expect(journal.drain() == [])
    pools.tick(at: Self.second + Self.second / 10)
    #expect(journal.drain() == ["a"])
    pools.charge(1_000_000, app: AppID(2), plan: PlanRow(name: "unlimited"), at: 0)
    #expect(admit("x", 1, app: 2, plan: plan, at: 0) == .now)
  }

  /// Who waits too long is told, and who has too many waiting is refused without harm to others.
  @Test func bounds() {
    #expect(admit("x", 100_000, app: 1, at: 0) == .now)
    for _ in 0..<PushRateLimiter.waitersOfApp { #expect(admit("a", 1, app: 1, at: 0) == .waits) }
    #expect(admit("a", 1, app: 1, at: 0) == .full)
    #expect(admit("b", 1, app: 2, at: 5 * Self.second) == .now)
    pools.tick(at: PushRateLimiter.patience + 1)
    #expect(journal.drain() == Array(repeating: "late a", count: PushRateLimiter.waitersOfApp))
    #expect(pools.waiting == 0)
    #expect(admit("a", 1, app: 1, at: PushRateLimiter.patience + 1) == .waits)
  }
}
