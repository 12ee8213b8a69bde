import BorealisBase
import BorealisCrypto
import Channels
import Core
import Glibc
import Model
import PushTesting
import Synchronization

@testable import Storage

/// Notes what the router asks of the connections of devices, in order.
final class RecordingChannel: DeviceGateway {
  enum Event: Equatable, Sendable {
    case single(MessageID, RegistrationNumber, Location)
    case group(MessageID, [RegistrationNumber])
    case recall(MessageID, [RegistrationNumber])
    case stored([Location: Int])
    case disconnect(Location, EndReason)
    case forget(AppID)
    case factsWanted(AppID, DeviceFactSet)
  }

  private let events = Mutex<[Event]>([])

  func send(_ message: HomeMessage, to loop: UInt16) { note(message) }
  func sendToAll(_ message: HomeMessage) { note(message) }

  private func note(_ message: HomeMessage) {
    let event: Event
    switch message {
    case .push(let push, let number, let location): event = .single(push.id, number, location)
    case .broadcast(let push, let targets): event = .group(push.id, targets.members())
    case .recall(let id, _, let audience): event = .recall(id, audience.members())
    case .stored(let stored):
      event = .stored(Dictionary(stored.map { ($0.location, $0.count) }, uniquingKeysWith: +))
    case .endSession(let location, let reason): event = .disconnect(location, reason)
    case .forget(let app): event = .forget(app)
    case .factsWanted(let app, let facts): event = .factsWanted(app, facts)
    default: return
    }
    events.withLock { $0.append(event) }
  }

  /// What came since the last call.
  func drain() -> [Event] {
    events.withLock { events in
      defer { events = [] }
      return events
    }
  }
}

/// Plays the channel to Apple, for apps with credentials for its production service.
protocol FakeAPNs: ServiceChannel {}

extension FakeAPNs {
  var info: ChannelInfo { .apns }
  func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] {
    content.apnsOffers(strategy, .production)
  }
  func deliver(_ push: ChannelPush) {}
  func slot(for content: PushContent) -> TokenSlot? { content.apnsSlot }
}

/// Does nothing by itself: the test answers.
final class SilentAPNs: FakeAPNs {}

/// A device as the router sees it.
struct TestDevice: Sendable {
  let id: RegistrationID
  let secret: [UInt8]
  let number: RegistrationNumber
}

/// A router on a real database, with one app at first.
final class TestWorld {
  let clock = ManualClock()
  private(set) var options: RouterOptions
  private(set) var channel = RecordingChannel()
  private let writer = WriterConnection()
  private var database: TestDatabase
  var folder: TemporaryFolder { database.folder }
  var store: Store { database.store }
  private(set) var router: Router
  private(set) var app: App
  private var slots: UInt32 = 0

  private let rehearses: Bool

  /// With `rehearses`, whatever is written is written, undone, and written again.
  init(options: RouterOptions = RouterOptions(), rehearses: Bool = false) async throws {
    self.options = options
    self.rehearses = rehearses
    database = try Self.open(TemporaryFolder(), writer, rehearses)
    router = Router(store: database.store, scope: .all, options: options, time: clock, log: .silent)
    router.add(channel)
    try router.load()
    app = try await router.makeApp(in: database.store)
  }

  deinit {
    // Who still waits keeps the router, which keeps him.
    router.endWaiting()
  }

  private static func open(
    _ folder: TemporaryFolder, _ writer: WriterConnection, _ rehearses: Bool
  ) throws -> TestDatabase {
    var options = TestDatabase.options
    options.rehearses = options.rehearses || rehearses
    return try TestDatabase(in: folder) { [options] location in
      try Store.open(
        location, readers: 2, log: .silent, options: options, migrations: location.migrations
      ) { writer.database = $0 }
    }
  }

  func addApp() async throws -> App { try await router.makeApp(in: store) }

  /// Starts anew from the database; what was to be written late is lost unless the end is orderly.
  func restart(
    isOrderly: Bool, zone: (any Zone)? = nil, _ change: (inout RouterOptions) -> Void = { _ in }
  ) async throws {
    if let zone { options.zone = zone }
    change(&options)
    if isOrderly { router.finish() }
    router.endWaiting()
    store.close()
    database = try Self.open(database.folder, writer, rehearses)
    channel = RecordingChannel()
    router = Router(store: store, scope: .all, options: options, time: clock, log: .silent)
    router.add(channel)
    try router.load()
    let key = app.key
    guard let again = router.apps.loaded(key) else { throw StorageError(.other, "no app") }
    app = again
  }

  /// Does the work of a second and waits until it has reached the database.
  func tick() async throws {
    router.tick()
    try await barrier()
  }

  /// Waits until all changes that were asked for, and those that follow from them, are made.
  func barrier() async throws {
    for _ in 0..<3 { try await store.change(lowPriority: true) { _ throws(StorageError) in } }
    try await store.change { _ throws(StorageError) in }
  }

  // MARK: Devices

  func register(
    fingerprint: [UInt8] = [], token: [UInt8] = [], platform: Platform = .android, in other: App? = nil
  ) async throws -> TestDevice {
    let new = try await router.newDevice(
      in: other ?? app, platform: platform, fingerprint: fingerprint,
      environment: token.isEmpty ? .none : .production, token: token)
    return TestDevice(id: new.id, secret: new.secret, number: new.number)
  }

  func registerMany(_ count: Int) async throws -> [TestDevice] {
    var devices: [TestDevice] = []
    for _ in 0..<count { devices.append(try await register()) }
    return devices
  }

  /// Connects a device at a place of its own.
  func login(_ device: TestDevice) -> Location {
    slots += 1
    let location = Location(loop: 0, slot: slots, generation: slots)
    let outcome = app.directory.login(
      device.id, secretHash: SHA256.digest128(device.secret), at: location, isForeground: true,
      since: clock.seconds)
    guard case .accepted = outcome else { return Location(loop: 9, slot: 0, generation: 0) }
    return location
  }

  func change(_ change: DeviceChange, of device: TestDevice) async -> Result<Void, DeviceFailure> {
    await awaitCallback { done in
      router.registrations.change(change, of: device.number, in: app) { done($0) }
    }
  }

  /// What waits for a device.
  func pending(_ device: TestDevice) -> [MessageID] {
    app.directory.pending(for: device.number, after: MessageID(0), at: clock.seconds, limit: 100_000).ids
  }

  // MARK: Pushes

  func accept(_ request: AcceptRequest, in other: App? = nil) async -> Result<AcceptedPush, APIError> {
    await router.acceptance.accept(request, for: other ?? app)
  }

  /// Pushes to some devices, or to all, and returns the ID.
  func push(
    to devices: [TestDevice]? = nil, timeToLive: Int = 86_400, overrides: MessageID? = nil, cid: String? = nil
  ) async throws -> MessageID {
    try await accept(.test(to: devices, timeToLive: timeToLive, overrides: overrides, cid: cid)).get().id
  }

  func recall(_ id: MessageID, in other: App? = nil) async -> Result<Int, APIError> {
    await awaitCallback { done in
      router.deliveries.recall(id, in: other ?? app) { done($0.map(\.waiting)) }
    }
  }

  // MARK: The database

  func outcome(of id: MessageID) async throws -> OutcomeRow? {
    try await store.look { transaction throws(StorageError) in try transaction.deliveries.outcome(of: id) }
  }

  /// What became of a push for each of its targets, as it is stored.
  func targets(of id: MessageID) async throws -> PushTargets? {
    let now = clock.now()
    return try await store.look { transaction throws(StorageError) in
      try transaction.deliveries.targets(of: id).flatMap { PushTargets($0, at: now) }
    }
  }

  /// IDs of what the database takes for undelivered.
  func storedPending() async throws -> [MessageID] {
    try await store.look { transaction throws(StorageError) in
      var ids: [MessageID] = []
      try transaction.deliveries.open(in: .all) { ids.append($0.push.id) }
      return ids
    }
  }
}

extension AcceptRequest {
  static func test(
    to devices: [TestDevice]? = nil, timeToLive: Int = 86_400, overrides: MessageID? = nil, cid: String? = nil
  ) -> AcceptRequest {
    let content = PushContent(variants: [ContentVariant(platforms: .all, message: Array("{}".utf8))])
    return AcceptRequest(
      PushRequest(
        cid: cid, platforms: .all, audience: devices.map { .devices($0.map(\.id)) } ?? .all, content: content,
        options: PushOptions(sendno: 5, timeToLive: timeToLive, overrideMessageID: overrides)))
  }

  init(to audience: Audience, _ content: PushContent, timeToLive: Int? = nil, strategy: Strategy = .jpush) {
    self.init(
      PushRequest(
        platforms: .all, audience: audience, content: content,
        options: PushOptions(timeToLive: timeToLive, strategy: strategy)))
  }
}

extension Audience {
  static func devices(_ ids: [RegistrationID]) -> Audience {
    .filter(AudienceFilter(registrationIDs: ids.map(\.text)))
  }
}

/// The writer's own connection, for tests that take away what it needs. To be used only while the writer has
/// nothing to do: its queue orders what both threads do.
final class WriterConnection: @unchecked Sendable {
  fileprivate(set) var database: Database?
}

extension TestWorld {
  /// What keeps the database from taking changes.
  enum Fault: CaseIterable, Sendable {
    /// The file has reached its largest size: a full disk.
    case full
    /// Every change is refused, as when a file system was mounted again for reading only.
    case readOnly
  }

  /// Changes the database behind the router's back.
  func run(script: String) async throws {
    try await store.change { transaction throws(StorageError) in try transaction.database.run(script: script)
    }
  }

  func setFault(_ fault: Fault, _ isOn: Bool) async throws {
    // The answer is not asked for: while the fault lasts, it is an error.
    for _ in 0..<3 { _ = try? await store.change { _ throws(StorageError) in 0 } }
    switch fault {
    case .full: try writer.database?.run(script: "PRAGMA max_page_count = \(isOn ? 1 : 1_000_000)")
    case .readOnly: try writer.database?.run(script: "PRAGMA query_only = \(isOn ? "ON" : "OFF")")
    }
  }
}
