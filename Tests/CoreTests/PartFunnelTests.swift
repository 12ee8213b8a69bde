import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// What reports say of each part of a push: who gets the notification over our connection, and who gets only
/// the message there.
@Suite struct PartFunnelTests {
  private static func members(_ devices: TestDevice...) -> [RegistrationNumber] {
    devices.map(\.number).sorted()
  }

  private static func request(_ variants: [ContentVariant]) -> AcceptRequest {
    var request = AcceptRequest.test()
    request.push.content = PushContent(variants: variants)
    return request
  }

  private static func report(_ id: MessageID, in world: TestWorld) async throws -> PushReport {
    try #require(
      try await awaitCallback { done in
        world.router.reports.report(on: id, in: world.app) { done($0) }
      }.get())
  }

  @Test func `The notification that a vendor's channel brings is not one of our connection`() async throws {
    let fallback = try await FallbackWorld()
    let (anna, bert) = (
      try await fallback.phone("anna", isOnline: false), try await fallback.phone("bert")
    )
    let id = try await fallback.push(to: [anna, bert], after: nil, .all)
    try await fallback.turn()
    #expect(fallback.lines == ["\(id.text) anna"])
    // What she gets at her next login is the message alone.
    _ = fallback.world.login(anna)
    try await fallback.acknowledge(id, anna, bert)
    try await fallback.turn()
    let report = try await fallback.report(id)
    #expect(report.ownOthers.received.members() == Self.members(anna, bert))
    let notification = report.ownOthers(.notification)
    #expect(notification.target.members() == Self.members(bert))
    #expect(notification.sent.members() == Self.members(bert))
    #expect(notification.received.members() == Self.members(bert))
    #expect(report.ownOthers(.message).received.members() == Self.members(anna, bert))
    let file = report.funnel(of: FallbackWorld.channel)
    #expect(file.target.members() == Self.members(anna) && file.received.isEmpty)
  }

  /// It brought nothing else, so what a device acknowledges late is the notification.
  @Test func `What was handed over after a time had gone over our connection as well`() async throws {
    let fallback = try await FallbackWorld()
    let anna = try await fallback.phone("anna")
    let id = try await fallback.push(to: [anna])
    try await fallback.run(12)
    #expect(fallback.lines == ["\(id.text) anna"])
    try await fallback.acknowledge(id, anna)
    try await fallback.run(2)
    let report = try await fallback.report(id)
    #expect(report.ownOthers.received.members() == Self.members(anna))
    #expect(report.ownOthers(.notification).received.members() == Self.members(anna))
    #expect(report.ownOthers(.message).isEmpty)
  }

  @Test func `Quick apps get notifications over our connection`() async throws {
    let world = try await TestWorld()
    let quick = try await world.register(platform: .quickapp)
    _ = world.login(quick)
    let id = try await world.accept(
      Self.request([
        ContentVariant(platforms: PlatformSet(.quickapp), notification: Array(#"{"alert":"x"}"#.utf8))
      ])
    ).get().id
    world.router.deliveries.acknowledge([id], by: quick.number, in: world.app)
    try await world.tick()
    let report = try await Self.report(id, in: world)
    #expect(report.ownOthers(.notification).received.members() == Self.members(quick))
    #expect(report.ownOthers(.message).isEmpty)
  }

  @Test func `Each platform counts for the parts that the push has for it`() async throws {
    let world = try await TestWorld()
    let android = try await world.register()
    let harmony = try await world.register(platform: .hmos)
    let gone = try await world.register(fingerprint: [7], platform: .hmos)
    for device in [android, harmony] { _ = world.login(device) }
    let message = Array(#"{"msg_content":"x"}"#.utf8)
    let id = try await world.accept(
      Self.request([
        ContentVariant(platforms: PlatformSet(.android), message: message),
        ContentVariant(
          platforms: PlatformSet(.hmos), notification: Array(#"{"alert":"x"}"#.utf8), message: message),
      ])
    ).get().id
    for device in [android, harmony] {
      world.router.deliveries.acknowledge([id], by: device.number, in: world.app)
    }
    // Nobody knows any more what this one was.
    _ = try await world.register(fingerprint: [7], platform: .hmos)
    try await world.tick()
    let report = try await Self.report(id, in: world)
    #expect(report.ownOthers(.notification).target.members() == Self.members(harmony, gone))
    #expect(report.ownOthers(.notification).received.members() == Self.members(harmony))
    #expect(report.ownOthers(.message).target.count == 3 && report.ownOthers(.message).received.count == 2)
  }

  /// Whatever becomes of the push later, the number does not go down.
  @Test func `A push counts as sent to those who acknowledged it, also after its recall`() async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(60)
    for device in devices { _ = world.login(device) }
    let id = try await world.accept(.test(timeToLive: 600)).get().id
    try await world.tick()
    world.router.deliveries.acknowledge([id], by: devices[3].number, in: world.app)
    try await world.tick()
    var own = try await Self.report(id, in: world).funnel(of: .passthrough)
    #expect(own.target.count == 60 && own.received.members() == [devices[3].number])
    #expect(own.sent.members() == [devices[3].number])
    #expect(try await world.recall(id).get() == 59)
    own = try await Self.report(id, in: world).funnel(of: .passthrough)
    #expect(own.sent.members() == [devices[3].number])
  }
}
