/// Things with deadlines, the earliest first, in the order they were added for equal deadlines: a binary
/// heap. Nothing can be taken out before its time: an owner who no longer wants something passes over it when
/// it comes up.
public struct DeadlineHeap<Element> {
  @usableFromInline
  struct Entry {
    @usableFromInline let deadline: UInt64
    /// Counts what was added.
    @usableFromInline let number: UInt64
    @usableFromInline let element: Element

    @inlinable
    init(deadline: UInt64, number: UInt64, element: Element) {
      self.deadline = deadline
      self.number = number
      self.element = element
    }

    @inlinable
    func isBefore(_ other: Entry) -> Bool { (deadline, number) < (other.deadline, other.number) }
  }

  @usableFromInline var entries: [Entry] = []
  @usableFromInline var added: UInt64 = 0

  /// An empty one.
  @inlinable
  public init() {}

  /// The earliest deadline, nil if there is nothing.
  @inlinable
  public var earliest: UInt64? { entries.first?.deadline }

  /// Adds something; the deadline is in the owner's unit of time.
  @inlinable
  public mutating func add(_ element: Element, at deadline: UInt64) {
    added &+= 1
    entries.append(Entry(deadline: deadline, number: added, element: element))
    var place = entries.count - 1
    while place > 0, case let parent = (place - 1) / 2, entries[place].isBefore(entries[parent]) {
      entries.swapAt(place, parent)
      place = parent
    }
  }

  /// Removes and returns the first element, if its deadline has come.
  @inlinable
  public mutating func popDue(at now: UInt64) -> (deadline: UInt64, element: Element)? {
    guard let first = entries.first, first.deadline <= now else { return nil }
    let last = entries.removeLast()
    if !entries.isEmpty {
      entries[0] = last
      siftDown()
    }
    return (first.deadline, first.element)
  }

  @inlinable
  mutating func siftDown() {
    var place = 0
    while case let left = 2 * place + 1, left < entries.count {
      let right = left + 1
      let isRightFirst = right < entries.count && entries[right].isBefore(entries[left])
      let child = isRightFirst ? right : left
      guard entries[child].isBefore(entries[place]) else { return }
      entries.swapAt(place, child)
      place = child
    }
  }
}
