import BorealisBase
import BorealisCrypto
import BorealisNet
import Cluster
import Console
import Core
import DeviceGateway
import Glibc
import HTTP
import Storage
import Synchronization

/// A process: its listeners, its event loops and their devices, for life; and what serves requests, which is
/// its own as long as it is the home of apps, and another node's otherwise.
final class Server: Sendable {
  let settings: ServeSettings
  let handles: [LoopHandle]
  let orders: [Mailbox<LoopServices.Order>]
  let parts: ServerParts
  let addresses: [Listeners]
  let isReady: ReadyFlag
  private let freed = FreedMemory()
  /// Nil while another node is the home, or nobody.
  let home: Mutex<HomeService?>
  /// Nil for a process that is alone.
  let cluster: ClusterService?
  private let nodeHost: NodeHost?
  /// Nil for a database in PostgreSQL.
  let database: Mutex<OpenDatabase?>
  let commands: CommandServer?
  /// The processes before and after this one.
  let takeover: Takeover

  /// Binds the addresses. A process that is alone opens the database and reads it into memory; a node gets
  /// its place in the cluster. One that takes another's place waits for that to let go of the database.
  /// `channels` makes more ways to devices than the usual ones.
  init(
    _ wanted: ServeSettings, limits: ConnectionLimits, takeover: Takeover = Takeover(),
    channels: (Router, Store) -> [any ServiceChannel] = { _, _ in [] }
  ) throws(Failure) {
    let certificates = wanted.usesTLS ? try Certificates(wanted) : nil
    let time = SystemTime()
    let renewal = try CertificateRenewal(wanted, certificates, time)
    self.takeover = takeover
    let inherited = takeover.predecessor?.listeners
    let addresses = if let inherited { inherited } else { try Self.bind(wanted) }
    let settings = wanted.listening(on: addresses)
    (self.addresses, self.settings) = (addresses, settings)
    let metrics = Metrics(help: MetricList.help)
    let serverMetrics = ServerMetrics(metrics)
    let tracer = try settings.tracer(serverMetrics.spans)
    let isReady = ReadyFlag()
    self.isReady = isReady
    let handles = try Self.makeHandles(settings.loops)
    self.handles = handles
    orders = handles.map { Mailbox(of: $0) }
    let channel = PassthroughChannel(loops: handles)
    let httpMemory = HTTPMemory(bytes: limits.httpBytes)
    if let options = settings.cluster {
      let address = addresses.first { $0.name == "node" }?.address ?? ""
      let host = NodeHost(settings, metrics, serverMetrics, time, tracer, ready: isReady)
      nodeHost = host
      let cluster = try Self.cluster(
        settings.configuration(of: options, address: address, loops: handles.count), host, channel,
        settings.forwarder(tls: options.tls, limits, memory: httpMemory, metrics), metrics, time)
      self.cluster = cluster
      commands = nil
      database = Mutex(nil)
      home = Mutex(nil)
    } else {
      (cluster, nodeHost) = (nil, nil)
      commands = Self.commands(settings, listening: takeover.predecessor?.commandSocket)
      let opening = HomeOpening(
        settings: settings, channel: channel, metrics: metrics, serverMetrics: serverMetrics, time: time,
        isReady: isReady, tracer: tracer)
      let (service, file) = try Self.open(opening, channels, after: takeover)
      home = Mutex(service)
      database = Mutex(file)
    }
    let proxies = TrustedProxies(settings.trustedProxies)
    parts = ServerParts(
      channel: channel,
      deviceUpgrades: DeviceUpgradeHandler(
        origins: settings.deviceOrigins, proxies: proxies,
        rejections: HandshakeRejections(metrics, time: time, log: settings.log),
        autopush: settings.autopush), proxies: proxies,
      unknownClients: UnknownClients(time: time, log: settings.log), deviceProxies: settings.deviceProxies,
      peers: settings.peerGuard(limits), httpPeers: settings.httpPeers(limits), httpMemory: httpMemory,
      metrics: serverMetrics, tracer: tracer, deviceLimits: settings.deviceLimits(limits),
      httpLimits: settings.httpLimits(limits), certificates: certificates, renewal: renewal,
      cluster: cluster, time: time, log: settings.log)
    ServerMetrics.compute(metrics, certificates: certificates, renewal: renewal) { [weak self] in
      guard let self else { return "stopping" }
      return obstacle
    }
  }

  /// Why this process is not ready, nil if it is.
  private var obstacle: String? {
    if let cluster { return cluster.obstacle }
    guard let service = home.withLock({ $0 }) else { return "draining" }
    return service.obstacle
  }

  /// Reads the database as soon as no other process has it.
  private static func open(
    _ opening: HomeOpening, _ channels: (Router, Store) -> [any ServiceChannel], after takeover: Takeover
  ) throws(Failure) -> (HomeService, OpenDatabase?) {
    try takeover.predecessor?.awaitSessions()
    UpgradeStep.newPassed.reach()
    let start = opening.time.monotonic()
    let opened = try opening.open(channels)
    takeover.note(opening, readingTime: opening.time.monotonic() &- start)
    return opened
  }

  /// Makes this process a node.
  private static func cluster(
    _ configuration: ClusterConfiguration, _ host: NodeHost, _ channel: PassthroughChannel,
    _ forwarder: RequestForwarder, _ metrics: Metrics, _ time: SystemTime
  ) throws(Failure) -> ClusterService {
    do throws(NodeFailure) {
      return try ClusterService(
        configuration, host: host, gateway: channel, forwarder: forwarder, metrics: metrics, time: time)
    } catch {
      throw Failure(error)
    }
  }

  var log: Log { settings.log }

  /// Listens for commands. Without them the server works as well: they open the database then.
  private static func commands(_ settings: ServeSettings, listening socket: Int32?) -> CommandServer? {
    guard settings.folder.holdsDatabase else { return nil }
    do throws(Failure) {
      return try CommandServer(settings.folder, listening: socket, log: settings.log)
    } catch {
      settings.log.warning("cannot listen for commands", ["reason": .text(error.message)])
      // Without a listener commands open the database; on one that nobody reads they would wait.
      if let socket {
        close(socket)
        CommandAddress(in: settings.folder).remove()
      }
      return nil
    }
  }

  private static func makeHandles(_ count: Int) throws(Failure) -> [LoopHandle] {
    do throws(SystemError) {
      var handles: [LoopHandle] = []
      for index in 0..<count { handles.append(try LoopHandle(index: index)) }
      return handles
    } catch {
      throw .failed("\(error.call): \(SystemCalls.reason(error.number))")
    }
  }

  private static func bind(_ settings: ServeSettings) throws(Failure) -> [Listeners] {
    var bound: [Listeners] = []
    for (name, address) in settings.addresses {
      bound.append(try Listeners(address, setting: name, count: settings.loops))
    }
    return bound
  }

  // MARK: Start

  /// Starts the event loops; they serve when this returns. A node serves devices and passes requests on from
  /// then on, and becomes the home if the cluster has none.
  func start() throws(Failure) {
    let service = home.withLock { $0 }
    let predecessor = takeover.predecessor
    // What takes part outside begins when nobody else does so any more.
    if predecessor == nil { try service?.start() }
    for listeners in addresses { try listeners.listen() }
    try LoopStart.run { [self] started, failed throws(SystemError) in
      for handle in handles {
        let sockets = sockets(of: handle.index)
        let deviceHome: (any AppHome)? = cluster?.link.home(ofLoop: handle.index) ?? service?.deviceHome
        guard let deviceHome else { throw SystemError(call: "start a loop", number: EINVAL) }
        try handle.start { [self] loop throws(SystemError) in
          let services = try LoopServices(
            loop: loop, parts: parts, sockets: sockets, orders: orders[handle.index], home: service,
            deviceHome: deviceHome)
          if let predecessor {
            var passed = predecessor.popLoop(handle.index)
            predecessor.note(rejected: try services.adopt(&passed))
          }
          started()
        } failed: {
          failed($0)
        }
      }
      return handles.count
    }
    if let predecessor, let service { try takeOver(from: predecessor, service) }
    isReady.value = true
    if let service {
      log.info(
        "serving",
        ["loops": .number(Int64(handles.count)), "apps": .number(Int64(service.router.apps.all.count))])
    } else {
      log.info(
        "serving", ["loops": .number(Int64(handles.count)), "node": .text(settings.cluster?.name ?? "")])
    }
    logCertificate()
    if let service {
      warnOfNewCertificate(service)
      logConsole(service)
    }
    if let service { try commands?.start(served(service)) }
    predecessor?.noteServing()
    parts.renewal?.start()
    nodeHost?.attach(self)
    do throws(NodeFailure) { try cluster?.start() } catch { throw Failure(error) }
  }

  /// Serves requests from now on, since this node has become the home.
  func open(_ service: HomeService) {
    home.withLock { $0 = service }
    performOnLoops { .serve(service, done: $0) }
    guard cluster?.spreadsApps != true else { return }
    log.info(
      "this node is the home of all apps", ["apps": .number(Int64(service.router.apps.all.count))])
    logConsole(service)
  }

  /// Has all loops carry out an order, and waits until they have.
  func performOnLoops(_ order: (@escaping @Sendable () -> Void) -> LoopServices.Order) {
    let done = Semaphore()
    for mailbox in orders { mailbox.post(order { done.signal() }) }
    for _ in orders { done.wait() }
  }

  /// Logs the console's address and, as long as there is no user, the setup link.
  func logConsole(_ service: HomeService) {
    guard let http = addresses.first(where: { $0.name.hasPrefix("http") }) else { return }
    let origin = settings.mail.site ?? "\(http.name == "http" ? "http" : "https")://\(http.address)"
    Task { [log, console = service.console] in
      await console.checkSettings()
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
    let now = parts.time.now()
    if info.notAfter <= now {
      log.error("TLS certificate has expired", values)
    } else if info.notAfter < now.adding(seconds: 14 * 86_400) {
      log.warning("TLS certificate expires soon", values)
    } else {
      log.info("TLS certificate", values)
    }
  }

  /// Devices may trust the certificate that was there before, and no other.
  private func warnOfNewCertificate(_ service: HomeService) {
    guard let certificates = parts.certificates, certificates.isNew, settings.acme == nil,
      service.router.apps.all.contains(where: { $0.directory.registrationCount > 0 })
    else { return }
    log.warning(
      "created a TLS certificate for a database that has registrations: devices may not trust it",
      ["certificate": .text(certificates.certificatePath)])
  }

  private func sockets(of loop: Int) -> LoopSockets {
    func find(_ name: String) -> Int32? { addresses.first { $0.name == name }?.descriptors[loop] }
    return LoopSockets(
      http: find("http"), httpTLS: find("http-tls"), device: find("device"),
      devicePlain: find("device-plain"), node: find("node"))
  }

  /// The line for the program's starter.
  var readyLine: JSONValue {
    var line = JSONObject()
    line.set("event", "ready")
    line.set("version", .string(Program.version))
    line.set("pid", .number(JSONNumber(getpid())))
    for one in addresses {
      line.set(String(one.name.map { $0 == "-" ? "_" : $0 }), .string(one.address))
    }
    if let certificates = parts.certificates, settings.acme == nil {
      line.set("certificate", .string(certificates.certificatePath))
    }
    return .object(line)
  }

  // MARK: Work and end

  /// The work of a few times a second.
  func flush() { home.withLock { $0 }?.router.deliveries.flushOld() }

  /// The work of once a second.
  func tick() {
    if let file = database.withLock({ $0?.lostFile }) { endAtOnce(without: file) }
    home.withLock { $0 }?.tick()
    cluster?.tick(devices: parts.metrics.deviceConnections.value)
    parts.tracer?.exporter.tick()
    parts.renewal?.tick()
    freed.look(connections: parts.metrics.connections, http: parts.httpMemory)
  }

  /// Ends the process without a drain: whatever would be accepted, or stored, from now on is lost.
  private func endAtOnce(without file: String) -> Never {
    log.error(
      "a database file was removed or replaced while the server was running; stopping",
      ["file": .text(file)])
    Terminal.flush()
    _exit(1)
  }

  /// Why this process can do its work no more, nil if it can, or may be able to later.
  var lastingFailure: String? { home.withLock { $0 }?.lastingFailure ?? cluster?.lastingFailure }

  /// Reads the certificates again, and what is stored of one by ACME.
  func reload() {
    cluster?.reload()
    if let renewal = parts.renewal { return renewal.reload() }
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
    // It would wait for the locks until this process has ended.
    takeover.stop()
    takeover.endSuccessor()
    commands?.close()
    parts.renewal?.expectEnd()
    let time = UInt64(settings.drainDelay) * 1_000_000 + UInt64(settings.drainSeconds) * 1_000_000_000
    home.withLock { $0 }?.store.expectEnd(by: parts.time.monotonic() &+ time)
    if let cluster, lastingFailure != nil, let service = home.withLock({ $0 }) {
      yield(service, to: cluster)
    }
    serveOn(milliseconds: settings.drainDelay)
    cluster?.beginEnd()
    if let cluster, lastingFailure == nil, cluster.hasHeir, let service = home.withLock({ $0 }) {
      handOver(service, to: cluster)
    }
    let service = home.withLock { $0 }
    service?.endWaiting()
    let done = Semaphore()
    let deadline = moment(afterSeconds: settings.drainSeconds)
    // So that some ten thousand a second come back.
    let spread = UInt32(clamping: 1000 + parts.metrics.deviceConnections.value / 10)
    // Devices collect acknowledgements for half a second.
    let patience = UInt64(min(3000, settings.drainSeconds * 500))
    let refuge = cluster.flatMap { DeviceRefuge($0.link.deviceAddresses, overTLS: settings.device != nil) }
    for mailbox in orders {
      mailbox.post(.drain(spread: spread, patience: patience, refuge: refuge) { done.signal() })
    }
    let isComplete = orders.allSatisfy { _ in done.wait(until: deadline) }
    if !isComplete { log.warning("closed connections that took too long to finish") }
    cluster?.endHomes()
    // This node may have become a home since: what that has not stored yet must not be lost.
    let last = home.withLock { $0 }
    if last !== service { last?.endWaiting() }
    last?.finish(until: deadline)
    cluster?.close()
    sendLastSpans()
    log.info("stopped")
  }

  /// Sends the spans that wait, in bounded time, and takes no more.
  func sendLastSpans() { parts.tracer?.exporter.close(until: moment(afterSeconds: 5)) }

  /// Ends being the home, and waits for the next one: requests and devices wait with this node.
  private func handOver(_ service: HomeService, to cluster: ClusterService) {
    if cluster.spreadsApps {
      let isEmpty = cluster.handOverApps()
      guard isEmpty || cluster.isOnlyHome else { return log.warning("not all apps could be handed over") }
      if !isEmpty {
        log.info("no other node is a home yet: one takes over once this node has left the database")
      }
    } else {
      log.info("handing over to another node")
    }
    performOnLoops { .leave(done: $0) }
    home.withLock { $0 = nil }
    service.endWaiting()
    service.settle()
    if cluster.spreadsApps {
      cluster.resign { service.finish(until: moment(afterSeconds: 2)) }
    } else {
      cluster.stopLeading()
      service.finish(until: moment(afterSeconds: 2))
      cluster.handOver()
    }
    if cluster.waitForHome(until: moment(afterSeconds: 10)) {
      log.info("another node is the home")
    } else {
      log.warning("no other node has become the home")
    }
  }

  /// Other nodes have taken the place of this home: calls that wait, and devices, go there while this process
  /// ends.
  private func yield(_ service: HomeService, to cluster: ClusterService) {
    performOnLoops { .leave(done: $0) }
    home.withLock { $0 = nil }
    service.endWaiting()
    if cluster.followSuccessor(until: moment(afterSeconds: 3)) {
      log.info("another node is the home")
    } else {
      log.warning("no other node is known to be the home")
    }
    service.abandon()
  }

  /// On the clock that never jumps, in nanoseconds.
  func moment(afterSeconds seconds: Int) -> UInt64 {
    parts.time.monotonic() &+ UInt64(clamping: seconds) * 1_000_000_000
  }

  /// Continues as before for a while.
  private func serveOn(milliseconds: Int) {
    BlockingCall.assertAllowed()
    var left = milliseconds
    while left > 0 {
      usleep(UInt32(min(left, 1000)) * 1000)
      tick()
      left -= 1000
    }
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
