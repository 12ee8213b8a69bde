import PushBase
import PushChannels
import PushDomain
import PushRouter
import PushStorage
import Synchronization

/// A channel to a vendor's service: a queue for each app in the database, and a dispatcher for each app with a credential. Safe to
/// use from any thread.
public final class VendorChannel<V: Vendor>: Channel {
  private struct State {
    var queues: [AppID: ChannelQueue] = [:]
    var dispatchers: [AppID: VendorDispatcher<V>] = [:]
    /// Those that are no longer used, and may have requests under way.
    var former: [VendorDispatcher<V>] = []
    /// The apps with a credential, whether it can be used now or not.
    var served: Set<AppID> = []
    var isClosed = false
    /// Whether the credentials of the start have been taken over: what comes later is new, and the service is asked about it.
    var isStarted = false
  }

  /// What it is.
  public var info: ChannelInfo { vendor.info }
  let vendor: V
  let parts: VendorParts
  let table: VendorCredentials<V>
  let checks: CredentialChecks
  private let state = Mutex(State())

  /// Makes the channel; call `start` next.
  public init(_ vendor: V, _ parts: VendorParts) {
    self.vendor = vendor
    self.parts = parts
    checks = CredentialChecks(time: parts.time)
    let changes = ChangedApps()
    self.changes = changes
    table = VendorCredentials(vendor, parts) { changes.add($0) }
  }

  private let changes: ChangedApps

  /// Reads the credentials and resumes the pushes of the last run.
  public func start(_ done: @escaping @Sendable (Result<Void, StorageError>) -> Void) {
    table.refresh { [self] result in
      takeOverChanges()
      state.withLock { $0.isStarted = true }
      done(result)
    }
  }

  /// Call once a second.
  public func tick() {
    table.tick()
    takeOverChanges()
    let (queues, dispatchers) = state.withLock { state in
      state.former.removeAll(where: \.isIdle)
      return (Array(state.queues.values), Array(state.dispatchers.values))
    }
    for dispatcher in dispatchers { dispatcher.tick() }
    for queue in queues { queue.tick() }
    checks.tick()
  }

  /// Sends nothing more; answers to what was sent still count.
  public func close() {
    let dispatchers = state.withLock { state in
      state.isClosed = true
      return Array(state.dispatchers.values)
    }
    for dispatcher in dispatchers { dispatcher.close() }
  }

  /// Whether no request is under way.
  public var isIdle: Bool {
    state.withLock { Array($0.dispatchers.values) + $0.former }.allSatisfy(\.isIdle)
  }

  /// Saves known results before the store is closed.
  public func finish() { for queue in state.withLock({ Array($0.queues.values) }) { queue.finish() } }

  // MARK: Credentials

  /// Learns what another process has changed.
  public func learnChanges(_ done: @escaping @Sendable () -> Void) {
    table.refresh { [self] _ in
      takeOverChanges()
      done()
    }
  }

  /// Brings queues up to date with the credentials.
  func takeOverChanges() {
    // Until then it is unknown whether an app has none.
    guard table.isKnown else { return }
    // One thread after the other, so that what was read last counts.
    updates.withLock { _ in
      var apps = changes.take()
      let known = state.withLock { Set($0.queues.keys) }
      for app in parts.router.apps.all where !known.contains(app.id) { apps.insert(app.id) }
      for app in apps { if let app = parts.router.apps.loaded(app) { update(app) } }
    }
  }

  private let updates = Mutex(())

  private func update(_ app: App) {
    let queue = queue(of: app)
    let old = state.withLock { $0.dispatchers[app.id] }
    switch table.selection(app.id) {
    case .use(let id, let credential):
      if let old, old.id == id { break }
      let new = VendorDispatcher(vendor, parts, id: id, credential, queue) { [weak self] reason in
        self?.pause(id, of: app, reason)
      }
      let (isClosed, isNew) = state.withLock { state in
        replace(old, with: new, of: app.id, in: &state)
        state.served.insert(app.id)
        return (state.isClosed, state.isStarted)
      }
      if isClosed { new.close() }
      queue.set(new, isStopped: false, for: .only)
      if isNew { ask(new) }
    case .unusable:
      // Pushes still go to the channel and wait until the credential works again.
      state.withLock { state in
        replace(old, with: nil, of: app.id, in: &state)
        state.served.insert(app.id)
      }
      queue.set(nil, isStopped: true, for: .only)
    case .missing:
      state.withLock { state in
        replace(old, with: nil, of: app.id, in: &state)
        state.served.remove(app.id)
      }
      queue.set(nil, isStopped: false, for: .only)
    }
    queue.credentialsAreSet()
  }

  private func replace(
    _ old: VendorDispatcher<V>?, with new: VendorDispatcher<V>?, of app: AppID, in state: inout State
  ) {
    state.dispatchers[app] = new
    guard let old else { return }
    old.close()
    state.former.append(old)
  }

  private func pause(_ id: String, of app: App, _ reason: String) {
    table.pause(id, of: app.id, reason)
    takeOverChanges()
  }

  /// The dispatcher of an app's credential in use.
  func dispatcher(of app: AppID) -> VendorDispatcher<V>? { state.withLock { $0.dispatchers[app] } }

  /// Asks the service about a credential in use.
  func ask(_ dispatcher: VendorDispatcher<V>) {
    checks.begin(dispatcher.id)
    dispatcher.ask { [self] verdict in
      if case .refused(let reason) = verdict { dispatcher.stop(reason) }
      checks.end(dispatcher.id, verdict)
    }
  }

  /// An app was deleted: nothing more is sent for it.
  public func forget(_ app: App) {
    let queue = state.withLock { state in
      replace(state.dispatchers[app.id], with: nil, of: app.id, in: &state)
      state.served.remove(app.id)
      return state.queues.removeValue(forKey: app.id)
    }
    queue?.set(nil, isStopped: true, for: .only)
  }

  // MARK: Pushes

  /// The notification, to devices with a token.
  public func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] {
    guard vendor.carries(content), state.withLock({ $0.served.contains(app.id) }) else { return [] }
    return [ChannelOffer(DeliveryLeg(info.id), to: vendor.slot, on: info.platforms)]
  }

  /// Where a notification would go.
  public func slot(for content: PushContent) -> TokenSlot? { vendor.carries(content) ? vendor.slot : nil }

  /// Takes a push that was committed.
  public func deliver(_ push: ChannelPush) { queue(of: push.app).deliver(push) }

  private func queue(of app: App) -> ChannelQueue {
    let vendor = vendor
    return state.withLock { state in
      if let known = state.queues[app.id] { return known }
      let new = ChannelQueue(
        of: vendor.info.id, app: app, store: parts.store, deliveries: parts.router.deliveries,
        time: parts.time, log: parts.log
      ) { push in
        guard let content = vendor.render(push) else { return [] }
        return [
          QueuedPart(
            targets: push.targets, slot: vendor.slot, badge: content.badge,
            fallsBack: vendor.fallsBack(push.push), content: content)
        ]
      }
      state.queues[app.id] = new
      // Its credential is looked up with the next tick.
      changes.add(app.id)
      return new
    }
  }

  private func known(_ app: App) -> ChannelQueue? { state.withLock { $0.queues[app.id] } }

  /// Registrations have other tokens, or none.
  public func tokensChanged(of numbers: [RegistrationNumber], in app: App) {
    if !numbers.isEmpty { known(app)?.tokensChanged(of: numbers) }
  }

  /// Holds a push that is being recalled.
  public func hold(_ id: MessageID, of app: App, by holder: PushHolder) -> ChannelHold {
    known(app)?.hold(id, by: holder) ?? ChannelHold()
  }

  /// Resumes it.
  public func resume(_ id: MessageID, of app: App, by holder: PushHolder) {
    known(app)?.resume(id, by: holder)
  }

  /// Sends no more of a push.
  public func withdraw(_ id: MessageID, of app: App, _ status: OutcomeStatus, at now: Timestamp) -> Int {
    known(app)?.withdraw(id) ?? 0
  }

  /// What a reason of the service means.
  public func meaning(of reason: String) -> Phrase? { vendor.meaning(of: reason) }

  // MARK: Status

  /// How the service stands for an app.
  public func status(of app: App) -> [ChannelStatus] {
    var status = ChannelStatus(info.id)
    if case .missing = table.selection(app.id) { status.hasCredential = false }
    status.problem = table.problem(of: app.id)
    guard let dispatcher = dispatcher(of: app.id) else { return [status] }
    let view = dispatcher.view
    status.inFlight = dispatcher.inFlight
    status.health = view.health
    status.lastConnectedAt = view.answeredAt
    (status.lastFailure, status.lastFailureAt) = (view.failure, view.failedAt)
    if let rest = dispatcher.rest { status.problem = status.problem ?? Phrase(problem: rest) }
    return [status]
  }

  /// How the app's credential stands.
  public func credential(
    of app: App, for service: ServiceID, in transaction: ReadTransaction, at now: Timestamp
  ) throws(StorageError) -> WhyFacts.Credential {
    guard let row = try transaction.channelCredentials.find(app: app.id, channel: info.id) else {
      return .missing
    }
    if let reason = row.pause { return .stopped(reason: reason, since: row.changedAt) }
    switch table.selection(app.id) {
    case .unusable(let reason, let since): return .stopped(reason: reason, since: since)
    case .use, .missing: break
    }
    if let rest = dispatcher(of: app.id)?.rest { return .stopped(reason: rest, since: nil) }
    return .ready(topic: row.subject)
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

extension Vendor {
  /// Whether the direct connection brings what the service refuses of a push. A vendor's platforms have the same rules.
  fileprivate func fallsBack(_ push: StoredPush) -> Bool {
    Platform.allCases.first { info.platforms.contains($0) }.map {
      Routing.fallsBackToOwn(push.strategy, on: $0, push.content.parts(for: $0))
    } ?? false
  }
}
