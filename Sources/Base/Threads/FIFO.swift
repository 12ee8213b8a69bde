/// A queue: first in, first out. Elements that come back go to the front. No element is moved often, and an
/// emptied queue keeps its capacity.
@frozen
public struct FIFO<Element: Sendable>: Sendable {
  @usableFromInline
  internal var items: [Element?] = []
  @usableFromInline
  internal var head = 0

  /// Creates an empty queue.
  @inlinable
  public init() {}

  /// The number of elements.
  @inlinable
  public var count: Int { items.count - head }

  /// Whether there is no element.
  @inlinable
  public var isEmpty: Bool { count == 0 }

  /// The first element; nil if there is none.
  @inlinable
  public var first: Element? { head < items.count ? items[head] : nil }

  /// Adds an element as the last.
  @inlinable
  public mutating func append(_ item: Element) { items.append(item) }

  /// Adds an element as the first.
  @inlinable
  public mutating func putBack(_ item: Element) {
    if head == 0 {
      // Reserves room: thousands come back when a host fails.
      head = max(16, items.count / 4)
      items.insert(contentsOf: repeatElement(nil, count: head), at: 0)
    }
    head -= 1
    items[head] = item
  }

  /// Removes the first element; nil if there is none.
  @inlinable
  public mutating func popFirst() -> Element? {
    guard head < items.count else { return nil }
    defer {
      items[head] = nil
      head += 1
      if head == items.count {
        items.removeAll(keepingCapacity: true)
        head = 0
      } else if head > 1024, head * 2 > items.count {
        items.removeFirst(head)
        head = 0
      }
    }
    return items[head]
  }

  /// Removes up to `limit` elements from the front, in order.
  @inlinable
  public mutating func popFirst(upTo limit: Int) -> [Element] {
    var taken: [Element] = []
    taken.reserveCapacity(min(limit, count))
    while taken.count < limit, let element = popFirst() { taken.append(element) }
    return taken
  }

  /// Removes all elements and returns them in order.
  @inlinable
  public mutating func removeAll() -> [Element] {
    defer {
      items = []
      head = 0
    }
    return items[head...].compactMap { $0 }
  }
}
