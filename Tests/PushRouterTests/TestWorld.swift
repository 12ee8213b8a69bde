import Glibc
import PushBase
import PushCrypto
import PushDomain
import PushRouter
import PushTesting
import Synchronization

@testable import PushStorage

/// Notes what the router asks of a channel, in order.
final class RecordingChannel: DeliveryChannel {
  enum Event: Equatable, Sendable {
    case single(MessageID, RegistrationNumber, Location)
    case group(MessageID, [RegistrationNumber])
    case recall(MessageID, [RegistrationNumber])
    case stored([Location: Int])
    case disconnect(Location, DisconnectReason)
    case forget(AppID)
  }

  private let events = Mutex<[Event]>([])

  func deliver(_ push: LivePush, to number: RegistrationNumber, at location: Location) {
    events.withLock { $0.append(.single(push.id, number, location)) }
  }
  func deliver(_ push: LivePush, group: GroupPush) {
    events.withLock { $0.append(.group(push.id, group.targets.members())) }
  }
  func recall(_ id: MessageID, app: App, audience: NumberSet) {
    events.withLock { $0.append(.recall(id, audience.members())) }
  }
  func acknowledgementsStored(_ stored: [StoredAcknowledgements]) {
    let counts = Dictionary(stored.map { ($0.location, $0.count) }, uniquingKeysWith: +)
    events.withLock { $0.append(.stored(counts)) }
  }
  func disconnect(_ location: Location, _ reason: DisconnectReason) {
    events.withLock { $0.append(.disconnect(location, reason)) }
  }

  func forget(_ app: AppID) { events.withLock { $0.append(.forget(app)) } }

  /// What came since the last call.
  func take() -> [Event] {
    events.withLock { events in
      defer { events = [] }
      return events
    }
  }
}

/// A device as the router sees it.
struct TestDevice: Sendable {
  let id: RegistrationID
  let secret: [UInt8]
  let number: RegistrationNumber
}

/// A router on a real database, with one app at first.
final class TestWorld {
  let folder = TemporaryFolder()
  let clock = ManualClock()
  private(set) var options: RouterOptions
  private(set) var channel = RecordingChannel()
  private let writer = WriterConnection()
  private(set) var store: Store
  private(set) var router: Router
  private(set) var app: App
  private var slots: UInt32 = 0

  init(options: RouterOptions = RouterOptions()) async throws {
    self.options = options
    store = try Self.open(folder, writer)
    router = Router(store: store, options: options, time: clock, log: .silent)
    router.add(channel)
    try router.load()
    app = try await Self.makeApp(store, router)
  }

  deinit { store.close() }

  private static func open(_ folder: TemporaryFolder, _ writer: WriterConnection) throws -> Store {
    try Store.open(
      path: folder.path + "/test.sqlite", readers: 2, log: .silent, options: Store.Options(),
      migrations: embeddedMigrations
    ) { writer.database = $0 }
  }

  private static func makeApp(_ store: Store, _ router: Router) async throws -> App {
    let key = AppKey(high: SystemRandom.next(), low: 1)
    _ = try await store.change { transaction throws(StorageError) in
      try transaction.createApp(
        key: key, name: "test", secretHash: SHA256.digest(Array("secret".utf8)),
        at: Timestamp(milliseconds: 0))
    }
    let found = await withCheckedContinuation { done in router.findApp(key) { done.resume(returning: $0) } }
    guard let app = try found.get() else { throw StorageError(.other, "no app") }
    return app
  }

  func addApp() async throws -> App { try await Self.makeApp(store, router) }

  /// Starts anew from the database; what was to be written late is lost unless the end is orderly.
  func restart(isOrderly: Bool, zone: (any Zone)? = nil) async throws {
    if let zone { options.zone = zone }
    if isOrderly { router.finish() }
    store.close()
    store = try Self.open(folder, writer)
    channel = RecordingChannel()
    router = Router(store: store, options: options, time: clock, log: .silent)
    router.add(channel)
    try router.load()
    let key = app.key
    guard let again = router.app(key) else { throw StorageError(.other, "no app") }
    app = again
  }

  /// Does the work of a second and waits until it has reached the database.
  func tick() async throws {
    router.tick()
    try await barrier()
  }

  /// Waits until all changes that were asked for, and those that follow from them, are made.
  func barrier() async throws {
    for _ in 0..<3 { _ = try await store.change { _ throws(StorageError) in 0 } }
  }

  // MARK: Devices

  func register(
    fingerprint: [UInt8] = [], token: [UInt8] = [], platform: Platform = .android, in other: App? = nil
  ) async throws -> TestDevice {
    let app = other ?? app
    let result = await withCheckedContinuation { done in
      router.register(
        in: app, platform: platform, fingerprint: fingerprint,
        environment: token.isEmpty ? .none : .production, token: token, appVersion: "1"
      ) { done.resume(returning: $0) }
    }
    let registered = try result.get()
    guard let number = app.directory.find(registered.id) else { throw DeviceFailure.unknownRegistration }
    return TestDevice(id: registered.id, secret: registered.secret, number: number)
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
    await withCheckedContinuation { done in
      router.change(change, of: device.number, in: app) { done.resume(returning: $0) }
    }
  }

  /// What waits for a device.
  func pending(_ device: TestDevice) -> [MessageID] {
    app.directory.pending(for: device.number, after: MessageID(0), at: clock.seconds, limit: 100_000)
  }

  // MARK: Pushes

  func accept(_ request: AcceptRequest, in other: App? = nil) async -> Result<AcceptedPush, APIError> {
    await withCheckedContinuation { done in
      router.accept(request, for: other ?? app) { done.resume(returning: $0) }
    }
  }

  /// Pushes to some devices, or to all, and returns the ID.
  func push(
    to devices: [TestDevice]? = nil, timeToLive: Int = 86_400, overrides: MessageID? = nil, cid: String? = nil
  ) async throws -> MessageID {
    try await accept(.test(to: devices, timeToLive: timeToLive, overrides: overrides, cid: cid)).get().id
  }

  func recall(_ id: MessageID, in other: App? = nil) async -> Result<Int, APIError> {
    await withCheckedContinuation { done in
      router.recall(id, in: other ?? app) { done.resume(returning: $0) }
    }
  }

  // MARK: The database

  func outcome(of id: MessageID) async throws -> OutcomeRow? {
    try await store.look { transaction throws(StorageError) in try transaction.outcome(of: id) }
  }

  /// What became of a push for each of its targets, as it is stored.
  func targets(of id: MessageID) async throws -> PushTargets? {
    let now = clock.now()
    return try await store.look { transaction throws(StorageError) in
      try transaction.targets(of: id).flatMap { PushTargets($0, at: now) }
    }
  }

  /// IDs of what the database takes for undelivered.
  func storedPending() async throws -> [MessageID] {
    try await store.look { transaction throws(StorageError) in
      var ids: [MessageID] = []
      try transaction.openPushes { ids.append($0.push.id) }
      return ids
    }
  }
}

extension AcceptRequest {
  static func test(
    to devices: [TestDevice]? = nil, timeToLive: Int = 86_400, overrides: MessageID? = nil, cid: String? = nil
  ) -> AcceptRequest {
    var terms = AudienceTerms()
    if let devices { terms.registrationIDs = devices.map(\.id) }
    let content = PushContent(variants: [ContentVariant(platforms: .all, message: Array("{}".utf8))])
    return AcceptRequest(
      cid: cid, terms: terms, content: content, sendno: 5, timeToLive: timeToLive, overrides: overrides)
  }
}

/// The writer's own connection, for tests that take away what it needs. To be used only while the writer has nothing to
/// do: its queue orders what both threads do.
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
