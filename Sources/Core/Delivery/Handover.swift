import BorealisBase
import Model
import Storage

/// Vendors' channels take over what devices have not acknowledged of a push, or what waited for the end of
/// their quiet hours.
struct Handover: Sendable {
  /// The push, as it is stored from now on.
  private(set) var push: PushRow
  /// What still waits for other channels.
  private(set) var others: [FallbackRow] = []
  /// The channels that take over.
  private(set) var channels: [ChannelID] = []
  /// Those for whom our connection brings nothing of it any more.
  private(set) var moved = NumberSet()
  /// Those who get what our connection still brings once more: the message, or all of it if the channel
  /// reaches them no longer.
  private(set) var resent = NumberSet()
  /// Those who wait for the end of their quiet hours from now on, by when these end.
  private(set) var held: [Timestamp: NumberSet] = [:]
  /// Those whose quiet hours have ended, and for whom it waits like any other push from now on.
  private(set) var released = NumberSet()
  /// Those whose quiet hours have ended and for whom the channel that they need has no room: they wait on.
  private(set) var staying = NumberSet()

  /// What channels could bring now, and what time it is where devices are.
  struct Terms: Sendable {
    let channels: PluggedChannels
    let clocks: ScheduleClocks
  }

  /// Stores it, on the writer's thread: who has acknowledged by now is as the directory knows it. Nil if
  /// nobody is left.
  init?(
    _ id: MessageID, _ ready: Set<ChannelID>, of app: App, at now: Timestamp, _ terms: Terms,
    in transaction: WriteTransaction
  ) throws(StorageError) {
    guard let rows = try transaction.deliveries.targets(of: id), rows.push.app == app.id,
      now < rows.push.expiresAt, rows.withdrawal == nil, let targets = PushTargets(rows, at: now),
      let content = PushContent(decoding: rows.push.content)
    else {
      try transaction.fallbacks.drop(id)
      return nil
    }
    push = rows.push
    let strategy = push.strategyOfRoutes
    let hours = try quietHours(of: app, in: transaction)
    var isQuiet = false
    for row in rows.fallbacks where !row.isDone {
      guard ready.contains(row.channel) else {
        others.append(row)
        continue
      }
      let offers = terms.channels.serviceChannel(row.channel)?.offers(content, strategy, in: app)
      let offer = offers?.first { $0.leg.isMain }
      let wanted = NumberSet(serialized: row.targets) ?? NumberSet()
      let waiting = app.directory.waiting(id, among: wanted).subtracting(targets.served)
      var taken = offer.map { waiting.intersection(app.directory.members(of: $0)) } ?? NumberSet()
      var again = waiting.subtracting(taken)
      if let hours, let quiet = quiet(hours, waiting, content, of: app, at: now, by: terms.clocks) {
        isQuiet = true
        let asleep = quiet.heldNumbers.union(quiet.dropped)
        taken.subtract(asleep)
        again.subtract(asleep)
        for group in quiet.held { held[group.until, default: NumberSet()].formUnion(group.numbers) }
      }
      resent.formUnion(again)
      guard !taken.isEmpty else {
        try transaction.fallbacks.drop(id, row.channel)
        continue
      }
      try transaction.fallbacks.finish(id, row.channel, targets: taken.serialized(), at: now)
      try storeTargets(taken, row.channel, content, strategy, of: app, in: transaction)
    }
    guard !channels.isEmpty || !resent.isEmpty || isQuiet else { return nil }
    try storeMoved(targets, of: app, in: transaction)
    for (until, numbers) in held {
      let known = rows.held.first { $0.until == until }.flatMap { NumberSet(serialized: $0.targets) }
      if known != nil { try transaction.heldPushes.remove(id, until: until) }
      let all = numbers.union(known ?? NumberSet())
      try transaction.heldPushes.insert(
        HeldPushRow(push: id, app: app.id, until: until, targets: all.serialized()))
    }
  }

  /// The app's quiet hours if the push keeps them.
  private func quietHours(of app: App, in transaction: WriteTransaction) throws(StorageError) -> QuietHours? {
    guard let hours = app.quietHours,
      try transaction.pushes.traits(of: push.id)?.contains(.keepsQuietHours) == true
    else { return nil }
    return hours
  }

  /// Those who would be woken in their quiet hours: they get the push when these end. Those for whom it ends
  /// before, and all if the app wants that, are left to our connection. Nil for nobody.
  private func quiet(
    _ hours: QuietHours, _ waiting: NumberSet, _ content: PushContent, of app: App, at now: Timestamp,
    by clocks: ScheduleClocks
  ) -> QuietAudience? {
    let urgent = app.directory.members(platforms: content.urgentPlatforms)
    let groups = app.directory.quiet(Recipients(waiting.subtracting(urgent)), hours, at: now, by: clocks)
    return groups.isEmpty ? nil : QuietAudience(groups, hours.action, expires: push.expiresAt)
  }

  /// Stores which way a push goes to those whose quiet hours have ended, as their devices are now. On the
  /// writer's thread. Nil if the push has ended.
  init?(
    releasing asked: HeldPushRow, of app: App, at now: Timestamp, _ plugged: PluggedChannels,
    in transaction: WriteTransaction
  ) throws(StorageError) {
    // Others may wait for that moment since it was asked for.
    guard let row = try transaction.heldPushes.find(asked.push, until: asked.until) else { return nil }
    guard let rows = try transaction.deliveries.targets(of: row.push), rows.push.app == app.id,
      now < rows.push.expiresAt, rows.withdrawal == nil, let targets = PushTargets(rows, at: now),
      let content = PushContent(decoding: rows.push.content)
    else {
      try transaction.heldPushes.remove(row.push, until: row.until)
      return nil
    }
    push = rows.push
    others = rows.fallbacks.filter { !$0.isDone }
    let wanted = NumberSet(serialized: row.targets) ?? NumberSet()
    let waiting = app.directory.waiting(row.push, among: wanted).subtracting(targets.served)
    let (strategy, plan) = (push.strategyOfRoutes, plugged.plan(push, content, to: waiting, in: app))
    staying = plugged.withoutRoom(plan, in: app)
    guard staying.isEmpty || staying.count < waiting.count else {
      staying = wanted
      return
    }
    released = wanted.subtracting(staying)
    resent = plan.own.numbers.subtracting(staying)
    for way in plan.vendors {
      let taken = way.targets.numbers.subtracting(staying)
      if !taken.isEmpty {
        try storeTargets(taken, way.leg.channel, content, strategy, of: app, in: transaction)
      }
    }
    resent.subtract(moved)
    try transaction.heldPushes.remove(row.push, until: row.until)
    if !staying.isEmpty {
      try transaction.heldPushes.insert(
        HeldPushRow(push: row.push, app: app.id, until: row.until, targets: staying.serialized()))
    }
    try storeMoved(targets, of: app, in: transaction)
  }

  /// Whether all for whom a push waits need channels without room, so that there is nothing to release.
  static func isHeldUp(
    _ row: HeldPushRow, of app: App, _ plugged: PluggedChannels, in transaction: ReadTransaction
  ) throws(StorageError) -> Bool {
    guard let push = try transaction.pushes.find(id: row.push),
      let content = PushContent(decoding: push.content)
    else { return false }
    let waiting = app.directory.waiting(row.push, among: NumberSet(serialized: row.targets) ?? NumberSet())
    guard !waiting.isEmpty else { return false }
    let plan = plugged.plan(push, content, to: waiting, in: app)
    return plugged.withoutRoom(plan, in: app).count == waiting.count
  }

  /// Stores for whom our connection brings nothing of it any more.
  private func storeMoved(
    _ targets: PushTargets, of app: App, in transaction: WriteTransaction
  ) throws(StorageError) {
    guard !moved.isEmpty else { return }
    let id = push.id
    let all = (targets.lost[.handedOver] ?? NumberSet()).union(moved)
    try transaction.deliveries.saveDropped(
      id: id, reason: LossReason.handedOver.rawValue, targets: all.serialized())
    guard !app.directory.goesOn(id, without: moved) else { return }
    try app.directory.progress(id)?.saveDropped(of: id, in: transaction)
    try transaction.deliveries.endWithoutOutcome(id)
  }

  /// Stores whom a channel takes over.
  private mutating func storeTargets(
    _ taken: NumberSet, _ channel: ChannelID, _ content: PushContent, _ strategy: Strategy, of app: App,
    in transaction: WriteTransaction
  ) throws(StorageError) {
    let leg = DeliveryLeg(channel)
    var row = LegTargetsRow(leg: leg, targets: taken.serialized())
    if let place = push.legs.firstIndex(where: { $0.leg == leg }) {
      let known = NumberSet(serialized: push.legs[place].targets) ?? NumberSet()
      row.targets = known.union(taken).serialized()
      push.legs[place] = row
    } else {
      push.legs.append(row)
    }
    try transaction.channelQueue.setTargets(of: push.id, row, haveGrown: true)
    try transaction.channelQueue.ensure(
      id: push.id, app: app.id, channel: channel, expiresAt: push.expiresAt)
    channels.append(channel)
    var keeping = PlatformSet()
    for platform in Platform.allCases {
      let kept = Routing.kept(
        content.parts(for: platform), strategy: content.strategy(of: channel, else: strategy), on: platform,
        via: channel)
      if !kept.isEmpty { keeping.formUnion(PlatformSet(platform)) }
    }
    let staying = taken.intersection(app.directory.members(platforms: keeping))
    resent.formUnion(staying)
    moved.formUnion(taken.subtracting(staying))
  }
}

extension PushRow {
  /// By which rules its routes are chosen.
  fileprivate var strategyOfRoutes: Strategy { Strategy(number: strategy) ?? .jpush }
}

extension PluggedChannels {
  /// Which way a stored push goes to some of its targets now, but for additions such as calls.
  fileprivate func plan(
    _ push: PushRow, _ content: PushContent, to targets: NumberSet, in app: App
  ) -> RoutePlan {
    let strategy = push.strategyOfRoutes
    let offers = offers(content, strategy, in: app).filter(\.leg.isMain)
    let onlyInApp = app.directory.onlyInApp(content, among: Recipients(targets))
    return app.directory.plan(
      Recipients(targets), RouteTerms(content, strategy, offers: offers, onlyInApp: onlyInApp))
  }

  /// Those for whom the channel that they need has no room.
  fileprivate func withoutRoom(_ plan: RoutePlan, in app: App) -> NumberSet {
    plan.vendors.reduce(into: NumberSet()) { found, way in
      guard serviceChannel(way.leg.channel)?.mayTakeOver(in: app) != true else { return }
      found.formUnion(way.targets.numbers)
    }
  }
}
