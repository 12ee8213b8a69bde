import BorealisBase
import HTTP
import Model
import Storage

/// Accepts pushes, keeps what waits, and hands pushes to channels. Puts together the services that do so,
/// each of which has the parts that it needs and no others. Safe to use from any thread.
///
/// Every change goes through the store's one writer and takes effect in memory in the completion, so memory
/// never shows what a crash could take back.
package final class Router: Sendable {
  /// The zone that times in the API's requests and answers are in.
  package let zone: any Zone

  package let apps: Apps
  /// Follows calls and pushes through their traces; nil if nothing is traced.
  package let tracer: Tracer?
  /// The log of requests to the HTTP APIs.
  package let requestLog: RequestLog
  /// The groups of apps.
  package let groups: AppGroups
  /// The registrations of apps.
  package let registrations: Registrations
  /// Pushes on their way in.
  package let acceptance: Acceptance
  /// Pushes that are under way.
  package let deliveries: Deliveries
  /// The pushes that are kept.
  package let history: PushHistories
  /// How pushes stand.
  package let reports: PushReports
  /// Facts about devices, and diagnoses of pushes.
  package let diagnostics: Diagnostics
  /// The schedules of apps.
  package let schedules: Schedules
  /// Pushes that wait: for a second person, or for a time to be undone.
  package let approvals: Approvals
  /// Files with audiences.
  package let files: Files
  /// The segments of apps.
  package let segments: Segments
  /// Lists of devices.
  package let deviceLists: DeviceLists
  /// The templates of apps.
  package let templates: Templates
  /// The A/B tests of apps, and their runs.
  package let abTests: ABTests
  package let abTestRuns: ABTestRuns
  /// Pushes that go to a share of their audience first.
  package let canaries: Canaries
  /// Who used the apps.
  package let activity: UserActivity
  /// The push plans of apps.
  package let plans: PushPlans
  /// The devices for tests of apps.
  package let testDevices: TestDevices
  /// Keys for contents that only devices read.
  package let deviceKeys: DeviceKeys
  /// Facts of devices.
  package let facts: DeviceFacts
  /// What is and was wrong with apps.
  package let incidents: Incidents
  /// Erasures of people.
  package let erasures: Erasures
  /// Apps with callbacks.
  package let callbacks: CallbackApps
  /// The ways to devices.
  package let channels: PluggedChannels
  /// All events of pushes pass here, in the commit that stores them.
  package let journal: DeliveryJournal
  /// Whether the targets of all pushes are accounted for.
  package let audit: TargetAudit
  /// The apps that it is the home of.
  package let scope: HomeScope
  /// How apps stand, for pages about several.
  package let figures: AppFigureBoard

  let writeBehind: WriteBehind
  let imports: Imports
  let time: any TimeSource
  let gateways: DeviceGateways
  let ids: MessageIDs
  private let pushRateLimiter: PushRateLimiter
  private let loading: Loading
  private let moves: AppMoves
  private let housekeeping: Housekeeping

  /// Makes a router on an open store, for the apps that the store's process is the home of; `load` comes
  /// next.
  package init(
    store: Store, scope: HomeScope, options: RouterOptions = RouterOptions(),
    time: any TimeSource = SystemTime(), log: Log
  ) {
    tracer = options.tracer
    // What the services share.
    let (zone, journal, audit) = (options.zone, DeliveryJournal(), TargetAudit())
    let statistics = Statistics(scope: scope, zone: zone)
    journal.add(statistics)
    let (gateways, pushRateLimiter, ids) = (
      DeviceGateways(), PushRateLimiter(), MessageIDs(time: time, slot: scope.slot)
    )
    let writeBehind = WriteBehind(store: store, scope: scope, journal: journal, time: time, log: log) {
      gateways.reportStored($0)
    }
    let contents = ContentCache(byteLimit: options.cachedContents)
    let channels = PluggedChannels(
      Passthrough(contents: contents, writeBehind: writeBehind, gateways: gateways))
    let table = AppTable(time: time, limits: options.pending)
    let callbacks = CallbackApps(table)
    let purge = AppPurge(
      store: store, time: time, log: log, apps: table, channels: channels, gateways: gateways,
      rows: options.sweepRows)
    // The services.
    let clocks = ScheduleClocks(server: zone, zones: options.deviceZones)
    let apps = Apps(
      store: store, scope: scope, time: time, log: log, table: table, channels: channels,
      gateways: gateways, callbacks: callbacks, purge: purge, clocks: clocks)
    let files = Files(store: store, scope: scope, time: time)
    segments = Segments(store: store, time: time, zone: zone)
    deviceLists = DeviceLists(store: store, segments: segments, channels: channels)
    templates = Templates(store: store, time: time)
    abTests = ABTests(store: store, time: time)
    let registrations = Registrations(
      store: store, options: options, time: time, channels: channels, gateways: gateways,
      writeBehind: writeBehind, log: log)
    self.registrations = registrations
    let imports = Imports(
      store: store, scope: scope, apps: apps, channels: channels, registrations: registrations)
    let activity = UserActivity(store: store, zone: zone)
    let approvals = Approvals(
      store: store, scope: scope, time: time, zone: zone, mailSite: options.mailSite)
    self.approvals = approvals
    let schedules = Schedules(
      store: store, scope: scope, time: time, clocks: clocks, limit: options.schedulesPerApp, apps: table,
      ids: ids, approvals: approvals, log: log)
    let heldPushes = HeldPushQueue(
      store: store, scope: scope, time: time, apps: table, channels: channels, gateways: gateways,
      contents: contents, writeBehind: writeBehind)
    let fallbacks = Fallbacks(
      store: store, scope: scope, time: time, ids: ids, apps: table,
      terms: Handover.Terms(channels: channels, clocks: clocks), heldPushes: heldPushes,
      gateways: gateways, contents: contents, writeBehind: writeBehind)
    let deliveries = Deliveries(
      store: store, time: time, receiptLifetime: options.receiptLifetime, ids: ids, channels: channels,
      gateways: gateways, contents: contents, writeBehind: writeBehind, fallbacks: fallbacks,
      heldPushes: heldPushes, statistics: statistics, journal: journal)
    erasures = Erasures(
      store: store, scope: scope, log: log, apps: table, registrations: registrations,
      deliveries: deliveries, imports: imports)
    acceptance = Acceptance(
      store: store, options: options, time: time, log: log, ids: ids, channels: channels, files: files,
      segments: segments, approvals: approvals, clocks: clocks, deliveries: deliveries,
      callbacks: callbacks, writeBehind: writeBehind,
      statistics: statistics,
      pushRateLimiter: pushRateLimiter)
    loading = Loading(
      store: store, scope: scope, time: time, log: log, apps: table, imports: imports, callbacks: callbacks,
      channels: channels, ids: ids, statistics: statistics, writeBehind: writeBehind, contents: contents,
      schedules: schedules, clocks: clocks, fallbacks: fallbacks, heldPushes: heldPushes)
    let requestLog = RequestLog(
      store: store, scope: scope, extent: options.requestLog, time: time, apps: table)
    self.requestLog = requestLog
    let figures = AppFigureBoard(store: store, scope: scope, apps: table, channels: channels)
    self.figures = figures
    housekeeping = Housekeeping(
      store: store, scope: scope, options: options, time: time, log: log, apps: apps, imports: imports,
      files: files,
      gateways: gateways, writeBehind: writeBehind, statistics: statistics, activity: activity,
      audit: audit, pushRateLimiter: pushRateLimiter, fallbacks: fallbacks, heldPushes: heldPushes,
      figures: figures, registrations: registrations, erasures: erasures, requestLog: requestLog)
    moves = AppMoves(
      store: store, scope: scope, apps: table, channels: channels, gateways: gateways,
      writeBehind: writeBehind, statistics: statistics, activity: activity, contents: contents,
      housekeeping: housekeeping, imports: imports, requestLog: requestLog, time: time)
    groups = AppGroups(store: store, apps: apps)
    history = PushHistories(store: store)
    reports = PushReports(
      store: store, time: time, log: log, apps: apps, retention: options.retention)
    abTestRuns = ABTestRuns(store: store, scope: scope, time: time, apps: table, reports: reports)
    canaries = Canaries(
      store: store, scope: scope, time: time, apps: table, reports: reports, channels: channels,
      ids: ids)
    diagnostics = Diagnostics(store: store, time: time, clocks: clocks, channels: channels)
    plans = PushPlans(store: store, time: time)
    testDevices = TestDevices(store: store, time: time)
    deviceKeys = DeviceKeys(store: store, time: time)
    facts = DeviceFacts(store: store)
    incidents = Incidents(store: store, channels: channels, zone: zone, time: time)
    (self.scope, self.zone, self.journal) = (scope, zone, journal)
    (self.audit, self.channels) = (audit, channels)
    (self.gateways, self.pushRateLimiter, self.writeBehind) = (gateways, pushRateLimiter, writeBehind)
    (self.time, self.ids) = (time, ids)
    (self.apps, self.callbacks, self.files, self.imports) = (apps, callbacks, files, imports)
    (self.activity, self.schedules, self.deliveries) = (activity, schedules, deliveries)
  }

  // MARK: Start and end

  /// Adds a channel to a service. Call before the first push.
  package func add(_ channel: any ServiceChannel) { channels.add(channel) }

  /// Plugs connections of devices in. Before the first push.
  package func add(_ gateway: any DeviceGateway) { gateways.add(gateway) }

  /// A number larger than that of every push and stored message before; on the writer's thread they grow in
  /// commit order.
  package func nextMessageID() -> MessageID { ids.next() }

  /// Reads apps, registrations and open pushes into memory. Blocks; call it before anything is served.
  package func load() throws(StorageError) { try loading.run() }

  /// Reads an app into memory that the database has given to this home by now, which is one of several; nil
  /// if it has another one, or is deleted. Nobody finds the app here before all of it is there. Blocks;
  /// channels have started.
  package func load(_ app: AppID) throws(StorageError) -> App? { try loading.run(app) }

  /// Gives an app to another home, by the number of its node and of its fence, when all that is known of it
  /// is stored. Returns the app's new epoch; nil, and the app stays here, if it is not this home's or could
  /// not be given away. Its devices log in again, unless sessions are kept: then no device may say anything
  /// more here. Blocks.
  package func handOver(
    _ app: AppKey, to next: (node: Int64, home: Int64), keepingSessions: Bool = false
  ) -> Int64? {
    moves.handOver(app, to: next, keepingSessions: keepingSessions)
  }

  /// Periodic work in small steps: writes delayed data, ends expired pushes, deletes old data. Call once a
  /// second, by one thread at a time.
  package func tick() { housekeeping.tick() }

  /// Applies what was committed beside this router before this call: changed apps, imported registrations,
  /// and what channels need of apps. `done` is called when it counts, or cannot be read; any thread.
  package func learnChanges(_ done: @escaping @Sendable () -> Void) {
    apps.refresh { [self] in
      imports.learn { [self] in
        apps.learnChanges(of: channels.services[...]) { _ in done() }
      }
    }
  }

  /// Pushes that wait for their plans to have speed left.
  package var pushesWaitingForSpeed: Int { pushRateLimiter.waiting }

  /// Ends the waiting for a plan's speed with 1030, since there will be no ticks. The server stops, and waits
  /// for answers first.
  package func endWaiting() { pushRateLimiter.close() }

  /// Writes delayed data before the store is closed. Last contacts, which may be one per device, only as long
  /// as `isInTime` returns true; if devices stay connected, of those that are not.
  package func finish(keepingSessions: Bool = false, isInTime: () -> Bool = { true }) {
    housekeeping.finish(keepingSessions: keepingSessions, isInTime: isInTime)
  }

  /// Lets go of what was plugged in: channels, connections and observers hold the router. At the end, when
  /// nothing works.
  package func unplug() {
    channels.removeAll()
    gateways.removeAll()
    journal.removeAll()
  }
}
