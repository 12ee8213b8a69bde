/// Steps of latencies that grow by the square root of 2, from a millisecond to about an hour and a half: a
/// percentile read from them is at most so much too large.
package enum LatencySteps {
  /// How many there are.
  package static let count = 46

  /// The step of a latency.
  static func index(milliseconds: Int64) -> Int {
    guard milliseconds > 1 else { return 0 }
    let value = UInt64(min(milliseconds, 1 << 23))
    let power = 63 - value.leadingZeroBitCount
    // Whether it is over the power of two by more than the square root of two.
    let isUpper = value * value >= 1 << (2 * UInt64(power) + 1)
    return min(2 * power + (isUpper ? 1 : 0), count - 1)
  }

  /// The largest latency of a step, in milliseconds.
  static func bound(_ index: Int) -> Int64 {
    let power = Int64(1) << Int64((index + 1) / 2)
    // 99/70 is the square root of two but for 0.01 percent.
    return index % 2 == 0 ? power * 99 / 70 : power
  }

  /// The latency that a share of the counted did not exceed, in milliseconds; nil if nothing was counted.
  package static func percentile(_ share: Double, of counts: [UInt32]) -> Int64? {
    let total = counts.reduce(UInt64(0)) { $0 + UInt64($1) }
    guard total > 0 else { return nil }
    var sum: UInt64 = 0
    for (index, count) in counts.enumerated() {
      sum += UInt64(count)
      if Double(sum) >= share * Double(total) { return bound(index) }
    }
    return bound(Self.count - 1)
  }
}
