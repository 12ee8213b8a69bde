import PushBase
import PushStorage
import Synchronization

/// Where the housekeeping is.
final class Housekeeping: Sendable {
  fileprivate let ticks = Atomic<Int>(0)
  /// A chain of sweep steps is under way.
  fileprivate let isSweeping = Atomic<Bool>(false)
  private let isLearning = Atomic<Bool>(false)
  private let newestImport = Atomic<Int64>(0)

  /// The latest import that memory knows.
  var lastImport: Int64 {
    get { newestImport.load(ordering: .acquiring) }
    set { newestImport.store(newValue, ordering: .releasing) }
  }

  /// Notes that imports are being learned; false if they are already.
  func beginImports() -> Bool { !isLearning.exchange(true, ordering: .acquiringAndReleasing) }

  /// Notes that no imports are being learned any more.
  func endImports() { isLearning.store(false, ordering: .releasing) }

  /// Deleted apps whose data is being deleted.
  let purging = Mutex<Set<AppID>>([])
  private let isRefreshing = Atomic<Bool>(false)
  private let isSweepingFiles = Atomic<Bool>(false)

  /// Whether the caller may look at what changed about apps; `endRefresh` follows.
  func beginRefresh() -> Bool { !isRefreshing.exchange(true, ordering: .acquiring) }

  /// The look is over.
  func endRefresh() { isRefreshing.store(false, ordering: .releasing) }

  /// Notes that files are being swept; false if they are already.
  func beginFileSweep() -> Bool { !isSweepingFiles.exchange(true, ordering: .relaxed) }

  /// Notes that no files are being swept any more.
  func endFileSweep() { isSweepingFiles.store(false, ordering: .relaxed) }
}

extension Router {
  /// A step over the pool looks at so many places before the lock is let go.
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
  /// Between two looks at what the operator changed about apps goes a second for each so many apps, at most five.
  private static let appsInSecond = 250
  /// Seconds between two savings of who used the apps.
  private static let activitySeconds = 60
  /// Seconds between two sweeps of what is too old.
  private static let retentionSeconds = 60

  /// Seconds for which what became of schedules is kept at least.
  private static let scheduleRetention: Int64 = 31 * 86_400

  /// Work of once a second, in small steps: writes what may be late, ends what is over, deletes what is too old. Called by
  /// one thread at a time.
  public func tick() {
    let tick = housekeeping.ticks.add(1, ordering: .relaxed).oldValue
    let now = time.now()
    let apps = loadedApps
    for app in apps {
      expire(app, at: now)
      releaseSteadyPushes(of: app, at: now)
      touch(app, at: now)
      statistics.online(app.directory.onlineCount, of: app.id, at: now)
    }
    learnImports()
    speedPools.tick(at: time.monotonic())
    writeBehind.flush()
    statistics.flush(to: store)
    audit.step(store, at: now, log: log)
    if tick % Self.activitySeconds == 0 { flushActivity(at: now) }
    if tick % Self.retentionSeconds == 0 {
      sweep(at: now)
      sweepFiles(at: now)
    }
    if tick % min(apps.count / Self.appsInSecond + 1, 5) == 0 { refreshApps() }
  }

  /// Ends the waiting for a plan's speed, since no tick comes any more: 1030. The server stops, and awaits answers first.
  public func endWaiting() { speedPools.close() }

  /// Writes what is late before the store is closed. Last contacts, of which there may be one for each device, only as long
  /// as `isInTime` says so.
  public func finish(isInTime: () -> Bool = { true }) {
    writeBehind.flush(batches: 4096)
    statistics.finish(to: store)
    flushActivity(at: time.now())
    for app in loadedApps {
      guard touchAll(of: app, isInTime) else {
        return log.warning("not all last contacts of devices were noted")
      }
    }
  }

  private func touchAll(of app: App, _ isInTime: () -> Bool) -> Bool {
    var isAround = false
    app.directory.seeFromStart()
    while !isAround {
      guard isInTime() else { return false }
      let seen: [SeenDevice]
      (seen, isAround) = app.directory.takeSeen(
        limit: Self.lastTouches, looks: Self.lastTouches, coarse: 0, at: UInt32(clamping: time.now().seconds))
      let contacts = Self.contacts(seen, of: app)
      do throws(StorageError) {
        // One after the other: the writer's queue takes no more than some.
        try Self.wait {
          store.write({ transaction throws(StorageError) in try transaction.touch(contacts) }, completion: $0)
        }
      } catch {
        return false
      }
    }
    return true
  }

  private func expire(_ app: App, at now: Timestamp) {
    let seconds = UInt32(clamping: now.seconds)
    writeBehind.end(app.directory.expireGroups(at: seconds), of: app, at: now)
    let steps = app.directory.places / (Self.placesInStep * Self.sweepSeconds) + 1
    for _ in 0..<steps {
      let (ended, isAround) = app.directory.expireListed(places: Self.placesInStep, at: seconds)
      writeBehind.end(ended, of: app, at: now)
      if isAround { break }
    }
  }

  private func touch(_ app: App, at now: Timestamp) {
    let seconds = UInt32(clamping: now.seconds)
    app.directory.noteLasting(looks: Self.looks, period: options.lastingPeriod, at: seconds)
    var late: [SeenDevice] = []
    for _ in 0..<Self.looksInTick where late.count < Self.touches {
      let (seen, isAround) = app.directory.takeSeen(
        limit: Self.touches - late.count, looks: Self.looks, coarse: options.lastSeenPrecision, at: seconds)
      late += seen
      if isAround { break }
    }
    guard !late.isEmpty else { return }
    let contacts = Self.contacts(late, of: app)
    store.write { transaction throws(StorageError) in
      try transaction.touch(contacts)
    } completion: { _ in
      // A time that is lost is replaced by the device's next contact.
    }
  }

  private static func contacts(_ seen: [SeenDevice], of app: App) -> [WriteTransaction.LastContact] {
    seen.map {
      WriteTransaction.LastContact(
        app: app.id, number: $0.number, at: Timestamp(milliseconds: Int64($0.at) * 1000), end: $0.end)
    }
  }

  // MARK: What is too old

  /// Starts to delete what is too old, unless a sweep is under way.
  private func sweep(at now: Timestamp) {
    guard !housekeeping.isSweeping.exchange(true, ordering: .relaxed) else { return }
    sweepStep(
      pushesBelow: MessageID(firstAt: now.adding(seconds: -options.retention)),
      cidsBefore: now.adding(seconds: -options.cidLifetime),
      goneBefore: now.adding(seconds: -options.retention),
      schedulesBefore: now.adding(seconds: -max(options.retention, Self.scheduleRetention)))
  }

  /// One step, and when it found enough to do the next behind the pushes that wait meanwhile: so the sweep keeps up with
  /// any rate of pushes and no commit has more than one step in it.
  private func sweepStep(
    pushesBelow: MessageID, cidsBefore: Timestamp, goneBefore: Timestamp, schedulesBefore: Timestamp
  ) {
    let (rows, now) = (options.sweepRows, time.now())
    store.write { [self] transaction throws(StorageError) in
      let pushes = try transaction.sweepPushes(below: pushesBelow, limit: rows)
      let cids = try transaction.sweepCIDs(before: cidsBefore, limit: rows)
      let schedules = try transaction.sweepSchedules(
        runsBelow: MessageID(firstAt: schedulesBefore), overBefore: schedulesBefore, limit: rows)
      let groups = try transaction.sweepGroupPushes(below: pushesBelow, limit: rows)
      let gone = try transaction.sweepGoneRegistrations(before: goneBefore, limit: rows)
      try transaction.sweepSteadyPushes(endedBy: now)
      let hasOldActivity = try sweepActivity(at: now, limit: rows, in: transaction)
      return hasOldActivity || [pushes, cids, schedules, groups, gone].contains { $0 >= rows }
    } completion: { [self] result in
      if case .success(true) = result {
        sweepStep(
          pushesBelow: pushesBelow, cidsBefore: cidsBefore, goneBefore: goneBefore,
          schedulesBefore: schedulesBefore)
      } else {
        housekeeping.isSweeping.store(false, ordering: .relaxed)
      }
    }
  }
}
