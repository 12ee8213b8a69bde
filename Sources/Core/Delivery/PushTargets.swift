import BorealisBase
import Model
import Storage

/// What has become of a push for each of its targets: each target is in exactly one of `delivered`,
/// `pending`, `recalled`, `expired` and the sets of `failed`. The one place where that is decided
/// (Docs/decisions/0029): every reader takes it from here.
package struct PushTargets: Sendable {
  /// All, and those of them on iOS.
  package let all, ios: NumberSet
  /// Who was to get something over our connection.
  package let own: NumberSet
  /// Who has it over our connection: by its acknowledgement, whenever that came, or since it showed what only
  /// our connection brings it.
  package let acknowledged: NumberSet
  /// The targets for which channels' services accepted it: by their responses, or because the device showed
  /// what only they deliver.
  package let accepted: NumberSet
  /// The targets that wait for it on the direct connection, and those without a request to a service yet.
  package let waiting, waitingElsewhere: NumberSet
  /// The targets that will not get it over the direct connection, by reason.
  package let lost: [LossReason: NumberSet]
  /// The targets that channels rejected, by reason: disjoint within a leg.
  package let refused: [String: NumberSet]
  /// What has become of its legs on vendors' channels.
  package let legs: [DeliveryLeg: LegTargets]
  /// Whether a target has no outcome and is not waiting: a row is missing.
  let hasLostRow: Bool
  /// Targets stored both as having it over the direct connection and as not getting it: none expected.
  let contradicted: NumberSet
  /// The targets that reported it as shown, including tapped; and those that reported it as tapped.
  package let shown, tapped: NumberSet
  /// The same of the notification in the app's own pages, of those that got it over our connection.
  package let inAppShown, inAppTapped: NumberSet
  /// Who is known to have it over our connection by more than an acknowledgement in time.
  let shownByOwn, lateByOwn: NumberSet

  /// Who has it, from whichever channel.
  package let delivered: NumberSet
  /// Who does not have it, and may still get it.
  package let pending: NumberSet
  /// The targets for which it was recalled or overridden.
  package let recalled: NumberSet
  /// The targets for which it expired.
  package let expired: NumberSet
  /// Who will not get it for another reason, by reason.
  package let failed: [String: NumberSet]

  /// Reads what is stored; nil if it is unreadable. What is late for `now` counts as expired, even before the
  /// sweep comes.
  package init?(_ rows: TargetRows, at now: Timestamp) {
    guard let sets = Stored(rows) else { return nil }
    let isAlive = now < rows.push.expiresAt
    let claims = ShownClaims(sets)
    let direct = DirectTargets(rows, sets, shown: claims.own, isAlive: isAlive)
    (all, ios, own) = (sets.reached.union(sets.unreached), sets.ios, sets.own)
    (shown, tapped) = (sets.shown.union(sets.tapped), sets.tapped)
    inAppShown = sets.inAppShown.union(sets.inAppTapped).intersection(sets.own)
    inAppTapped = sets.inAppTapped.intersection(sets.own)
    (shownByOwn, lateByOwn) = (claims.own, direct.late)
    (acknowledged, waiting, contradicted) = (direct.acknowledged, direct.waiting, direct.contradicted)
    (lost, hasLostRow) = (direct.lost, direct.hasLostRow)

    // Other channels: a device that gets two legs of it has it with the first of them.
    var legs = sets.legs
    for (leg, shown) in claims.legs {
      // What brings the notification is what receipts are about.
      legs[leg]?.prove(
        shown, leg.isMain ? sets.ofServices : [:], isAsked: rows.pendingChannels.contains(leg.channel),
        isAlive: isAlive)
    }
    self.legs = legs
    func union(_ set: KeyPath<LegTargets, NumberSet>) -> NumberSet {
      legs.values.reduce(into: NumberSet()) { $0.formUnion($1[keyPath: set]) }
    }
    accepted = union(\.accepted)
    let (open, withdrawn, late) = (union(\.unanswered), union(\.withdrawn), union(\.expired))
    waitingElsewhere = union(\.waiting)
    refused = legs.values.reduce(into: [:]) { all, leg in
      for (reason, targets) in leg.refused { all[reason, default: NumberSet()].formUnion(targets) }
    }

    // All: what is first in this order counts.
    let isWithdrawn = rows.withdrawal != nil
    delivered = acknowledged.union(accepted).intersection(all)
    var left = all.subtracting(delivered)
    pending = waiting.union(waitingElsewhere).intersection(left)
    left.subtract(pending)
    recalled = (isWithdrawn ? withdrawn.union(direct.rest) : withdrawn).intersection(left)
    left.subtract(recalled)
    var over = late
    if !isWithdrawn { over.formUnion(direct.rest) }
    if !isAlive { over.formUnion(open) }
    if rows.push.isOnlineOnly { over.formUnion(sets.unreached) }
    expired = over.intersection(left)
    left.subtract(expired)
    var failed: [String: NumberSet] = [:]
    func fail(_ reason: String, _ targets: NumberSet) {
      let found = targets.intersection(left)
      if !found.isEmpty { failed[reason] = found }
      left.subtract(found)
    }
    for (reason, targets) in refused.sorted(by: { $0.key < $1.key }) { fail(reason, targets) }
    for reason in [LossReason.replaced, .queueFull] { fail(reason.rawValue, lost[reason] ?? NumberSet()) }
    fail(LossReason.noChannel.rawValue, sets.unreached)
    fail(LossReason.unknown.rawValue, left)
    self.failed = failed
  }
}

/// By which way came what devices have shown. Our connection leaves out the notification that another channel
/// brings, so that this is known.
private struct ShownClaims {
  private(set) var own = NumberSet()
  private(set) var legs: [DeliveryLeg: NumberSet] = [:]

  init(_ sets: Stored) {
    var unclaimed = sets.shown.union(sets.tapped)
    func claim(_ known: NumberSet) -> NumberSet {
      let claimed = unclaimed.intersection(known)
      unclaimed.subtract(claimed)
      return claimed
    }
    for leg in sets.legs.keys.sorted() where leg.isMain {
      legs[leg] = claim(sets.legs[leg]?.known ?? NumberSet())
    }
    own = claim(sets.own)
    for leg in sets.legs.keys.sorted() where !leg.isMain {
      legs[leg] = claim(sets.legs[leg]?.known ?? NumberSet())
    }
  }
}

/// What has become of a push for those who were to get something over our connection.
private struct DirectTargets {
  let acknowledged, waiting, late, contradicted: NumberSet
  /// Those who neither have it nor wait, for no reason of their own.
  let rest: NumberSet
  let lost: [LossReason: NumberSet]
  let hasLostRow: Bool

  init(_ rows: TargetRows, _ sets: Stored, shown: NumberSet, isAlive: Bool) {
    let status = rows.outcome?.status ?? .open
    late = sets.late.intersection(sets.own)
    // That a device has it outweighs all that was given up before that was known.
    var acknowledged = sets.delivered.intersection(sets.own).union(shown).union(late)
    // Whom a channel took over may have acknowledged at the same moment.
    contradicted = sets.dropped.reduce(into: NumberSet()) {
      if $1.key != .handedOver { $0.formUnion($1.value.intersection(sets.delivered)) }
    }
    let dropped = sets.dropped.mapValues { $0.subtracting(acknowledged) }
    var rest = sets.own.subtracting(acknowledged)
    for targets in dropped.values { rest.subtract(targets) }
    let isOver = !rows.isPending && status != .open
    if isOver, status == .delivered {
      acknowledged.formUnion(rest)
      rest = NumberSet()
    }
    self.acknowledged = acknowledged
    hasLostRow = !rows.isPending && status == .open && !rest.isEmpty
    waiting = isOver || !isAlive ? NumberSet() : rest
    rest.subtract(waiting)
    var lost = dropped.filter { !$0.value.isEmpty }
    if !rest.isEmpty, isOver, status == .dropped || status == .replaced {
      lost[status == .dropped ? .queueFull : .replaced, default: NumberSet()].formUnion(rest)
      rest = NumberSet()
    }
    (self.lost, self.rest) = (lost, rest)
  }
}

extension PushTargets {
  /// Who has it but for an addition such as a call, from whichever channel: nothing has to be sent again.
  var served: NumberSet {
    legs.reduce(into: acknowledged) { all, leg in
      if leg.key.isMain { all.formUnion(leg.value.accepted) }
    }
  }

  /// Targets that will not get it for reasons other than its time or its sender.
  package var failedCount: Int { failed.values.reduce(0) { $0 + $1.count } }

  /// The targets of channels to outside services, including those for which it waits on the direct connection
  /// since a service rejected it.
  package var meantForVendors: NumberSet {
    legs.values.reduce(into: NumberSet()) { $0.formUnion($1.meant) }
  }

  /// The channels with targets, passthrough first.
  package var channels: [ChannelID] {
    let vendors = Set(legs.filter { !$0.value.meant.isEmpty }.keys.map(\.channel)).sorted()
    return (own.isEmpty ? [] : [.passthrough]) + vendors
  }

  /// What has become of it on a channel.
  package func on(_ channel: ChannelID) -> ChannelTargets {
    if channel == .passthrough {
      return ChannelTargets(
        meant: own, accepted: acknowledged, handed: acknowledged, arrived: acknowledged, waiting: waiting,
        shown: shownByOwn, tapped: tapped.intersection(shownByOwn))
    }
    return on(legs.filter { $0.key.channel == channel }.values)
  }

  /// What has become of it on one leg of a channel to an outside service.
  package func on(leg: DeliveryLeg) -> ChannelTargets { on(legs[leg].map { [$0] } ?? []) }

  private func on(_ some: some Sequence<LegTargets>) -> ChannelTargets {
    var sum = ChannelTargets()
    for targets in some {
      sum.meant.formUnion(targets.meant)
      sum.accepted.formUnion(targets.accepted)
      sum.handed.formUnion(targets.handed)
      sum.arrived.formUnion(targets.arrived)
      sum.waiting.formUnion(targets.waiting)
      sum.shown.formUnion(targets.shown)
      for (reason, numbers) in targets.refused {
        sum.refused[reason, default: NumberSet()].formUnion(numbers)
      }
    }
    sum.tapped = tapped.intersection(sum.shown)
    return sum
  }

  /// The targets whose notification a channel to an outside service brings, without those for whom our
  /// connection took it over.
  var servedForNotifications: NumberSet {
    legs.reduce(into: NumberSet()) { if $1.key.isMain { $0.formUnion($1.value.targets) } }
  }

  /// The targets that receipts of channels' services may be about.
  var servedByMainLegs: NumberSet {
    legs.reduce(into: NumberSet()) { if $1.key.isMain { $0.formUnion($1.value.known) } }
  }

  /// The targets for which a channel's service took it and then said that it did not arrive, by what it said.
  func denied(on channel: ChannelID) -> [ReceiptReason: NumberSet] {
    legs[DeliveryLeg(channel)]?.denied ?? [:]
  }

  /// The targets for which a channel's service took it and then said that it did not arrive.
  package var deniedByServices: NumberSet {
    legs.values.reduce(into: NumberSet()) { all, leg in
      for targets in leg.denied.values { all.formUnion(targets) }
    }
  }

  /// The channels that brought it, or may yet, to targets that another one had refused, with their number.
  package var goneOn: [(channel: ChannelID, count: Int)] {
    let refused = channels.filter { $0 != .passthrough }.map { channel in
      (channel, on(channel).refused.values.reduce(into: NumberSet()) { $0.formUnion($1) })
    }
    return refused.compactMap { channel, own in
      let others = refused.reduce(into: NumberSet()) { if $1.0 != channel { $0.formUnion($1.1) } }
      let count = on(channel).meant.subtracting(own).intersectionCount(others)
      return count > 0 ? (channel, count) : nil
    }
  }

  /// Which channel has a final reason of this name why it does not bring the push to a device.
  package func refusing(_ reason: String, _ number: RegistrationNumber) -> ChannelID? {
    legs.keys.sorted().first { legs[$0]?.refused[reason]?.contains(number) == true }?.channel
  }

  /// Whether it was recalled from all who do not have it, by newer pushes if not by its sender.
  var isOverridden: Bool { !recalled.isEmpty && delivered.count + recalled.count == all.count }

  /// Whether every target has it.
  package var haveAll: Bool { !all.isEmpty && delivered.count == all.count }
}

extension TargetRows {
  /// That the push was recalled or overridden; what came too late for that has no effect.
  var withdrawal: OutcomeRow.Withdrawal? {
    outcome?.withdrawal.flatMap { $0.at < push.expiresAt ? $0 : nil }
  }
}

/// The stored sets of a push.
private struct Stored {
  let reached, unreached, own, ios, delivered: NumberSet
  var dropped: [LossReason: NumberSet] = [:]
  var legs: [DeliveryLeg: LegTargets] = [:]
  let shown, tapped, late, inAppShown, inAppTapped: NumberSet
  var ofServices: [PushReceipt: NumberSet] = [:]

  init?(_ rows: TargetRows) {
    let push = rows.push
    func set(_ bytes: [UInt8]?) -> NumberSet? { bytes.map { NumberSet(serialized: $0) } ?? NumberSet() }
    let single = push.target.map { NumberSet([$0]) }
    guard let reached = single ?? set(push.targets), let unreached = set(push.unreached),
      let own = push.ownTargets == nil ? reached : set(push.ownTargets), let targets = push.legTargets,
      let ios = set(push.iosTargets), let delivered = set(rows.delivered), let shown = set(rows.shown),
      let tapped = set(rows.tapped), let late = set(rows.late), let inAppShown = set(rows.inAppShown),
      let inAppTapped = set(rows.inAppTapped)
    else { return nil }
    (self.reached, self.unreached, self.own, self.ios) = (reached, unreached, own, ios)
    (self.delivered, self.late) = (delivered, late)
    (self.inAppShown, self.inAppTapped) = (inAppShown, inAppTapped)
    for (reason, bytes) in rows.dropped {
      guard let targets = NumberSet(serialized: bytes) else { return nil }
      dropped[LossReason(rawValue: reason) ?? .queueFull, default: NumberSet()].formUnion(targets)
    }
    for leg in Set(targets.keys).union(rows.results.keys) {
      var results: [String: NumberSet] = [:]
      for (outcome, bytes) in rows.results[leg] ?? [:] {
        guard let numbers = NumberSet(serialized: bytes) else { return nil }
        results[outcome] = numbers
      }
      legs[leg] = LegTargets(targets: targets[leg] ?? NumberSet(), results: results)
    }
    for (receipt, bytes) in rows.ofServices {
      guard let targets = NumberSet(serialized: bytes) else { return nil }
      ofServices[receipt] = targets
    }
    // The receipts of a single stand with its outcome.
    self.shown = rows.outcome?.shownAt == nil ? shown : single ?? shown
    self.tapped = rows.outcome?.tappedAt == nil ? tapped : single ?? tapped
  }
}
