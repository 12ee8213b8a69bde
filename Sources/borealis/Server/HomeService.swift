import API
import BorealisBase
import BorealisNet
import Channels
import Console
import Core
import DeviceGateway
import Glibc
import HTTP
import Model
import Storage

/// What a process has as the home of apps: the database, what is in memory of it, the channels, and the
/// handlers of requests. A process has it from its start, or once the cluster's home has gone; it has one at
/// most.
final class HomeService: Sendable {
  let store: Store
  let router: Router
  /// What serves the devices of this process, if it is alone.
  let deviceHome: LocalHome
  let gateway: Gateway
  let getui: GetuiAPI
  /// Nil if browsers are not served.
  private let autopush: AutopushAPI?
  let console: WebConsole
  let channels: [any ServiceChannel]
  /// Keeps what it counts.
  private let counts: ChannelCounts
  private let callbacks: CallbackService
  private let incidents: IncidentWatch
  /// Nil unless a mail server is set up.
  private let mailer: Mailer?
  /// What vendors' channels send with.
  private let vendorTransports: Vendors.Transports
  /// Connections to channels' services have a loop of their own, so that a long queue to one keeps no device
  /// waiting.
  private let servicesHandle: LoopHandle
  private let settings: ServeSettings
  private let time: SystemTime

  /// Opens the database as its server, or as one of several homes.
  static func openStore(
    _ settings: ServeSettings, _ metrics: ServerMetrics, replacing fence: Int64? = nil, patience: Int? = nil,
    home: AssignedApps? = nil
  ) throws(Failure) -> (Store, fence: Int64) {
    var options = Store.Options()
    options.onCommit = metrics.onCommit
    options.secretKeys = settings.secretKeyFile.source
    options.replaces = fence
    options.home = home
    if let patience { options.patience = patience }
    let store = try settings.folder.openStore(readers: 2, log: settings.log, options: options)
    do throws(Failure) { try settings.secretKeyFile.expectKeys(of: store) } catch {
      store.close()
      throw error
    }
    return (store, options.fence)
  }

  /// Reads a database into memory.
  static func load(
    _ settings: ServeSettings, _ store: Store, _ time: SystemTime, scope: HomeScope = .all, tracer: Tracer?
  ) throws(Failure) -> Router {
    var options = RouterOptions()
    options.retention = settings.retention
    options.registrationsPerApp = settings.registrationsPerApp
    options.newcomerSeconds = settings.newcomerSeconds
    options.inactiveSeconds = settings.inactiveSeconds
    options.requestLog = settings.requestLog
    options.zone = settings.zone
    options.schedulesPerApp = settings.schedules
    options.scheduleGrace = settings.scheduleGrace
    options.mailSite = settings.mail.server == nil ? nil : settings.mail.site
    options.tracer = tracer
    let router = Router(store: store, scope: scope, options: options, time: time, log: settings.log)
    do throws(StorageError) { try router.load() } catch {
      throw DataFolder.failure("cannot read \(settings.folder.database)", error)
    }
    return router
  }

  /// Puts the parts together. `obstacle` returns why the process is not ready, nil if it is; `loop` is the
  /// index of a loop that no other part has; `server` is what the console says of this process; `channels`
  /// makes more ways to devices than the usual ones.
  init(
    _ settings: ServeSettings, _ store: Store, _ router: Router, loop: Int, metrics: Metrics,
    time: SystemTime,
    obstacle: @escaping @Sendable () -> String?, server: ConsoleServer,
    channels others: (Router, Store) -> [any ServiceChannel] = { _, _ in [] }
  ) throws(Failure) {
    (self.settings, self.store, self.router, self.time) = (settings, store, router, time)
    deviceHome = LocalHome(router)
    do throws(SystemError) { servicesHandle = try LoopHandle(index: loop) } catch {
      throw .failed("\(error.call): \(SystemCalls.reason(error.number))")
    }
    let apns = Self.apnsChannel(settings, router, store, metrics, time)
    guard let transports = settings.vendors.transports(through: settings.proxy) else {
      throw .failed("cannot start the threads that send to vendors' services")
    }
    vendorTransports = transports
    let vendors = Self.vendorParts(settings, router, store, transports.known, metrics, time)
    channels = [apns] + settings.vendors.channels(vendors, transports) + others(router, store)
    for channel in channels { router.add(channel) }
    counts = ChannelCounts(of: router, in: metrics)
    callbacks = try Self.callbackService(settings, router, store, metrics, time)
    var limits = settings.gatewayLimits
    limits.rules.renderers = router.channels.renderers
    limits.rules.channels = router.channels.infos
    gateway = Gateway(
      router: router, callbacks: callbacks, limits: limits, metrics: metrics, log: settings.log, time: time,
      allowsPage: { [origins = settings.deviceOrigins] in origins.allows($0, host: $1) },
      obstacle: { [store] in obstacle() ?? store.obstacle })
    mailer = Self.mailer(settings, store, metrics, time)
    incidents = IncidentWatch(
      store: store, router: router, site: mailer == nil ? nil : settings.mail.site, time: time,
      log: settings.log)
    console = try Self.console(settings, router, store, gateway, mailer, time, server)
    getui = Self.getui(settings, router, store, gateway, time)
    // There also where browsers are not served, as all metrics are.
    let autopushMetrics = AutopushMetrics(metrics)
    if let options = settings.autopush {
      autopush = AutopushAPI(
        app: options.app, origin: options.origin, router: router, gateway: gateway,
        metrics: autopushMetrics, log: settings.log, time: time)
    } else {
      autopush = nil
    }
    ServerMetrics.compute(metrics, store: store, router: router)
  }

  /// Starts the channels. Before anything is accepted: pushes are routed by what they can offer.
  func start() throws(Failure) {
    try LoopStart.run { [self] started, failed throws(SystemError) in
      try servicesHandle.start(
        { [self] loop throws(SystemError) in
          // When processors are busy, requests that wait for an answer have priority over a queue to a
          // service.
          LoopHandle.yieldToOthers(5)
          for channel in channels { (channel as? any LoopChannel)?.add(loop, time) }
          started()
        }, failed: failed)
      return 1
    }
    for channel in channels {
      do throws(StorageError) { try Store.wait { channel.start($0) } } catch {
        throw DataFolder.failure("cannot start the channel \(channel.info.name)", error)
      }
    }
    autopush?.start()
  }

  // MARK: Requests

  /// Serves a request, on the loop of its connection. `passOn` has another one served in its place by another
  /// home.
  func handle(
    _ request: HTTPRequest, _ exchange: HTTPExchange, isSecure: Bool,
    passOn: (@Sendable (HTTPRequest) -> Void)? = nil
  ) {
    if WebConsole.serves(request.target) {
      console.handle(request, exchange, isSecure: isSecure)
    } else if GetuiAPI.serves(request.target) {
      getui.handle(request, exchange)
    } else if let autopush, AutopushAPI.serves(request.target) {
      autopush.handle(request, exchange)
    } else {
      gateway.handle(request, exchange, passOn: passOn)
    }
  }

  /// Screens a request by its head.
  func screen(_ head: HTTPRequest, requestID: String, peer: IPAddress?, isSecure: Bool) -> HTTPScreening {
    if WebConsole.serves(head.target) {
      console.screen(head, peer: peer, isSecure: isSecure)
    } else if GetuiAPI.serves(head.target) {
      getui.screen(head, requestID: requestID, peer: peer)
    } else if let autopush, AutopushAPI.serves(head.target) {
      autopush.screen(head, requestID: requestID, peer: peer)
    } else {
      gateway.screen(head, requestID: requestID, peer: peer)
    }
  }

  /// The pattern of a request's route, for the log; nil if there is none.
  func route(_ method: String, _ target: String) -> String? {
    console.route(method, target) ?? getui.route(method, target)
      ?? (autopush == nil ? nil : AutopushAPI.route(target)) ?? gateway.route(method, target)
  }

  // MARK: Work and end

  /// The work of once a second.
  func tick() {
    store.probe()
    router.tick()
    gateway.tick()
    for channel in channels { channel.tick() }
    callbacks.tick()
    incidents.tick()
    mailer?.tick(isOthers: !router.scope.hasInstallation)
    guard router.scope.hasInstallation else { return }
    console.tick()
  }

  /// Nanoseconds that a command waits for its changes to count.
  private static let learnPatience: UInt64 = 10_000_000_000

  /// Applies what a command has committed; returns when it counts for the next request.
  func learnChanges() {
    let done = Semaphore()
    getui.learnChanges()
    router.learnChanges { done.signal() }
    _ = done.wait(until: time.monotonic() &+ Self.learnPatience)
  }

  /// Why this process is not ready, nil if it is.
  var obstacle: String? { gateway.obstacle() }

  /// Why this process cannot store anything any more, nil if it can, or may be able to later.
  var lastingFailure: String? {
    let database = settings.folder.database
    return switch store.failure {
    case .takenOver: "another server has taken over \(database)"
    case .commitsLost:
      "\(database) has lost transactions that it had confirmed, by a fail-over or a restore: a server has to start with what is there"
    default: nil
    }
  }

  /// Ends what waits for time to pass, and takes no more of it.
  func endWaiting() {
    router.endWaiting()
    mailer?.stop()
  }

  /// Begins to end what takes part outside, until a moment at most, or until `isInterrupted`, while devices
  /// are still served: what channels are to send from now on is sent by whoever has the database next.
  func quiet(until deadline: UInt64, isInterrupted: () -> Bool) {
    endWaiting()
    endSending(until: deadline, isInterrupted: isInterrupted)
    mailer?.close(until: isInterrupted() ? time.monotonic() : deadline)
  }

  /// Waits until what requests have asked for so far is stored and told to devices.
  func settle() { try? Store.wait { store.write({ _ in }, completion: $0) } }

  /// Ends all work, in bounded time: until a moment what outside services take part in, and a little later
  /// all else. Both are moments of the clock that never jumps.
  /// `keepingSessions`: devices stay connected, with another process or another home in this one.
  func finish(until deadline: UInt64, keepingSessions: Bool = false) {
    closeChannels(until: deadline)
    // As long as everything else may take; and some seconds, if that has taken it all.
    let end = max(deadline, time.monotonic() &+ 3_000_000_000)
    router.finish(keepingSessions: keepingSessions) { [time] in time.monotonic() < end }
    // The mail under way has had all this time.
    mailer?.close(until: max(deadline, time.monotonic() &+ 1_000_000_000))
    callbacks.close()
    console.close()
    store.close()
    router.unplug()
  }

  /// Ends all work at once: another server has the database, and nothing can be stored.
  func abandon() {
    let now = time.monotonic()
    closeChannels(until: now)
    router.finish { false }
    mailer?.close(until: now)
    callbacks.close()
    console.close()
    store.close()
    router.unplug()
  }

  /// Awaits the services' answers to what has been sent: whatever has none is sent again after the next
  /// start.
  private func closeChannels(until deadline: UInt64) {
    endSending(until: deadline)
    vendorTransports.close()
    for channel in channels { channel.finish() }
  }

  private func endSending(until deadline: UInt64, isInterrupted: () -> Bool = { false }) {
    for channel in channels { channel.close() }
    BlockingCall.assertAllowed()
    while !channels.allSatisfy(\.isIdle), time.monotonic() < deadline, !isInterrupted() { usleep(10_000) }
  }
}
