/// Deadlines of many devices, the earliest first. An entry cannot be taken out: the owner compares what comes up with
/// the deadline it has now.
struct DeadlineHeap {
  struct Entry: Equatable {
    let deadline: UInt64
    let key: UInt32
  }

  private var entries: [Entry] = []

  /// The earliest deadline.
  var earliest: UInt64? { entries.first?.deadline }

  mutating func add(_ key: UInt32, at deadline: UInt64) {
    entries.append(Entry(deadline: deadline, key: key))
    var place = entries.count - 1
    while place > 0, case let parent = (place - 1) / 2, entries[place].deadline < entries[parent].deadline {
      entries.swapAt(place, parent)
      place = parent
    }
  }

  /// Takes out the earliest entry if its deadline has come.
  mutating func popDue(at now: UInt64) -> Entry? {
    guard let first = entries.first, first.deadline <= now else { return nil }
    let last = entries.removeLast()
    if !entries.isEmpty {
      entries[0] = last
      siftDown()
    }
    return first
  }

  private mutating func siftDown() {
    var place = 0
    while true {
      var smallest = place
      for child in [2 * place + 1, 2 * place + 2] where child < entries.count {
        if entries[child].deadline < entries[smallest].deadline { smallest = child }
      }
      guard smallest != place else { return }
      entries.swapAt(place, smallest)
      place = smallest
    }
  }
}
