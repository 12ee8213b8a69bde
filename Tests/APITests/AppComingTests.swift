import BorealisBase
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import API
@testable import Core

@Suite(.serialized, .timeLimit(.minutes(5))) struct AppComingTests {
  private let one: HomeWorld
  private let two: HomeWorld

  init() throws {
    let cluster = try PostgresCluster.shared()
    let location = Store.Location.postgres(url: cluster.url(of: try cluster.make()))
    one = try HomeWorld(location, slot: 1, hasInstallation: true)
    two = try HomeWorld(location, slot: 2)
  }

  private func close() {
    one.close()
    two.close()
  }

  /// Something was imported into an app at its old home; the new one ticks before it has loaded the app.
  @Test func `An app with an import that the next home has not seen comes there with all its devices`()
    async throws
  {
    let receiver = try TestReceiver()
    defer { receiver.close() }
    defer { close() }
    let resident = try await one.makeApp(devices: 3, notifying: receiver)
    let id = resident.app.id
    try await one.store.change { t throws(StorageError) in
      try t.imports.noteImported(
        app: id, from: RegistrationNumber(100), to: RegistrationNumber(101), step: 10)
    }
    for _ in 0..<2 { try await one.tick() }
    #expect(one.router.handOver(resident.app.key, to: (node: 2, home: two.own.home)) != nil)
    // The second between the hand-over and the next turn of the thread that loads apps.
    try await two.tick()
    let there = try #require(try two.router.load(id))
    #expect(resident.devices.map { there.directory.find($0.id) } == resident.devices.map(\.number))
  }

  /// `find` looks whose the app is once more after it has asked the channels, which may take long.
  @Test func `An app that leaves while it is looked for stays away, and comes back with its devices`()
    async throws
  {
    let slow = SlowChannel()
    one.router.add(slow)
    defer { close() }
    let made = try await awaitCallback { done in
      one.router.apps.create("test", for: .standard) { done($0) }
    }.get()
    // A device asks for the new app; a channel's read is slow.
    async let answer = one.find(made.key)
    while !slow.isHeld { try await Task.sleep(for: .milliseconds(5)) }
    // Meanwhile it is loaded, gets a device, and is moved.
    let row = try #require(
      try await one.store.look { t throws(StorageError) in try t.apps.find(key: made.key) })
    let app = try #require(try one.router.load(row.id))
    let device = try await one.router.newDevice(in: app)
    #expect(one.router.handOver(made.key, to: (node: 2, home: two.own.home)) != nil)
    _ = try #require(try two.router.load(row.id))
    slow.release()
    _ = await answer
    #expect(one.router.apps.loaded(made.key) == nil)
    #expect(two.router.handOver(made.key, to: (node: 1, home: one.own.home)) != nil)
    let back = try #require(try one.router.load(row.id))
    #expect(back.directory.find(device.id) == device.number)
  }
}

private final class SlowChannel: ServiceChannel {
  private let held = Mutex<(isFirst: Bool, done: (@Sendable (Result<Void, StorageError>) -> Void)?)>(
    (true, nil))
  var isHeld: Bool { held.withLock { $0.done != nil } }
  func release() {
    let done = held.withLock { held in
      defer { held.done = nil }
      return held.done
    }
    done?(.success(()))
  }
  let info = ChannelInfo(
    id: ChannelID(rawValue: 77), name: "slow", english: "Slow", chinese: "Slow",
    platforms: PlatformSet(.android), parts: .notification,
    tokens: [TokenKind(1, name: "device", form: .text, maximumBytes: 64)])
  func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] { [] }
  func deliver(_ push: ChannelPush) {}
  func learnChanges(_ done: @escaping @Sendable (Result<Void, StorageError>) -> Void) {
    let isHeld = held.withLock { held in
      guard held.isFirst else { return false }
      held = (false, done)
      return true
    }
    if !isHeld { done(.success(())) }
  }
}
