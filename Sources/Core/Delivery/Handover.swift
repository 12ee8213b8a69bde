import BorealisBase
import Model
import Storage

/// Vendors' channels take over what devices have not acknowledged of a push.
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

  /// Stores it, on the writer's thread: who has acknowledged by now is as the directory knows it. Nil if
  /// nobody is left.
  init?(
    _ id: MessageID, _ ready: Set<ChannelID>, of app: App, at now: Timestamp, _ plugged: PluggedChannels,
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
    let strategy = Strategy(number: push.strategy) ?? .jpush
    for row in rows.fallbacks where !row.isDone {
      guard ready.contains(row.channel) else {
        others.append(row)
        continue
      }
      let offers = plugged.serviceChannel(row.channel)?.offers(content, strategy, in: app)
      let offer = offers?.first { $0.leg.isMain }
      let wanted = NumberSet(serialized: row.targets) ?? NumberSet()
      let waiting = app.directory.waiting(id, among: wanted).subtracting(targets.delivered)
      let taken = offer.map { waiting.intersection(app.directory.members(of: $0)) } ?? NumberSet()
      resent.formUnion(waiting.subtracting(taken))
      guard !taken.isEmpty else {
        try transaction.fallbacks.drop(id, row.channel)
        continue
      }
      try take(taken, row.channel, content, strategy, of: app, at: now, in: transaction)
    }
    guard !channels.isEmpty || !resent.isEmpty else { return nil }
    guard !moved.isEmpty else { return }
    let all = (targets.lost[.handedOver] ?? NumberSet()).union(moved)
    try transaction.deliveries.saveDropped(
      id: id, reason: LossReason.handedOver.rawValue, targets: all.serialized())
    guard !app.directory.goesOn(id, without: moved) else { return }
    try app.directory.progress(id)?.saveDropped(of: id, in: transaction)
    try transaction.deliveries.endWithoutOutcome(id)
  }

  /// Stores whom a channel takes over.
  private mutating func take(
    _ taken: NumberSet, _ channel: ChannelID, _ content: PushContent, _ strategy: Strategy, of app: App,
    at now: Timestamp, in transaction: WriteTransaction
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
    try transaction.fallbacks.finish(push.id, channel, targets: taken.serialized(), at: now)
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
