/// Numbers that each have a key, some of which are listed: finds those with the smallest keys without a look
/// at the rest. A binary heap that knows where each number is. A change takes time with the logarithm of what
/// is listed, and the smallest `n` take about `2 n log n` comparisons.
struct RankedNumbers<Key: Comparable & Sendable>: Sendable {
  private struct Entry: Sendable {
    var key: Key?
    /// Its place in the heap; `nowhere` if it is not listed.
    var place = nowhere
  }

  private static var nowhere: UInt32 { .max }

  /// By number.
  private var entries: [Entry] = []
  private var heap: [UInt32] = []

  /// Gives a number its key, unless it has one.
  mutating func define(_ number: UInt32, _ key: Key) {
    while entries.count <= Int(number) { entries.append(Entry()) }
    if entries[Int(number)].key == nil { entries[Int(number)].key = key }
  }

  /// Removes a number's key, and the number from the list.
  mutating func forget(_ number: UInt32) {
    remove(number)
    if Int(number) < entries.count { entries[Int(number)].key = nil }
  }

  /// Lists a number; does nothing if it is listed or has no key.
  mutating func insert(_ number: UInt32) {
    guard Int(number) < entries.count, entries[Int(number)].key != nil,
      entries[Int(number)].place == Self.nowhere
    else { return }
    heap.append(number)
    put(number, heap.count - 1)
    rise(from: heap.count - 1)
  }

  /// Removes a number from the list; does nothing if it is not there.
  mutating func remove(_ number: UInt32) {
    guard Int(number) < entries.count, entries[Int(number)].place != Self.nowhere else { return }
    let place = Int(entries[Int(number)].place)
    entries[Int(number)].place = Self.nowhere
    let last = heap.removeLast()
    guard last != number else { return }
    put(last, place)
    rise(from: place)
    sink(from: Int(entries[Int(last)].place))
  }

  /// The smallest keys of the listed numbers in order, at most `limit`.
  func first(_ limit: Int) -> [Key] {
    var found: [Key] = []
    // Places whose parents are found, the smallest last.
    var next = heap.isEmpty ? [] : [0]
    while found.count < limit, let place = next.popLast() {
      if let key = entries[Int(heap[place])].key { found.append(key) }
      for child in 2 * place + 1...2 * place + 2 where child < heap.count {
        var (low, high) = (0, next.count)
        while low < high {
          let middle = (low + high) / 2
          if isBefore(child, next[middle]) { low = middle + 1 } else { high = middle }
        }
        next.insert(child, at: low)
      }
    }
    return found
  }

  private mutating func put(_ number: UInt32, _ place: Int) {
    heap[place] = number
    entries[Int(number)].place = UInt32(place)
  }

  private mutating func swap(_ one: Int, _ other: Int) {
    let number = heap[one]
    put(heap[other], one)
    put(number, other)
  }

  private mutating func rise(from start: Int) {
    var place = start
    while place > 0, case let parent = (place - 1) / 2, isBefore(place, parent) {
      swap(place, parent)
      place = parent
    }
  }

  private mutating func sink(from start: Int) {
    var place = start
    while case let left = 2 * place + 1, left < heap.count {
      let child = left + 1 < heap.count && isBefore(left + 1, left) ? left + 1 : left
      guard isBefore(child, place) else { return }
      swap(child, place)
      place = child
    }
  }

  /// Whether what is at a place comes before what is at another; by number if their keys are equal.
  private func isBefore(_ one: Int, _ other: Int) -> Bool {
    guard let key = entries[Int(heap[one])].key, let otherKey = entries[Int(heap[other])].key else {
      return false
    }
    return key < otherKey || !(otherKey < key) && heap[one] < heap[other]
  }
}
