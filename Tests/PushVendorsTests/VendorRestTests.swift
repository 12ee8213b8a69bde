import PushBase
import PushDomain
import PushTesting
import Testing

@testable import PushVendors

/// What services ask for when they have enough.
@Suite struct VendorRestTests {
  /// The schedule of such answers begins with ten minutes, and the service asks for two seconds.
  @Test func `A service that names a time is asked again then, with one request at first`() async throws {
    let scene = try await VendorScene { number in
      number == 1 ? .status(ScriptedVendor.busy, "Retry-After: 2\r\n") : .status(200)
    }
    defer { scene.end() }
    _ = try await scene.device("a")
    _ = try await scene.push()
    let first = try #require(try await scene.requests(1).first)
    try await scene.untilResting()
    #expect(scene.problem == "busy")
    // A push that comes meanwhile waits as well.
    _ = try await scene.push()
    scene.pass(seconds: 3)
    let all = try await scene.requests(3)
    #expect(all.count == 3)
    for moment in all.dropFirst() {
      #expect(moment.milliseconds - first.milliseconds >= 2000)
    }
    #expect(scene.problem == nil)
  }

  @Test func `A quota that is used up is waited for until midnight in China`() async throws {
    let scene = try await VendorScene { number in .status(number == 1 ? ScriptedVendor.quota : 200) }
    defer { scene.end() }
    _ = try await scene.device("a")
    _ = try await scene.push()
    let first = try #require(try await scene.requests(1).first)
    try await scene.untilResting()
    #expect(scene.problem == "the quota is used up")
    let left = VendorDispatcher<ScriptedVendor>.secondsToQuotaReset(from: first)
    scene.jump(seconds: left - 2)
    scene.pass(seconds: 3)
    let all = try await scene.requests(2)
    #expect(all.count == 2)
    // 16:00 UTC is midnight there.
    #expect(all.dropFirst().allSatisfy { ($0.seconds + 8 * 3600) % 86_400 < 60 })
  }

  @Test(
    arguments: [
      // 2026-11-23, 15:59:59, 16:00:00 and 00:00:00 UTC.
      (1_795_449_599, 1), (1_795_449_600, 86_400), (1_795_392_000, 57_600),
    ] as [(Int64, Int64)])
  func `Quotas are counted by China's days`(now: Int64, left: Int64) {
    #expect(
      VendorDispatcher<ScriptedVendor>.secondsToQuotaReset(from: Timestamp(milliseconds: now * 1000)) == left)
  }
}
