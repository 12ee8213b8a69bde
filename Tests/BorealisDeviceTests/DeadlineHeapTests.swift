import Testing

@testable import BorealisDevice

@Suite struct DeadlineHeapTests {
  /// Whatever the order of adding, entries come up in the order of their deadlines and never too early.
  @Test(arguments: 0..<20 as Range<UInt64>) func earliestFirst(seed: UInt64) {
    var state = seed
    var heap = DeadlineHeap()
    var expected: [UInt64] = []
    for key in 0..<300 as Range<UInt32> {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let deadline = state >> 33 % 200
      heap.add(key, at: deadline)
      expected.append(deadline)
    }
    expected.sort()
    #expect(heap.earliest == expected.first)
    var found: [UInt64] = []
    for now in 0...200 as ClosedRange<UInt64> {
      while let entry = heap.popDue(at: now) {
        #expect(entry.deadline == now)
        found.append(entry.deadline)
      }
    }
    #expect(found == expected)
    #expect(heap.earliest == nil)
  }
}
