import Dispatch
import Glibc
import PushAPNs
import PushBase
import PushCallbacks
import PushConsole
import PushCrypto
import PushGateway
import PushHTTP
import PushHTTPServer
import PushJSON
import PushMail
import PushNet
import PushOps
import PushPassthrough
import PushRouter
import PushStorage
import Synchronization

/// The parts of a server put together: from the database to the event loops.
final class Server: Sendable {
  private let settings: ServeSettings
  private let log: Log
  private let store: Store
  private let router: Router
  private let handles: [LoopHandle]
  /// Connections to Apple have a loop of their own, so that a long queue to Apple keeps no device waiting.
  private let appleHandle: LoopHandle
  private let orders: [Mailbox<LoopServices.Order>]
  private let parts: ServerParts
  private let addresses: [(name: String, listeners: Listeners)]
  private let isReady: ReadyFlag

  /// Binds the addresses, opens the database and reads it into memory.
  init(_ settings: ServeSettings, limits: ConnectionLimits) throws(Failure) {
    self.settings = settings
    log = settings.log
    let certificates = settings.usesTLS ? try Certificates(settings) : nil
    addresses = try Self.bind(settings)
    let time = SystemTime()
    let metrics = Metrics()
    let serverMetrics = ServerMetrics(metrics)
    var options = Store.Options()
    options.onCommit = serverMetrics.onCommit
    store = try settings.folder.openStore(readers: 2, log: log, options: options)
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
      appleHandle = try LoopHandle(index: settings.loops)
    } catch {
      throw .failed("\(error.call): \(SystemCalls.reason(error.number))")
    }
    orders = handles.map { Mailbox(of: $0) }
    let channel = PassthroughChannel(loops: handles)
    router.add(channel)
    let apns = Self.apnsChannel(settings, router, metrics, time)
    router.add(apns: apns)
    let isReady = ReadyFlag()
    self.isReady = isReady
    let callbacks = try Self.callbackService(settings, router, metrics, time)
    let gateway = Gateway(
      router: router, callbacks: callbacks, limits: settings.gatewayLimits, metrics: metrics, log: log,
      time: time, isReady: { isReady.value })
    let mailer = Self.mailer(settings, store, metrics, time)
    let console = Self.console(settings, router, gateway, apns, mailer, time)
    ServerMetrics.compute(metrics, store: store, router: router, certificates: certificates)
    let proxies = TrustedProxies(settings.trustedProxies)
    parts = ServerParts(
      router: router, channel: channel, apns: apns, callbacks: callbacks,
      reminders: ExpiryReminders(
        store: store, site: mailer == nil ? nil : settings.mail.site, time: time, log: log), mailer: mailer,
      gateway: gateway, console: console,
      deviceDoor: DeviceDoor(
        origins: settings.deviceOrigins, proxies: proxies,
        refusals: DoorRefusals(metrics, time: time, log: log)), proxies: proxies,
      peers: PeerGuard(
        strangers: UInt32(settings.strangersPerNetwork),
        registrationsPerMinute: UInt32(settings.registrationsPerNetwork)),
      httpPeers: HTTPPeerLimit(connections: settings.httpConnectionsPerNetwork), largeBodies: LargeBodies(),
      metrics: serverMetrics, deviceLimits: settings.deviceLimits(limits),
      httpLimits: settings.httpLimits(limits), certificates: certificates, time: time)
  }

  private static func apnsChannel(
    _ settings: ServeSettings, _ router: Router, _ metrics: Metrics, _ time: SystemTime
  ) -> APNsChannel {
    let keyFile = settings.secretKeyFile
    return APNsChannel(
      router: router, hosts: settings.apnsHosts,
      keys: {
        // Read whenever a credential is opened, so that a file that was mended works at once.
        do throws(Failure) {
          return .success(try keyFile.read())
        } catch {
          return .failure(CredentialStore.KeyFailure(error.message))
        }
      },
      sealingKeys: { sealed in
        do throws(Failure) {
          return .success(try keyFile.readOrMake(sealed: sealed))
        } catch {
          return .failure(CredentialStore.KeyFailure(error.message))
        }
      }, metrics: metrics, time: time, log: settings.log)
  }

  private static func mailer(
    _ settings: ServeSettings, _ store: Store, _ metrics: Metrics, _ time: SystemTime
  ) -> Mailer? {
    // There also where no mail is sent, as all metrics are.
    let mailMetrics = MailMetrics(metrics)
    return settings.mail.server.map {
      Mailer(store: store, server: $0, metrics: mailMetrics, time: time, log: settings.log)
    }
  }

  private static func console(
    _ settings: ServeSettings, _ router: Router, _ gateway: Gateway, _ apns: APNsChannel, _ mailer: Mailer?,
    _ time: SystemTime
  ) -> WebConsole {
    let keyFile = settings.secretKeyFile
    return WebConsole(
      router: router, gateway: gateway, apns: apns, time: time, log: settings.log,
      mail: ConsoleMail(
        site: settings.mail.site, send: mailer.map { mailer in { @Sendable mail in mailer.send(mail) } }),
      secrets: PersonSecrets(
        seal: { secret, person, sealed in
          try? keyFile.readOrMake(sealed: sealed).seal(secret, for: .oneTimePasswords(of: person))
        },
        open: { sealed, person in try? keyFile.read().open(sealed, for: .oneTimePasswords(of: person)) }))
  }

  private static func callbackService(
    _ settings: ServeSettings, _ router: Router, _ metrics: Metrics, _ time: SystemTime
  ) throws(Failure) -> CallbackService {
    let keyFile = settings.secretKeyFile
    let keys = CallbackKeys(
      read: {
        do throws(Failure) { return .success(try keyFile.read()) } catch {
          return .failure(CallbackKeys.Failure(error.message))
        }
      },
      readOrMake: { sealed in
        do throws(Failure) { return .success(try keyFile.readOrMake(sealed: sealed)) } catch {
          return .failure(CallbackKeys.Failure(error.message))
        }
      })
    let service = CallbackService(
      router: router, options: settings.callbacks, keys: keys, metrics: metrics, time: time,
      log: settings.log)
    guard let service else { throw .failed("cannot start the thread that sends callbacks") }
    return service
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

  /// Starts the event loops; they serve when this returns.
  func start() throws(Failure) {
    let started = DispatchSemaphore(value: 0)
    let failure = Mutex<SystemError?>(nil)
    do throws(SystemError) {
      try appleHandle.start(
        { [self] loop throws(SystemError) in
          // Where processors are short, whoever waits for an answer goes before a queue to Apple.
          LoopHandle.yieldToOthers(5)
          parts.apns.add(APNsDriver(loop: loop, time: parts.time).address)
          started.signal()
        },
        failed: { error in
          failure.withLock { $0 = error }
          started.signal()
        })
      for handle in handles {
        let sockets = sockets(of: handle.index)
        try handle.start { [self] loop throws(SystemError) in
          _ = try LoopServices(loop: loop, parts: parts, sockets: sockets, orders: orders[handle.index])
          started.signal()
        } failed: { error in
          failure.withLock { $0 = error }
          started.signal()
        }
      }
    } catch {
      throw .failed("cannot start a thread: \(SystemCalls.reason(error.number))")
    }
    for _ in 0...handles.count { started.wait() }
    if let error = failure.withLock({ $0 }) {
      throw .failed("\(error.call): \(SystemCalls.reason(error.number))")
    }
    // So that the first push already knows which apps have credentials.
    do throws(StorageError) { try Blocking.wait { parts.apns.start($0) } } catch {
      throw DataFolder.failure("cannot read the APNs credentials", error)
    }
    isReady.value = true
    log.info(
      "serving",
      ["loops": .number(Int64(handles.count)), "apps": .number(Int64(router.loadedApps.count))])
    logCertificate()
    logConsole()
  }

  /// Says where the console is and, as long as nobody can log in, the link that the first person opens.
  private func logConsole() {
    guard let (name, listeners) = addresses.first(where: { $0.name.hasPrefix("http") }) else { return }
    let origin = "\(name == "http" ? "http" : "https")://\(listeners.address)"
    parts.console.prepareSetup { [log] path in
      if let path {
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
      log.warning("certificate ends soon", values)
    } else {
      log.info("certificate", values)
    }
  }

  private func sockets(of loop: Int) -> LoopSockets {
    func find(_ name: String) -> Int32? { addresses.first { $0.name == name }?.listeners.descriptors[loop] }
    return LoopSockets(
      http: find("http"), httpTLS: find("http-tls"), device: find("device"),
      devicePlain: find("device-plain"))
  }

  /// What whoever started the program wants to know now.
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
    router.tick()
    parts.gateway.tick()
    parts.apns.tick()
    parts.callbacks.tick()
    parts.reminders.tick()
    parts.mailer?.tick()
    parts.console.tick()
  }

  /// Reads the certificate again.
  func reload() {
    guard let certificates = parts.certificates else { return }
    do throws(Failure) {
      try certificates.reload()
      log.info("certificate read again")
      logCertificate()
    } catch {
      log.error("certificate not changed", ["reason": .text(error.message)])
    }
  }

  /// Ends all work in an orderly way, in bounded time.
  func drain() {
    isReady.value = false
    log.info("stopping")
    serveOn(milliseconds: settings.drainDelay)
    router.endWaiting()
    parts.mailer?.stop()
    let done = DispatchSemaphore(value: 0)
    let deadline = DispatchTime.now() + .seconds(settings.drainSeconds)
    for mailbox in orders { mailbox.post(.drain(spread: reconnectSpread) { done.signal() }) }
    let isComplete = orders.allSatisfy { _ in done.wait(timeout: deadline) == .success }
    if !isComplete { log.warning("connections cut off, they took too long to finish") }
    closeAPNs(until: deadline)
    // As long as everything else may take; and some seconds, if that has taken it all.
    let end = max(deadline, DispatchTime.now() + .seconds(3))
    router.finish { DispatchTime.now() < end }
    // The mail under way has had all this time.
    parts.mailer?.close(until: max(deadline, DispatchTime.now() + .milliseconds(500)))
    parts.callbacks.close()
    store.close()
    log.info("stopped")
  }

  /// Awaits Apple's answers to what has been sent: whatever has none is sent again after the next start.
  private func closeAPNs(until deadline: DispatchTime) {
    parts.apns.close()
    while !parts.apns.isIdle, DispatchTime.now() < deadline { usleep(10_000) }
    parts.apns.finish()
  }

  /// Goes on as before for a while.
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
    let online = router.loadedApps.reduce(0) { $0 + $1.directory.onlineCount }
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
