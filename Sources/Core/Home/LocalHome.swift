import BorealisBase
import Model
import Synchronization

/// The home of all apps of this process: a message is a call.
package final class LocalHome: AppHome {
  private let router: Router
  private let rules: any HomeRules
  private let replacements = Mutex(Replacements())
  private let recent = Mutex(RecentLogins())
  private let registering = PendingRegistrations()

  /// A home in the same process: serves gateways from a router's apps. `rules` are those of a cluster.
  package init(_ router: Router, rules: (any HomeRules)? = nil) {
    self.router = router
    self.rules = rules ?? LoneHome()
  }

  /// Handles messages in order; immediate answers are appended, the rest goes to the gateway later.
  package func handle(_ messages: [GatewayMessage], answers: inout [HomeMessage]) {
    for message in messages { handle(message, &answers) }
  }

  private func handle(_ message: GatewayMessage, _ answers: inout [HomeMessage]) {
    switch message {
    case .login(let login): handle(login, &answers)
    case .register(let device): handle(device, &answers)
    case .withdraw(let location): registering.end(location)
    case .close(let session, let end):
      directory(of: session)?.disconnect(session.number, from: session.location, at: seconds, end: end)
    case .state(let session, let isForeground, let wantsNewest):
      guard let app = router.apps.loaded(session.app),
        let newest = app.directory.setForeground(isForeground, of: session.number, at: session.location),
        wantsNewest
      else { return }
      answers.append(.stateApplied(session.location, newest: newest))
      let platform = app.directory.identity(session.number)?.platform
      noteReached(session.number, on: platform, isForeground: isForeground, in: app)
    case .acknowledgements(let app, let batch): handle(batch, of: app, &answers)
    case .flushSoon: router.deliveries.flushSoon()
    case .receipts(let session, let receipts):
      guard let app = router.apps.loaded(session.app) else { return }
      router.deliveries.note(receipts.map { ($0.id, $0.kind) }, by: session.number, in: app)
    case .operation(let session, let sequence, let operation, let askedAt):
      guard !isOver(askedAt, after: RequestAge.request) else {
        return answers.append(.result(session.location, sequence: sequence, .failed(.unavailable)))
      }
      perform(operation, sequence, session)
    case .pull(let session, let id, let limit): pull(session, after: id, limit, &answers)
    case .recount(let session, let id):
      let directory = directory(of: session)
      let count = directory.map { $0.waitingCount(for: session.number, through: id, at: seconds) } ?? 0
      // Without a count, as many as any window holds: the session goes on waiting for its acknowledgements.
      answers.append(.waiting(session.location, count: count ?? Int(UInt16.max)))
    }
  }

  private func directory(of session: BoundSession) -> AppDirectory? {
    router.apps.loaded(session.app)?.directory
  }

  /// Whether a device asked so long ago that it does not wait any more.
  private func isOver(_ askedAt: UInt64, after limit: UInt64) -> Bool {
    router.time.sinceBoot() > askedAt &+ limit
  }

  private var seconds: UInt32 { UInt32(clamping: router.time.now().seconds) }

  /// Answers later, from any thread.
  private func answer(_ message: HomeMessage, at location: Location) {
    router.gateways.send(message, to: location)
  }

  // MARK: Logins and registrations

  private func handle(_ login: DeviceLogin, _ answers: inout [HomeMessage]) {
    // Nearly always in memory.
    if let app = router.apps.loaded(login.app) {
      answers.append(.loginResult(login.location, connect(login, in: app)))
      return
    }
    router.apps.find(login.app) { [self] found in
      let message: HomeMessage =
        switch found {
        // The connection may be gone by now, and the device back on another one.
        case .success(.some): .loginAgain(login)
        case .success(nil): .loginResult(login.location, refused(.unknownApp))
        case .failure: .loginResult(login.location, .refused(.unavailable))
        }
      answer(message, at: login.location)
    }
  }

  private func connect(_ login: DeviceLogin, in app: App) -> LoginResult {
    guard !app.isDisabled else { return .refused(.appDisabled) }
    guard !isOver(login.askedAt, after: RequestAge.login) else { return .refused(.unavailable) }
    let now = seconds
    var outcome = logIn(login, in: app, now: now) { session, began in
      !Replacements.isSettled(began, now: now) && login.location.isOlder(than: session) == true
    }
    if case .overtaken(let session) = outcome {
      guard !rules.shareGateway(session.loop, login.location.loop) else { return .refused(.overtaken) }
      outcome = logIn(login, in: app, now: now) { _, _ in false }
    }
    if case .overtaken = outcome { return .refused(.overtaken) }
    // It is known in a moment whether there is still a registration.
    if case .beingDeleted = outcome { return .refused(.unavailable) }
    // Unknown IDs and wrong secrets get the same answer, so that registration IDs cannot be probed.
    guard case .accepted(let number, let replaced, let replacedSince, let newest) = outcome else {
      return refused(.notRegistered)
    }
    // Whoever turned the app off meanwhile may have looked for its devices before this one was there.
    guard !app.isDisabled else {
      if let replaced { router.gateways.disconnect(replaced, .appDisabled) }
      app.directory.disconnect(number, from: login.location, at: now)
      return .refused(.appDisabled)
    }
    recent.withLock {
      $0.note(
        app.id, number, at: login.location, askedAt: login.askedAt, now: router.time.sinceBoot())
    }
    router.registrations.confirm(number, in: app)
    if let replaced, replaced != login.location {
      let isNewer =
        replaced.isOlder(than: login.location) == true
        && rules.shareGateway(replaced.loop, login.location.loop)
      let reason = replacements.withLock {
        $0.reason(
          app: app.id.rawValue, number: number.rawValue, began: replacedSince, isCertain: isNewer, now: now)
      }
      router.gateways.disconnect(
        replaced, reason == .replacedByLogin && !rules.mayDecide ? .loginAgain : reason)
    }
    let device = loggedIn(number, in: app, newest: newest)
    noteReached(number, on: device.platform, isForeground: login.isForeground, in: app)
    return .accepted(device)
  }

  /// What waits for a vendor goes over the connection, if the app on the device takes it from there now.
  private func noteReached(
    _ number: RegistrationNumber, on platform: Platform?, isForeground: Bool, in app: App
  ) {
    let state: AppVisibility = isForeground ? .foreground : .background
    guard let platform, Routing.isReachable(platform, isOnline: true, state) else { return }
    router.channels.reached(number, on: platform, in: app)
  }

  private func logIn(
    _ login: DeviceLogin, in app: App, now: UInt32, isLate: (Location, UInt32) -> Bool
  ) -> LoginOutcome {
    app.directory.login(
      login.registrationID, secretHash: login.secretHash, at: login.location,
      isForeground: login.isForeground, since: now
    ) { number, session, began in
      recent.withLock { $0.isNewer(session, of: app.id, number, than: login.askedAt) }
        || isLate(session, began)
    }
  }

  private func loggedIn(_ number: RegistrationNumber, in app: App, newest: MessageID) -> LoggedIn {
    let pending = app.directory.lookAtPending(of: number)
    return LoggedIn(
      app: app.id, number: number, platform: app.directory.identity(number)?.platform, newest: newest,
      pending: pending.count, mayWait: pending.count > 0 || !pending.isComplete,
      facts: app.facts)
  }

  /// The answer to a login that was accepted before and is asked for again; nil if the session is not the
  /// registration's any more.
  package func loggedIn(_ session: BoundSession) -> LoggedIn? {
    guard let app = router.apps.loaded(session.app),
      app.directory.location(of: session.number) == session.location
    else { return nil }
    return loggedIn(session.number, in: app, newest: app.directory.newest)
  }

  /// Makes sessions known that were let in before this home had the apps: by a process that has passed their
  /// connections on, or by an earlier home in this one. Returns those of unknown registrations.
  package func resume(_ sessions: [ResumedSession]) -> [Location] {
    var unknown: [Location] = []
    let now = seconds
    for (id, sessions) in Dictionary(grouping: sessions, by: \.bound.app) {
      let app = router.apps.loaded(id).flatMap { $0.isDisabled ? nil : $0 }
      var known: [BoundSession] = []
      for session in sessions {
        let bound = session.bound
        let isKnown = app?.directory.resume(
          bound.number, at: bound.location, isForeground: session.isForeground, since: now)
        if isKnown == true { known.append(bound) } else { unknown.append(bound.location) }
      }
      if let app { router.deliverReleased(to: known, of: app) }
    }
    return unknown
  }

  /// A refusal for good only by a home that is known to lead.
  private func refused(_ refusal: DeviceRefusal) -> LoginResult {
    .refused(rules.mayDecide ? refusal : .unavailable)
  }

  private func handle(_ device: NewDevice, _ answers: inout [HomeMessage]) {
    guard !isOver(device.askedAt, after: RequestAge.request) else {
      return answers.append(.registerResult(device.location, .refused(.unavailable)))
    }
    registering.begin(device.location)
    if let app = router.apps.loaded(device.app) {
      if app.isDisabled {
        registering.end(device.location)
        answers.append(.registerResult(device.location, .refused(.appDisabled)))
      } else {
        register(device, in: app)
      }
      return
    }
    router.apps.find(device.app) { [self] found in
      switch found {
      case .success(let app?) where !app.isDisabled: register(device, in: app)
      case .success(let app):
        let unknown: DeviceRefusal = rules.mayDecide ? .unknownApp : .unavailable
        answer(device, .refused(app == nil ? unknown : .appDisabled))
      case .failure: answer(device, .refused(.unavailable))
      }
    }
  }

  private func register(_ device: NewDevice, in app: App) {
    router.registrations.register(device, in: app) { [registering] in
      registering.contains(device.location)
    } reply: { [self] result in
      switch result {
      case .success(let new): answer(device, .registered(new.id, secret: new.secret))
      case .failure: answer(device, .refused(.unavailable))
      }
    }
  }

  private func answer(_ device: NewDevice, _ result: RegisterResult) {
    registering.end(device.location)
    answer(.registerResult(device.location, result), at: device.location)
  }

  // MARK: Deliveries

  private func handle(_ batch: AcknowledgementBatch, of id: AppID, _ answers: inout [HomeMessage]) {
    guard let app = router.apps.loaded(id) else { return }
    let awaited = router.deliveries.acknowledge(batch, in: app)
    let taken = zip(batch.senders, awaited).compactMap { sender, awaited in
      sender.location.map { ReceivedAcknowledgements(location: $0, count: sender.count, awaited: awaited) }
    }
    answers.append(.acknowledgementsReceived(taken))
  }

  private func pull(
    _ session: BoundSession, after id: MessageID, _ limit: Int, _ answers: inout [HomeMessage]
  ) {
    guard let directory = directory(of: session) else { return }
    let number = session.number
    let page = directory.pending(for: number, after: id, at: seconds, limit: limit)
    guard let last = page.through ?? page.ids.last else {
      answers.append(.pulled(session.location, .nothing))
      return
    }
    guard !page.ids.isEmpty else {
      // By mail, so that the loop does other work before the session asks for the next page.
      return answer(.pulled(session.location, .pushes([], through: last)), at: session.location)
    }
    router.deliveries.contents(of: page.ids) { [self] result in
      guard case .success(let contents) = result else {
        return answer(.pulled(session.location, .unavailable), at: session.location)
      }
      // Checked again, because a push may have been recalled while its content was read. A later recall is
      // sent before or after this answer, and the session handles it.
      let waiting = directory.waiting(page.ids, for: number, at: seconds)
      let kept = contents.filter { waiting.contains($0.0) }.map {
        KeptPush(id: $0.0, push: $0.1.inLanguage(of: number))
      }
      answer(.pulled(session.location, .pushes(kept, through: last)), at: session.location)
    }
  }

  // MARK: Operations

  /// Changes tags, and recalls what waits for subscriptions to Web Push that end with theirs.
  private func changeTags(
    _ edit: TagEdit, of number: RegistrationNumber, in app: App,
    reply: @escaping @Sendable (Result<Void, DeviceFailure>) -> Void
  ) {
    router.registrations.changeTags(edit, of: number, in: app) { [router] result in
      guard case .success = result, case .edit(_, let removed) = edit else { return reply(result) }
      router.deliveries.recallWebPush(endedBy: removed, of: number, in: app) { reply(result) }
    }
  }

  private func perform(_ operation: DeviceOperation, _ sequence: UInt32, _ session: BoundSession) {
    let (number, location) = (session.number, session.location)
    @Sendable func finish(_ result: OperationAnswer) {
      answer(.result(location, sequence: sequence, result), at: location)
    }
    @Sendable func finish(_ result: Result<Void, DeviceFailure>) {
      switch result {
      case .success: finish(.done)
      case .failure(let failure): finish(.failed(failure))
      }
    }
    guard let app = router.apps.loaded(session.app) else { return finish(.failed(.unknownRegistration)) }
    // A newer connection's operations may have been carried out already.
    let holder = app.directory.location(of: number)
    guard holder == nil || holder == location else { return finish(.failed(.unavailable)) }
    let registrations = router.registrations
    switch operation {
    case .setAlias(let alias): registrations.setAlias(alias, of: number, in: app, reply: finish)
    case .changeTags(let edit): changeTags(edit, of: number, in: app, reply: finish)
    case .readAlias, .readTags:
      registrations.details(of: number, in: app, afterChanges: true) { result in
        switch result {
        case .success(let details):
          if case .readAlias = operation {
            finish(.alias(details.alias))
          } else {
            finish(.tags(details.tags))
          }
        case .failure(let failure): finish(.failed(failure))
        }
      }
    case .checkTag(let tag):
      registrations.hasTag(tag, number, in: app) { result in
        switch result {
        case .success(let hasTag): finish(.hasTag(hasTag))
        case .failure(let failure): finish(.failed(failure))
        }
      }
    case .setBadge(let badge): registrations.setBadge(badge, of: number, in: app, reply: finish)
    case .setToken(let token): registrations.setTokens([token], of: number, in: app, reply: finish)
    case .reportToken(let told):
      guard let platform = app.directory.identity(number)?.platform else {
        return finish(.failed(.unknownRegistration))
      }
      switch router.channels.token(told, of: platform) {
      case .success(let token): registrations.setTokens([token], of: number, in: app, reply: finish)
      case .failure: finish(.failed(.invalidToken))
      }
    case .setKey(let kind, let key): router.deviceKeys.set(kind, key, of: number, in: app, reply: finish)
    case .setFacts(let reported): router.facts.set(reported, of: number, in: app, reply: finish)
    case .readKey(let id):
      router.deviceKeys.shared(id, with: number, in: app) { result in
        switch result {
        case .success(let sealed): finish(.key(sealed))
        case .failure(let failure): finish(.failed(failure))
        }
      }
    }
  }
}
