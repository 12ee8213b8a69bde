import PushBase
import PushDomain
import PushStorage

/// What the writer made of a request for a push.
enum Verdict: Sendable {
  /// The push is stored as this.
  case accepted(AcceptedPush, NewPush)
  /// The `cid` was used before.
  case repeated(AcceptedPush)
  /// Nothing was changed.
  case refused(APIError)
}

extension Router {
  // MARK: Accepting

  /// Accepts a push: fixes its audience, commits it, answers, delivers. It waits first while the app's plan has no speed
  /// left. 2003 for an app that is turned off. `reply` comes on the writer's thread, or on another when the push is refused
  /// before it is stored.
  public func accept(
    _ request: AcceptRequest, for app: App,
    reply: @escaping @Sendable (Result<AcceptedPush, APIError>) -> Void
  ) {
    // A deleted one is unknown: the writer says so.
    guard app.isDeleted || !app.isDisabled else {
      reply(.failure(.blacklisted))
      return
    }
    @Sendable func begin() {
      resolve(request, in: app) { [self] result in
        switch result {
        case .success(let audience): accept(request, to: audience, of: app, reply)
        case .failure(let error): refuse(request, of: app, error, reply)
        }
      }
    }
    guard request.cid != nil, app.plan.speed != nil else { return begin() }
    // A request that is repeated is answered at once: it takes no speed, and must not wait for any.
    findFirst(request, of: app) { first in
      if let first { reply(.success(first)) } else { begin() }
    }
  }

  /// What a request with this `cid` came to before, nil if that is not known.
  private func findFirst(
    _ request: AcceptRequest, of app: App, _ found: @escaping @Sendable (AcceptedPush?) -> Void
  ) {
    guard let cid = request.cid else { return found(nil) }
    store.read { transaction throws(StorageError) in
      try transaction.lookupCID(app: app.id, cid: cid)
    } completion: { result in
      guard case .success(let first?) = result else { return found(nil) }
      found(AcceptedPush(first))
    }
  }

  /// The audience is not there, or not any more: a request that was repeated gets its first answer all the same.
  private func refuse(
    _ request: AcceptRequest, of app: App, _ error: APIError,
    _ reply: @escaping @Sendable (Result<AcceptedPush, APIError>) -> Void
  ) {
    guard let cid = request.cid else {
      reply(.failure(error))
      return
    }
    store.write { transaction throws(StorageError) in
      try transaction.reading.lookupCID(app: app.id, cid: cid)
    } completion: { result in
      guard case .success(let first?) = result else {
        reply(.failure(error))
        return
      }
      reply(.success(AcceptedPush(first)))
    }
  }

  private func accept(
    _ request: AcceptRequest, to audience: Recipients, of app: App,
    _ reply: @escaping @Sendable (Result<AcceptedPush, APIError>) -> Void
  ) {
    let (now, cost) = (time.monotonic(), audience.count)
    let admission = speedPools.admit(cost, app: app.id, plan: app.plan, at: now) { [self] in
      storeAnew(request, of: app, cost: cost, reply)
    } expire: {
      reply(.failure(.timeout))
    }
    switch admission {
    case .now: store(request, to: audience, of: app, cost: cost, reply)
    case .waits: break
    case .full: reply(.failure(.rateExceeded))
    case .closed: reply(.failure(.timeout))
    }
  }

  /// A push that had to wait is for those whom its audience means when it is accepted, which is now.
  private func storeAnew(
    _ request: AcceptRequest, of app: App, cost: Int,
    _ reply: @escaping @Sendable (Result<AcceptedPush, APIError>) -> Void
  ) {
    resolve(request, in: app) { [self] result in
      switch result {
      case .success(let audience):
        settle(paid: cost, cost: audience.count, app)
        store(request, to: audience, of: app, cost: audience.count, reply)
      case .failure(let error):
        giveBack(cost, to: app)
        refuse(request, of: app, error, reply)
      }
    }
  }

  /// Takes the rest of what a push costs, or gives back what was too much, since its audience has changed while it waited.
  func settle(paid: Int, cost: Int, _ app: App) {
    if cost < paid { giveBack(paid - cost, to: app) }
    guard cost > paid else { return }
    speedPools.charge(cost - paid, app: app.id, plan: app.plan, at: time.monotonic())
  }

  /// Gives speed back that was taken for a push which is not made.
  func giveBack(_ cost: Int, to app: App) {
    speedPools.giveBack(cost, app: app.id, plan: app.plan, at: time.monotonic())
  }

  private func store(
    _ request: AcceptRequest, to audience: Recipients, of app: App, cost: Int,
    _ reply: @escaping @Sendable (Result<AcceptedPush, APIError>) -> Void
  ) {
    let push: NewPush
    switch prepare(request, to: audience, of: app) {
    case .failure(let error):
      giveBack(cost, to: app)
      reply(.failure(error))
      return
    case .success(let prepared): push = prepared
    }
    store.write { [self] transaction throws(StorageError) in
      try store(push, of: app, in: transaction)
    } completion: { [self] result in
      if case .success(.accepted) = result {} else { giveBack(cost, to: app) }
      switch result {
      case .failure(let error):
        log.error("push not stored", ["app": .text(app.key.text), "reason": .text("\(error.kind)")])
        reply(.failure(error.kind == .overloaded ? .timeout : .internalError))
      case .success(.refused(let error)): reply(.failure(error))
      case .success(.repeated(let first)): reply(.success(first))
      case .success(.accepted(let accepted, let push)):
        deliver(accepted, push, in: app)
        reply(.success(accepted))
      }
    }
  }

  /// Divides the audience of a push by the way that it goes to everyone in it. 1011 when nobody matches and nothing else
  /// could come of it.
  func prepare(
    _ request: AcceptRequest, to audience: Recipients, of app: App
  ) -> Result<NewPush, APIError> {
    guard !audience.isEmpty || request.cid != nil else { return .failure(.noTarget) }
    if let fault = planFault(timeToLive: request.timeToLive, app.plan) { return .failure(fault) }
    let plan = app.directory.plan(audience, RouteTerms(request, apns: app.apnsEnvironments))
    if request.overrides != nil { writeBehind.flushEnds() }
    let seconds = request.timeToLive == 0 ? options.onlineOnlySeconds : Int64(request.timeToLive)
    // So that the last device has as long as it would have without being spread.
    return .success(
      NewPush(
        request: request, audience: audience, plan: plan, expiresIn: seconds + request.spreadMinutes * 60,
        at: time.now()))
  }

  /// Why an app's plan does not allow a push.
  func planFault(timeToLive: Int, _ plan: PlanRow) -> APIError? {
    guard let most = plan.maxTimeToLive, timeToLive > most else { return nil }
    return .invalidValue("options.time_to_live is more than the \(most) of the app's plan")
  }

  /// A push that was stored starts on its way, in the place of one that it overrides. On the writer's thread.
  func deliver(_ accepted: AcceptedPush, _ push: NewPush, in app: App) {
    if let old = push.request.overrides { _ = withdraw(old, of: app, .overridden, at: push.now) }
    open(accepted.id, push, in: app)
  }

  /// Checks a request as `accept` does, without storing or delivering anything.
  public func validate(
    _ request: AcceptRequest, for app: App,
    reply: @escaping @Sendable (Result<AcceptedPush, APIError>) -> Void
  ) {
    if let fault = planFault(timeToLive: request.timeToLive, app.plan) {
      reply(.failure(fault))
      return
    }
    resolve(request, in: app) { [self] result in
      switch result {
      case .success(let audience): validate(request, to: audience, of: app, reply)
      case .failure(let error): reply(.failure(error))
      }
    }
  }

  private func validate(
    _ request: AcceptRequest, to audience: Recipients, of app: App,
    _ reply: @escaping @Sendable (Result<AcceptedPush, APIError>) -> Void
  ) {
    let count = audience.count
    guard count > 0 else {
      reply(.failure(.noTarget))
      return
    }
    let accepted = AcceptedPush(id: freshID(), sendno: request.sendno, targets: count)
    guard request.overrides != nil || request.pushPlan != nil || request.spreadMinutes > 0 else {
      reply(.success(accepted))
      return
    }
    let now = time.now()
    store.read { [self] transaction throws(StorageError) in
      try fault(of: request, in: app, transaction, at: now)
    } completion: { result in
      switch result {
      case .failure(let error):
        reply(.failure(error.kind == .overloaded ? .timeout : .internalError))
      case .success(let fault?): reply(.failure(fault))
      case .success(nil): reply(.success(accepted))
      }
    }
  }

  /// Stores a push, on the writer's thread.
  func store(
    _ new: NewPush, of app: App, in transaction: WriteTransaction
  ) throws(StorageError) -> Verdict {
    var push = new
    let request = push.request
    if let cid = request.cid, let first = try transaction.reading.lookupCID(app: app.id, cid: cid) {
      return .repeated(AcceptedPush(first))
    }
    guard push.audienceCount > 0 else { return .refused(.noTarget) }
    guard !app.isDeleted else { return .refused(.authenticationFailed) }
    if let fault = try fault(of: request, in: app, transaction.reading, at: push.now) {
      return .refused(fault)
    }
    if request.file == nil, !request.isForTestDevices, request.terms.meansEverybody,
      let limit = app.plan.broadcasts
    {
      guard try transaction.countBroadcast(app: app.id, day: localDay(push.now), limit: limit) else {
        return .refused(.broadcastLimit)
      }
    }
    if let old = request.overrides, !push.content.apple.isEmpty,
      let row = try transaction.reading.push(id: old)
    {
      push.inheritCollapseIDs(from: row.content)
    }
    // On the writer's thread, so that IDs grow in commit order.
    let id = nextID()
    try transaction.insertPush(push.row(id, app: app.id), from: push.source)
    try storeCallback(of: push, id, of: app, in: transaction)
    if let plan = request.pushPlan {
      _ = try transaction.countPush(app: app.id, plan: plan, at: push.now)
    }
    if let release = push.release {
      try transaction.insertSteadyPush(
        id: id, app: app.id, minutes: request.spreadMinutes, endsAt: release.end)
    }
    if push.plan.isEmpty {
      let status: OutcomeStatus = request.timeToLive == 0 ? .expired : .refused
      try settle(EndedPush(id, status), of: app, at: push.now, in: transaction)
    }
    if !push.plan.own.isEmpty {
      try transaction.insertPending(id: id, app: app.id, target: push.onlyOwn, expiresAt: push.expires)
    }
    if !push.plan.isWithoutApple {
      try transaction.insertAPNsPending(id: id, app: app.id, expiresAt: push.expires)
    }
    if let cid = request.cid {
      try transaction.insertCID(app: app.id, cid: cid, id: id, sendno: Int64(request.sendno), at: push.now)
    }
    if let old = request.overrides {
      try takeBack(old, of: app, .overridden, at: push.now, in: transaction)
      try transaction.markReplaced(old, by: id)
    }
    if var note = request.note {
      note.target = "\(id.text) (\(push.audienceCount))"
      try transaction.audit(note)
    }
    return .accepted(
      AcceptedPush(id: id, sendno: request.sendno, targets: push.audienceCount), push)
  }

  /// Days since 1970-01-01 by the clocks of the server's zone: at JPush, of China.
  private func localDay(_ time: Timestamp) -> Int64 { options.zone.local(time).date.dayNumber }

  /// A committed push joins the delivery state and starts on its way. On the writer's thread.
  func open(_ id: MessageID, _ push: NewPush, in app: App) {
    statistics.accepted(id, targets: push.audienceCount, of: app.id, at: push.now)
    guard !push.plan.isEmpty else { return }
    let stored = push.stored
    if !push.plan.isWithoutApple {
      apns?.deliver(
        APNsPush(
          app: app, id: id, targets: push.plan.apns, calls: push.plan.calls, push: stored,
          expires: push.expires, release: push.release))
    }
    guard !push.plan.own.isEmpty else { return }
    contents.insert(id, stored)
    let live = LivePush(app: app, id: id, push: stored)
    let expires = push.expires.secondsRoundedUp
    if let release = push.release {
      let steady = SteadyPush(release: release, push: stored)
      let group = GroupPush(id: id, expires: expires, targets: push.plan.own.numbers, steady: steady)
      writeBehind.note(app.directory.open(id, .many(group)).change, of: app, at: push.now)
      return
    }
    switch push.plan.own {
    case .few(let numbers):
      let dispatch = app.directory.open(id, .few(numbers, expires: expires))
      writeBehind.note(dispatch.change, of: app, at: push.now)
      for device in dispatch.reachable {
        for channel in channels { channel.deliver(live, to: device.number, at: device.location) }
      }
    case .many(let targets):
      let group = GroupPush(id: id, expires: expires, targets: targets)
      writeBehind.note(app.directory.open(id, .many(group)).change, of: app, at: push.now)
      for channel in channels { channel.deliver(live, group: group) }
    }
  }
}
