import BorealisBase
import Core
import Glibc
import Model
import PushTesting
import Testing

@testable import Storage

/// `borealis check` names what is lost when rows are gone from a database that is whole otherwise.
@Suite struct LostRowsTests {
  private let folder = TemporaryFolder()

  /// Pushes in every state, registrations that came and went, tags.
  private func fill(_ world: TestWorld) async throws {
    // The world's clock is behind the one that dates migrations.
    try await world.run(script: "UPDATE schema_migration SET applied_at = 0")
    let devices = try await world.registerMany(3)
    for tags in [["one"], ["two", "three"]] {
      try await world.change(DeviceChange(tags: .set(tags)), of: devices[tags.count - 1]).get()
    }
    // Its second registration takes the place of the first.
    for _ in 0..<2 { _ = try await world.register(fingerprint: [1, 2, 3]) }
    let acknowledged = try await world.push(to: [devices[0]])
    let ended = try await world.push(to: devices)
    let open = try await world.push(to: devices)
    _ = try await world.push(to: [devices[2]])
    world.router.deliveries.acknowledge([acknowledged, ended, open], by: devices[0].number, in: world.app)
    #expect(await world.recall(ended) == .success(2))
    for _ in 0..<3 { try await world.tick() }
  }

  private func problems(_ path: String, _ world: TestWorld) throws -> [String] {
    let now = world.clock.now()
    return try Store.check(.sqlite(path: path)) { transaction throws(StorageError) in
      try TargetAudit.problems(in: transaction, at: now)
    }.problems
  }

  @Test func `Every table whose rows are gone is noticed`() async throws {
    let world = try await TestWorld()
    try await fill(world)
    let copy = folder.file("copy")
    try world.store.backup(to: copy)
    #expect(try problems(copy, world) == [])
    // Each statement, and a part of the sentence that says what is lost.
    let losses: KeyValuePairs<String, String> = [
      "DELETE FROM pending WHERE target IS NULL": "neither waits nor has an outcome",
      "DELETE FROM pending WHERE target IS NOT NULL": "neither waits nor has an outcome",
      "DELETE FROM outcome WHERE status = 1": "neither waits nor has an outcome",
      "DELETE FROM outcome WHERE status = 3": "neither waits nor has an outcome",
      "DELETE FROM delivered WHERE msg_id IN (SELECT msg_id FROM pending)":
        "1 pushes without the set of those",
      "DELETE FROM delivered WHERE msg_id NOT IN (SELECT msg_id FROM pending)":
        "1 pushes without the set of those",
      "DELETE FROM registration WHERE number = 0": "has 3 registrations where there should be 4",
      "DELETE FROM registration": "has 0 registrations where there should be 4",
      "DELETE FROM tag WHERE number = 1": "has lost the names of 1 tags",
      "DELETE FROM tag WHERE number = 2": "has lost the names of 1 tags",
      "DELETE FROM tag": "has lost the names of 3 tags",
      "DELETE FROM push WHERE msg_id IN (SELECT msg_id FROM pending)": "2 pending rows without their push",
      "DELETE FROM push WHERE msg_id IN (SELECT msg_id FROM outcome WHERE status = 3)":
        "1 outcomes without their push",
      "UPDATE push SET target_count = 9 WHERE target_count = 3": "does not add up to its 9 targets",
    ]
    for (index, (statement, sentence)) in losses.enumerated() {
      let damaged = folder.file("damaged-\(index)")
      try Store.backup(from: copy, to: damaged)
      let database = try Database(path: damaged, mode: .create)
      try database.run(script: "PRAGMA foreign_keys = OFF")
      try database.run(script: statement)
      #expect(database.changes > 0, "\(statement)")
      let found = try problems(damaged, world)
      #expect(found.contains { $0.contains(sentence) }, "\(statement): \(found)")
    }
  }

  /// What goes in the ordinary way is no loss: registrations, apps, and pushes that are swept.
  @Test func `What the server deletes itself is not missed`() async throws {
    var options = RouterOptions()
    options.retention = 1
    let world = try await TestWorld(options: options)
    try await fill(world)
    let device = try await world.register()
    let isGone = try await world.store.change { [app = world.app.id] transaction throws(StorageError) in
      try transaction.registrations.remove(app: app, number: device.number, at: Timestamp(milliseconds: 0))
        != nil
    }
    #expect(isGone)
    world.clock.advance(seconds: 20 * 86_400)
    for _ in 0..<200 { try await world.tick() }
    #expect(try problems(world.folder.database, world) == [])
  }
}
