import BorealisBase

/// Why a push arrived at a device or did not: each step with what is known about it. Depends only on the
/// facts; what was not recorded stays unknown.
package struct Diagnosis: Equatable, Sendable {
  package let conclusion: WhyConclusion
  /// All steps, in the order in which they are looked at.
  package let steps: [WhyStep]
  /// The step that the sender has to look at first; nil if nothing is wrong, or nothing is known.
  package let firstFailure: WhyStep?

  /// Judges facts.
  package init(_ facts: WhyFacts) {
    var channels = facts.channelPoints
    if let point = facts.way?.channel.words.point, !channels.contains(point) { channels.append(point) }
    let points = WhyPoint.beforeChannels + channels + WhyPoint.afterChannels
    let steps = points.map { WhyJudge(facts).step($0) }
    self.steps = steps
    conclusion = Self.conclusion(facts, steps)
    let isUnderWay = steps.contains { $0.verdict == .waiting }
    // That another channel has it now is no failure until that has failed.
    let failures = steps.filter {
      $0.verdict == .failed && !(isUnderWay && $0.cause == .notAcknowledgedInTime)
    }
    // Of what has arrived only what comes afterwards can still go wrong.
    firstFailure = facts.hasArrived ? failures.first { $0.point == .callback } : failures.first
  }

  /// The step that says about a point.
  package func step(_ point: WhyPoint) -> WhyStep? { steps.first { $0.point == point } }

  private static func conclusion(_ facts: WhyFacts, _ steps: [WhyStep]) -> WhyConclusion {
    if facts.isAcknowledged || facts.isSeen || facts.way?.hasArrived == true { return .arrived }
    if facts.way?.state == .accepted { return .handedOver }
    if steps.contains(where: { $0.verdict == .waiting }) { return .waiting }
    return steps.contains { $0.verdict == .failed && $0.point != .callback } ? .failed : .unknown
  }
}

extension WhyFacts {
  /// Whether the device acknowledged it over the direct connection.
  var isAcknowledged: Bool { if case .acknowledged = own { true } else { false } }

  /// Whether it was seen.
  var isSeen: Bool { isShown || isTapped }

  /// Whether a channel has delivered it, as far as the server can know.
  var hasArrived: Bool { isAcknowledged || isSeen || way?.state == .accepted }

  /// What the device runs, or ran.
  var platform: Platform? { device?.platform ?? gone?.platform }

  /// When the push ended for who did not have it; nil while it lives.
  var endedAt: Timestamp? {
    if let withdrawal = push.withdrawal { return min(withdrawal.at, push.expiresAt) }
    return now < push.expiresAt ? nil : push.expiresAt
  }

  /// Whether it was recalled before it expired.
  var isWithdrawn: Bool { push.withdrawal.map { $0.at < push.expiresAt } ?? false }

  /// The way by a vendor's channel, if it was to bring something, or would have been if it could.
  var wayInQuestion: ChannelWay? {
    guard let way else { return nil }
    let isPossible = platform.map { Routing.mayUseVendor(push.strategy, on: $0) } ?? false
    return way.state != .notMeant || isPossible ? way : nil
  }
}
