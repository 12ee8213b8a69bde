import BorealisBase
import Core
import Model
import Storage
import Synchronization

/// A channel to a vendor's service: a queue for each app in the database, and a dispatcher for each app with
/// a credential. Safe to use from any thread.
package final class VendorChannel<V: Vendor>: QueuedChannel {
  private struct State {
    var queues: [AppID: ChannelQueue] = [:]
    /// By the vendor's services.
    var dispatchers: [AppID: [ServiceID: VendorDispatcher<V>]] = [:]
    /// Those that are no longer used, and may have requests under way.
    var former: [VendorDispatcher<V>] = []
    var isClosed = false
    /// Whether the credentials of the start have been taken over: what comes later is new, and the service is
    /// asked about it.
    var isStarted = false

    var allDispatchers: [VendorDispatcher<V>] { dispatchers.values.flatMap(\.values) }
  }

  /// What it is. Kept, because every push asks for it.
  package let info: ChannelInfo
  let vendor: V
  let parts: VendorParts
  let table: VendorCredentials<V>
  let checks: CredentialChecks<String>
  let recalls: VendorRecalls<V>
  /// What its service tells afterwards; nil if it does not.
  let receiver: VendorReceipts<V>?
  private let state = Mutex(State())
  /// Whether apps have a credential, usable or not, as far as their queues know. Beside `State`, whose type
  /// is looked up at each use.
  private let served = Mutex<[AppID: Bool]>([:])

  /// Makes the channel; call `start` next.
  package init(_ vendor: V, _ parts: VendorParts) {
    self.vendor = vendor
    info = vendor.info
    self.parts = parts
    recalls = VendorRecalls(vendor, parts)
    checks = CredentialChecks(time: parts.time)
    let changes = ChangedApps()
    self.changes = changes
    let table = VendorCredentials(vendor, parts) { changes.add($0) }
    self.table = table
    receiver = vendor.profile.receipts.map { VendorReceipts(vendor, $0.format, parts, table) }
  }

  /// Takes them.
  package var receipts: (any ChannelReceipts)? { receiver }

  private let changes: ChangedApps

  /// Reads the credentials and resumes the pushes of the last run.
  package func start(_ done: @escaping @Sendable (Result<Void, StorageError>) -> Void) {
    table.refresh { [self] result in
      applyChanges()
      state.withLock { $0.isStarted = true }
      done(result)
    }
  }

  /// Call once a second.
  package func tick() {
    table.tick()
    applyChanges()
    let (queues, dispatchers) = state.withLock { state in
      state.former.removeAll(where: \.isIdle)
      return (Array(state.queues.values), state.allDispatchers)
    }
    for dispatcher in dispatchers { dispatcher.tick() }
    for queue in queues { queue.tick() }
    recalls.tick { [weak self] in self?.dispatcher(of: $0) }
    checks.tick()
  }

  /// Sends nothing more; answers to what was sent still count.
  package func close() {
    let dispatchers = state.withLock { state in
      state.isClosed = true
      return state.allDispatchers
    }
    for dispatcher in dispatchers { dispatcher.close() }
  }

  /// Whether no request is under way.
  package var isIdle: Bool {
    state.withLock { $0.allDispatchers + $0.former }.allSatisfy(\.isIdle)
  }

  /// Saves known results before the store is closed.
  package func finish() { for queue in openQueues { queue.finish() } }

  // MARK: Credentials

  /// Learns what another process has changed.
  package func learnChanges(_ done: @escaping @Sendable (Result<Void, StorageError>) -> Void) {
    table.refresh { [self] result in
      applyChanges()
      done(result)
    }
  }

  /// Brings queues up to date with the credentials.
  func applyChanges() {
    // Until then it is unknown whether an app has none.
    guard table.isKnown else { return }
    changes.drainInTurn { changed in
      var apps = changed
      let known = state.withLock { Set($0.queues.keys) }
      for app in parts.router.apps.all where !known.contains(app.id) { apps.insert(app.id) }
      for app in parts.router.apps.loaded(apps, brought: applyChanges) { update(app) }
    }
  }

  private func update(_ app: App) {
    let queue = queue(of: app)
    let old = state.withLock { $0.dispatchers[app.id] } ?? [:]
    switch table.selection(app.id) {
    case .use(let id, let credential, let marks):
      if old.first?.value.id == id { break }
      var new: [ServiceID: VendorDispatcher<V>] = [:]
      for service in vendor.serviceIDs {
        new[service] = VendorDispatcher(vendor, parts, id: id, service: service, credential, marks, queue) {
          [weak self] reason in
          self?.pause(id, of: app, reason)
        } restChanged: { [weak self] dispatcher in
          self?.restChanged(dispatcher, of: app)
        }
      }
      let (isClosed, isNew) = state.withLock { state in
        replace(old, with: new, of: app.id, in: &state)
        return (state.isClosed, state.isStarted)
      }
      queue.quotas.renewAll()
      for (service, dispatcher) in new {
        if isClosed { dispatcher.close() }
        queue.tokens.use(id, of: service)
        queue.set(dispatcher, isStopped: false, for: service)
      }
      served.withLock { $0[app.id] = true }
      if isNew, let first = vendor.serviceIDs.first.flatMap({ new[$0] }) { ask(first) }
    case .unusable:
      // Pushes still go to the channel and wait until the credential works again.
      state.withLock { replace(old, with: [:], of: app.id, in: &$0) }
      for service in vendor.serviceIDs { queue.set(nil, isStopped: true, for: service) }
      served.withLock { $0[app.id] = true }
    case .missing:
      state.withLock { replace(old, with: [:], of: app.id, in: &$0) }
      for service in vendor.serviceIDs { queue.set(nil, isStopped: false, for: service) }
      served.withLock { $0[app.id] = false }
    }
    queue.credentialsAreSet()
  }

  /// Asks the credentials themselves for an app that has just come.
  private func serves(_ app: App) -> Bool { served.withLock { $0[app.id] } ?? table.has(app.id) }

  /// Whether something can be sent, or perhaps within minutes: another credential may come for one that was
  /// removed.
  private func maySend(_ app: App) -> Bool { serves(app) || known(app)?.awaitsCredential == true }

  private func replace(
    _ old: [ServiceID: VendorDispatcher<V>], with new: [ServiceID: VendorDispatcher<V>], of app: AppID,
    in state: inout State
  ) {
    state.dispatchers[app] = new.isEmpty ? nil : new
    for dispatcher in old.values { dispatcher.close() }
    state.former += old.values
  }

  /// Of several services one that rests keeps nothing ready, which would take the places of the others: its
  /// deliveries wait as they do for a paused credential.
  private func restChanged(_ dispatcher: VendorDispatcher<V>, of app: App) {
    guard vendor.serviceIDs.count > 1 else { return }
    changes.inTurn {
      let queue = state.withLock { state in
        state.dispatchers[app.id]?[dispatcher.service] === dispatcher ? state.queues[app.id] : nil
      }
      let isResting = dispatcher.rest != nil
      queue?.set(isResting ? nil : dispatcher, isStopped: isResting, for: dispatcher.service)
    }
  }

  private func pause(_ id: String, of app: App, _ reason: String) {
    table.pause(id, of: app.id, reason)
    applyChanges()
  }

  /// Those that use an app's credential, by the numbers of their services.
  func dispatchers(of app: AppID) -> [VendorDispatcher<V>] {
    state.withLock { Array(($0.dispatchers[app] ?? [:]).values) }.sorted {
      $0.service.rawValue < $1.service.rawValue
    }
  }

  /// The one that asks about an app's credential in use.
  func dispatcher(of app: AppID) -> VendorDispatcher<V>? { dispatchers(of: app).first }

  /// Asks the service about a credential in use.
  func ask(_ dispatcher: VendorDispatcher<V>) {
    checks.begin(dispatcher.id)
    dispatcher.ask { [self] verdict in
      if case .refused(let reason) = verdict { dispatcher.stop(reason) }
      checks.end(dispatcher.id, verdict)
    }
  }

  /// An app was deleted: nothing more is sent for it.
  package func forget(_ app: App) { _ = end(app) }

  /// An app is about to have another home.
  package func release(_ app: App) { end(app)?.finish() }

  /// Sends nothing more for an app; its queue, if it has one.
  private func end(_ app: App) -> ChannelQueue? {
    recalls.forget(app)
    // An update of the app that is under way would make all of it anew.
    return changes.inTurn {
      let queue = state.withLock { state in
        replace(state.dispatchers[app.id] ?? [:], with: [:], of: app.id, in: &state)
        return state.queues.removeValue(forKey: app.id)
      }
      served.withLock { $0[app.id] = nil }
      for service in vendor.serviceIDs { queue?.set(nil, isStopped: true, for: service) }
      return queue
    }
  }

  // MARK: Pushes

  /// The notification, to devices with a token.
  package func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] {
    guard serves(app), vendor.carries(content) else { return [] }
    return [ChannelOffer(DeliveryLeg(info.id), to: vendor.slot, on: info.platforms)]
  }

  /// A notification that is too large, for apps that send over the vendor: rendered as it will be when it is
  /// sent, with an ID as long as IDs become.
  package func fault(_ content: PushContent, _ strategy: Strategy, in app: App) -> APIError? {
    guard serves(app), vendor.carries(content) else { return nil }
    let own = content.strategy(of: info.id, else: strategy)
    let used = Platform.allCases.first { info.platforms.contains($0) && Routing.mayUseVendor(own, on: $0) }
    guard let platform = used else { return nil }
    guard vendor.render(draft(content, strategy, in: app))?.refusal != nil else { return nil }
    return .tooLarge("\(content.nameForVendors(on: platform)) is too large for \(info.english)")
  }

  private func draft(_ content: PushContent, _ strategy: Strategy, in app: App) -> ChannelPush {
    ChannelPush(
      app: app, id: Self.longestID, targets: .few([]), push: StoredPush(content: content, strategy: strategy),
      expires: Timestamp(milliseconds: 0))
  }

  /// Longer than any ID: a message must not grow after the check.
  private static var longestID: MessageID { MessageID(9_999_999_999_999_999) }

  /// Checks a token that a device reports.
  package func check(_ token: [UInt8], in slot: TokenSlot) -> Result<[UInt8], ReportedTokenFault> {
    vendor.check(token)
  }

  /// What the service would get of a push.
  package func preview(of content: PushContent, in app: App, secondsToLive: Int) -> ChannelPreview? {
    guard serves(app), vendor.carries(content), var preview = vendor.preview(content, app: app.name)
    else { return nil }
    preview.notes +=
      vendor.profile.limits.rules?.notes(on: preview.messageClass, secondsToLive: Int64(secondsToLive)) ?? []
    return preview
  }

  /// As devices of the vendor announce it.
  package func tone(of content: PushContent, on leg: DeliveryLeg) -> PushTone { vendor.tone(of: content) }

  /// The latest that its service has said.
  package func quota(of app: App) -> ChannelQuota? {
    dispatchers(of: app.id).compactMap(\.quota).max { $0.knownAt < $1.knownAt }
  }

  /// Where a notification would go.
  package func slot(for content: PushContent) -> TokenSlot? { vendor.carries(content) ? vendor.slot : nil }

  /// The queue of an app.
  package func queue(of app: App) -> ChannelQueue {
    let (vendor, router) = (vendor, parts.router)
    let serviceOfToken = Self.serviceOfToken(of: vendor)
    return state.withLock { state in
      if let known = state.queues[app.id] { return known }
      let new = ChannelQueue(
        of: vendor.info.id, app: app, store: parts.store, deliveries: parts.router.deliveries,
        time: parts.time, log: parts.log
      ) { push in
        guard let content = vendor.render(push) else { return [] }
        return [
          QueuedPart(
            targets: push.targets, slot: vendor.slot,
            serviceOfToken: serviceOfToken, badge: content.badge,
            fallsBack: vendor.fallsBack(push.push),
            goesOn: router.deliveries.goesOn(push.push, after: vendor.info.id, in: app),
            lifetime: content.lifetime, quota: content.quota,
            content: push.queued(content) { vendor.render($0) })
        ]
      }
      state.queues[app.id] = new
      // Its credential is looked up with the next tick.
      changes.add(app.id)
      return new
    }
  }

  /// Nil for a vendor whose tokens say nothing of a service.
  private static func serviceOfToken(of vendor: V) -> (@Sendable ([UInt8]) -> ServiceID)? {
    guard vendor.serviceIDs != [.only] else { return nil }
    return { token in vendor.service(of: token) }
  }

  /// The queues that were made.
  package var openQueues: [ChannelQueue] { state.withLock { Array($0.queues.values) } }

  private func known(_ app: App) -> ChannelQueue? { state.withLock { $0.queues[app.id] } }

  /// Registrations have other tokens, or none.
  package func tokensChanged(of numbers: [RegistrationNumber], in app: App) {
    if !numbers.isEmpty { known(app)?.tokensChanged(of: numbers) }
  }

  /// A device has connected.
  package func reached(_ number: RegistrationNumber, in app: App) { known(app)?.reached(number) }

  /// Holds a push that is being recalled.
  package func hold(_ id: MessageID, of app: App, by holder: PushHolder) -> ChannelHold {
    known(app)?.hold(id, by: holder) ?? ChannelHold()
  }

  /// Resumes it.
  package func resume(_ id: MessageID, of app: App, by holder: PushHolder) {
    known(app)?.resume(id, by: holder)
  }

  /// Sends no more of a push.
  package func withdraw(_ id: MessageID, of app: App, _ status: OutcomeStatus, at now: Timestamp) -> Int {
    known(app)?.withdraw(id) ?? 0
  }

  /// Recalls the notification of a push from all devices that got it.
  package func recall(_ id: MessageID, of app: App, audience: NumberSet) {
    recalls.add(id, of: app, canSend: maySend(app))
  }

  /// Recalls it where its replacement comes another way, or has another number on the device.
  package func overridden(_ id: MessageID, of app: App, own: NumberSet, here: NumberSet) {
    guard !own.isEmpty || !here.isEmpty else { return }
    recalls.add(id, of: app, from: own, replaced: here, canSend: maySend(app))
  }

  /// What a reason of the service means.
  package func meaning(of reason: String) -> Phrase? { vendor.meaning(of: reason) }

  // MARK: Status

  /// How the service stands for an app.
  package func status(of app: App) -> [ChannelStatus] {
    var status = ChannelStatus(info.id)
    if case .missing = table.selection(app.id) { status.hasCredential = false }
    status.problem = table.problem(of: app.id)
    // One credential is for all of its services.
    if status.problem != nil { status.stopped = .all }
    let dispatchers = dispatchers(of: app.id)
    let views = dispatchers.map(\.view)
    status.inFlight = dispatchers.reduce(0) { $0 + $1.inFlight }
    status.health = views.health
    status.lastConnectedAt = views.compactMap(\.answeredAt).max()
    let failed = views.max {
      ($0.failedAt ?? .init(milliseconds: 0)) < ($1.failedAt ?? .init(milliseconds: 0))
    }
    (status.lastFailure, status.lastFailureAt) = (failed?.failure, failed?.failedAt)
    status.problem = status.problem ?? dispatchers.lazy.compactMap(\.rest).first.map { Phrase(problem: $0) }
    return [status]
  }

  /// How the app's credential stands.
  package func credential(
    of app: App, for service: ServiceID, in transaction: ReadTransaction, at now: Timestamp
  ) throws(StorageError) -> WhyFacts.Credential {
    guard let row = try transaction.credentials.all(app: app.id, of: info.id).last else { return .missing }
    if let reason = row.pause { return .stopped(reason: reason, since: row.changedAt) }
    switch table.selection(app.id) {
    case .unusable(let reason, let since): return .stopped(reason: reason, since: since)
    case .use, .missing: break
    }
    return .ready(topic: row.subject)
  }

  /// What all services wait for that a push may go to.
  package func rest(of app: App, for service: ServiceID, _ content: PushContent?) -> WhyFacts.Rest? {
    let dispatchers = dispatchers(of: app.id).filter { service == .none || $0.service == service }
    let quota = content.flatMap { vendor.render(draft($0, Strategy.jpush, in: app))?.quota }
    let rests = dispatchers.map { $0.rest(for: quota) }
    return rests.contains(nil) ? nil : rests.first ?? nil
  }
}
