import Glibc

/// The two-proportion z-test: whether two rates differ by more than chance, with the pooled rate and both
/// sides.
package struct TwoProportionTest: Equatable, Sendable {
  /// The difference of the rates in standard errors; positive if the first is larger.
  package let z: Double
  /// How likely a difference at least as large is if the rates are the same.
  package let pValue: Double

  /// Successes and failures that either side is to have on average, if the rates are the same, for the normal
  /// distribution to come close.
  static let leastExpected = 5.0

  /// Nil if there are too few of anything for the test to mean something.
  package init?(_ first: (successes: Int, trials: Int), _ second: (successes: Int, trials: Int)) {
    guard first.trials > 0, second.trials > 0 else { return nil }
    let (trials, others) = (Double(first.trials), Double(second.trials))
    let rate = Double(first.successes + second.successes) / (trials + others)
    guard min(trials, others) * min(rate, 1 - rate) >= Self.leastExpected else { return nil }
    let error = (rate * (1 - rate) * (1 / trials + 1 / others)).squareRoot()
    z = (Double(first.successes) / trials - Double(second.successes) / others) / error
    pValue = erfc(abs(z) / 2.0.squareRoot())
  }
}
