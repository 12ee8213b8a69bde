import BorealisBase
import Model
import Storage

extension Acceptance {
  /// Which way a push goes to the members of its audience, as their devices are now.
  func plan(_ request: AcceptRequest, to audience: Recipients, in app: App) -> RoutePlan {
    let offers = channels.offers(request, in: app)
    let onlyInApp = app.directory.onlyInApp(request.push.content, among: audience)
    return app.directory.plan(audience, RouteTerms(request.push, offers: offers, onlyInApp: onlyInApp))
  }

  /// Counts by sets of devices what would become of a push if it were accepted now. Only the limit for the
  /// day is looked up for each device, as acceptance does. A push that would be refused whatever its audience
  /// fails with the same error. Brakes, speed and the day's number of broadcasts are left out: they decide
  /// whether and when the push goes. Replies on a reader's thread.
  package func forecast(
    _ asked: AcceptRequest, for app: App,
    reply: @escaping @Sendable (Result<PushForecast, APIError>) -> Void
  ) {
    let request = asked.limited(by: app.plan)
    if let fault = fault(request, in: app) { return reply(.failure(fault)) }
    let push = request.push
    find(push.audience, platforms: push.platforms, in: app, filesOf: app.key) { [self] result in
      switch result {
      case .failure(let error): reply(.failure(error))
      case .success(let named):
        // Not `inTurnOf`: a person who sends a push waits for this, and long reads must not hold it up.
        store.read { [self] transaction throws(StorageError) in
          try forecast(request, to: named, in: app, transaction)
        } completion: {
          reply($0.mapError(\.apiError))
        }
      }
    }
  }

  private func forecast(
    _ asked: AcceptRequest, to named: Recipients, in app: App, _ transaction: ReadTransaction
  ) throws(StorageError) -> PushForecast {
    let now = time.now()
    var request = asked
    try request.findCorrected(in: app, transaction, at: now)
    let admitted = admissible(named, request, in: app)
    let turns = PacingWindow(of: request, to: admitted.recipients, at: now)
    let quiet = quiet(
      admitted.recipients, for: request, in: app, turns, at: now, expires: expiry(of: request, at: now))
    let awake = admitted.recipients.subtracting(quiet?.dropped ?? NumberSet())
    var capped = NumberSet()
    if let (pushClass, limit) = request.cap(in: app) {
      capped = app.counts.full(awake.numbers, pushClass, limit: limit, on: localDay(now))
    }
    let recipients = capped.isEmpty ? awake : awake.subtracting(capped)
    var plan = plan(request, to: recipients, in: app)
    let held = quiet.map { plan.hold($0.heldNumbers) } ?? NumberSet()
    let count = try ForecastCount(
      request.push, recipients, plan, held: held, channels.offers(request, in: app),
      in: app, ForecastConditions(channels, in: app, transaction, at: now))
    var nothing = app.directory.refused(named, by: app.admissible(named, at: now).numbers)
    nothing.add(admitted.leftOut.count, .leftOut)
    nothing.add(quiet?.dropped.count ?? 0, .quietHours)
    nothing.add(capped.count, .capped)
    let audience = nothing.reduce(recipients.count) { $0 + $1.devices }
    for reason in count.nothing { nothing.add(reason.devices, reason.cause) }
    return PushForecast(audience: audience, reached: count.reached, rows: count.rows, nothing: nothing)
  }
}

extension AcceptRequest {
  /// It with the time to live of the app's plan if the sender names none.
  func limited(by plan: PlanRow) -> AcceptRequest {
    guard let most = plan.maxTimeToLive else { return self }
    var request = self
    request.push.options.limitDefaultTimeToLive(to: most)
    return request
  }
}

extension AppDirectory {
  /// Why some of the named registrations get no pushes: all but the admissible.
  fileprivate func refused(_ named: Recipients, by admissible: NumberSet) -> [PushForecast.Reason] {
    let refused = named.numbers.subtracting(admissible)
    let blocked = refused.intersectionCount(state.withLock { $0.table.blocked })
    var reasons: [PushForecast.Reason] = []
    reasons.add(blocked, .blocked)
    reasons.add(refused.count - blocked, .notRegistered)
    return reasons
  }
}

/// How the channels do for an app at a moment.
struct ForecastConditions {
  let channels: PluggedChannels
  private let app: App
  private let transaction: ReadTransaction
  private let now: Timestamp

  init(_ channels: PluggedChannels, in app: App, _ transaction: ReadTransaction, at now: Timestamp) {
    self.channels = channels
    self.app = app
    self.transaction = transaction
    self.now = now
  }

  /// A way of a push over a channel to a device with a token of a service, for `none` without one.
  func way(
    _ channel: any ServiceChannel, for service: ServiceID, _ content: PushContent
  ) throws(StorageError) -> WhyFacts.ChannelWay {
    var way = WhyFacts.ChannelWay(channel.info, .waiting)
    try way.describe(channel, of: app, for: service, content, in: transaction, at: now)
    return way
  }

  /// How the app's credential for a service of a channel stands, for `none` that for any of them.
  func credential(
    _ channel: any ServiceChannel, for service: ServiceID
  ) throws(StorageError) -> WhyFacts.Credential {
    try channel.credential(of: app, for: service, in: transaction, at: now)
  }

  /// How many notifications the app has left today on a channel, by what its service has said; nil if it has
  /// not, and for contents that no quota limits.
  func left(_ channel: any ServiceChannel, for content: PushContent, secondsToLive: Int) -> Int? {
    guard let quota = channel.quota(of: app), quota.isOfDay(now), quota.total != nil else { return nil }
    let preview = channel.preview(of: content, in: app, secondsToLive: secondsToLive)
    return preview?.messageClass == .service ? nil : quota.left.map { Int(clamping: $0) }
  }
}

extension WhyFacts.ChannelWay {
  /// Adds how the app's credential and the channel's service do now.
  mutating func describe(
    _ channel: any ServiceChannel, of app: App, for service: ServiceID, _ content: PushContent?,
    in transaction: ReadTransaction, at now: Timestamp
  ) throws(StorageError) {
    credential = try channel.credential(of: app, for: service, in: transaction, at: now)
    rest = channel.rest(of: app, for: service, content)
    let name = channel.info.service(service)?.name ?? ""
    let status = channel.status(of: app).first {
      $0.hasCredential && (service == .none || $0.service == name)
    }
    if case .unreachable(let since, let reason)? = status?.health {
      unreachable = WhyFacts.Unreachable(since: since, reason: reason)
    }
  }
}
