import BorealisNet
import Testing

@Suite struct DeadlineHeapTests {
  /// Whatever the order of adding, what was added comes up in the order of the deadlines, first come first
  /// for equal ones, and never too early.
  @Test(arguments: 0..<20 as Range<UInt64>) func earliestFirst(seed: UInt64) {
    var state = seed
    var heap = DeadlineHeap<Int>()
    var expected: [(deadline: UInt64, element: Int)] = []
    for element in 0..<300 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let deadline = state >> 33 % 200
      heap.add(element, at: deadline)
      expected.append((deadline, element))
    }
    expected.sort { $0 < $1 }
    #expect(heap.earliest == expected.first?.deadline)
    var found: [Int] = []
    for now in 0...200 as ClosedRange<UInt64> {
      while let entry = heap.popDue(at: now) {
        #expect(entry.deadline == now)
        found.append(entry.element)
      }
    }
    #expect(found == expected.map(\.element))
    #expect(heap.earliest == nil)
  }
}
