/// First in, first out; elements that come back go to the front.
struct FIFO<Element: Sendable>: Sendable {
  private var items: [Element?] = []
  private var head = 0

  var count: Int { items.count - head }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ item: Element) { items.append(item) }

  mutating func putBack(_ item: Element) {
    if head == 0 {
      // Reserves room: thousands come back when a host fails.
      head = max(16, items.count / 4)
      items.insert(contentsOf: repeatElement(nil, count: head), at: 0)
    }
    head -= 1
    items[head] = item
  }

  mutating func popFirst() -> Element? {
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

  mutating func removeAll() -> [Element] {
    defer {
      items = []
      head = 0
    }
    return items[head...].compactMap { $0 }
  }
}
