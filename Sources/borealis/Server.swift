import Glibc
import PushAPNs
import PushBase
import PushCallbacks
import PushConsole
import PushCrypto
import PushDomain
import PushGateway
import PushGetui
import PushHTTP
import PushHTTPClient
import PushHTTPServer
import PushJSON
import PushMail
import PushNet
import PushOps
import PushPassthrough
import PushRouter
import PushStorage
import PushWebSocket
import Synchronization

/// The parts of a server put together: from the database to the event loops.
final class Server: Sendable {
  private let settings: ServeSettings
  private let log: Log
  private let store: Store
  private let router: Router
  private let counts: ChannelCounts
  private let handles: [LoopHandle]
  private let channels: [any Channel]
  /// What vendors' channels send with.
  private let vendorTransports: Vendors.Transports
  /// Connections to channels' services have a loop of their own, so that a long queue to one keeps no device waiting.
  private let servicesHandle: LoopHandle
  private let orders: [Mailbox<LoopServices.Order>]
  private let parts: ServerParts
  private let addresses: [(name: String, listeners: Listeners)]
  private let isReady: ReadyFlag
  private let freed = FreedMemory()

  /// The channels to outside services that every server has.
  static let channelInfos: [ChannelInfo] = [.apns] + Vendors.infos

  /// Binds the addresses, opens the database and reads it into memory. `channels` makes more ways to devices than these and
  /// passthrough.
  init(
    _ settings: ServeSettings, limits: ConnectionLimits,
    channels: (Router, Store) -> [any Channel] = { _, _ in [] }
  ) throws(Failure) {
    self.settings = settings
    log = settings.log
    let certificates = settings.usesTLS ? try Certificates(settings) : nil
    addresses = try Self.bind(settings)
    let time = SystemTime()
    let metrics = Metrics()
    let serverMetrics = ServerMetrics(metrics)
    var options = Store.Options()
    options.onCommit = serverMetrics.onCommit
    options.secretKeys = settings.secretKeyFile.source
    store = try settings.folder.openStore(readers: 2, log: log, options: options)
    try settings.secretKeyFile.expectKeys(of: store)
    var routerOptions = RouterOptions()
    routerOptions.retention = settings.retention
    routerOptions.zone = settings.zone
    routerOptions.schedulesPerApp = settings.schedules
    routerOptions.scheduleGrace = settings.scheduleGrace
    router = Router(store: store, options: routerOptions, time: time, log: log)
    do throws(StorageError) { try router.load() } catch {
      throw DataFolder.failure("cannot read \(settings.folder.database)", error)
    }
    do throws(SystemError) {
      var handles: [LoopHandle] = []
      for index in 0..<settings.loops { handles.append(try LoopHandle(index: index)) }
      self.handles = handles
      servicesHandle = try LoopHandle(index: settings.loops)
    } catch {
      throw .failed("\(error.call): \(SystemCalls.reason(error.number))")
    }
    orders = handles.map { Mailbox(of: $0) }
    let channel = PassthroughChannel(loops: handles)
    router.add(channel)
    let apns = Self.apnsChannel(settings, router, store, metrics, time)
    guard let transports = settings.vendors.transports() else {
      throw .failed("cannot start the threads that send to vendors' services")
    }
    vendorTransports = transports
    let vendors = Self.vendorParts(settings, router, store, transports.known, metrics, time)
    self.channels = [apns] + settings.vendors.channels(vendors, transports) + channels(router, store)
    for channel in self.channels { router.add(channel) }
    counts = ChannelCounts(of: router, in: metrics)
    let isReady = ReadyFlag()
    self.isReady = isReady
    let callbacks = try Self.callbackService(settings, router, store, metrics, time)
    var gatewayLimits = settings.gatewayLimits
    gatewayLimits.rules.renderers = router.channels.renderers
    gatewayLimits.rules.channels = router.channels.infos
    let gateway = Gateway(
      router: router, callbacks: callbacks, limits: gatewayLimits, metrics: metrics, log: log,
      time: time, allowsPage: { [origins = settings.deviceOrigins] in origins.allows($0, host: $1) },
      obstacle: { [store] in isReady.value ? store.failure?.explanation : "draining" })
    let mailer = Self.mailer(settings, store, metrics, time)
    let console = Self.console(settings, router, store, gateway, mailer, time)
    ServerMetrics.compute(metrics, store: store, router: router, certificates: certificates)
    let proxies = TrustedProxies(settings.trustedProxies)
    parts = ServerParts(
      home: LocalHome(router), channel: channel, callbacks: callbacks, mailer: mailer, gateway: gateway,
      getui: Self.getui(settings, router, store, gateway, time), console: console,
      deviceUpgrades: DeviceUpgradeHandler(
        origins: settings.deviceOrigins, proxies: proxies,
        rejections: HandshakeRejections(metrics, time: time, log: log)), proxies: proxies,
      peers: PeerGuard(
        unauthenticated: UInt32(clamping: limits.unauthenticatedPerNetwork),
        registrationsPerMinute: UInt32(settings.registrationsPerNetwork)),
      httpPeers: HTTPPeerLimit(
        connections: limits.httpPerNetwork, exempt: settings.trustedProxies + IPNetwork.loopback),
      httpMemory: HTTPMemory(bytes: limits.httpBytes),
      metrics: serverMetrics, deviceLimits: settings.deviceLimits(limits),
      httpLimits: settings.httpLimits(limits), certificates: certificates, time: time, log: log)
  }

  private static func bind(
    _ settings: ServeSettings
  ) throws(Failure) -> [(name: String, listeners: Listeners)] {
    var bound: [(name: String, listeners: Listeners)] = []
    for (name, address) in [
      ("http", settings.http), ("http-tls", settings.httpTLS), ("device", settings.device),
      ("device-plain", settings.devicePlain),
    ] {
      guard let address else { continue }
      bound.append((name, try Listeners(address, setting: name, count: settings.loops)))
    }
    return bound
  }

  // MARK: Start

  /// Starts the event loops; they serve when this returns. Nothing is accepted before the channels know what they can offer:
  /// pushes are routed by it.
  func start() throws(Failure) {
    try startLoops { [self] started, failed throws(SystemError) in
      try servicesHandle.start(
        { [self] loop throws(SystemError) in
          // When processors are busy, requests that wait for an answer have priority over a queue to a service.
          LoopHandle.yieldToOthers(5)
          for channel in channels { (channel as? any LoopChannel)?.add(loop, parts.time) }
          started()
        }, failed: failed)
      return 1
    }
    for channel in channels {
      do throws(StorageError) { try Store.wait { channel.start($0) } } catch {
        throw DataFolder.failure("cannot start the channel \(channel.info.name)", error)
      }
    }
    for (_, listeners) in addresses { try listeners.listen() }
    try startLoops { [self] started, failed throws(SystemError) in
      for handle in handles {
        let sockets = sockets(of: handle.index)
        try handle.start { [self] loop throws(SystemError) in
          _ = try LoopServices(loop: loop, parts: parts, sockets: sockets, orders: orders[handle.index])
          started()
        } failed: {
          failed($0)
        }
      }
      return handles.count
    }
    isReady.value = true
    log.info(
      "serving",
      ["loops": .number(Int64(handles.count)), "apps": .number(Int64(router.apps.all.count))])
    logCertificate()
    logConsole()
  }

  /// Starts loops, as many as `begin` says, and waits until each of them has called one of the two.
  private func startLoops(
    _ begin: (
      _ started: @escaping @Sendable () -> Void, _ failed: @escaping @Sendable (SystemError) -> Void
    ) throws(SystemError) -> Int
  ) throws(Failure) {
    let ended = Semaphore()
    let failure = Mutex<SystemError?>(nil)
    let count: Int
    do throws(SystemError) {
      count = try begin({ ended.signal() }) { error in
        failure.withLock { $0 = error }
        ended.signal()
      }
    } catch {
      throw .failed("cannot start a thread: \(SystemCalls.reason(error.number))")
    }
    for _ in 0..<count { ended.wait() }
    if let error = failure.withLock({ $0 }) {
      throw .failed("\(error.call): \(SystemCalls.reason(error.number))")
    }
  }

  /// Logs the console's address and, as long as there is no user, the setup link.
  private func logConsole() {
    guard let (name, listeners) = addresses.first(where: { $0.name.hasPrefix("http") }) else { return }
    let origin = "\(name == "http" ? "http" : "https")://\(listeners.address)"
    Task { [log, console = parts.console] in
      if let path = await console.prepareSetup() {
        log.info("set up the console, once", ["url": .text(origin + path)])
      } else {
        log.info("console", ["url": .text(origin + "/console/")])
      }
    }
  }

  private func logCertificate() {
    guard let info = parts.certificates?.info else { return }
    let values: KeyValuePairs<String, LogValue> = [
      "subject": .text(info.subject), "fingerprint": .text(info.fingerprint),
      "ends": .text(Log.iso8601(info.notAfter.milliseconds)),
    ]
    if info.notAfter < parts.time.now().adding(seconds: 14 * 86_400) {
      log.warning("TLS certificate expires soon", values)
    } else {
      log.info("TLS certificate", values)
    }
  }

  private func sockets(of loop: Int) -> LoopSockets {
    func find(_ name: String) -> Int32? { addresses.first { $0.name == name }?.listeners.descriptors[loop] }
    return LoopSockets(
      http: find("http"), httpTLS: find("http-tls"), device: find("device"),
      devicePlain: find("device-plain"))
  }

  /// The line for the program's starter.
  var readyLine: JSONValue {
    var line = JSONObject()
    line.set("event", "ready")
    line.set("version", .string(Program.version))
    line.set("pid", .number(JSONNumber(getpid())))
    for (name, listeners) in addresses {
      line.set(
        name == "device-plain" ? "device_plain" : name == "http-tls" ? "http_tls" : name,
        .string(listeners.address))
    }
    if let certificates = parts.certificates {
      line.set("certificate", .string(certificates.certificatePath))
    }
    return .object(line)
  }

  // MARK: Work and end

  /// The work of once a second.
  func tick() {
    store.probe()
    router.tick()
    parts.gateway.tick()
    for channel in channels { channel.tick() }
    parts.callbacks.tick()
    parts.mailer?.tick()
    parts.console.tick()
    freed.look(connections: parts.metrics.connections, http: parts.httpMemory)
  }

  /// Why this server cannot store anything any more, nil if it can, or may be able to later.
  var lastingFailure: String? {
    let database = settings.folder.database
    return switch store.failure {
    case .takenOver: "another server has taken over \(database)"
    case .commitsLost:
      "\(database) has lost transactions that it had confirmed, by a fail-over or a restore: a server has to start with what is there"
    default: nil
    }
  }

  /// Reads the certificate again.
  func reload() {
    guard let certificates = parts.certificates else { return }
    do throws(Failure) {
      try certificates.reload()
      log.info("TLS certificate reloaded")
      logCertificate()
    } catch {
      log.error("TLS certificate not reloaded", ["reason": .text(error.message)])
    }
  }

  /// Ends all work in an orderly way, in bounded time.
  func drain() {
    isReady.value = false
    log.info("stopping")
    let time = UInt64(settings.drainDelay) * 1_000_000 + UInt64(settings.drainSeconds) * 1_000_000_000
    store.expectEnd(by: parts.time.monotonic() &+ time)
    serveOn(milliseconds: settings.drainDelay)
    router.endWaiting()
    parts.mailer?.stop()
    let done = Semaphore()
    let deadline = moment(afterSeconds: settings.drainSeconds)
    let spread = reconnectSpread
    // Devices collect acknowledgements for half a second.
    let patience = UInt64(min(3000, settings.drainSeconds * 500))
    for mailbox in orders {
      mailbox.post(.drain(spread: spread, patience: patience) { done.signal() })
    }
    let isComplete = orders.allSatisfy { _ in done.wait(until: deadline) }
    if !isComplete { log.warning("closed connections that took too long to finish") }
    closeChannels(until: deadline)
    // As long as everything else may take; and some seconds, if that has taken it all.
    let end = max(deadline, moment(afterSeconds: 3))
    router.finish { [time = parts.time] in time.monotonic() < end }
    // The mail under way has had all this time.
    parts.mailer?.close(until: max(deadline, moment(afterSeconds: 1)))
    parts.callbacks.close()
    store.close()
    router.unplug()
    log.info("stopped")
  }

  /// On the clock that never jumps, in nanoseconds.
  private func moment(afterSeconds seconds: Int) -> UInt64 {
    parts.time.monotonic() &+ UInt64(clamping: seconds) * 1_000_000_000
  }

  /// Awaits the services' answers to what has been sent: whatever has none is sent again after the next start.
  private func closeChannels(until deadline: UInt64) {
    for channel in channels { channel.close() }
    while !channels.allSatisfy(\.isIdle), parts.time.monotonic() < deadline { usleep(10_000) }
    vendorTransports.close()
    for channel in channels { channel.finish() }
  }

  /// Continues as before for a while.
  private func serveOn(milliseconds: Int) {
    var left = milliseconds
    while left > 0 {
      usleep(UInt32(min(left, 1000)) * 1000)
      tick()
      left -= 1000
    }
  }

  /// Milliseconds over which devices spread their return: so that some ten thousand a second come.
  private var reconnectSpread: UInt32 {
    let online = router.apps.all.reduce(0) { $0 + $1.directory.onlineCount }
    return UInt32(clamping: 1000 + online / 10)
  }
}

/// Whether the server takes work.
final class ReadyFlag: Sendable {
  private let flag = Atomic<Bool>(false)

  var value: Bool {
    get { flag.load(ordering: .relaxed) }
    set { flag.store(newValue, ordering: .relaxed) }
  }
}
