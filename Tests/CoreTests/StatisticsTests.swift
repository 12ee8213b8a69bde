import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// What the hourly counts cost the writer, and that nothing is lost on the way.
@Suite struct StatisticsTests {
  private let world: TestWorld
  private let statistics = Statistics(scope: .all, zone: FixedZone.china)
  private let now: Timestamp

  init() async throws {
    world = try await TestWorld()
    now = world.clock.now()
  }

  /// Stores what waits; gives the number of jobs that this took.
  private func flush() async throws -> Int {
    try await world.barrier()
    let before = world.store.statistics.jobs
    statistics.flush(to: world.store)
    // More than there can be steps, each of which stands in a commit before the one of the next change.
    for _ in 0..<20 { _ = try await world.store.change { _ throws(StorageError) in 0 } }
    return Int(world.store.statistics.jobs - before) - 20
  }

  private func stored(_ app: UInt32) async throws -> StatisticsRow? {
    let hour = FixedZone.china.hour(of: now)
    return try await world.store.look { transaction throws(StorageError) in
      try transaction.statistics.find(app: AppID(app), hours: hour..<hour + 1).first?.row
    }
  }

  @Test func `The number of connected devices is stored when it has grown, not each second`() async throws {
    for (count, jobs, most) in [(5, 1, 5), (5, 0, 5), (3, 0, 5), (6, 1, 6), (0, 0, 6)] {
      statistics.online(count, of: AppID(7), at: now)
      #expect(try await flush() == jobs, "\(count)")
      #expect(try await stored(7)?.online == most)
    }
    // A new hour begins with what there is then.
    statistics.online(2, of: AppID(7), at: now.adding(seconds: 3600))
    #expect(try await flush() == 1)
    #expect(try await stored(7)?.online == 6)
  }

  @Test func `Many apps are stored in steps`() async throws {
    for app in 1...200 as ClosedRange<UInt32> { statistics.online(Int(app), of: AppID(app), at: now) }
    #expect(try await flush() == 4)
    for app in 1...200 as ClosedRange<UInt32> { #expect(try await stored(app)?.online == Int(app)) }
  }

  /// Else a crash in between would count them twice, or not at all.
  @Test func `Pushes are counted in one commit with the mark`() async throws {
    for app in 1...100 as ClosedRange<UInt32> {
      statistics.accepted(MessageID(UInt64(app)), targets: 3, of: AppID(app), at: now)
    }
    for app in 101...164 as ClosedRange<UInt32> { statistics.online(1, of: AppID(app), at: now) }
    #expect(try await flush() == 1)
    #expect(try await stored(100) == StatisticsRow(pushes: 1, targets: 3))
    #expect(try await stored(164)?.online == 1)
  }

  @Test func `What could not be stored is stored later`() async throws {
    statistics.online(5, of: AppID(7), at: now)
    try await world.setFault(.readOnly, true)
    statistics.flush(to: world.store)
    try await world.setFault(.readOnly, false)
    #expect(try await flush() == 1)
    #expect(try await stored(7)?.online == 5)
  }

  @Test func `What services brought is counted once it is known`() async throws {
    let (channel, app) = (ChannelID(rawValue: 9), AppID(7))
    let numbers = [RegistrationNumber(1), RegistrationNumber(2)]
    let facts: [DeliveryEvent.What] = [
      .delivered(numbers, channel), .arrived([numbers[0]], channel), .delivered(numbers, .passthrough),
      .arrived(numbers, .passthrough),
    ]
    let events = facts.map { DeliveryEvent(push: MessageID(firstAt: now), app: app, what: $0, at: now) }
    for _ in 0..<2 {
      try await world.store.change { [statistics] transaction throws(StorageError) in
        try statistics.stored(events, in: transaction)
      }
    }
    let row = try #require(try await stored(7))
    #expect(row.accepted == [channel: 4] && row.arrived == [channel: 2] && row.acknowledged == 4)
  }

  @Test(arguments: [false, true])
  func `Metrics count a target once, also if what stores it runs twice`(rehearses: Bool) async throws {
    let world = try await TestWorld(rehearses: rehearses)
    let metrics = Metrics()
    let counts = ChannelCounts(of: world.router, in: metrics)
    let device = try await world.register()
    let id = try await world.push()
    world.router.deliveries.acknowledge([id], by: device.number, in: world.app)
    try await world.tick()
    let name = try #require(world.router.channels.infos.first { $0.id == .passthrough }?.name)
    let line = #"borealis_channel_targets_total{channel="\#(name)",result="delivered"} 1.0"#
    #expect(metrics.render().contains(line + "\n"), "\(metrics.render())")
    withExtendedLifetime(counts) {}
  }
}

extension StatisticsRow {
  fileprivate init(pushes: Int, targets: Int) {
    self.init()
    (self.pushes, self.targets) = (pushes, targets)
  }
}
