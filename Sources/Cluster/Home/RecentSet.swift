/// The values seen lately: when it is full, the oldest goes.
struct RecentSet<Value: Hashable & Sendable>: Sendable {
  private let capacity: Int
  private var known: Set<Value> = []
  private var order: [Value] = []
  private var next = 0

  /// Empty, for so many values.
  init(capacity: Int) { self.capacity = capacity }

  /// Whether a value was seen lately.
  func contains(_ value: Value) -> Bool { known.contains(value) }

  /// Notes a value; false if it was seen lately.
  @discardableResult
  mutating func insert(_ value: Value) -> Bool {
    guard known.insert(value).inserted else { return false }
    if order.count < capacity {
      order.append(value)
    } else {
      known.remove(order[next])
      order[next] = value
      next = (next + 1) % capacity
    }
    return true
  }
}
