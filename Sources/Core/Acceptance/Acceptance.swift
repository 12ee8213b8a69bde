import BorealisBase
import HTTP
import Model
import Storage

/// The one way from a request to a push under way, for single pushes, batches, groups of apps, files,
/// schedules and the console alike:
///
/// 1. resolve: who is meant now, in each app;
/// 2. admit: each app's plan gives speed, for which the push may have to wait; then it is resolved again;
/// 3. route: which way it goes to whom;
/// 4. store: one commit, with what belongs to it;
/// 5. deliver: it joins the delivery state, and channels get it.
///
/// A refused push has changed nothing, and its speed is refunded.
package final class Acceptance: Sendable {
  let store: Store
  let options: RouterOptions
  let time: any TimeSource
  let log: Log
  let ids: MessageIDs
  let channels: PluggedChannels
  let files: Files
  let segments: Segments
  let approvals: Approvals
  let clocks: ScheduleClocks
  let deliveries: Deliveries
  let callbacks: CallbackApps
  let writeBehind: WriteBehind
  let statistics: Statistics
  private let pushRateLimiter: PushRateLimiter

  init(
    store: Store, options: RouterOptions, time: any TimeSource, log: Log, ids: MessageIDs,
    channels: PluggedChannels, files: Files, segments: Segments, approvals: Approvals,
    clocks: ScheduleClocks, deliveries: Deliveries, callbacks: CallbackApps,
    writeBehind: WriteBehind, statistics: Statistics, pushRateLimiter: PushRateLimiter
  ) {
    self.store = store
    self.options = options
    self.time = time
    self.log = log
    self.ids = ids
    self.channels = channels
    self.files = files
    self.segments = segments
    self.approvals = approvals
    self.clocks = clocks
    self.deliveries = deliveries
    self.callbacks = callbacks
    self.writeBehind = writeBehind
    self.statistics = statistics
    self.pushRateLimiter = pushRateLimiter
  }

  /// Accepts parts of a push. `reply` comes on the writer's thread, or on another when nothing was stored.
  func run<Kind: AcceptanceKind>(
    _ kind: Kind, _ parts: consuming [AcceptancePart],
    _ reply: @escaping @Sendable (Result<Kind.Answer, APIError>) -> Void
  ) {
    resolve(parts, kind) { [self] result in
      switch result {
      case .failure(let error): refuse(kind, error, reply)
      case .success(let parts):
        admit(parts, kind) { [self] parts, hasWaited in
          guard hasWaited else { return store(parts, kind, reply) }
          resolveAgain(parts, kind, reply)
        }
      }
    }
  }

  // MARK: Resolving

  /// Fixes the audience in one app after the other. What may be otherwise at the next try is a failure of
  /// all: it must not become the answer that the request's name stands for.
  private func resolve<Kind: AcceptanceKind>(
    _ asked: consuming [AcceptancePart], _ kind: Kind, from start: Int = 0,
    _ done: @escaping @Sendable (Result<[AcceptancePart], APIError>) -> Void
  ) {
    var parts = asked
    for index in start..<parts.count {
      guard case .asked = parts[index].state else { continue }
      let (app, push) = (parts[index].app, parts[index].request.push)
      if let audience = app.directory.resolve(push.audience, platforms: push.platforms) {
        parts[index].fix(admissible(audience, parts[index].request, in: app))
        continue
      }
      return find(push.audience, platforms: push.platforms, in: app, filesOf: parts[index].fileOwner) {
        [self, parts] result in
        var parts = parts
        switch result {
        case .success(let audience):
          parts[index].fix(admissible(audience, parts[index].request, in: app))
        case .failure(let error) where error.httpStatus >= 500 || !kind.keepsRefusals:
          return done(.failure(error))
        case .failure(let error): parts[index].state = .refused(error)
        }
        resolve(parts, kind, from: index + 1, done)
      }
    }
    done(.success(parts))
  }

  /// The members of an audience that may get a push and are not excluded.
  func admissible(_ audience: Recipients, _ request: AcceptRequest, in app: App) -> Admitted {
    var recipients = app.admissible(audience, at: time.now())
    let options = request.push.options
    if !options.activity.isEmpty {
      recipients = app.directory.those(of: recipients, meeting: options.activity, at: time.now())
    }
    let all = request.turn == nil ? 0 : recipients.count
    if let turn = request.turn { recipients = recipients.intersection(turn.devices) }
    guard options.skipsNotificationsOff else { return Admitted(recipients: recipients, all: all) }
    let leftOut = app.directory.notificationsOff(among: recipients)
    return Admitted(recipients: recipients.subtracting(leftOut), leftOut: leftOut, all: all)
  }

  /// The audience of a push that had to wait is resolved when it is accepted, which is now.
  private func resolveAgain<Kind: AcceptanceKind>(
    _ admitted: [AcceptancePart], _ kind: Kind,
    _ reply: @escaping @Sendable (Result<Kind.Answer, APIError>) -> Void
  ) {
    var asked = admitted
    for index in asked.indices {
      if case .resolved = asked[index].state { asked[index].state = .asked }
    }
    resolve(asked, kind) { [self] result in
      switch result {
      case .failure(let error):
        giveBack(admitted)
        refuse(kind, error, reply)
      case .success(var parts):
        for index in parts.indices { settle(&parts[index]) }
        store(parts, kind, reply)
      }
    }
  }

  /// The audience does not exist (any more), or the push is one that is not accepted (any more): a repeated
  /// request gets its first answer nevertheless.
  private func refuse<Kind: AcceptanceKind>(
    _ kind: Kind, _ error: APIError, _ reply: @escaping @Sendable (Result<Kind.Answer, APIError>) -> Void
  ) {
    guard kind.isNamed else { return reply(.failure(error)) }
    store.write { transaction throws(StorageError) in
      try kind.first(in: transaction.reading)
    } completion: { result in
      if case .success(let first?) = result { reply(.success(first)) } else { reply(.failure(error)) }
    }
  }

  // MARK: Speed

  /// Asks each app's plan for as much speed as its part of the push takes, all at the same time.
  private func admit<Kind: AcceptanceKind>(
    _ parts: [AcceptancePart], _ kind: Kind,
    then goOn: @escaping @Sendable ([AcceptancePart], _ hasWaited: Bool) -> Void
  ) {
    guard !kind.isPaidAfterwards, parts.contains(where: { $0.app.plan.speed != nil }) else {
      return goOn(parts, false)
    }
    let now = time.monotonic()
    let admission = SpeedAdmission(parts, done: goOn)
    for (index, part) in parts.enumerated() {
      guard case .resolved(let audience) = part.state,
        let cost = kind.speed(for: audience).map(part.request.devicesAtOnce)
      else {
        admission.decide(index)
        continue
      }
      let answer = pushRateLimiter.admit(cost, app: part.app.id, plan: part.app.plan, at: now) {
        admission.decide(index, paid: cost, hasWaited: true)
      } expire: {
        admission.decide(index, .timeout, hasWaited: true)
      }
      switch answer {
      case .now: admission.decide(index, paid: cost)
      case .waits: break
      case .full: admission.decide(index, .rateExceeded)
      case .closed: admission.decide(index, .timeout)
      }
    }
  }

  /// Charges the rest of a part's cost, or refunds the excess, since its audience has changed while it
  /// waited.
  private func settle(_ part: inout AcceptancePart) {
    var cost = 0
    if case .resolved(let audience) = part.state { cost = part.request.devicesAtOnce(of: audience.count) }
    let (paid, app) = (part.paid, part.app)
    if cost < paid { giveBack(paid - cost, to: app) }
    if cost > paid { charge(cost - paid, app) }
    part.paid = cost
  }

  private func charge(_ cost: Int, _ app: App) {
    pushRateLimiter.charge(cost, app: app.id, plan: app.plan, at: time.monotonic())
  }

  private func giveBack(_ cost: Int, to app: App) {
    pushRateLimiter.giveBack(cost, app: app.id, plan: app.plan, at: time.monotonic())
  }

  /// Gives speed back that was taken for parts which are not sent.
  private func giveBack(_ parts: [AcceptancePart]) {
    for part in parts where part.paid > 0 { giveBack(part.paid, to: part.app) }
  }

  // MARK: Storing

  private func store<Kind: AcceptanceKind>(
    _ parts: [AcceptancePart], _ kind: Kind,
    _ reply: @escaping @Sendable (Result<Kind.Answer, APIError>) -> Void
  ) {
    // For those that have no speed the name was looked up before they asked for it.
    if !kind.keepsRefusals, let error = parts.lazy.compactMap(\.refusal).first {
      giveBack(parts)
      return reply(.failure(error))
    }
    guard parts.contains(where: { $0.request.correctsInQuietHours(of: $0.app) }) else {
      return routeAndStore(parts, kind, reply)
    }
    store.read { [parts, time] transaction throws(StorageError) in
      var parts = parts
      for index in parts.indices {
        try parts[index].request.findCorrected(in: parts[index].app, transaction, at: time.now())
      }
      return parts
    } completion: { [self, parts] result in
      switch result {
      case .success(let parts): routeAndStore(parts, kind, reply)
      case .failure(let error):
        giveBack(parts)
        reply(.failure(error.apiError))
      }
    }
  }

  private func routeAndStore<Kind: AcceptanceKind>(
    _ admitted: consuming [AcceptancePart], _ kind: Kind,
    _ reply: @escaping @Sendable (Result<Kind.Answer, APIError>) -> Void
  ) {
    var parts = admitted
    for index in parts.indices { route(&parts[index]) }
    if !kind.keepsRefusals, let error = parts.lazy.compactMap(\.refusal).first {
      giveBack(parts)
      return refuse(kind, error, reply)
    }
    store.write { [parts] transaction throws(StorageError) in
      var parts = parts
      let answer = try kind.store(&parts, by: self, in: transaction)
      return (answer, parts)
    } completion: { [self, parts] result in
      switch result {
      case .failure(let error):
        for part in parts { drop(part) }
        // That nothing is taken for a while the log tells once, not for each call.
        if !error.isPassing { kind.note(error, in: log, trace: parts.first?.request.trace?.traceID) }
        reply(.failure(error.apiError))
      case .success(let (answer, stored)):
        for (part, routed) in zip(stored, parts) {
          guard case .accepted(let accepted, let push) = part.state else {
            drop(routed)
            continue
          }
          if kind.isPaidAfterwards { charge(part.request.devicesAtOnce(of: accepted.targets), part.app) }
          deliver(accepted, push, in: part.app)
        }
        reply(answer)
      }
    }
  }

  /// Lets go of what a part holds that was not stored.
  private func drop(_ part: AcceptancePart) {
    if part.paid > 0 { giveBack(part.paid, to: part.app) }
    guard case .routed(let push) = part.state else { return }
    for counted in push.contents.compactMap(\.counted) {
      part.app.counts.remove(counted.numbers, counted.pushClass, on: counted.day)
    }
    guard let old = part.request.overrides else { return }
    channels.resume(old, of: part.app, by: push.holder)
  }
}
