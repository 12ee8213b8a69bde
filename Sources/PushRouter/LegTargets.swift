import PushBase
import PushDomain
import PushStorage

/// What has become of a push on one channel.
public struct ChannelTargets: Sendable {
  /// The targets, including those for which it waits on the direct connection since the channel's service rejected it.
  public var meant = NumberSet()
  /// The targets that have it, or for which the channel's service accepted it.
  public var accepted = NumberSet()
  /// Who may still get it.
  public var waiting = NumberSet()
  /// Who showed what the channel brought, and whose users tapped that.
  public var shown = NumberSet(), tapped = NumberSet()
}

/// What has become of one leg of a push: each of its targets is in one of `accepted`, `withdrawn`, `expired`, the sets of
/// `refused`, and `unanswered`.
public struct LegTargets: Sendable {
  /// The targets, without those for which it waits on the direct connection.
  public let targets: NumberSet
  private let results: [String: NumberSet]
  /// The targets for which the service accepted it, or that showed it.
  public private(set) var accepted = NumberSet()
  /// The targets for which it was recalled, expired, or has no outcome.
  private(set) var withdrawn = NumberSet(), expired = NumberSet(), unanswered = NumberSet()
  /// The targets that the service rejected, by reason: disjoint sets.
  public private(set) var refused: [String: NumberSet] = [:]
  /// Who showed it.
  private(set) var shown = NumberSet()
  /// The targets without a request to the service yet.
  public private(set) var waiting = NumberSet()
  private var isAlive = true

  init(targets: NumberSet, results: [String: NumberSet]) {
    (self.targets, self.results) = (targets, results)
    divide()
  }

  /// The targets that the service serves, without those that the direct connection took over after a rejection.
  var known: NumberSet { targets.union(results[ChannelEnd.delivered] ?? NumberSet()) }

  /// All targets with a past or future request to the service.
  public var meant: NumberSet { refused.values.reduce(into: targets.union(accepted)) { $0.formUnion($1) } }

  /// Adds those who have it by their own word, and whether the service is being asked.
  mutating func prove(_ shown: NumberSet, isAsked: Bool, isAlive: Bool) {
    self.shown = shown
    self.isAlive = isAlive
    if !shown.isEmpty { divide() }
    waiting = isAsked && isAlive ? unanswered : NumberSet()
  }

  private mutating func divide() {
    accepted = (results[ChannelEnd.delivered] ?? NumberSet()).union(shown)
    refused = [:]
    var answered = accepted
    func rest(_ targets: NumberSet?) -> NumberSet {
      let new = (targets ?? NumberSet()).subtracting(answered)
      answered.formUnion(new)
      return new
    }
    // What the service says counts before our own words.
    let own = [ChannelEnd.delivered, ChannelEnd.expired, ChannelEnd.withdrawn]
    for reason in results.keys.sorted() where !own.contains(reason) {
      let targets = rest(results[reason])
      if !targets.isEmpty { refused[reason] = targets }
    }
    withdrawn = rest(results[ChannelEnd.withdrawn])
    expired = rest(results[ChannelEnd.expired])
    unanswered = targets.subtracting(answered)
  }

  /// Devices by outcome: one of `ChannelEnd`, or a reason of the service. Those that wait are not in it.
  public var counts: [String: Int] {
    var counts = refused.mapValues(\.count)
    counts[ChannelEnd.delivered] = accepted.count
    counts[ChannelEnd.withdrawn] = withdrawn.count
    counts[ChannelEnd.expired] = expired.count + (isAlive ? 0 : unanswered.count)
    return counts.filter { $0.value > 0 }
  }
}
