import BorealisBase
import Model
import PushTesting
import Testing

@testable import Channels

/// What services ask for when they have enough.
@Suite struct VendorRestTests {
  /// The schedule of such answers begins with ten minutes, and the service asks for two seconds.
  @Test func `A service that names a time is asked again then, with one request at first`() async throws {
    let scene = try await VendorScene { number in
      number == 1 ? .status(ScriptedVendor.busy, "Retry-After: 2\r\n") : .status(200)
    }
    defer { scene.end() }
    let device = try await scene.device("a")
    let push = try await scene.push()
    let first = try #require(try await scene.requests(1).first)
    try await scene.untilResting()
    // It goes on by itself: nobody has to act.
    #expect(scene.problem == "busy" && scene.stopped.isEmpty)
    let step = try await scene.why(push, device)
    #expect(step.cause == .channelResting && step.detail == "scripted, busy")
    #expect(step.at == first.adding(seconds: 2))
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

  /// More than six hours would be a mistake of the service, or of somebody in between.
  @Test(arguments: [(1500, 1500), (90_000, 21_600)])
  func `A service may ask for a long pause`(asked: Int, seconds: Int64) async throws {
    let scene = try await VendorScene { number in
      number == 1 ? .status(ScriptedVendor.busy, "Retry-After: \(asked)\r\n") : .status(200)
    }
    defer { scene.end() }
    try await scene.device("a")
    _ = try await scene.push()
    let first = try #require(try await scene.requests(1).first)
    try await scene.untilResting()
    scene.jump(seconds: seconds - 1)
    #expect(scene.moments.list.count == 1 && scene.problem == "busy")
    scene.pass(seconds: 3)
    let second = try #require(try await scene.requests(2).last)
    #expect(second >= first.adding(seconds: seconds) && second <= first.adding(seconds: seconds + 3))
  }

  @Test func `A quota that is used up is waited for until midnight in China`() async throws {
    let scene = try await VendorScene { number in .status(number == 1 ? ScriptedVendor.quota : 200) }
    defer { scene.end() }
    try await scene.device("a")
    _ = try await scene.push()
    let first = try #require(try await scene.requests(1).first)
    try await scene.untilResting()
    #expect(scene.problem == "the quota is used up")
    let left = first.secondsToQuotaReset
    scene.jump(seconds: left - 2)
    scene.pass(seconds: 3)
    let all = try await scene.requests(2)
    #expect(all.count == 2)
    // 16:00 UTC is midnight there.
    #expect(all.dropFirst().allSatisfy { ($0.seconds + 8 * 3600) % 86_400 < 60 })
  }

  @Test func `A quota that is used up keeps no other waiting`() async throws {
    let scene = try await VendorScene(hasQuotas: true) { number in
      .status(number == 1 ? ScriptedVendor.quota : 200)
    }
    defer { scene.end() }
    let device = try await scene.device("a")
    @discardableResult
    func push(_ quota: String) async throws -> MessageID {
      try await scene.push(#""notification":{"android":{"alert":"\#(quota)"}}"#)
    }
    let held = try await push("marketing")
    let first = try #require(try await scene.requests(1).first)
    let quotas = scene.channel.queue(of: scene.app).quotas
    for _ in 0..<2000 where quotas.usedUp == nil { try await Task.sleep(for: .milliseconds(10)) }
    #expect(quotas.usedUp?.reason == "the quota is used up")
    let step = try await scene.why(held, device)
    #expect(step.cause == .channelResting && step.at == first.adding(seconds: first.secondsToQuotaReset))
    // More than are in memory of pushes that wait for no quota.
    let count = ChannelQueue.Bounds.pushes + 100
    for _ in 0..<count { try await push("marketing") }
    let free = try await push("service")
    #expect(try await scene.requests(2).count == 2)
    scene.pass(seconds: 5)
    #expect(scene.moments.list.count == 2)
    #expect(scene.problem == nil, "nothing is stopped as a whole")
    #expect(try await scene.why(free, device).cause != .channelResting)
    scene.jump(seconds: first.secondsToQuotaReset)
    scene.pass(seconds: 3)
    #expect(try await scene.requests(count + 3).count == count + 3)
  }

  /// Only what the maker counts together waits together.
  @Test(
    arguments: [
      ("", "marketing", "marketing", "marketing"),
      (#""classification":1"#, "marketing", "marketing", "service"),
      (#""classification":1,"category":"IM""#, "marketing", "service", "service"),
      (#""channel_id":"a""#, "channel_id a", "channel_id a", "marketing"),
      (#""channel_id":"a","category":"IM""#, "channel_id a", "service", "marketing"),
    ])
  func `Makers' quotas are those of classes`(
    wishes: String, xiaomi: String, oppo: String, meizu: String
  ) throws {
    let shown = try MakerNotification.shown("", wishes)
    #expect(Xiaomi.content(shown).quota == xiaomi)
    #expect(OPPO.content(shown).quota == oppo)
    #expect(Meizu.content(shown).quota == meizu)
  }

  @Test func `Senders cannot name more quotas than are remembered`() {
    let quotas = ChannelQuotas()
    for number in 0..<256 { #expect(quotas.useUp("channel_id \(number)", until: 5, "used up")) }
    #expect(!quotas.useUp("one more", until: 5, "used up"))
    #expect(quotas.useUp("channel_id 7", until: 9, "used up"))
    #expect(quotas.usedUp?.until == 9 && quotas.usedUp("one more") == nil)
  }

  /// A quota may be used up until midnight: who opens the app meanwhile gets what waits, once.
  @Test func `What waits for a service goes over the connection once its device is there`() async throws {
    let scene = try await VendorScene { number in
      number == 1 ? .status(ScriptedVendor.busy, "Retry-After: 800\r\n") : .status(200)
    }
    defer { scene.end() }
    let (back, away) = (try await scene.device("a"), try await scene.device("b"))
    func push(_ device: RegistrationID) async throws {
      _ = try await scene.push(to: #"{"registration_id":["\#(device.text)"]}"#)
    }
    try await push(back)
    _ = try await scene.requests(1)
    try await scene.untilResting()
    try await push(back)
    try await push(away)
    // Not at once: the service may be about to take it.
    scene.connect(back)
    #expect(scene.waiting(for: back) == 0)
    scene.jump(seconds: 6)
    scene.connect(back)
    for _ in 0..<2000 where scene.waiting(for: back) < 2 {
      scene.channel.tick()
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(scene.waiting(for: back) == 2 && scene.waiting(for: away) == 0)
    scene.jump(seconds: 900)
    _ = try await scene.requests(2)
    scene.pass(seconds: 2)
    #expect(scene.moments.count(to: "a") == 1 && scene.moments.count(to: "b") == 1)
  }

  /// More pushes than have room wait for one service of a vendor that rests; the other one takes its pushes.
  @Test func `A service that rests keeps no other one of its vendor waiting`() async throws {
    let scene = try await VendorScene(services: [.only, ServiceID(rawValue: 2)]) { number in
      number == 1 ? .status(ScriptedVendor.busy, "Retry-After: 800\r\n") : .status(200)
    }
    defer { scene.end() }
    let (resting, other) = (try await scene.device("a"), try await scene.device("b"))
    func push(_ device: RegistrationID, _ count: Int) async throws {
      for _ in 0..<count { _ = try await scene.push(to: #"{"registration_id":["\#(device.text)"]}"#) }
    }
    try await push(resting, 1)
    _ = try await scene.requests(1)
    try await scene.untilResting()
    #expect(scene.problem == "Service 1: busy")
    try await push(resting, 1200)
    try await push(other, 1)
    _ = try await scene.requests(2)
    #expect(scene.moments.count(to: "a") == 1 && scene.moments.count(to: "b") == 1)
    scene.jump(seconds: 900)
    _ = try await scene.requests(1203)
    #expect(scene.moments.count(to: "a") == 1202 && scene.problem == nil)
  }

  /// Such as Web Push with the operator's own hosts alone.
  @Test func `A vendor may have one service that is not the usual one`() async throws {
    let scene = try await VendorScene(services: [ServiceID(rawValue: 8)]) { _ in .status(200) }
    defer { scene.end() }
    try await scene.device("a")
    _ = try await scene.push()
    #expect(try await scene.requests(1).count == 1)
  }

  @Test(
    arguments: [
      // 2026-11-23, 15:59:59, 16:00:00, 16:05:00 and 00:00:00 UTC.
      (1_795_449_599, 1), (1_795_449_600, 300), (1_795_449_900, 86_100), (1_795_392_000, 57_600),
    ] as [(Int64, Int64)])
  func `Quotas are counted by China's days`(now: Int64, left: Int64) {
    #expect(
      Timestamp(milliseconds: now * 1000).secondsToQuotaReset == left)
  }
}
