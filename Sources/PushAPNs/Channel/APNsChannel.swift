import PushBase
import PushCrypto
import PushDomain
import PushNet
import PushRouter
import PushStorage
import Synchronization

/// The channel to Apple: a queue for each app in the database, worked on in memory a piece at a time, and a pool of
/// connections for each key or certificate and each of Apple's services. Safe to use from any thread.
public final class APNsChannel: APNsDelivery {
  /// What shares connections: apps of one team may, since a key speaks for all of them.
  private enum LaneKey: Hashable {
    case key(team: String, id: String, APNsEnvironment)
    case certificate(APNsCredentialID)
  }

  private struct State {
    var drivers: [APNsDriver.Address] = []
    var lanes: [LaneKey: APNsLane] = [:]
    var nextDriver = 0
    var isClosed = false
  }

  let parts: APNsParts
  private let hosts: APNsHosts
  private let state = Mutex(State())
  private let changed: ChangedApps

  /// Makes the channel; drivers come next, then `start`. `keys` opens the credentials; `sealingKeys` seals new ones and may
  /// make a key if nothing is sealed yet, which its argument counts. Without it, `keys` seals as well.
  public init(
    router: Router, hosts: APNsHosts = APNsHosts(), keys: @escaping CredentialStore.KeySource,
    sealingKeys: (@Sendable (_ sealed: Int) -> Result<SealingKeys, CredentialStore.KeyFailure>)? = nil,
    metrics: Metrics, time: any TimeSource = SystemTime(), log: Log
  ) {
    self.hosts = hosts
    let changed = ChangedApps()
    self.changed = changed
    let credentials = CredentialStore(store: router.store, keys: keys, time: time, log: log) { change in
      changed.add(change.app)
    }
    credentials.register(metrics)
    parts = APNsParts(
      store: router.store, router: router, credentials: credentials,
      sealingKeys: sealingKeys ?? { _ in keys() },
      metrics: APNsMetrics(metrics), time: time, log: log)
    let queues = parts.queues
    metrics.computed("borealis_apns_in_flight", "Requests to APNs without an answer.") {
      Double(queues.all.reduce(0) { $0 + $1.counts.flights })
    }
    metrics.computed("borealis_apns_retries_waiting", "Devices to whom Apple is asked again later.") {
      Double(queues.all.reduce(0) { $0 + $1.counts.later })
    }
  }

  /// Adds a loop that connections may run on; all of them before `start`.
  public func add(_ driver: APNsDriver.Address) { state.withLock { $0.drivers.append(driver) } }

  /// Reads the credentials and takes up what was left of the last run. `done` is called when the credentials are known.
  public func start(_ done: @escaping CredentialStore.Completion = { _ in }) {
    parts.credentials.refresh { [self] result in
      takeOverChanges()
      done(result)
    }
  }

  /// The work of once a second.
  public func tick() {
    parts.credentials.tick()
    takeOverChanges()
    for lane in state.withLock({ Array($0.lanes.values) }) { lane.tick() }
    for queue in parts.queues.all { queue.tick() }
  }

  /// Ends the connections; what is under way is awaited for a while by whoever stops the loops. Afterwards `finish`.
  public func close() {
    let lanes = state.withLock { state in
      state.isClosed = true
      return Array(state.lanes.values)
    }
    for lane in lanes { lane.close(drain: true) }
  }

  /// Whether no connection has an answer to come.
  public var isIdle: Bool {
    state.withLock { Array($0.lanes.values) }.allSatisfy { $0.status?.isClosed ?? true }
  }

  /// Saves what is known before the store is closed.
  public func finish() { for queue in parts.queues.all { queue.finish() } }

  // MARK: Credentials

  func takeOverChanges() {
    // Until then nobody can tell that an app has none.
    guard parts.credentials.isKnown else { return }
    var apps = changed.take()
    for app in parts.router.loadedApps where parts.queues.find(app.id) == nil { apps.insert(app.id) }
    guard !apps.isEmpty else { return }
    for app in parts.router.loadedApps where apps.contains(app.id) { update(app) }
  }

  /// Brings an app's queue in line with its credentials.
  private func update(_ app: App) {
    let (queue, _) = parts.queues.queue(of: app, parts)
    var available: APNsEnvironments = []
    for environment in [APNsEnvironment.production, .sandbox] {
      let old = queue.exit(for: environment)
      switch parts.credentials.selection(app: app.id, environment: environment) {
      case .use(let credential):
        available.formUnion(APNsEnvironments(environment))
        guard let lane = join(queue, laneOf: credential) else {
          queue.set(nil, isStopped: true, for: environment)
          continue
        }
        queue.set(APNsQueue.Exit(lane: lane, credential: credential), isStopped: false, for: environment)
        if let old, old.lane !== lane { leave(old.lane, queue) }
      case .unusable:
        // Pushes are still meant for Apple and wait until somebody has mended the credential.
        available.formUnion(APNsEnvironments(environment))
        queue.set(nil, isStopped: true, for: environment)
        if let old { leave(old.lane, queue) }
      case .missing:
        queue.set(nil, isStopped: false, for: environment)
        if let old { leave(old.lane, queue) }
      }
    }
    app.apnsEnvironments = available
    queue.credentialsAreSet()
  }

  /// An app was deleted: Apple gets nothing more for it.
  public func forget(_ app: App) {
    guard let queue = parts.queues.remove(app.id) else { return }
    for environment in [APNsEnvironment.production, .sandbox] {
      let old = queue.exit(for: environment)
      queue.set(nil, isStopped: true, for: environment)
      if let old { leave(old.lane, queue) }
    }
  }

  private func leave(_ lane: APNsLane, _ queue: APNsQueue) {
    // In one with looking for others, so that nobody joins a lane that is about to be closed.
    let isUnused = state.withLock { state in
      lane.remove(queue)
      guard lane.isUnused else { return false }
      for (key, known) in state.lanes where known === lane { state.lanes[key] = nil }
      return true
    }
    if isUnused { lane.close(drain: true) }
  }

  /// Puts a queue into the lane of its credential, made if there is none; nil when its TLS context cannot be made.
  private func join(_ queue: APNsQueue, laneOf credential: APNsCredential) -> APNsLane? {
    let key: LaneKey
    var mint: ProviderTokenMint?
    var identity: TLSIdentity?
    switch credential.authentication {
    case .token(let own):
      key = .key(team: own.teamID, id: own.keyID, credential.environment)
      mint = own
    case .certificate(let pair):
      key = .certificate(credential.id)
      identity = .pem(
        certificates: Array(pair.certificatesPEM.utf8), key: Array(pair.keyPEM.utf8))
    }
    let (known, driver) = state.withLock { state -> (APNsLane?, APNsDriver.Address?) in
      if let known = state.lanes[key] {
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
      let tls = try APNsPoolConfiguration.tls(trust: hosts.trust, identity: identity)
      let host = hosts.host(for: credential.environment)
      let configuration = APNsPoolConfiguration(
        host: host.name, port: host.port, tls: tls, usesToken: mint != nil)
      let new = APNsLane(environment: credential.environment, mint: mint, parts: parts)
      let lane = state.withLock { state in
        // Another thread may have been as far.
        let lane = state.lanes[key] ?? new
        state.lanes[key] = lane
        lane.add(queue)
        return lane
      }
      if lane === new { lane.start(on: driver, configuration) }
      return lane
    } catch {
      parts.log.error("no TLS for APNs", ["reason": .text(error.description)])
      return nil
    }
  }

  // MARK: Pushes

  /// Takes a push that was committed.
  public func deliver(_ push: APNsPush) {
    let (queue, isNew) = parts.queues.queue(of: push.app, parts)
    if isNew { changed.add(push.app.id) }
    queue.deliver(push)
  }

  /// Sends no more of a push.
  public func withdraw(_ id: MessageID, of app: App) -> Int { parts.queues.find(app.id)?.withdraw(id) ?? 0 }
}

// MARK: - What an operator sees
extension APNsChannel {
  /// How the way to each of Apple's services stands for an app.
  public func status(of app: App) -> [APNsServiceStatus] {
    [APNsEnvironment.production, .sandbox].map { environment in
      let lane = parts.queues.find(app.id)?.exit(for: environment)?.lane
      let pool = lane?.status
      var status = APNsServiceStatus(
        environment: environment, problem: nil, hasCredential: true, connections: pool?.ready ?? 0,
        inFlight: pool?.openStreams ?? 0, lastFailure: pool?.lastFailure)
      switch parts.credentials.selection(app: app.id, environment: environment) {
      case .use: status.problem = lane?.problem
      case .unusable(let problem): status.problem = problem
      case .missing: status.hasCredential = false
      }
      return status
    }
  }
}

/// Something about an app's way to Apple that somebody has to look at.
public struct APNsAlert: Sendable, Equatable {
  /// What it is.
  public enum Kind: Sendable, Equatable {
    /// The certificate in use ends soon.
    case ends(Timestamp)
    /// No push leaves; with the reason, for people.
    case broken(String)
  }

  /// The service.
  public let environment: APNsEnvironment
  /// What is to be looked at.
  public let kind: Kind

  /// Seconds before the end of a certificate from which on it is worth an alert.
  public static let notice: Int64 = 30 * 86_400
}

extension APNsChannel {
  /// What somebody has to look at about an app's way to Apple.
  public func alerts(of app: App) -> [APNsAlert] {
    let horizon = parts.time.now().adding(seconds: APNsAlert.notice)
    return [APNsEnvironment.production, .sandbox].compactMap { environment in
      switch parts.credentials.selection(app: app.id, environment: environment) {
      case .missing: return nil
      case .unusable(let problem): return APNsAlert(environment: environment, kind: .broken(problem))
      case .use(let credential):
        if let problem = parts.queues.find(app.id)?.exit(for: environment)?.lane.problem {
          return APNsAlert(environment: environment, kind: .broken(problem))
        }
        guard let end = credential.expiresAt, end <= horizon else { return nil }
        return APNsAlert(environment: environment, kind: .ends(end))
      }
    }
  }
}

/// Apps whose credentials have changed.
private final class ChangedApps: Sendable {
  private let apps = Mutex<Set<AppID>>([])

  func add(_ app: AppID) { _ = apps.withLock { $0.insert(app) } }

  func take() -> Set<AppID> {
    apps.withLock { apps in
      defer { apps = [] }
      return apps
    }
  }
}
