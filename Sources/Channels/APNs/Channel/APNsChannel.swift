import BorealisBase
import BorealisCrypto
import BorealisNet
import Core
import HTTP
import Model
import Storage
import Synchronization

/// The channel to Apple: a queue for each app in the database, worked on in memory a piece at a time, and a
/// pool of connections for each key or certificate and each of Apple's services. Safe to use from any thread.
package final class APNsChannel: QueuedChannel {
  /// What shares connections: apps of one team may, since a key speaks for all of them.
  private enum DispatcherKey: Hashable {
    case key(team: String, id: String, fingerprint: [UInt8], APNsEnvironment)
    case certificate(APNsCredentialID)
  }

  private struct State {
    var drivers: [HTTP2Driver.Address] = []
    var dispatchers: [DispatcherKey: APNsDispatcher] = [:]
    var nextDriver = 0
    var isClosed = false
    /// The services that apps have credentials for, as their queues know them.
    var services: [AppID: ServiceSet] = [:]
    /// Whether the credentials of the start have been taken over: what comes later is new, and Apple is asked
    /// about it.
    var isStarted = false
  }

  package let info = ChannelInfo.apns
  /// Makes payloads.
  package var renderer: (any ContentRenderer)? { APNsContentRenderer() }
  let parts: APNsParts
  private let hosts: APNsHosts
  private let state = Mutex(State())
  private let changed: ChangedApps
  private let reminders: ExpiryReminders?

  /// Makes the channel; add drivers next, then call `start`. `reminders` are sent by `tick`.
  package init(
    router: Router, store: Store, hosts: APNsHosts = APNsHosts(), keys: CredentialKeys,
    reminders: ExpiryReminders? = nil, metrics: Metrics, time: any TimeSource = SystemTime(), log: Log
  ) {
    self.hosts = hosts
    self.reminders = reminders
    let changed = ChangedApps()
    self.changed = changed
    let credentials = CredentialStore(
      store: store, scope: router.scope, keys: keys, time: time, log: log
    ) { change in
      changed.add(change.app)
    }
    credentials.register(metrics)
    parts = APNsParts(
      store: store, router: router, credentials: credentials,
      keys: keys,
      metrics: APNsMetrics(metrics), time: time, log: log)
    let queues = parts.queues
    metrics.computed("borealis_apns_in_flight") {
      Double(queues.all.reduce(0) { $0 + $1.queue.counts.inFlight })
    }
    metrics.computed("borealis_apns_retries_waiting") {
      Double(queues.all.reduce(0) { $0 + $1.queue.counts.later })
    }
    metrics.computed("borealis_apns_reachable") { [weak self] in self?.reachability ?? [] }
  }

  /// Adds a loop that connections may run on; call before `start`.
  package func add(_ driver: HTTP2Driver.Address) { state.withLock { $0.drivers.append(driver) } }

  /// Reads the credentials and resumes the pushes of the last run. `done` is called when the credentials are
  /// known.
  package func start(_ done: @escaping @Sendable (Result<Void, StorageError>) -> Void) {
    parts.credentials.refresh { [self] result in
      applyChanges()
      state.withLock { $0.isStarted = true }
      done(result)
    }
  }

  /// Call once a second.
  package func tick() {
    parts.credentials.tick()
    applyChanges()
    for dispatcher in state.withLock({ Array($0.dispatchers.values) }) { dispatcher.tick() }
    for queue in parts.queues.all { queue.tick() }
    parts.checks.tick()
    // Mail is the installation's, and so is what is noted of it.
    if parts.router.scope.hasInstallation { reminders?.tick() }
  }

  /// Ends the connections; the caller waits for requests in flight before it stops the loops. Call `finish`
  /// afterwards.
  package func close() {
    let dispatchers = state.withLock { state in
      state.isClosed = true
      return Array(state.dispatchers.values)
    }
    for dispatcher in dispatchers { dispatcher.close(drain: true) }
  }

  /// Whether no request is in flight.
  package var isIdle: Bool {
    state.withLock { Array($0.dispatchers.values) }.allSatisfy { $0.status?.isClosed ?? true }
  }

  /// Saves known results before the store is closed.
  package func finish() { for queue in openQueues { queue.finish() } }

  // MARK: Credentials

  func applyChanges() {
    // Until then it is unknown whether an app has none.
    guard parts.credentials.isKnown else { return }
    changed.drainInTurn { changed in
      var apps = changed
      for app in parts.router.apps.all where parts.queues.find(app.id) == nil { apps.insert(app.id) }
      for app in parts.router.apps.loaded(apps, brought: applyChanges) { update(app) }
    }
  }

  /// Updates an app's queue for its credentials.
  private func update(_ app: App) {
    let (queue, _) = parts.queues.queue(of: app, parts)
    let available = services(of: app.id)
    for environment in [APNsEnvironment.production, .sandbox] {
      let old = queue.target(for: environment)
      switch parts.credentials.selection(app: app.id, environment: environment) {
      case .use(let credential):
        guard let dispatcher = join(queue, dispatcherOf: credential) else {
          queue.set(nil, isStopped: true, for: environment)
          continue
        }
        queue.set(APNsQueue.Target(dispatcher, credential), isStopped: false, for: environment)
        if let old, old.dispatcher !== dispatcher { leave(old.dispatcher, queue) }
        if old?.credential.id != credential.id, state.withLock({ $0.isStarted }) {
          ask(dispatcher, credential)
        }
      case .unusable:
        // Pushes still go to APNs and wait until the credential works again.
        queue.set(nil, isStopped: true, for: environment)
        if let old { leave(old.dispatcher, queue) }
      case .missing:
        queue.set(nil, isStopped: false, for: environment)
        if let old { leave(old.dispatcher, queue) }
      }
    }
    state.withLock { $0.services[app.id] = available }
    queue.queue.credentialsAreSet()
  }

  /// An app was deleted: nothing more is sent for it.
  package func forget(_ app: App) { _ = end(app) }

  /// An app is about to have another home.
  package func release(_ app: App) { end(app)?.queue.finish() }

  /// Sends nothing more for an app; its queue, if it has one.
  private func end(_ app: App) -> APNsQueue? {
    // An update of the app that is under way would have its queue join dispatchers again.
    changed.inTurn {
      state.withLock { $0.services[app.id] = nil }
      guard let queue = parts.queues.remove(app.id) else { return nil }
      for environment in [APNsEnvironment.production, .sandbox] {
        let old = queue.target(for: environment)
        queue.set(nil, isStopped: true, for: environment)
        if let old { leave(old.dispatcher, queue) }
      }
      return queue
    }
  }

  private func leave(_ dispatcher: APNsDispatcher, _ queue: APNsQueue) {
    // In the same step as the search for other users, so that no app joins a dispatcher that is about to be
    // closed.
    let isUnused = state.withLock { state in
      dispatcher.remove(queue)
      guard dispatcher.isUnused else { return false }
      for (key, known) in state.dispatchers where known === dispatcher { state.dispatchers[key] = nil }
      return true
    }
    if isUnused { dispatcher.close(drain: true) }
  }

  /// Adds a queue to the dispatcher of its credential, which is created if there is none; nil when its TLS
  /// context cannot be made.
  private func join(_ queue: APNsQueue, dispatcherOf credential: APNsCredential) -> APNsDispatcher? {
    let key: DispatcherKey
    var mint: ProviderTokenMint?
    var identity: TLSIdentity?
    switch credential.authentication {
    case .token(let own):
      key = .key(
        team: own.teamID, id: own.keyID, fingerprint: own.key.fingerprint, credential.environment)
      mint = own
    case .certificate(let pair):
      key = .certificate(credential.id)
      identity = .pem(
        certificates: Array(pair.certificatesPEM.utf8), key: Array(pair.keyPEM.utf8))
    }
    let (known, driver) = state.withLock { state -> (APNsDispatcher?, HTTP2Driver.Address?) in
      if let known = state.dispatchers[key] {
        known.add(queue)
        return (known, nil)
      }
      guard !state.isClosed, !state.drivers.isEmpty else { return (nil, nil) }
      state.nextDriver += 1
      return (nil, state.drivers[state.nextDriver % state.drivers.count])
    }
    if let known { return known }
    guard let driver else { return nil }
    do throws(TLSError) {
      let tls = try HTTP2PoolConfiguration.tls(trust: hosts.trust, identity: identity)
      let host = hosts.host(for: credential.environment)
      var configuration = HTTP2PoolConfiguration(
        host: host.name, port: host.port, tls: tls, presentsCertificate: mint == nil)
      if let proxy = hosts.proxy, proxy.serves(host.name) { configuration.proxy = proxy }
      let new = APNsDispatcher(environment: credential.environment, mint: mint, parts: parts)
      let dispatcher = state.withLock { state in
        // Another thread may have done the same.
        let dispatcher = state.dispatchers[key] ?? new
        state.dispatchers[key] = dispatcher
        dispatcher.add(queue)
        return dispatcher
      }
      if dispatcher === new { dispatcher.start(on: driver, configuration) }
      // `close` may have come before there was anything to close.
      if state.withLock({ $0.isClosed }) { dispatcher.close(drain: true) }
      return dispatcher
    } catch {
      parts.log.error("cannot set up TLS for APNs", ["reason": .text(error.description)])
      return nil
    }
  }

  // MARK: Pushes

  /// A leg for each kind of token that the app has credentials for.
  package func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] {
    guard content.content(for: .apns) != nil else { return [] }
    let known = state.withLock { $0.services[app.id] }
    return content.apnsOffers(strategy, known ?? services(of: app.id))
  }

  /// As iPhones announce the notification of a leg.
  package func tone(of content: PushContent, on leg: DeliveryLeg) -> PushTone {
    content.apple.first { $0.slot.kind.leg == leg }?.tone ?? .loud
  }

  /// The queue of an app.
  package func queue(of app: App) -> ChannelQueue {
    let (queue, isNew) = parts.queues.queue(of: app, parts)
    if isNew { changed.add(app.id) }
    return queue.queue
  }

  /// The queues that were made.
  package var openQueues: [ChannelQueue] { parts.queues.all.map(\.queue) }

  /// Reads changes of credentials from the database; `done` is called when they are in use.
  package func learnChanges(_ done: @escaping @Sendable (Result<Void, StorageError>) -> Void) {
    parts.credentials.refresh { [self] result in
      applyChanges()
      done(result)
    }
  }

  /// The services for which an app has a credential, whether it can be used now or not.
  private func services(of app: AppID) -> ServiceSet {
    var found: ServiceSet = []
    for environment in [APNsEnvironment.production, .sandbox] {
      if case .missing = parts.credentials.selection(app: app, environment: environment) { continue }
      found.formUnion(ServiceSet(environment.service))
    }
    return found
  }

  /// Registrations have other tokens, or none.
  package func tokensChanged(of numbers: [RegistrationNumber], in app: App) {
    guard !numbers.isEmpty else { return }
    parts.queues.find(app.id)?.queue.tokensChanged(of: numbers)
  }

  /// A device has connected, with its app in the foreground.
  package func reached(_ number: RegistrationNumber, in app: App) {
    parts.queues.find(app.id)?.queue.reached(number)
  }

  /// Holds a push that is being recalled.
  package func hold(_ id: MessageID, of app: App, by holder: PushHolder) -> ChannelHold {
    parts.queues.find(app.id)?.queue.hold(id, by: holder) ?? ChannelHold()
  }

  /// Resumes it.
  package func resume(_ id: MessageID, of app: App, by holder: PushHolder) {
    parts.queues.find(app.id)?.queue.resume(id, by: holder)
  }

  /// Sends no more of a push.
  package func withdraw(_ id: MessageID, of app: App, _ status: OutcomeStatus, at now: Timestamp) -> Int {
    parts.queues.find(app.id)?.queue.withdraw(id) ?? 0
  }
}
