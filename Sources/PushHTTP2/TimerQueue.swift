/// Things to do at times of the loop's clock: a binary heap, in the order they were added for equal times.
struct TimerQueue {
  private struct Entry {
    let time: UInt64
    let number: UInt64
    let action: () -> Void

    func isBefore(_ other: Entry) -> Bool { (time, number) < (other.time, other.number) }
  }

  private var heap: [Entry] = []
  private var added: UInt64 = 0

  /// When the next one is due, nil if there is none.
  var next: UInt64? { heap.first?.time }

  /// Adds an action at a time in nanoseconds.
  mutating func add(at time: UInt64, _ action: @escaping () -> Void) {
    added += 1
    heap.append(Entry(time: time, number: added, action: action))
    var child = heap.count - 1
    while child > 0, heap[child].isBefore(heap[(child - 1) / 2]) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Takes the next action if it is due.
  mutating func takeDue(_ now: UInt64) -> (() -> Void)? {
    guard let first = heap.first, first.time <= now else { return nil }
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
        if heap[child].isBefore(heap[least]) { least = child }
      }
      if least == parent { return first.action }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
