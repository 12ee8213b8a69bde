import BorealisBase
import Model
import PushTesting
import Synchronization
import Testing

@testable import API
@testable import Core
@testable import Storage

/// What happens in the middle of moving an app.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AppHandoverTests {
  private let one: HomeWorld
  private let two: HomeWorld
  private let zone = InterruptedZone()

  init() throws {
    let cluster = try PostgresCluster.shared()
    let location = Store.Location.postgres(url: cluster.url(of: try cluster.make()))
    one = try HomeWorld(location, slot: 1, hasInstallation: true)
    two = try HomeWorld(location, slot: 2, zone: zone)
  }

  private func close() {
    one.close()
    two.close()
  }

  // MARK: Imports

  private static let imported = RegistrationID(high: 1, low: 7)

  /// Another process imports a registration, and a home looks at it at once.
  private func importOne(into app: AppID, seenBy home: HomeWorld) {
    do throws(StorageError) {
      let (one, now) = (
        ImportedRegistration(registrationID: Self.imported, platform: .android), one.clock.now()
      )
      try Store.wait { [store = self.one.store] in
        store.write(
          { t throws(StorageError) in
            _ = try RegistrationImport(into: app, adoption: .token, at: now).add([one], in: t)
          }, completion: $0)
      }
      let imports = home.router.imports
      let last = try home.store.wait { t throws(StorageError) in try t.imports.last() }
      while imports.last < last {
        imports.learn()
        try home.store.wait { _ throws(StorageError) in }
      }
    } catch {
      Issue.record(error)
    }
  }

  /// Whether a home has learned of the registration, now or soon.
  private func knows(_ app: App, _ home: HomeWorld) async throws -> Bool {
    for _ in 0..<50 where app.directory.find(Self.imported) == nil { try await home.tick() }
    return app.directory.find(Self.imported) != nil
  }

  /// As long as the hand-over is under way, the app is as one of another home for imports.
  @Test func `An app whose hand-over fails learns what was imported meanwhile`() async throws {
    let receiver = try TestReceiver()
    defer { receiver.close() }
    defer { close() }
    let channel = KeepingChannel()
    one.router.add(channel)
    let app = try await one.makeApp(devices: 2, notifying: receiver).app
    channel.releasing.prepare { importOne(into: app.id, seenBy: one) }
    #expect(one.router.handOver(app.key, to: (node: 2, home: -1)) == nil)
    #expect(channel.releasing.wait())
    #expect(try await knows(app, one))
  }

  /// So it is at the next home, until all of it is read.
  @Test func `An app learns what was imported while it was read`() async throws {
    let receiver = try TestReceiver()
    defer { receiver.close() }
    defer { close() }
    let resident = try await one.makeApp(devices: 2, notifying: receiver)
    try await one.makeSchedule(in: resident, after: 300)
    let app = resident.app
    #expect(one.router.handOver(app.key, to: (node: 2, home: two.own.home)) != nil)
    // Schedules are looked at last.
    zone.interruption.prepare { importOne(into: app.id, seenBy: two) }
    let there = try #require(try two.router.load(app.id))
    #expect(zone.interruption.wait())
    #expect(there.directory.find(resident.devices[0].id) == resident.devices[0].number)
    #expect(try await knows(there, two))
  }

  // MARK: Canaries

  @Test func `A canary that waits is decided at the next home alone`() async throws {
    let receiver = try TestReceiver()
    defer { receiver.close() }
    defer { close() }
    let resident = try await one.makeApp(devices: 20, notifying: receiver)
    let app = resident.app
    let body =
      #"{"platform":"all","audience":"all","notification":{"alert":"x"},"#
      + #""options":{"canary":{"share":50,"wait":60}}}"#
    let request = AcceptRequest(
      try PushRequest.parse(try parseJSON(Array(body.utf8)), rules: PushRules()), object: Array(body.utf8))
    let id = try await one.router.acceptance.accept(request, for: app).get().id
    func pending(_ app: App) -> [[MessageID]] {
      resident.devices.map {
        app.directory.pending(for: $0.number, after: MessageID(0), at: one.clock.seconds, limit: 10).ids
      }
    }
    #expect(pending(app).filter { $0 == [id] }.count == 10)
    for device in resident.devices {
      one.router.deliveries.acknowledge([id], by: device.number, in: app)
    }
    let early = DueCanary(id: id, app: app)
    #expect(one.router.handOver(app.key, to: (node: 2, home: two.own.home)) != nil)
    let there = try #require(try two.router.load(app.id))
    for home in [one, two] { home.clock.advance(seconds: 60) }
    // Who found it before the hand-over, or was asked then, decides nothing.
    let found = try await awaitCallback { one.router.canaries.due(limit: 10, found: $0) }.get().due
    #expect(found.isEmpty)
    let (old, rules) = (one.router, app.pushRules(PushRules()))
    let look = await awaitCallback { old.acceptance.look(at: early, by: rules, old.canaries, done: $0) }
    #expect(look == .postponed)
    let release = await awaitCallback {
      old.acceptance.release(id, of: app, by: rules, old.canaries, reply: $0)
    }
    #expect((try? release.get()) == nil)
    let stop = await awaitCallback { old.canaries.stop(id, of: app, reply: $0) }
    #expect((try? stop.get()) == nil)
    #expect(pending(there).filter { !$0.isEmpty }.isEmpty)
    try await two.tick()
    let status = try await awaitCallback { two.router.canaries.find(id, in: there, reply: $0) }.get()
    let rest = try #require(status?.end?.rest)
    #expect(status?.state == .sent && status?.figures?.succeeded == 10)
    #expect(pending(there).filter { $0 == [rest] }.count == 10)
    #expect(pending(there).filter { $0.isEmpty }.count == 10)
  }

  // MARK: Channels

  /// The app is this home's until the hand-over is committed: what is stored meanwhile goes to channels that
  /// were released before.
  @Test func `No channel keeps an app for a push that is stored during its hand-over`() async throws {
    let receiver = try TestReceiver()
    defer { receiver.close() }
    defer { close() }
    let channel = KeepingChannel()
    one.router.add(channel)
    let resident = try await one.makeApp(devices: 2, notifying: receiver)
    let app = resident.app
    for device in resident.devices {
      try await awaitCallback { done in
        one.router.registrations.setTokens(
          [PushToken(KeepingChannel.slot, .only, Array(device.id.text.utf8))], of: device.number, in: app
        ) { done($0) }
      }.get()
    }
    let body = #"{"platform":"all","audience":"all","notification":{"android":{"alert":"x"}}}"#
    let request = AcceptRequest(
      try PushRequest.parse(try parseJSON(Array(body.utf8)), rules: PushRules()))
    let acceptance = one.router.acceptance
    channel.releasing.prepare {
      acceptance.accept(request, for: app) { result in
        if case .failure(let error) = result { Issue.record(error) }
      }
      #expect(channel.delivered.wait(until: SystemTime().monotonic() &+ 60_000_000_000))
    }
    #expect(one.router.handOver(app.key, to: (node: 2, home: two.own.home)) != nil)
    #expect(channel.releasing.wait())
    #expect(channel.apps == [])
  }
}

/// A channel that keeps something for each app that it got a push of.
private final class KeepingChannel: ServiceChannel {
  private let kept = Mutex<Set<AppID>>([])
  /// Occurs when an app was released.
  let releasing = Interruption()
  let delivered = Semaphore()

  var apps: Set<AppID> { kept.withLock { $0 } }

  let info = ChannelInfo(
    id: ChannelID(rawValue: 77), name: "keeping", english: "Keeping", chinese: "Keeping",
    platforms: PlatformSet(.android), parts: .notification,
    tokens: [TokenKind(1, name: "device", form: .text, maximumBytes: 64)])
  static let slot = TokenSlot(ChannelID(rawValue: 77), kind: 1)

  func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] {
    [ChannelOffer(DeliveryLeg(info.id), to: Self.slot, on: info.platforms)]
  }
  func deliver(_ push: ChannelPush) {
    kept.withLock { _ = $0.insert(push.app.id) }
    delivered.signal()
  }
  func forget(_ app: App) { kept.withLock { _ = $0.remove(app.id) } }
  func release(_ app: App) {
    forget(app)
    releasing.occur()
  }
}

/// A zone in which something happens when a time is converted.
private struct InterruptedZone: Zone {
  let interruption = Interruption()

  func offset(at second: Int64) -> Int64 {
    interruption.occur()
    return FixedZone.china.offset(at: second)
  }
}
