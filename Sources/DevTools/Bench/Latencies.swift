/// Durations of one measurement, all of them, so that percentiles are exact.
struct Latencies {
  private var nanoseconds: [UInt64] = []

  /// How many there are.
  var count: Int { nanoseconds.count }

  mutating func add(_ duration: UInt64) { nanoseconds.append(duration) }

  /// The duration in microseconds that `share` (0...1) of all do not exceed (nearest rank); nil for none.
  func percentile(_ share: Double) -> Double? {
    guard !nanoseconds.isEmpty else { return nil }
    let sorted = nanoseconds.sorted()
    let rank = Int((share * Double(sorted.count)).rounded(.up))
    return Double(sorted[min(max(rank, 1), sorted.count) - 1]) / 1000
  }

  /// The longest, in microseconds.
  var maximum: Double? { nanoseconds.max().map { Double($0) / 1000 } }
}
