import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// What the audit of stored pushes finds when something has gone wrong.
@Suite struct TargetAuditTests {
  /// Goes around until the totals are as wanted; false if they never are.
  private func finds(_ world: TestWorld, _ isWanted: (TargetAudit.Totals) -> Bool) async throws -> Bool {
    for _ in 0..<1000 {
      if isWanted(world.router.audit.totals) { return true }
      try await world.tick()
      // The audit reads; so it has its turn.
      _ = try await world.store.look { t throws(StorageError) in try t.pushes.lastID() }
    }
    return false
  }

  @Test func `Targets that stand nowhere are found, but in pushes of which less was stored`() async throws {
    let world = try await TestWorld()
    world.router.add(SilentAPNs())
    let phone = try await world.register(token: [1], platform: .ios)
    var request = AcceptRequest.test(to: [phone])
    request.push.content = try .test(.notification)
    _ = try await world.accept(request).get()
    // The world's clock is behind the one that dates migrations.
    try await world.run(script: "UPDATE schema_migration SET applied_at = 0")
    #expect(try await finds(world) { $0.pending == 1 && $0.unaccounted == 0 })
    try await world.run(script: "DELETE FROM channel_pending")
    #expect(try await finds(world) { $0.unaccounted == 1 && $0.pending == 0 && $0.failed == 0 })
    try await world.run(script: "UPDATE schema_migration SET applied_at = \(Int64.max) WHERE version = 9")
    #expect(try await finds(world) { $0.unaccounted == 0 && $0.failed == 1 })
  }

  @Test func `Targets that stand in two places are found`() async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(3)
    let id = try await world.push(to: devices)
    world.router.deliveries.acknowledge([id], by: devices[0].number, in: world.app)
    #expect(try await finds(world) { $0.delivered == 1 && $0.pending == 2 && $0.unaccounted == 0 })
    try await world.run(script: "INSERT INTO dropped SELECT msg_id, 'Replaced', targets FROM delivered")
    #expect(try await finds(world) { $0.unaccounted == 1 })
  }
}
