import Testing

@testable import Core

@Suite struct LatencyStepsTests {
  /// Each latency lies in its step, above the step before it.
  @Test func steps() {
    for milliseconds in [0, 1, 2, 3, 5, 7, 8, 11, 12, 100, 1000, 1023, 1024, 1449, 60_000, 5_000_000]
      as [Int64]
    {
      let index = LatencySteps.index(milliseconds: milliseconds)
      #expect(milliseconds <= LatencySteps.bound(index), "\(milliseconds)")
      if index > 0 { #expect(milliseconds >= LatencySteps.bound(index - 1), "\(milliseconds)") }
    }
    #expect(LatencySteps.index(milliseconds: -5) == 0)
    #expect(LatencySteps.index(milliseconds: .max) == LatencySteps.count - 1)
  }

  @Test func percentiles() {
    var counts = [UInt32](repeating: 0, count: LatencySteps.count)
    #expect(LatencySteps.percentile(0.5, of: counts) == nil)
    counts[4] = 90
    counts[20] = 10
    #expect(LatencySteps.percentile(0.5, of: counts) == LatencySteps.bound(4))
    #expect(LatencySteps.percentile(0.9, of: counts) == LatencySteps.bound(4))
    #expect(LatencySteps.percentile(0.99, of: counts) == LatencySteps.bound(20))
  }
}
