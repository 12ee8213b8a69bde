import BorealisBase
import Model
import Storage

/// What has become of a push on one channel.
package struct ChannelTargets: Sendable {
  /// The targets, including those for which it waits on the direct connection since the channel's service
  /// rejected it.
  package var meant = NumberSet()
  /// The targets that have it, or for which the channel's service accepted it.
  package var accepted = NumberSet()
  /// The targets that it was handed to: those in `accepted`, and those for which the service said later that
  /// it did not arrive.
  package var handed = NumberSet()
  /// The targets of which it is known that the device has it: by their own word, or by a receipt of the
  /// service.
  package var arrived = NumberSet()
  /// Who may still get it.
  package var waiting = NumberSet()
  /// The targets that the channel's service finally refused, by reason.
  package var refused: [String: NumberSet] = [:]
  /// Who showed what the channel brought, and whose users tapped that.
  package var shown = NumberSet(), tapped = NumberSet()
}

/// What has become of one leg of a push: each of its targets is in one of `accepted`, `withdrawn`, `expired`,
/// the sets of `refused`, and `unanswered`.
package struct LegTargets: Sendable {
  /// The targets, without those for which it waits on the direct connection.
  package let targets: NumberSet
  private let results: [String: NumberSet]
  /// The targets for which the service accepted it, or that showed it, without those in `denied`.
  package private(set) var accepted = NumberSet()
  /// The targets for which it was recalled, expired, or has no outcome.
  private(set) var withdrawn = NumberSet(), expired = NumberSet(), unanswered = NumberSet()
  /// The targets that the service rejected, by reason: disjoint sets.
  package private(set) var refused: [String: NumberSet] = [:]
  /// Who showed it.
  private(set) var shown = NumberSet()
  /// Who has it by their own word or by a receipt.
  private(set) var arrived = NumberSet()
  /// The targets for which the service took it and then said that it did not arrive, by what it said:
  /// disjoint sets.
  package private(set) var denied: [ReceiptReason: NumberSet] = [:]
  /// The targets without a request to the service yet.
  package private(set) var waiting = NumberSet()
  private var isAlive = true

  init(targets: NumberSet, results: [String: NumberSet]) {
    (self.targets, self.results) = (targets, results)
    divide()
  }

  /// The targets that the service serves, without those that the direct connection took over after a
  /// rejection.
  var known: NumberSet { targets.union(results[ChannelEnd.delivered] ?? NumberSet()) }

  /// All targets with a past or future request to the service.
  package var meant: NumberSet { refused.values.reduce(into: targets.union(accepted)) { $0.formUnion($1) } }

  /// The targets that the service took it for.
  var handed: NumberSet { denied.values.reduce(accepted) { $0.union($1) } }

  /// Adds those who have it by their own word, what receipts say, and whether the service is being asked.
  mutating func prove(
    _ shown: NumberSet, _ receipts: [PushReceipt: NumberSet], isAsked: Bool, isAlive: Bool
  ) {
    self.shown = shown
    self.isAlive = isAlive
    let known = known
    arrived = shown.union(receipts[.arrived]?.intersection(known) ?? NumberSet())
    // That a device has it outweighs all else. Of several other receipts the first in this order counts.
    var left = known.subtracting(arrived)
    for (receipt, targets) in receipts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      guard let reason = receipt.reason else { continue }
      let targets = targets.intersection(left)
      if !targets.isEmpty { denied[reason] = targets }
      left.subtract(targets)
    }
    if !arrived.isEmpty || !denied.isEmpty { divide() }
    waiting = isAsked && isAlive ? unanswered : NumberSet()
  }

  private mutating func divide() {
    accepted = (results[ChannelEnd.delivered] ?? NumberSet()).union(arrived)
    refused = [:]
    for (reason, targets) in denied {
      accepted.subtract(targets)
      refused[reason.rawValue] = targets
    }
    var answered = denied.values.reduce(accepted) { $0.union($1) }
    func rest(_ targets: NumberSet?) -> NumberSet {
      let new = (targets ?? NumberSet()).subtracting(answered)
      answered.formUnion(new)
      return new
    }
    // What the service says counts before our own words.
    let own = [ChannelEnd.delivered, ChannelEnd.expired, ChannelEnd.withdrawn]
    for reason in results.keys.sorted() where !own.contains(reason) {
      let targets = rest(results[reason])
      // Some answers use the words of receipts.
      if !targets.isEmpty { refused[reason, default: NumberSet()].formUnion(targets) }
    }
    withdrawn = rest(results[ChannelEnd.withdrawn])
    expired = rest(results[ChannelEnd.expired])
    unanswered = targets.subtracting(answered)
  }

  /// Devices by outcome: one of `ChannelEnd`, or a reason of the service. Those that wait are not in it.
  package var counts: [String: Int] {
    var counts = refused.mapValues(\.count)
    counts[ChannelEnd.delivered] = accepted.count
    counts[ChannelEnd.withdrawn] = withdrawn.count
    counts[ChannelEnd.expired] = expired.count + (isAlive ? 0 : unanswered.count)
    return counts.filter { $0.value > 0 }
  }
}
