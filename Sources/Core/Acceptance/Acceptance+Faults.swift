import BorealisBase
import Model
import Storage

extension Acceptance {
  /// Why a request is refused whoever it is for: by the app's plan, by the facts that it does not ask for, or
  /// by a channel. Nil if nothing is wrong.
  package func fault(_ request: AcceptRequest, in app: App) -> APIError? {
    app.plan.fault(request.push.options) ?? app.facts.fault(request.push) ?? request.canaryFault
      ?? channels.fault(request, in: app)
  }

  /// Checks a request as `accept` does, without storing, counting or delivering anything. Whether a person's
  /// push needs approval is not checked: it can be asked for.
  package func validate(
    _ request: AcceptRequest, for app: App,
    reply: @escaping @Sendable (Result<AcceptedPush, APIError>) -> Void
  ) {
    if let fault = fault(request, in: app) {
      reply(.failure(fault))
      return
    }
    let push = request.push
    if let audience = app.directory.resolve(push.audience, platforms: push.platforms) {
      return validate(request, to: audience, of: app, reply)
    }
    find(push.audience, platforms: push.platforms, in: app, filesOf: app.key) { [self] result in
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
    let count = admissible(audience, request, in: app).recipients.count
    guard count > 0 else {
      reply(.failure(EmptyAudience(request.push, in: app).error))
      return
    }
    if request.author == nil, let fault = request.fault(app.brakes, devices: count) {
      return reply(.failure(fault))
    }
    if let fault = request.push.options.canary?.fault(devices: count) { return reply(.failure(fault)) }
    let accepted = AcceptedPush(id: ids.next(), sendno: request.sendno, targets: count)
    guard request.isLimitedByDatabase(in: app) else {
      reply(.success(accepted))
      return
    }
    let now = time.now()
    store.read { [self] transaction throws(StorageError) -> APIError? in
      if let fault = try request.faultWithBroadcasts(in: app, transaction, options, at: now) { return fault }
      return try request.push.abTest?.fault(in: app, transaction, devices: count)
    } completion: { result in
      switch result {
      case .failure(let error):
        reply(.failure(error.apiError))
      case .success(let fault?): reply(.failure(fault))
      case .success(nil): reply(.success(accepted))
      }
    }
  }
}

extension AcceptRequest {
  /// The most pushes of an app that are being paced at a time, as at JPush.
  private static var maximumPacedPushes: Int { 20 }

  /// Paces it over as many minutes as an audience of so many needs at the requested speed.
  mutating func pace(to count: Int) -> APIError? {
    let speed = push.options.speed
    guard count > speed else { return nil }
    let minutes = (Int64(count) + speed * 60 - 1) / (speed * 60)
    guard minutes <= PushOptions.longestPacing else {
      return .invalidValue(
        "settings.speed is invalid: the push would take more than \(PushOptions.longestPacing) minutes")
    }
    push.options.bigPushDuration = Int(minutes)
    return nil
  }

  /// Why it can have no canary: of a push to several apps each would have one of its own, and of one that
  /// goes zone by zone each part.
  fileprivate var canaryFault: APIError? {
    guard push.options.canary != nil else { return nil }
    if sender.kind == .group { return .invalidValue("options.canary does not go with pushes to app groups") }
    return turn == nil ? nil : .invalidValue("options.canary does not go with the zone device")
  }

  /// What the database has against it.
  func fault(
    in app: App, _ transaction: ReadTransaction, _ options: RouterOptions, at now: Timestamp
  ) throws(StorageError) -> APIError? {
    if let old = overrides,
      let fault = Self.overrideFault(try transaction.pushes.origin(of: old), in: app, options, at: now)
    {
      return fault
    }
    if let old = overrides, try transaction.canaries.find(old, app: app.id) != nil {
      return .invalidValue(
        "options.override_msg_id is of a push with a canary, which cannot be overridden: recall it")
    }
    if let plan = push.options.pushPlan, try !transaction.pushPlans.contains(app: app.id, name: plan) {
      return .invalidValue("options.business_operation_code is unknown: the app has no such push plan")
    }
    if pacingMinutes > 0, turn?.isFirst != false,
      try transaction.pacedPushes.count(app: app.id, at: now) >= Self.maximumPacedPushes
    {
      return .overLimit("\(Self.maximumPacedPushes) pushes with options.big_push_duration are under way")
    }
    return nil
  }

  /// How many pushes to everybody the app may send in a day, if this is one and they are limited.
  private func broadcasts(in app: App) -> Int? {
    if case .all = push.audience { app.plan.broadcasts } else { nil }
  }

  /// Whether the database may have something against it.
  fileprivate func isLimitedByDatabase(in app: App) -> Bool {
    overrides != nil || push.options.pushPlan != nil || pacingMinutes > 0 || broadcasts(in: app) != nil
      || push.abTest != nil
  }

  /// What the database has against it, the number of the day's broadcasts included, which acceptance counts
  /// by itself.
  fileprivate func faultWithBroadcasts(
    in app: App, _ transaction: ReadTransaction, _ options: RouterOptions, at now: Timestamp
  ) throws(StorageError) -> APIError? {
    if let fault = try fault(in: app, transaction, options, at: now) { return fault }
    guard let limit = broadcasts(in: app) else { return nil }
    let day = options.zone.local(now).date.dayNumber
    return try transaction.apps.broadcasts(of: app.id, on: day) < limit ? nil : .broadcastLimit
  }

  /// Why a push cannot be overridden: JPush responds 1003 to an ID that is unknown or over a day old.
  private static func overrideFault(
    _ origin: PushOrigin?, in app: App, _ options: RouterOptions, at now: Timestamp
  ) -> APIError? {
    // Another app's push looks like an unknown one.
    guard let origin, origin.app == app.id else {
      return .invalidValue("options.override_msg_id is unknown: the app has no such push")
    }
    guard now <= origin.createdAt.adding(seconds: options.overrideLifetime) else {
      return .invalidValue("options.override_msg_id is too old: a push can be overridden for a day")
    }
    return origin.isReplaced
      ? .invalidValue("options.override_msg_id was overridden before, which can be done once") : nil
  }
}

extension ABTestUse {
  /// Why a push to the test starts no run: it has one, is gone, or has more contents than devices.
  func fault(
    in app: App, _ transaction: ReadTransaction, devices: Int
  ) throws(StorageError) -> APIError? {
    guard try transaction.abTests.find(id, app: app.id) != nil else {
      return .invalidValue("audience.abtest holds '\(id)': there is no such A/B test")
    }
    if try transaction.abTestRuns.isOpen(test: id, app: app.id) {
      return .invalidValue(
        "audience.abtest: the A/B test \(id) runs; it can be sent again when that has ended")
    }
    guard devices >= contents.count else {
      return .noTarget.with(
        detail:
          "the A/B test compares \(contents.count) contents, and its audience has fewer devices: \(devices)"
      )
    }
    return nil
  }
}

extension DeviceFactSet {
  /// Why a push cannot be sent if these are all the facts that the app asks for.
  func fault(_ push: PushRequest) -> APIError? {
    if push.options.skipsNotificationsOff, !contains(.notificationPermission) {
      return Self.needed(.notificationPermission, by: "options.\(PushOptions.notificationSwitch)")
    }
    if !push.translations.isEmpty, !contains(.language) { return Self.needed(.language, by: "languages") }
    return nil
  }

  private static func needed(_ fact: DeviceFact, by member: String) -> APIError {
    .notPermitted(
      "\(member) needs the fact \(fact.name), which the app does not ask its devices for: select it in the "
        + "app's settings, or with PUT /v1/facts/wanted")
  }
}

extension PlanRow {
  /// Why a plan does not allow a push. One that names no time to live lives as long as the plan allows.
  func fault(_ options: PushOptions) -> APIError? {
    guard let most = maxTimeToLive, options.hasTimeToLive, options.timeToLive > most else { return nil }
    return .invalidValue(
      "options.time_to_live is \(options.timeToLive), more than the \(most) of the app's plan")
  }
}
