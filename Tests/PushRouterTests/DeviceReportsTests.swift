import PushBase
import PushDomain
import PushStorage
import PushTesting
import Synchronization
import Testing

@testable import PushRouter

/// What devices say of pushes besides acknowledging them in time: anybody can say anything, as often as they like.
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
    world.router.deliveries.note([(MessageID(id.rawValue + 1), true)], by: device.number, in: world.app)
    #expect(world.router.writeBehind.wordCount == 0, "never accepted")
    try await world.tick()
    #expect(try await world.targets(of: id)?.acknowledged.members() == [device.number])
  }

  /// What one device makes up takes neither its own receipts' room nor others', and goes with the next flush.
  @Test func deviceHasAShare() async throws {
    let id = try await world.push(to: [device, other])
    let invented = (1...1000).map { MessageID(id.rawValue - $0) }
    acknowledge(invented)
    #expect(world.router.writeBehind.wordCount == WriteBehind.wordsOfDevice)
    for one in [device, other] { world.router.deliveries.note([(id, false)], by: one.number, in: world.app) }
    #expect(world.router.writeBehind.wordCount == WriteBehind.wordsOfDevice + 2)
    try await world.tick()
    #expect(world.router.writeBehind.wordCount == 0)
    #expect(try await world.targets(of: id)?.shown.members() == [device.number, other.number].sorted())
    acknowledge(invented)
    #expect(world.router.writeBehind.wordCount == WriteBehind.wordsOfDevice, "anew")
  }

  /// A receipt that is stored between an acknowledgement's coming and its being noted does not hide the delivery.
  @Test func deliveryIsToldOnce() async throws {
    let last = try await world.register()
    let told = ToldDeliveries()
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
private final class ToldDeliveries: DeliveryObserver {
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
