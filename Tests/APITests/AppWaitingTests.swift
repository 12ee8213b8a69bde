import BorealisBase
import Model
import PushTesting
import Testing

@testable import API
@testable import Core
@testable import Storage

/// An app that the database assigns to this home and that is not in memory yet keeps no other app waiting.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AppWaitingTests {
  private static let channel = ChannelID(rawValue: 200)
  private let home: HomeWorld
  private let receiver: TestReceiver
  private let absent: AppID
  private let present: AppID

  init() async throws {
    let cluster = try PostgresCluster.shared()
    home = try HomeWorld(.postgres(url: cluster.url(of: try cluster.make())), slot: 1, hasInstallation: true)
    receiver = try TestReceiver { _ in .hang }
    absent = try await home.makeApp(devices: 1, notifying: receiver).app.id
    present = try await home.makeApp(devices: 1, notifying: receiver).app.id
    home.own.remove(absent)
  }

  private func close() {
    home.close()
    receiver.close()
  }

  /// What is found where nothing is under way any more, once nothing is left of an app; at most after a
  /// while.
  private func left(
    without app: AppID, _ owners: @escaping @Sendable (ReadTransaction) throws(StorageError) -> [AppID]
  ) async throws -> [AppID] {
    var left: [AppID] = []
    for _ in 0..<50 {
      left = try await home.store.look(owners)
      guard left.contains(app) else { break }
      try await home.tick()
    }
    return left
  }

  @Test func `Nor do its pushes that other channels are to take over`() async throws {
    defer { close() }
    let (due, absent, present) = (home.clock.now(), absent, present)
    try await home.store.change { t throws(StorageError) in
      for number in 1...130 as ClosedRange<UInt64> {
        // Of a push that there is not, of which there is nothing to hand over; too new to be swept.
        try t.fallbacks.insert(
          FallbackRow(
            push: MessageID(1 << 61 + number), app: number == 130 ? present : absent, channel: Self.channel,
            seconds: 10,
            dueAt: due, targets: []))
      }
    }
    home.router.deliveries.fallbacks.note(due)
    let owners = { @Sendable (t: ReadTransaction) throws(StorageError) -> [AppID] in
      let rows = home.router.scope.rows
      return try t.fallbacks.due(at: due, limit: 1000, in: rows).rows.map(\.app)
    }
    let waiting = try await left(without: present, owners)
    #expect(Set(waiting) == [absent] && waiting.count == 129)
    home.own.insert(absent)
    #expect(try await left(without: absent, owners).isEmpty)
  }

  @Test func `Nor do its callbacks of many registrations`() async throws {
    defer { close() }
    let (now, absent, present) = (home.clock.now(), absent, present)
    try await home.store.change { t throws(StorageError) in
      for number in 1...600 as ClosedRange<UInt64> {
        // Of a push that asked for none, of which there is nothing to tell.
        try t.callbacks.insertBulk(
          CallbackBulkRow(
            push: MessageID(number), app: number == 600 ? present : absent, at: now, types: .all, targets: [])
        )
      }
    }
    let owners = { @Sendable (t: ReadTransaction) throws(StorageError) -> [AppID] in
      let rows = home.router.scope.rows
      return try t.callbacks.bulks(restBefore: now, limit: 1000, in: rows).map(\.app)
    }
    let waiting = try await left(without: present, owners)
    #expect(Set(waiting) == [absent] && waiting.count == 599)
    home.own.insert(absent)
    #expect(try await left(without: absent, owners).isEmpty)
  }

  @Test func `Nor do its schedules`() async throws {
    defer { close() }
    let app = try #require(home.router.apps.loaded(present))
    for _ in 0..<40 { try await home.makeSchedule(in: .init(app: app, devices: []), after: 1) }
    let (absent, present) = (absent, present)
    try await home.store.change { t throws(StorageError) in
      try t.database.run("UPDATE schedule SET app_id = ?", .app(absent))
    }
    try await home.makeSchedule(in: .init(app: app, devices: []), after: 2)
    let moment = home.clock.now().adding(seconds: 3)
    let owners = { @Sendable (t: ReadTransaction) throws(StorageError) -> [AppID] in
      let rows = home.router.scope.rows
      return try t.schedules.due(at: moment, limit: 1000, in: rows).rows.map(\.app)
    }
    for _ in 0..<3 { try await home.tick() }
    let waiting = try await left(without: present, owners)
    #expect(Set(waiting) == [absent] && waiting.count == 40)
  }

  /// Who has many registrations to tell of does not keep those waiting who have few.
  @Test func `Apps share a step of the callbacks of many registrations`() async throws {
    defer { close() }
    home.own.insert(absent)
    let (now, many, few) = (home.clock.now(), absent, present)
    try await home.store.change { t throws(StorageError) in
      for (number, app, count) in [(1, many, 5000), (2, few, 1)] as [(UInt64, AppID, UInt32)] {
        let id = MessageID(1 << 61 + number)
        let targets = NumberSet((1...count).map { RegistrationNumber($0) }).serialized()
        try t.callbacks.insertPush(
          PushCallbackRow(id: id, url: nil, types: .all, sendno: 0, params: []), app: app)
        try t.callbacks.insertBulk(
          CallbackBulkRow(push: id, app: app, at: now, types: .delivered, targets: targets))
      }
    }
    let owners = { @Sendable (t: ReadTransaction) throws(StorageError) -> [AppID] in
      let rows = home.router.scope.rows
      return try t.callbacks.bulks(restBefore: now, limit: 9, in: rows).map(\.app)
    }
    #expect(try await left(without: many, owners).isEmpty)
    let batches = try await home.store.look { t throws(StorageError) in
      try t.database.all("SELECT app_id FROM callback_batch ORDER BY id") { $0.app() }
    }
    let place = batches.firstIndex(of: few) ?? batches.count
    #expect(place < batches.count / 2)
  }
}
