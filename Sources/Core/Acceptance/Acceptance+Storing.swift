import BorealisBase
import HTTP
import Model
import Storage

extension Acceptance {
  // MARK: Routing

  /// Divides the audience of a part by routes. 1011 when no device matches and there is nothing else to do.
  func route(_ part: inout AcceptancePart) {
    guard case .resolved(let audience) = part.state else { return }
    let app = part.app
    var request = part.request.limited(by: app.plan)
    let wishes = request.push.options
    let refusal = audience.isEmpty ? EmptyAudience(request.push, in: app).error : nil
    // What the first request with its name was answered is known to the database.
    if let refusal, request.push.cid == nil { return part.state = .refused(refusal) }
    if let fault = fault(request, in: app) {
      return part.state = .refused(fault)
    }
    if wishes.speed > 0, let fault = request.pace(to: audience.count) {
      return part.state = .refused(fault)
    }
    if request.overrides != nil { writeBehind.flushEnds() }
    let now = time.now()
    let result: Result<NewPush, APIError>
    if let test = request.push.abTest {
      result = routed(request, test, audience, leftOut: part.leftOut, in: app, at: now)
    } else if let canary = request.push.options.canary {
      result = routed(request, canary, audience, leftOut: part.leftOut, in: app, at: now)
    } else {
      result = .success(routed(request, audience, leftOut: part.leftOut, in: app, at: now))
    }
    switch result {
    case .success(var push):
      push.refusal = refusal ?? push.counted?.refusal ?? push.quiet?.refusal
      push.reach = max(part.reach, audience.count)
      part.state = .routed(push)
    case .failure(let fault): part.state = .refused(fault)
    }
  }

  /// A push with its routes, counted for those who get it.
  private func routed(
    _ asked: AcceptRequest, _ matching: Recipients, leftOut: NumberSet, in app: App, at now: Timestamp
  ) -> NewPush {
    var (request, audience) = (asked, matching)
    let expires = expiry(of: request, at: now)
    let turns = PacingWindow(of: request, to: matching, at: now)
    var quiet = quiet(matching, for: request, in: app, turns, at: now, expires: expires)
    // What a device does not get does not count.
    if let quiet, !quiet.dropped.isEmpty { audience = audience.subtracting(quiet.dropped) }
    var counted = count(&audience, for: request, in: app, at: now)
    let inAllLanguages = request.push
    let languages = request.push.fixLanguages(for: audience, in: app.directory)
    var plan = plan(request, to: audience, in: app)
    plan.languages = languages
    request.meetsQuietHours = request.keepsQuietHours(in: app)
    if request.pacingMinutes > 0, request.meetsQuietHours {
      // Turns are those of whom it reaches, and of whom quiet hours keep it from: without the places of these
      // the others would come later, and into their own hours.
      var dropped = quiet?.dropped ?? NumberSet()
      let turns = PacingWindow(of: request, to: plan.reached, without: dropped, at: now)
      let exact = self.quiet(plan.reached, for: request, in: app, turns, at: now, expires: expires)
      if let more = exact?.dropped, !more.isEmpty {
        dropped.formUnion(more)
        audience = audience.subtracting(more)
        if let (kept, taken) = counted?.giveBack(more) {
          app.counts.remove(taken, kept.pushClass, on: kept.day)
          counted = kept
        }
        plan.leaveOut(more)
        request.push = inAllLanguages
        plan.languages = request.push.fixLanguages(for: audience, in: app.directory)
      }
      quiet = QuietAudience(held: exact?.held ?? [], dropped: dropped)
    }
    return NewPush(
      request: request, audience: audience, leftOut: leftOut, counted: counted, quiet: quiet, plan: plan,
      at: now, expires: expires)
  }

  /// When a push ends that is accepted now.
  func expiry(of request: AcceptRequest, at now: Timestamp) -> Timestamp {
    let wish = request.push.options.timeToLive
    let seconds = wish == 0 ? options.onlineOnlySeconds : Int64(wish)
    // So that the last device has as long as it would have without pacing.
    return now.adding(seconds: seconds + request.pacingMinutes * 60)
  }

  /// A push to an A/B test, divided among its contents: the push with the first, which starts a run with the
  /// others.
  private func routed(
    _ request: AcceptRequest, _ test: ABTestUse, _ audience: Recipients, leftOut: NumberSet, in app: App,
    at now: Timestamp
  ) -> Result<NewPush, APIError> {
    let split = AudienceSplit(
      audience, by: test.design, seed: UInt64(bitPattern: now.milliseconds) ^ UInt64(bitPattern: test.id))
    var requests: [AcceptRequest] = []
    for (place, content) in test.contents.enumerated() {
      var one = request
      (one.push, one.object) = (content.ofABTest(test.id), content.resolved)
      // It is of the whole audience.
      one.forecast = nil
      one = one.limited(by: app.plan)
      if place > 0 {
        one.note = nil
        if let fault = fault(one, in: app) { return .failure(fault) }
      }
      requests.append(one)
    }
    // Only now, when nothing refuses a content any more: routing counts.
    let pushes = zip(requests, split.groups).enumerated().map { place, one in
      routed(one.0, Recipients(one.1), leftOut: place > 0 ? NumberSet() : leftOut, in: app, at: now)
    }
    guard var first = pushes.first else { return .failure(.internalError) }
    first.start = ABTestStart(test, others: Array(pushes.dropFirst()), rest: split.rest)
    return .success(first)
  }

  /// A push with a canary: to the share, with the others in `canary`.
  private func routed(
    _ asked: AcceptRequest, _ canary: Canary, _ audience: Recipients, leftOut: NumberSet, in app: App,
    at now: Timestamp
  ) -> Result<NewPush, APIError> {
    if !audience.isEmpty, let fault = canary.fault(devices: audience.count) { return .failure(fault) }
    let split = AudienceSplit(audience, by: canary, seed: UInt64(bitPattern: now.milliseconds))
    var request = asked
    // It is of the whole audience.
    request.forecast = nil
    let first = split.groups.first ?? NumberSet()
    var push = routed(request, Recipients(first), leftOut: leftOut, in: app, at: now)
    push.canary = CanaryStart(terms: canary, object: request.push.later ?? [], rest: split.rest)
    return .success(push)
  }

  /// Counts a notification of a limited class for its audience, and leaves out those that had as many today
  /// as they may.
  private func count(
    _ audience: inout Recipients, for request: AcceptRequest, in app: App, at now: Timestamp
  ) -> CountedAudience? {
    guard let (pushClass, limit) = request.cap(in: app) else { return nil }
    let (all, day) = (audience.numbers, app.counts.begin(localDay(now)))
    let capped = app.counts.add(all, pushClass, limit: limit, on: day)
    if !capped.isEmpty { audience = audience.subtracting(capped) }
    return CountedAudience(
      pushClass: pushClass, numbers: all.subtracting(capped), capped: capped, limit: limit, day: day)
  }

  /// Stores a part that has its routes, on the writer's thread.
  func store(_ part: inout AcceptancePart, in transaction: WriteTransaction) throws(StorageError) {
    guard case .routed(let push) = part.state else { return }
    try transaction.expectHome(of: part.app.id)
    part.state = try store(push, of: part.app, in: transaction)
  }

  /// Stores a push, on the writer's thread.
  private func store(
    _ new: NewPush, of app: App, in transaction: WriteTransaction
  ) throws(StorageError) -> AcceptancePart.State {
    if let end = try end(of: new, of: app, in: transaction) { return end }
    var push = new
    let request = push.request
    if let old = request.overrides, push.content.isForChannels,
      let row = try transaction.pushes.find(id: old)
    {
      push.replaceNotification(of: row.content, channels.renderers)
    }
    // On the writer's thread, so that IDs grow in commit order.
    let id = ids.next()
    try insert(push, id, of: app, in: transaction)
    try push.start?.store(
      id, of: app, by: self, request.sender, at: push.now, in: transaction
    ) { (other, id) throws(StorageError) in try insert(other, id, of: app, in: transaction) }
    try push.canary?.store(id, of: app, request.sender, at: push.now, in: transaction)
    if let old = request.overrides {
      push.channelsOfOld = try deliveries.withdraw(
        old, of: app, .overridden, at: push.now, by: push.holder, in: transaction)
      try transaction.pushes.markReplaced(old, by: id)
    }
    if var note = request.note {
      note.target = "\(id.text) (\(push.devices))"
      try transaction.audit.add(note)
    }
    return .accepted(AcceptedPush(id: id, sendno: request.sendno, targets: push.devices), push)
  }

  /// What a request ends with that makes no push: a repeated one with the first one's answer, or a refusal.
  private func end(
    of push: NewPush, of app: App, in transaction: WriteTransaction
  ) throws(StorageError) -> AcceptancePart.State? {
    let request = push.request
    if let cid = request.push.cid, let first = try transaction.pushes.lookupCID(app: app.id, cid: cid) {
      guard first.isSame(as: request.getui?.digest) else { return .refused(.requestRepeated) }
      return .repeated(AcceptedPush(first))
    }
    // Stored messages and pushes for later keep their names for longer than pushes do.
    if request.getui?.digest != nil, let id = request.push.cid.flatMap({ GetuiOrigin.request(named: $0) }),
      try transaction.getui.task(requestID: id, app: app.id) != nil
    {
      return .refused(.requestRepeated)
    }
    if let fault = push.canary?.fault(left: push.audienceCount) { return .refused(fault) }
    guard push.recipients > 0 else { return .refused(push.refusal ?? .noTarget) }
    guard !app.isDeleted else { return .refused(.authenticationFailed) }
    // Here alone, where every push comes by, with the audience that it goes to.
    let devices = max(push.devices, push.reach)
    if let fault = request.fault(app.brakes, devices: devices) { return .refused(fault) }
    if let fault = try request.fault(in: app, transaction.reading, options, at: push.now) {
      return .refused(fault)
    }
    let test = push.start?.test
    if let fault = try test?.fault(in: app, transaction.reading, devices: push.devices) {
      return .refused(fault)
    }
    if let task = request.getui?.task, try !transaction.getui.isOpen(task, app: app.id, at: push.now) {
      return .refused(.taskEnded)
    }
    if case .all = test?.design.audience ?? request.push.audience, let limit = app.plan.broadcasts,
      request.turn?.isFirst != false, !request.isRest
    {
      guard try transaction.apps.countBroadcast(app: app.id, day: localDay(push.now), limit: limit) else {
        return .refused(.broadcastLimit)
      }
    }
    return nil
  }

  /// Inserts the rows of a push.
  private func insert(
    _ push: NewPush, _ id: MessageID, of app: App, in transaction: WriteTransaction
  ) throws(StorageError) {
    let request = push.request
    try transaction.pushes.insert(push.row(id, app: app.id), from: push.source)
    try callbacks.note(push, id, of: app, in: transaction)
    if let plan = request.push.options.pushPlan, !request.isRest {
      _ = try transaction.pushPlans.count(app: app.id, plan: plan, at: push.now)
    }
    if let pacing = push.pacing {
      try transaction.pacedPushes.insert(
        id: id, app: app.id, minutes: request.pacingMinutes, endsAt: pacing.end)
    }
    if push.plan.isEmpty {
      let status: OutcomeStatus = request.push.options.timeToLive == 0 ? .expired : .refused
      try deliveries.settle(EndedPush(id, status), of: app, at: push.now, in: transaction)
    }
    if !push.plan.own.isEmpty {
      try transaction.deliveries.insertPending(
        id: id, app: app.id, target: push.onlyOwn, expiresAt: push.expires)
    }
    for channel in Set(push.plan.vendors.map(\.leg.channel)) {
      try transaction.channelQueue.insert(id: id, app: app.id, channel: channel, expiresAt: push.expires)
    }
    for row in push.fallbacks(id, app: app.id) { try transaction.fallbacks.insert(row) }
    for row in push.heldRows(id, app: app.id) { try transaction.heldPushes.insert(row) }
    if let getui = request.getui {
      try transaction.getui.insertPush(id, app: app.id, task: getui.task, groupName: getui.groupName)
    }
    if let cid = request.push.cid {
      try transaction.pushes.insertCID(
        app: app.id, cid: cid, id: id, sendno: request.sendno, at: push.now,
        digest: request.getui?.digest?.stored)
    }
  }

  /// Days since 1970-01-01 by the clocks of the server's zone: at JPush, of China.
  func localDay(_ time: Timestamp) -> Int64 { options.zone.local(time).date.dayNumber }

  // MARK: Delivering

  /// Starts delivery of a stored push, which replaces one that it overrides. On the writer's thread.
  func deliver(_ accepted: AcceptedPush, _ push: NewPush, in app: App) {
    if let old = push.request.overrides {
      _ = channels.withdraw(old, of: app, .overridden, at: push.now)
      channels.overridden(old, of: app, by: push.plan, sentOver: push.channelsOfOld)
    }
    open(accepted.id, push, in: app)
    guard let start = push.start else { return }
    for (id, other) in zip(start.ids, start.others) { open(id, other, in: app) }
  }

  /// Adds a committed push to the delivery state and starts its delivery. On the writer's thread.
  private func open(_ id: MessageID, _ push: NewPush, in app: App) {
    if let span = push.request.trace {
      span.add(id)
      options.tracer?.follow(id, of: app.id, span)
    }
    statistics.accepted(id, targets: push.audienceCount, of: app.id, at: push.now)
    app.countAccepted()
    guard !push.plan.isEmpty else { return }
    if let due = push.fallbacks(id, app: app.id).first?.dueAt { deliveries.fallbacks.note(due) }
    if let until = push.quiet?.held.first?.until { deliveries.heldPushes.note(until, of: app.id) }
    for plugged in channels.all {
      if let part = push.part(of: plugged.id, as: id, in: app) { plugged.channel.deliver(part) }
    }
  }
}
