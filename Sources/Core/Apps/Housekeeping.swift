import BorealisBase
import Model
import Storage
import Synchronization

/// Periodic work in small steps: writes delayed data, ends expired pushes, deletes old data.
final class Housekeeping: Sendable {
  private let store: Store
  private let scope: HomeScope
  private let options: RouterOptions
  private let time: any TimeSource
  private let log: Log
  private let apps: Apps
  private let imports: Imports
  private let files: Files
  private let gateways: DeviceGateways
  private let writeBehind: WriteBehind
  private let statistics: Statistics
  private let activity: UserActivity
  private let audit: TargetAudit
  private let pushRateLimiter: PushRateLimiter
  private let fallbacks: Fallbacks
  private let heldPushes: HeldPushQueue
  private let figures: AppFigureBoard
  private let retention: Retention
  private let unusedTags: UnusedTags
  private let unusedRegistrations: UnusedRegistrations
  private let facts: DeviceFacts
  private let erasures: Erasures
  private let requestLog: RequestLog
  private let ticks = Atomic<Int>(0)
  /// The moment of the last tick, in milliseconds; 0 before the first.
  private let lastTick = Atomic<Int64>(0)

  init(
    store: Store, scope: HomeScope, options: RouterOptions, time: any TimeSource, log: Log, apps: Apps,
    imports: Imports, files: Files, gateways: DeviceGateways, writeBehind: WriteBehind,
    statistics: Statistics, activity: UserActivity, audit: TargetAudit, pushRateLimiter: PushRateLimiter,
    fallbacks: Fallbacks, heldPushes: HeldPushQueue, figures: AppFigureBoard, registrations: Registrations,
    erasures: Erasures, requestLog: RequestLog
  ) {
    self.store = store
    self.scope = scope
    self.options = options
    self.time = time
    self.log = log
    self.apps = apps
    self.imports = imports
    self.files = files
    self.gateways = gateways
    self.writeBehind = writeBehind
    self.statistics = statistics
    self.activity = activity
    self.audit = audit
    self.pushRateLimiter = pushRateLimiter
    self.fallbacks = fallbacks
    self.heldPushes = heldPushes
    self.figures = figures
    self.requestLog = requestLog
    unusedTags = UnusedTags(store: store, imports: imports, limits: options.tags)
    unusedRegistrations = UnusedRegistrations(registrations, options)
    facts = DeviceFacts(store: store)
    self.erasures = erasures
    retention = Retention(store: store, scope: scope, options: options, time: time, activity: activity)
  }

  /// The places of the pool that a step examines before it releases the lock.
  private static let placesInStep = 1024
  /// Seconds in which the sweep of dead pushes comes around.
  private static let sweepSeconds = 30
  /// Last contacts that one app writes in a second.
  private static let touches = 500
  /// Devices that are looked at for that under one lock, and how often in a second.
  private static let looks = 1024
  private static let looksInTick = 4
  /// Last contacts in one commit when the server stops.
  private static let lastTouches = 2000
  /// The interval between two reads of changed apps is a second per this many apps, at most five.
  private static let appsInSecond = 250
  /// Seconds between two savings of who used the apps.
  private static let activitySeconds = 60
  /// Seconds between two savings of when API keys were used.
  private static let keySeconds = 60
  /// Seconds between two sweeps of what is too old.
  private static let retentionSeconds = 60

  /// Periodic work in small steps: writes delayed data, ends expired pushes, deletes old data. Call once a
  /// second, by one thread at a time.
  func tick() {
    let tick = ticks.add(1, ordering: .relaxed).oldValue
    let now = time.now()
    let loaded = apps.all
    for app in loaded where scope.isSettled(app.id) {
      expire(app, at: now)
      deliverDuePacedPushes(of: app, at: now)
      touch(app, at: now)
      unusedTags.step(app, at: now)
      unusedRegistrations.step(app, at: now)
      facts.eraseStep(app)
      statistics.online(app.directory.onlineCount, of: app.id, at: now)
    }
    imports.learn()
    erasures.tick()
    pushRateLimiter.tick(at: time.monotonic())
    fallbacks.tick(at: now)
    heldPushes.tick(at: now)
    writeBehind.flush()
    statistics.flush(to: store)
    figures.tick(loaded)
    audit.step(store, scope, at: now, log: log)
    requestLog.tick(loaded, at: now)
    if tick % Self.keySeconds == 0 { apps.storeKeyUses(of: loaded) }
    saveActivity(of: loaded, isTurn: tick % Self.activitySeconds == 0, at: now)
    if tick % Self.retentionSeconds == 0 {
      retention.sweep(at: now)
      files.sweep(at: now)
      unusedRegistrations.keep(loaded)
    }
    if tick % min(loaded.count / Self.appsInSecond + 1, 5) == 0 { apps.refresh() }
  }

  /// Saves who used the apps, when it is its turn and when an hour is over: what was done in it belongs to
  /// it.
  private func saveActivity(of loaded: [App], isTurn: Bool, at now: Timestamp) {
    let last = lastTick.exchange(now.milliseconds, ordering: .relaxed)
    let before = Timestamp(milliseconds: last)
    if last != 0, activity.isOtherHour(before, now) { activity.flush(loaded, at: before) }
    if isTurn { activity.flush(loaded, at: now) }
  }

  /// Writes delayed data before the store is closed. Last contacts, which may be one per device, only as long
  /// as `isInTime` returns true; if devices stay connected, of those that are not.
  func finish(keepingSessions: Bool, isInTime: () -> Bool) {
    writeBehind.finish(isInTime: isInTime)
    statistics.finish(to: store)
    activity.flush(apps.all, at: time.now())
    requestLog.finish(apps.all)
    apps.storeKeyUses(of: apps.all, isLast: true)
    for app in apps.all {
      guard touchAll(of: app, exceptConnected: keepingSessions, isInTime) else {
        return log.warning("some last-seen times of devices were not stored")
      }
    }
  }

  /// Stores all last contacts of an app's devices; false if that took too long, or failed. Blocks.
  func touchAll(of app: App, exceptConnected: Bool = false, _ isInTime: () -> Bool) -> Bool {
    var isComplete = false
    app.directory.seeFromStart()
    while !isComplete {
      guard isInTime() else { return false }
      let seen: [SeenDevice]
      (seen, isComplete) = app.directory.popSeen(
        limit: Self.lastTouches, looks: Self.lastTouches, coarse: 0, at: UInt32(clamping: time.now().seconds))
      let contacts = Self.contacts(
        exceptConnected ? seen.filter { $0.end != .connected } : seen, of: app)
      guard !contacts.isEmpty else { continue }
      do throws(StorageError) {
        // One after the other: the writer's queue is limited.
        try Store.wait {
          store.write(
            { transaction throws(StorageError) in try transaction.registrations.touch(contacts) },
            completion: $0)
        }
      } catch {
        return false
      }
    }
    return true
  }

  /// Stores when an app's API keys were last used, before the app leaves.
  func storeKeyUses(of app: App) { apps.storeKeyUses(of: [app], isLast: true) }

  private func expire(_ app: App, at now: Timestamp) {
    let seconds = UInt32(clamping: now.seconds)
    writeBehind.end(app.directory.expireGroups(at: seconds), of: app, at: now)
    let steps = app.directory.places / (Self.placesInStep * Self.sweepSeconds) + 1
    for _ in 0..<steps {
      let (ended, isComplete) = app.directory.expireListed(places: Self.placesInStep, at: seconds)
      writeBehind.end(ended, of: app, at: now)
      if isComplete { break }
    }
  }

  private func touch(_ app: App, at now: Timestamp) {
    let seconds = UInt32(clamping: now.seconds)
    app.directory.noteLasting(looks: Self.looks, period: options.lastingPeriod, at: seconds)
    var late: [SeenDevice] = []
    for _ in 0..<Self.looksInTick where late.count < Self.touches {
      let (seen, isComplete) = app.directory.popSeen(
        limit: Self.touches - late.count, looks: Self.looks, coarse: options.lastSeenPrecision, at: seconds)
      late += seen
      if isComplete { break }
    }
    guard !late.isEmpty else { return }
    let contacts = Self.contacts(late, of: app)
    store.write(of: app.id) { transaction throws(StorageError) in
      try transaction.registrations.touch(contacts)
    } completion: { _ in
      // A time that is lost is replaced by the device's next contact.
    }
  }

  private static func contacts(_ seen: [SeenDevice], of app: App) -> [LastContact] {
    seen.map {
      LastContact(
        app: app.id, number: $0.number, at: Timestamp(milliseconds: Int64($0.at) * 1000), end: $0.end)
    }
  }

  // MARK: Paced pushes

  /// Targets for which the directory's lock is held once.
  private static let dueInStep = 2048

  /// Delivers pushes with paced delivery to those whose moment has come since the last call. Called by one
  /// thread at a time.
  private func deliverDuePacedPushes(of app: App, at now: Timestamp) {
    var hasMore = true
    while hasMore {
      let step = app.directory.deliverDuePacedPushes(at: now, limit: Self.dueInStep)
      hasMore = step.hasMore
      for released in step.released {
        // Newer pushes may have been sent on these connections before.
        let live = LivePush(app: app.id, id: released.id, push: released.push, isLate: true)
        gateways.send(live, of: app, to: released.reachable)
      }
    }
  }
}
