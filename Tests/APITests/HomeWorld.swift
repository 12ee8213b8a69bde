import BorealisBase
import BorealisCrypto
import HTTP
import Model
import PushTesting
import Synchronization

@testable import API
@testable import Core
@testable import Storage

/// One of several homes on a database of PostgreSQL, with all that works on its own in a server.
final class HomeWorld: Sendable {
  /// An app with devices.
  struct Resident: Sendable {
    let app: App
    let devices: [TestDevice]
  }

  struct TestDevice: Sendable {
    let id: RegistrationID
    let secret: [UInt8]
    let number: RegistrationNumber
  }

  let own: AssignedApps
  let store: Store
  let router: Router
  let gateway: Gateway
  let callbacks: CallbackService
  let clock = ManualClock()
  /// What was accepted, by app.
  let accepted = Mutex<[AppID: [MessageID]]>([:])
  private let slots = Mutex<UInt32>(0)

  /// Opens the database as a home, of what belongs to no app if it `hasInstallation`.
  init(
    _ location: Store.Location, slot: Int, hasInstallation: Bool = false, zone: any Zone = FixedZone.china
  ) throws {
    guard let slot = MessageSlot(slot) else { throw StorageError(.other, "no slot") }
    let own = AssignedApps(node: Int64(slot.rawValue), slot: slot)
    var options = Store.Options()
    (options.home, options.patience) = (own, 0)
    let store = try Store.open(location, readers: 2, log: .silent, options: options)
    (self.own, self.store) = (own, store)
    if hasInstallation {
      _ = try Store.wait { (done: @escaping @Sendable (Result<Int64?, StorageError>) -> Void) in
        store.write(
          { t throws(StorageError) in try t.homes.assign(.installation, to: own) }, completion: done)
      }
    }
    var routing = RouterOptions()
    (routing.retention, routing.cidLifetime, routing.zone) = (30, 30, zone)
    router = Router(
      store: store, scope: .assigned(own), options: routing, time: clock, log: .silent)
    try router.load()
    let keys = try SealingKeys(text: SealingKeys.makeLine())
    var settings = CallbackService.Options()
    settings.networks = ["127.0.0.1"].compactMap { IPNetwork($0) }
    settings.retention = 30
    let metrics = Metrics()
    let callbacks = CallbackService(
      router: router, store: store, options: settings,
      keys: CallbackKeys(read: { .success(keys) }, readOrMake: { _ in .success(keys) }), metrics: metrics,
      time: clock, log: .silent)
    guard let callbacks else { throw StorageError(.other, "no thread") }
    self.callbacks = callbacks
    gateway = Gateway(
      router: router, callbacks: callbacks, limits: GatewayLimits(), metrics: metrics, log: .silent,
      time: clock, allowsPage: { _, _ in false }
    ) { nil }
  }

  func close() {
    callbacks.close()
    store.close()
    router.unplug()
  }

  // MARK: Apps

  /// Makes an app with devices, which tells a server of what becomes of its pushes.
  func makeApp(devices count: Int, notifying receiver: TestReceiver) async throws -> Resident {
    let made = try await awaitCallback { done in
      router.apps.create("test", for: .standard) { done($0) }
    }.get()
    guard let app = try await find(made.key).get() else { throw StorageError(.other, "no app") }
    _ = try await awaitCallback { done in
      callbacks.set(app.id, url: receiver.url, types: .all) { done($0.map { $0.secret }) }
    }.get()
    var devices: [TestDevice] = []
    for index in 0..<count {
      let new = try await router.newDevice(in: app)
      devices.append(TestDevice(id: new.id, secret: new.secret, number: new.number))
      let change = DeviceChange(
        tags: index % 2 == 0 ? .edit(add: ["even"], remove: []) : nil, alias: .set("user \(index / 2)"))
      let result = await awaitCallback { done in
        router.registrations.change(change, of: new.number, in: app) { done($0) }
      }
      try result.get()
    }
    return Resident(app: app, devices: devices)
  }

  func find(_ key: AppKey) async -> Result<App?, DeviceFailure> {
    await awaitCallback { done in router.apps.find(key) { done($0) } }
  }

  /// Connects a device of an app.
  func login(_ device: TestDevice, in app: App) -> Location {
    let slot = slots.withLock { slots in
      slots += 1
      return slots
    }
    let location = Location(loop: 0, slot: slot, generation: slot)
    _ = app.directory.login(
      device.id, secretHash: SHA256.digest128(device.secret), at: location, isForeground: true,
      since: clock.seconds)
    return location
  }

  // MARK: What happens in an app

  @discardableResult
  func push(
    in resident: Resident, to audience: Audience = .all, timeToLive: Int = 600, cid: String? = nil
  ) async throws -> MessageID {
    let content = PushContent(variants: [ContentVariant(platforms: .all, message: Array("{}".utf8))])
    let request = AcceptRequest(
      PushRequest(
        cid: cid, platforms: .all, audience: audience, content: content,
        options: PushOptions(sendno: 5, timeToLive: timeToLive)))
    let id = try await router.acceptance.accept(request, for: resident.app).get().id
    accepted.withLock { $0[resident.app.id, default: []].append(id) }
    return id
  }

  /// Has the app's server make a schedule that pushes to all in some seconds.
  func makeSchedule(in resident: Resident, after seconds: Int64) async throws {
    let local = FixedZone.china.local(clock.now().adding(seconds: seconds)).text
    let body = GatewayWorld.schedule(#"{"single":{"time":"\#(local)"}}"#)
    let request = try ScheduleRequest.parse(try parseJSON(Array(body.utf8)), rules: gateway.pushRules)
    let made = await awaitCallback { done in
      router.schedules.create(request, named: Gateway.uuid(), in: resident.app) { done($0) }
    }
    _ = try made.get()
  }

  /// A second in which all kinds of things happen in an app: broadcasts, pushes by tag and alias, some that
  /// expire, some that are recalled, acknowledgements, receipts, schedules.
  func live(_ resident: Resident, second: Int) async throws {
    let (app, devices) = (resident.app, resident.devices)
    let broadcast = try await push(in: resident, cid: "\(app.key.text)-\(second)")
    let tagged = try await push(
      in: resident, to: .filter(AudienceFilter(tags: ["even"])), timeToLive: 3)
    let target = devices[second % devices.count]
    let single = try await push(
      in: resident, to: .filter(AudienceFilter(registrationIDs: [target.id.text])), timeToLive: 20)
    for (index, device) in devices.enumerated() where (index + second) % 3 != 0 {
      let location = login(device, in: app)
      router.deliveries.acknowledge([broadcast], by: device.number, in: app, from: location)
      if index % 2 == 0 {
        router.deliveries.note([(broadcast, false), (tagged, true)], by: device.number, in: app)
      }
    }
    if second % 2 == 0 { router.deliveries.acknowledge([single], by: target.number, in: app) }
    if second % 7 == 0 {
      let recalled = try await push(in: resident)
      _ = await awaitCallback { done in
        router.deliveries.recall(recalled, in: app) { done($0) }
      }
    }
    if second % 11 == 0 { try await makeSchedule(in: resident, after: 4) }
  }

  /// The work of a second, and all that follows from it.
  func tick() async throws {
    clock.advance(seconds: 1)
    router.tick()
    gateway.tick()
    callbacks.tick()
    while gateway.schedules.isBusy || gateway.abTests.isBusy || gateway.canaries.isBusy
      || callbacks.bulk.isBusy
      || router.deliveries.fallbacks.isBusy
    {
      await awaitCallback { done in router.registrations.afterChanges { done(()) } }
    }
    try await settle()
  }

  /// Waits until all that was asked for, and follows from it, is stored.
  func settle() async throws {
    for _ in 0..<3 { try await store.change(lowPriority: true) { _ throws(StorageError) in } }
  }

  // MARK: What is known

  /// What memory and the database say of an app.
  struct Picture: Equatable {
    var devices: [String] = []
    var pending: [[MessageID]] = []
    var reports: [String] = []
    var statistics: [StatisticsRow] = []
  }

  func picture(of app: App, _ devices: [TestDevice], pushes: [MessageID]) async throws -> Picture {
    var picture = Picture()
    for device in devices {
      let identity = app.directory.identity(device.number)
      let outcome = app.directory.authenticate(device.id, secretHash: SHA256.digest128(device.secret))
      picture.devices.append(
        "\(identity?.id.text ?? "") \(identity.map { "\($0.platform)" } ?? "") \(app.directory.hasTag("even", device.number)) "
          + "\(outcome.map { "\($0.rawValue)" } ?? "")")
      picture.pending.append(
        app.directory.pending(for: device.number, after: MessageID(0), at: clock.seconds, limit: 10_000).ids)
    }
    for index in 0..<(devices.count + 1) / 2 {
      let alias = AudienceFilter(aliases: ["user \(index)"])
      picture.devices.append("\(app.directory.resolve(alias).numbers.members().map(\.rawValue))")
    }
    let reports = await awaitCallback { done in
      router.reports.reports(
        on: pushes, in: app,
        as: { report in
          let targets = report.targets
          return
            "\(report.id.text) \(report.status) \(report.audience) \(targets.delivered.members().map(\.rawValue)) "
            + "\(targets.pending.members().map(\.rawValue)) \(targets.expired.count) \(targets.recalled.count) "
            + "\(targets.failedCount) \(targets.shown.count) \(targets.tapped.count)"
        }
      ) { done($0) }
    }
    picture.reports = try reports.get().map { $0 ?? "gone" }
    let (id, hour) = (app.id, FixedZone.china.hour(of: clock.now()))
    picture.statistics = try await store.look { transaction throws(StorageError) in
      try transaction.statistics.find(app: id, hours: hour - 1..<hour + 1).map { $0.row }
    }
    return picture
  }
}
