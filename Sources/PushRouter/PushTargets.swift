import PushBase
import PushDomain
import PushStorage

/// What has become of a push for each of its targets: each target is in exactly one of `delivered`, `pending`, `recalled`,
/// `expired` and the sets of `failed`.
public struct PushTargets: Sendable {
  /// All, and those of them on iOS.
  public let all, ios: NumberSet
  /// Who was to get something over our connection, and from Apple.
  public let own, apns: NumberSet
  /// Who acknowledged it over our connection.
  public let acknowledged: NumberSet
  /// For whom Apple took it.
  public let accepted: NumberSet
  /// Who waits for it over our connection, and for whom Apple is to be asked.
  public let waiting, waitingForApple: NumberSet
  /// Who will not get it over our connection for a reason of ours, by reason.
  public let lost: [LossReason: NumberSet]
  /// Who will not get it from Apple, by reason: nobody stands under two.
  public let refused: [String: NumberSet]
  /// How the way to Apple stands, for calls and for all else.
  public let calls, notifications: AppleStanding
  /// For whom there is no outcome of the way to Apple, by kind of token.
  let unanswered: [APNsTokenKind: NumberSet]
  /// Who is stored both among those who have it over our connection and among those who will not get it: nobody.
  let contradicted: NumberSet
  /// Who reported that it was shown, with those whose users tapped it; and the latter alone.
  public let shown, tapped: NumberSet

  /// Who has it, from whichever channel.
  public let delivered: NumberSet
  /// Who does not have it, and may still get it.
  public let pending: NumberSet
  /// For whom it was taken back, or replaced by another push.
  public let recalled: NumberSet
  /// Whose time for it was over.
  public let expired: NumberSet
  /// Who will not get it for another reason, by reason.
  public let failed: [String: NumberSet]

  /// Reads what is stored; nil if it is unreadable. What is late for `now` counts as expired, even before the sweep comes.
  public init?(_ rows: TargetRows, at now: Timestamp) {
    guard let sets = Stored(rows) else { return nil }
    let isAlive = now < rows.push.expiresAt
    let status = rows.outcome?.status ?? .open
    // What is taken back too late has expired.
    let isTakenBack = status.isTakenBack && rows.outcome.map { $0.at < rows.push.expiresAt } == true
    (all, ios, own) = (sets.reached.union(sets.unreached), sets.ios, sets.own)
    (shown, tapped) = (sets.shown.union(sets.tapped), sets.tapped)

    // Our connection.
    var rest = own
    for targets in sets.dropped.values { rest.subtract(targets) }
    contradicted = sets.dropped.values.reduce(into: NumberSet()) {
      $0.formUnion($1.intersection(sets.delivered))
    }
    let isOwnOver = !rows.isPending && status != .open
    acknowledged = isOwnOver && status == .delivered ? rest : sets.delivered.intersection(own)
    rest.subtract(acknowledged)
    waiting = isOwnOver || !isAlive ? NumberSet() : rest
    rest.subtract(waiting)
    var lost = sets.dropped.filter { !$0.value.isEmpty }
    if !rest.isEmpty, isOwnOver, status == .dropped || status == .replaced {
      lost[status == .dropped ? .queueFull : .replaced, default: NumberSet()].formUnion(rest)
      rest = NumberSet()
    }
    self.lost = lost

    // Apple: a device that gets two parts of it has it with the first of them.
    let isAsked = rows.isAPNsPending && isAlive
    let ways = [sets.notifications, sets.calls]
    func union(_ set: (AppleWay) -> NumberSet) -> NumberSet { set(ways[0]).union(set(ways[1])) }
    unanswered = [.device: sets.notifications.unanswered, .voip: sets.calls.unanswered]
    apns = union(\.targets)
    accepted = union(\.accepted)
    let (open, takenBack, late) = (union(\.unanswered), union(\.takenBack), union(\.expired))
    waitingForApple = isAsked ? open : NumberSet()
    refused = ways.reduce(into: [:]) { all, way in
      for (reason, targets) in way.refused { all[reason, default: NumberSet()].formUnion(targets) }
    }
    notifications = sets.notifications.standing(isAsked: isAsked, isAlive: isAlive)
    calls = sets.calls.standing(isAsked: isAsked, isAlive: isAlive)

    // Both: what is first in this order counts.
    delivered = acknowledged.union(accepted).intersection(all)
    var left = all.subtracting(delivered)
    pending = waiting.union(waitingForApple).intersection(left)
    left.subtract(pending)
    recalled = (isTakenBack ? takenBack.union(rest) : takenBack).intersection(left)
    left.subtract(recalled)
    var over = late
    if !isTakenBack { over.formUnion(rest) }
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

extension PushTargets {
  /// Targets that will not get it for reasons other than its time or its sender.
  public var failedCount: Int { failed.values.reduce(0) { $0 + $1.count } }

  /// Whom Apple was to bring it, with those for whom it waits here since Apple refused it.
  public var meantForApple: NumberSet {
    refused.values.reduce(into: apns.union(accepted)) { $0.formUnion($1) }
  }

  /// Who showed what Apple brought, as far as devices have told: those that acknowledged it here got it here.
  public var shownFromApple: NumberSet { shown.subtracting(acknowledged) }

  /// Whose users tapped what Apple brought.
  public var tappedFromApple: NumberSet { tapped.subtracting(acknowledged) }
}

/// How one of the ways to Apple stands.
public struct AppleStanding: Sendable {
  /// Devices that were to get something, with those that Apple refused and that wait here since.
  public let targets: Int
  /// Devices for which Apple is to be asked.
  public let waiting: Int
  /// Devices by outcome: one of `APNsEnd`, or a reason of Apple's. Those that wait are not in it.
  public let results: [String: Int]
}

/// One of the ways to Apple: each of its targets is in one of the sets.
private struct AppleWay {
  let targets, accepted, takenBack, expired, unanswered: NumberSet
  private(set) var refused: [String: NumberSet] = [:]

  init(targets: NumberSet, results: [String: NumberSet]) {
    self.targets = targets
    accepted = results[APNsEnd.delivered] ?? NumberSet()
    var answered = accepted
    func rest(_ targets: NumberSet?) -> NumberSet {
      let new = (targets ?? NumberSet()).subtracting(answered)
      answered.formUnion(new)
      return new
    }
    // What Apple says counts before our own words.
    let own = [APNsEnd.delivered, APNsEnd.expired, APNsEnd.takenBack]
    for reason in results.keys.sorted() where !own.contains(reason) {
      let targets = rest(results[reason])
      if !targets.isEmpty { refused[reason] = targets }
    }
    takenBack = rest(results[APNsEnd.takenBack])
    expired = rest(results[APNsEnd.expired])
    unanswered = targets.subtracting(answered)
  }

  func standing(isAsked: Bool, isAlive: Bool) -> AppleStanding {
    var counts = refused.mapValues(\.count)
    counts[APNsEnd.delivered] = accepted.count
    counts[APNsEnd.takenBack] = takenBack.count
    counts[APNsEnd.expired] = expired.count + (isAlive ? 0 : unanswered.count)
    let meant = refused.values.reduce(into: targets.union(accepted)) { $0.formUnion($1) }
    return AppleStanding(
      targets: meant.count, waiting: isAsked ? unanswered.count : 0, results: counts.filter { $0.value > 0 })
  }
}

/// The stored sets of a push.
private struct Stored {
  let reached, unreached, own, ios, delivered: NumberSet
  var dropped: [LossReason: NumberSet] = [:]
  let notifications, calls: AppleWay
  let shown, tapped: NumberSet

  init?(_ rows: TargetRows) {
    let push = rows.push
    func set(_ bytes: [UInt8]?) -> NumberSet? { bytes.map { NumberSet(serialized: $0) } ?? NumberSet() }
    let single = push.target.map { NumberSet([$0]) }
    guard let reached = single ?? set(push.targets), let unreached = set(push.unreached),
      let own = push.ownTargets == nil ? reached : set(push.ownTargets), let apns = set(push.apnsTargets),
      let ios = set(push.iosTargets), let delivered = set(rows.delivered), let shown = set(rows.shown),
      let tapped = set(rows.tapped), let calls = set(push.callTargets)
    else { return nil }
    (self.reached, self.unreached, self.own, self.ios) = (reached, unreached, own, ios)
    self.delivered = delivered
    for (reason, bytes) in rows.dropped {
      guard let targets = NumberSet(serialized: bytes) else { return nil }
      dropped[LossReason(rawValue: reason) ?? .queueFull, default: NumberSet()].formUnion(targets)
    }
    var results: (notifications: [String: NumberSet], calls: [String: NumberSet]) = ([:], [:])
    for (kind, outcomes) in rows.apnsResults {
      for (reason, bytes) in outcomes {
        guard let targets = NumberSet(serialized: bytes) else { return nil }
        // A push goes to one kind of token besides those for calls.
        if kind == .voip {
          results.calls[reason] = targets
        } else {
          results.notifications[reason, default: NumberSet()].formUnion(targets)
        }
      }
    }
    notifications = AppleWay(targets: apns, results: results.notifications)
    self.calls = AppleWay(targets: calls, results: results.calls)
    // The receipts of a single stand with its outcome.
    self.shown = rows.outcome?.shownAt == nil ? shown : single ?? shown
    self.tapped = rows.outcome?.tappedAt == nil ? tapped : single ?? tapped
  }
}
