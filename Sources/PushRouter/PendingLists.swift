import PushBase

/// The undelivered single pushes of every registration of an app: a singly linked list each, in one pool of 16-byte
/// nodes, oldest first.
struct PendingLists: Sendable {
  /// Where a registration's list begins and ends; 12 bytes in its record.
  struct List: Sendable {
    fileprivate var head: UInt32 = .max
    fileprivate var tail: UInt32 = .max
    /// How many pushes wait.
    fileprivate(set) var count: UInt32 = 0
  }

  private struct Node: Sendable {
    var message: UInt64
    /// Unix seconds; the push is dead from then on.
    var expires: UInt32
    var next: UInt32
  }

  private var nodes: [Node] = []
  private var free: UInt32 = .max
  /// Pushes that wait, of all lists together.
  private(set) var count = 0

  /// Adds a push at the end of a list.
  mutating func append(_ message: MessageID, expires: UInt32, to list: inout List) {
    let node = Node(message: message.rawValue, expires: expires, next: .max)
    let index: UInt32
    if free != .max {
      index = free
      free = nodes[Int(index)].next
      nodes[Int(index)] = node
    } else {
      index = UInt32(nodes.count)
      nodes.append(node)
    }
    if list.tail == .max { list.head = index } else { nodes[Int(list.tail)].next = index }
    list.tail = index
    list.count += 1
    count += 1
  }

  /// Removes a push from a list; false if it is not there. Fast for the oldest, which acknowledgements name.
  mutating func remove(_ message: MessageID, from list: inout List) -> Bool {
    var previous: UInt32 = .max
    var index = list.head
    while index != .max {
      let node = nodes[Int(index)]
      if node.message == message.rawValue {
        if previous == .max { list.head = node.next } else { nodes[Int(previous)].next = node.next }
        if list.tail == index { list.tail = previous }
        recycle(index)
        list.count -= 1
        return true
      }
      previous = index
      index = node.next
    }
    return false
  }

  /// Takes the oldest push out of a list.
  mutating func removeFirst(from list: inout List) -> MessageID? {
    guard list.head != .max else { return nil }
    let message = MessageID(nodes[Int(list.head)].message)
    return remove(message, from: &list) ? message : nil
  }

  /// Removes what is dead at a time and returns it.
  mutating func removeExpired(at seconds: UInt32, from list: inout List) -> [MessageID] {
    var dead: [MessageID] = []
    forEach(in: list) { message, expires in
      if expires <= seconds { dead.append(message) }
    }
    for message in dead { _ = remove(message, from: &list) }
    return dead
  }

  /// Visits a list, oldest first.
  func forEach(in list: List, _ visit: (MessageID, _ expires: UInt32) -> Void) {
    var index = list.head
    while index != .max {
      visit(MessageID(nodes[Int(index)].message), nodes[Int(index)].expires)
      index = nodes[Int(index)].next
    }
  }

  private mutating func recycle(_ index: UInt32) {
    nodes[Int(index)].next = free
    free = index
    count -= 1
  }
}
