import BorealisBase

/// How one content of an A/B test has done so far.
package struct ABTestFigures: Equatable, Sendable {
  /// Devices that it was for, that have it, that showed it, and whose users tapped it.
  package let targets, delivered, shown, tapped: Int
  /// Whether its push was recalled or is no longer kept: it cannot win.
  package let isOut: Bool
  /// When the last of those get it who wait for the end of their quiet hours; nil if none does.
  package let heldUntil: Timestamp?

  package init(
    targets: Int, delivered: Int, shown: Int, tapped: Int, isOut: Bool = false, heldUntil: Timestamp? = nil
  ) {
    (self.targets, self.delivered, self.shown) = (targets, delivered, shown)
    (self.tapped, self.isOut, self.heldUntil) = (tapped, isOut, heldUntil)
  }

  /// Taps for each device that has it.
  package var rate: Double { delivered == 0 ? 0 : Double(taps) / Double(delivered) }

  /// A device that reported a tap, and of which no channel says that it has the push, counts as none.
  fileprivate var taps: Int { min(tapped, delivered) }

  /// Compares two rates; nil if there are too few devices or taps.
  fileprivate func compared(with other: ABTestFigures) -> TwoProportionTest? {
    TwoProportionTest((taps, delivered), (other.taps, other.delivered))
  }
}

/// What the figures of an A/B test mean.
package enum ABTestVerdict: Equatable, Sendable {
  /// It is too early.
  case wait
  /// The content at this place wins.
  case winner(Int)
  /// No content can win.
  case nobody

  /// At how many times a test with a level of confidence is looked at, the last included.
  package static let looks = 10

  /// Judges a test. `isLast` says that its time is over: then the highest rate wins, and of equal ones the
  /// first content's. Before that a content wins only if it is better than each other with the test's
  /// confidence, over all looks and comparisons together (Bonferroni).
  package init(_ figures: [ABTestFigures], of design: ABTestDesign, isLast: Bool) {
    guard let best = Self.leader(figures) else {
      self = .nobody
      return
    }
    if isLast {
      self = .winner(best)
      return
    }
    let others = figures.indices.filter { $0 != best && !figures[$0].isOut }
    guard let confidence = design.confidence, !others.isEmpty else {
      self = .wait
      return
    }
    let pairs = figures.count * (figures.count - 1) / 2
    let most = (1 - Double(confidence) / 100) / Double(Self.looks * pairs)
    let isClear = others.allSatisfy { place in
      figures[best].compared(with: figures[place]).map { $0.z > 0 && $0.pValue < most } ?? false
    }
    self = isClear ? .winner(best) : .wait
  }

  /// The content with the highest rate, of equal ones the first; nil if none can win.
  package static func leader(_ figures: [ABTestFigures]) -> Int? {
    figures.indices.filter { !figures[$0].isOut }.max {
      figures[$0].rate < figures[$1].rate || figures[$0].rate == figures[$1].rate && $0 > $1
    }
  }

  /// How sure it is, from 0 to 1, that the rate of the content at a place differs from the leader's, by this
  /// comparison alone; nil for the leader itself, and if there are too few devices or taps.
  package static func confidence(_ figures: [ABTestFigures], at place: Int) -> Double? {
    guard let leader = leader(figures), leader != place else { return nil }
    return figures[leader].compared(with: figures[place]).map { 1 - $0.pValue }
  }
}

extension ABTestDesign {
  /// Seconds after the start of the look with a number, from 1 on. The last is at the end.
  package func secondsOfLook(_ number: Int) -> Int64 {
    guard confidence != nil else { return seconds }
    return seconds * Int64(min(number, ABTestVerdict.looks)) / Int64(ABTestVerdict.looks)
  }
}
