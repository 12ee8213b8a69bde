/// A queue in an array: what was taken is dropped once it is half of all, so that no element is moved often.
struct FirstInFirstOut<Element: Sendable>: Sendable {
  private var elements: [Element] = []
  private var taken = 0

  var count: Int { elements.count - taken }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ element: Element) { elements.append(element) }

  /// Takes up to `limit` of the oldest elements.
  mutating func take(_ limit: Int) -> [Element] {
    let found = Array(elements[taken...].prefix(limit))
    taken += found.count
    if taken * 2 >= elements.count {
      elements.removeFirst(taken)
      taken = 0
    }
    return found
  }
}
