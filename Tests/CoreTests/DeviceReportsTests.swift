import BorealisBase
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Core

/// What devices say of pushes besides acknowledging them in time: anybody can say anything, as often as they
/// like.
@Suite struct DeviceReportsTests {
  private let world: TestWorld
  private let device, other: TestDevice

  init() async throws {
    world = try await TestWorld()
    device = try await world.register()
    other = try await world.register()
  }

  private func acknowledge(_ ids: [MessageID]) {
    world.router.deliveries.acknowledge(ids, by: device.number, in: world.app)
  }

  /// IDs that nobody has given out, and what the ledger knows already, are not kept at all.
  @Test func whatIsNoNewsIsNotKept() async throws {
    let id = try await world.push(to: [device, other])
    acknowledge([id, id])
    #expect(world.router.writeBehind.wordCount == 0, "acknowledged just now")
    acknowledge((1...100).map { MessageID(id.rawValue + $0) } + [MessageID(.max)])
    // The second as a home of the version before reads a receipt of an in-app message.
    for raw in [id.rawValue + 1, id.rawValue | 1 << 60] {
      world.router.deliveries.note([(MessageID(raw), true)], by: device.number, in: world.app)
    }
    #expect(world.router.writeBehind.wordCount == 0, "never accepted")
    try await world.tick()
    #expect(try await world.targets(of: id)?.acknowledged.members() == [device.number])
  }

  /// What one device makes up takes its own receipts' room and nobody else's, and goes with the next flush.
  /// For a minute it is believed only about pushes that are known.
  @Test func deviceHasAShare() async throws {
    let id = try await world.push(to: [device, other])
    let invented = (1...3000).map { MessageID(id.rawValue - $0) }
    acknowledge(invented)
    #expect(world.router.writeBehind.wordCount == WriteBehind.wordsOfDevice)
    for one in [device, other] { world.router.deliveries.note([(id, false)], by: one.number, in: world.app) }
    #expect(world.router.writeBehind.wordCount == WriteBehind.wordsOfDevice + 1)
    try await world.tick()
    #expect(world.router.writeBehind.wordCount == 0)
    #expect(try await world.targets(of: id)?.shown.members() == [other.number])
    acknowledge(invented)
    #expect(world.router.writeBehind.wordCount == 0)
    world.router.deliveries.note([(id, false)], by: device.number, in: world.app)
    try await world.tick()
    #expect(try await world.targets(of: id)?.shown.members() == [device.number, other.number].sorted())
    world.clock.advance(seconds: 60)
    acknowledge(invented)
    #expect(world.router.writeBehind.wordCount == WriteBehind.wordsOfDevice, "anew")
  }

  /// A frame may have that many, and the device protocol promises it.
  @Test func largestFramesCountWhole() async throws {
    var ids: [MessageID] = []
    for _ in 0..<512 { ids.append(try await world.push()) }
    for id in ids { _ = try await world.recall(id).get() }
    acknowledge(ids)
    world.router.deliveries.note(ids.map { ($0, false) }, by: device.number, in: world.app)
    #expect(world.router.writeBehind.wordCount == 1024)
    try await world.tick()
    for id in [ids[0], ids[511]] {
      let targets = try await world.targets(of: id)
      #expect(targets?.acknowledged.members() == [device.number])
      #expect(targets?.shown.members() == [device.number])
    }
  }

  /// Many registrations make up pushes together: words about those that are known in memory have room all the
  /// same.
  @Test func crowdLosesNobodysReceipts() async throws {
    let id = try await world.push(to: [device, other])
    let crowd = (0..<30).map { RegistrationNumber(10_000 + $0) }
    func invent() {
      for (place, number) in crowd.enumerated() {
        let ids = (0..<1000).map { MessageID(id.rawValue - UInt64(1 + place * 1000 + $0)) }
        world.router.deliveries.note(ids.map { ($0, true) }, by: number, in: world.app)
      }
    }
    invent()
    #expect(world.router.writeBehind.wordCount == WriteBehind.wordyPushes / 8)
    acknowledge([id])
    for one in [device, other] { world.router.deliveries.note([(id, false)], by: one.number, in: world.app) }
    try await world.tick()
    #expect(try await world.targets(of: id)?.shown.members() == [device.number, other.number].sorted())
    // When the database has not known what each of them said, there is room again for what is not in memory.
    for _ in 0..<2 {
      invent()
      try await world.tick()
    }
    invent()
    #expect(world.router.writeBehind.wordCount == 0)
    world.router.deliveries.note(
      [(MessageID(id.rawValue - 100_000), false)], by: device.number, in: world.app)
    #expect(world.router.writeBehind.wordCount == 1)
  }

  /// An app whose devices say much leaves others their turn.
  @Test func appsTakeTurns() {
    var waiting = WriteBehind.Waiting()
    func add(_ id: UInt64, _ app: UInt32) {
      let key = DeviceReports.Key(id: MessageID(id), app: AppID(app))
      waiting.add(DeviceReports(.shown, device.number, at: world.clock.now()), key)
    }
    for id in 1...300 as ClosedRange<UInt64> { add(id, 1) }
    for id in 1...10 as ClosedRange<UInt64> { for app in 2...3 as ClosedRange<UInt32> { add(id, app) } }
    let first = waiting.popReports(100)
    #expect(first.count == 100 && first.count { $0.key.app != AppID(1) } == 20)
    #expect(waiting.wordCount == 220 && waiting.pushCount == 220)
    let rest = (0..<4).map { _ in waiting.popReports(100).count }
    #expect(rest == [100, 100, 20, 0] && waiting.wordCount == 0)
  }

  /// A receipt that is stored between an acknowledgement's coming and its being noted does not hide the
  /// delivery.
  @Test func deliveryIsToldOnce() async throws {
    let last = try await world.register()
    let told = RecordedDeliveries()
    world.router.journal.add(told)
    let id = try await world.push(to: [device, other, last])
    acknowledge([id])
    var batch = AcknowledgementBatch()
    batch.add(by: other.number, at: nil, newestWhileAway: MessageID(.max))
    batch.add(Arrival(id, acknowledgedAt: world.clock.now()))
    let taken = world.app.directory.acknowledge(batch)
    world.router.deliveries.note([(id, false)], by: other.number, in: world.app)
    try await world.tick()
    world.router.writeBehind.note(taken, batch, of: world.app)
    try await world.tick()
    #expect(told.numbers == [device.number, other.number].sorted())
    #expect(try await world.targets(of: id)?.acknowledged.members() == told.numbers)
  }

  /// Audiences that are too large for one job are written in several.
  @Test func largeAudiencesAreWrittenOneAfterTheOther() async throws {
    let all = try await world.registerMany(2)
    var ids: [MessageID] = []
    for _ in 0..<3 { ids.append(try await world.push()) }
    // Scattered numbers make a large set; those that are nobody's wait for nothing.
    let numbers = (0..<UInt32(100_000)).map { RegistrationNumber($0 &* 17 &+ 1_000_000) } + all.map(\.number)
    let large = NumberSet(numbers).serialized().map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
    try await world.run(script: "UPDATE push SET targets = x'\(large)'")
    for id in ids { world.router.deliveries.note([(id, false)], by: all[0].number, in: world.app) }
    try await world.tick()
    for id in ids {
      #expect(try await world.targets(of: id)?.shown.members() == [all[0].number])
    }
    #expect(world.router.writeBehind.wordCount == 0)
  }
}

/// Notes of whom it is told that they have a push.
private final class RecordedDeliveries: DeliveryObserver {
  private let all = Mutex<[RegistrationNumber]>([])

  func stored(_ events: [DeliveryEvent], in transaction: WriteTransaction) throws(StorageError) {
    transaction.whenCommitted { [self] in note(events) }
  }

  private func note(_ events: [DeliveryEvent]) {
    for event in events {
      guard case .delivered(let numbers, _) = event.what else {
        if case .proven(let numbers, _) = event.what { all.withLock { $0 += numbers } }
        continue
      }
      all.withLock { $0 += numbers }
    }
  }

  var numbers: [RegistrationNumber] { all.withLock { $0.sorted() } }
}
