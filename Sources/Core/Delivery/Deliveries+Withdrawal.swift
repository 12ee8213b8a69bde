import BorealisBase
import Model
import Storage

/// The result of recalling a push from a channel in the database.
private enum WithdrawalOutcome: Sendable {
  /// It goes on elsewhere for some.
  case stored(Elsewhere.Change)
  /// That changes nothing.
  case needless
  /// The push's end on the direct connection is being stored: retry after it.
  case tooEarly
}

/// Taking pushes back from channels.
extension Deliveries {
  /// A channel rejected a push for some devices, which then get it elsewhere, and the channel's part has
  /// ended for them: those in `goingOn`, whose token is gone, over another channel that reaches them
  /// (`Succession`); the others over the direct connection, since their strategy says so. Nothing changes for
  /// devices for which it waits there already, or that have it. `done` says whether that is stored: until
  /// then the end of the channel's part must not be stored. It is also not stored if it has to be retried
  /// because the push ends at this moment.
  package func withdraw(
    _ id: MessageID, in app: App, from channel: ChannelID, for refused: [RegistrationNumber],
    goingOn: Set<RegistrationNumber> = [], done: @escaping @Sendable (_ isStored: Bool) -> Void
  ) {
    let now = time.now()
    // Between the commit and the moment at which memory knows of it no end may be stored that knows nothing
    // of these devices.
    let isYetToEnd = app.directory.pin(id)
    writeBehind.flushEnds()
    store.write(of: app.id) { [channels] transaction throws(StorageError) -> WithdrawalOutcome in
      guard let rows = try transaction.deliveries.targets(of: id), rows.push.app == app.id,
        rows.push.expiresAt > now, rows.withdrawal == nil, let targets = PushTargets(rows, at: now),
        let elsewhere = Elsewhere(rows, targets, from: channel, refused, goingOn, channels, in: app)
      else { return .needless }
      guard isYetToEnd || !rows.isPending || elsewhere.own.isEmpty else { return .tooEarly }
      return .stored(try elsewhere.store(rows, targets, in: transaction))
    } completion: { [self] result in
      if case .success(.stored(let change)) = result {
        apply(change, in: app, at: now)
      } else {
        writeBehind.note(app.directory.unpin(id, opening: nil).change, of: app, at: now)
      }
      switch result {
      case .success(.stored), .success(.needless): done(true)
      case .success(.tooEarly), .failure: done(false)
      }
    }
  }

  /// What is stored takes effect in memory. On the writer's thread.
  private func apply(_ change: Elsewhere.Change, in app: App, at now: Timestamp) {
    let id = change.push.id
    // Another channel that brings the notification changes nothing for our connection.
    let push = change.late == nil ? nil : StoredPush(change.push, change.fallbacks)
    if let push { contents.replace(id, push) }
    let dispatch = app.directory.unpin(id, opening: change.late)
    writeBehind.note(dispatch.change, of: app, at: now)
    if let push {
      let live = LivePush(app: app.id, id: id, push: push, isLate: true)
      gateways.send(live, of: app, to: dispatch.reachable)
    }
    for channel in change.channels { channels.serviceChannel(channel)?.takeOver(id, of: app) }
  }
}

/// Where a push goes on for those for whom a channel has rejected it.
private struct Elsewhere {
  /// What is stored of it.
  struct Change: Sendable {
    var push: PushRow
    let fallbacks: [FallbackRow]
    /// For whom it waits over the direct connection; nil for nobody.
    var late: LateTargets?
    /// The channels that have taken over.
    var channels: [ChannelID] = []
  }

  private let channel: ChannelID
  /// Who gets it over the direct connection.
  let own: [RegistrationNumber]
  /// Who gets it over other channels.
  private let legs: [DeliveryLeg: NumberSet]
  /// Whom the direct connection was to bring something, and whom a channel took over from it.
  private let ownBefore, handedOver: NumberSet

  /// Nil if nobody gets it elsewhere.
  init?(
    _ rows: TargetRows, _ targets: PushTargets, from channel: ChannelID, _ refused: [RegistrationNumber],
    _ goingOn: Set<RegistrationNumber>, _ plugged: PluggedChannels, in app: App
  ) {
    var back = refused
    var legs: [DeliveryLeg: NumberSet] = [:]
    if !goingOn.isEmpty, let content = PushContent(decoding: rows.push.content) {
      let strategy = Strategy(number: rows.push.strategy) ?? .jpush
      let lost = NumberSet(goingOn.sorted()).subtracting(targets.delivered)
      let parted = Succession(after: channel, content, strategy, plugged, in: app)
        .divide(lost, targets, in: app.directory)
      legs = parted.legs
      back = refused.filter { !goingOn.contains($0) || parted.own.contains($0) }
    }
    let (before, over) = (targets.own, targets.lost[.handedOver] ?? NumberSet())
    // For imported registrations nothing waits over our connection.
    own = app.directory.withoutAwaited(back).filter {
      (!before.contains($0) || over.contains($0)) && !targets.delivered.contains($0)
    }
    (self.channel, self.legs) = (channel, legs)
    (ownBefore, handedOver) = (before, over)
    if own.isEmpty, legs.isEmpty { return nil }
  }

  func store(
    _ rows: TargetRows, _ targets: PushTargets, in transaction: WriteTransaction
  ) throws(StorageError) -> Change {
    var change = Change(push: rows.push, fallbacks: rows.fallbacks)
    let gone = legs.values.reduce(NumberSet(own)) { $0.union($1) }
    if let place = change.push.legs.firstIndex(where: { $0.leg == DeliveryLeg(channel) }) {
      let left = NumberSet(serialized: change.push.legs[place].targets)?.subtracting(gone)
      change.push.legs[place].targets = (left ?? NumberSet()).serialized()
      try transaction.channelQueue.setTargets(of: change.push.id, change.push.legs[place])
    }
    for (leg, numbers) in legs.sorted(by: { $0.key < $1.key }) {
      try storeTargets(numbers, leg, &change, in: transaction)
    }
    if !own.isEmpty { change.late = try storeOwnTargets(rows, targets, &change.push, in: transaction) }
    return change
  }

  /// Another channel takes over.
  private func storeTargets(
    _ numbers: NumberSet, _ leg: DeliveryLeg, _ change: inout Change, in transaction: WriteTransaction
  ) throws(StorageError) {
    var row = LegTargetsRow(leg: leg, targets: numbers.serialized())
    if let place = change.push.legs.firstIndex(where: { $0.leg == leg }) {
      let known = NumberSet(serialized: change.push.legs[place].targets) ?? NumberSet()
      row.targets = known.union(numbers).serialized()
      change.push.legs[place] = row
    } else {
      change.push.legs.append(row)
    }
    let push = change.push
    try transaction.channelQueue.setTargets(of: push.id, row, haveGrown: true)
    try transaction.channelQueue.ensure(
      id: push.id, app: push.app, channel: leg.channel, expiresAt: push.expiresAt)
    change.channels.append(leg.channel)
  }

  /// The direct connection takes over.
  private func storeOwnTargets(
    _ rows: TargetRows, _ targets: PushTargets, _ push: inout PushRow, in transaction: WriteTransaction
  ) throws(StorageError) -> LateTargets {
    let numbers = NumberSet(own)
    let all = ownBefore.union(numbers).serialized()
    push.ownTargets = all
    try transaction.channelQueue.setOwnTargets(id: push.id, own: all)
    if handedOver.intersectionCount(numbers) > 0 {
      try transaction.deliveries.saveDropped(
        id: push.id, reason: LossReason.handedOver.rawValue,
        targets: handedOver.subtracting(numbers).serialized())
    }
    // What had ended goes on, with those who have it and those who never will.
    var progress = rows.isPending ? nil : DeliveryProgress(targets)
    progress?.handedOver.subtract(numbers)
    try progress?.saveDropped(of: push.id, in: transaction)
    try transaction.deliveries.reopen(
      id: push.id, app: push.app, expiresAt: push.expiresAt, delivered: progress?.delivered.serialized())
    return LateTargets(
      numbers: own, expires: push.expiresAt.secondsRoundedUp, isToOne: push.targetCount == 1,
      progress: progress)
  }
}

extension DeliveryProgress {
  /// Where a push stands over our connection whose way there had ended.
  fileprivate init(_ targets: PushTargets) {
    self.init(delivered: targets.acknowledged)
    for (reason, lost) in targets.lost { add(lost, reason) }
  }
}
