import BorealisBase

/// The undelivered pushes of every registration of an app, for pushes to one or a few: a list for each
/// registration, oldest first, in one pool of 24-byte nodes, and an index from pushes to their nodes.
struct PendingLists: Sendable {
  /// Where a registration's list begins and ends; 12 bytes in its record.
  struct List: Sendable {
    fileprivate var head: UInt32 = .max
    fileprivate var tail: UInt32 = .max
    /// How many pushes wait.
    fileprivate(set) var count: UInt32 = 0
  }

  private struct Node: Sendable {
    /// 0 in a free node.
    var message: UInt64 = 0
    /// Unix seconds; the push is dead from then on.
    var expires: UInt32 = 0
    var owner: UInt32 = 0
    var previous: UInt32 = .max
    var next: UInt32 = .max
  }

  private var nodes = ChunkedArray(blank: Node())
  private var byMessage = HashIndex()
  private var free: UInt32 = .max
  private var used: UInt32 = 0
  /// Entries of all lists together.
  private(set) var count = 0

  /// IDs are mostly multiples of 4096; the golden ratio spreads them.
  private static func hash(_ message: MessageID) -> UInt64 { message.rawValue &* 0x9e37_79b9_7f4a_7c15 }

  /// Adds a push to its owner's list, which does not hold it yet: at the end, unless newer ones are there.
  mutating func append(
    _ message: MessageID, expires: UInt32, of owner: RegistrationNumber, to list: inout List
  ) {
    let index = allocateNode()
    assert(message.rawValue != 0 && place(of: message, of: owner) == nil, "a list has each push once")
    var (previous, next) = (list.tail, UInt32.max)
    while previous != .max, nodes[previous].message > message.rawValue {
      (previous, next) = (nodes[previous].previous, previous)
    }
    nodes[index] = Node(
      message: message.rawValue, expires: expires, owner: owner.rawValue, previous: previous, next: next)
    if previous == .max { list.head = index } else { nodes[previous].next = index }
    if next == .max { list.tail = index } else { nodes[next].previous = index }
    list.count += 1
    count += 1
    byMessage.insert(Self.hash(message), index)
    precondition(byMessage.count == count, "every place of a list is in the index")
  }

  private func place(of message: MessageID, of owner: RegistrationNumber) -> UInt32? {
    byMessage.first(Self.hash(message)) {
      nodes[$0].message == message.rawValue && nodes[$0].owner == owner.rawValue
    }
  }

  /// Whether a push is in a registration's list and alive.
  func isAlive(_ message: MessageID, of owner: RegistrationNumber, at seconds: UInt32) -> Bool {
    place(of: message, of: owner).map { seconds < nodes[$0].expires } ?? false
  }

  private mutating func allocateNode() -> UInt32 {
    if free != .max {
      let index = free
      free = nodes[index].next
      return index
    }
    let index = used
    used += 1
    nodes.reach(index)
    return index
  }

  /// Removes a push from its owner's list; false if it is not there.
  mutating func remove(_ message: MessageID, of owner: RegistrationNumber, from list: inout List) -> Bool {
    guard let found = place(of: message, of: owner) else { return false }
    unlink(found, from: &list)
    return true
  }

  private mutating func unlink(_ index: UInt32, from list: inout List) {
    let node = nodes[index]
    precondition(node.message != 0 && list.count > 0, "a place of a list is given back twice")
    if node.previous == .max { list.head = node.next } else { nodes[node.previous].next = node.next }
    if node.next == .max { list.tail = node.previous } else { nodes[node.next].previous = node.previous }
    list.count -= 1
    count -= 1
    precondition((list.count == 0) == (list.head == .max), "a list has as many places as it counts")
    precondition(
      byMessage.remove(Self.hash(MessageID(node.message)), index) && byMessage.count == count,
      "every place of a list is in the index")
    nodes[index] = Node(next: free)
    free = index
  }

  /// Removes the oldest push of a list that matches.
  mutating func removeFirst(
    from list: inout List, where matches: (MessageID) -> Bool = { _ in true }
  ) -> MessageID? {
    var index = list.head
    while index != .max {
      let message = MessageID(nodes[index].message)
      if matches(message) {
        unlink(index, from: &list)
        return message
      }
      index = nodes[index].next
    }
    return nil
  }

  /// Removes what is dead at a time and returns it.
  mutating func removeExpired(at seconds: UInt32, from list: inout List) -> [MessageID] {
    var dead: [MessageID] = []
    var index = list.head
    while index != .max {
      let node = nodes[index]
      if node.expires <= seconds {
        dead.append(MessageID(node.message))
        unlink(index, from: &list)
      }
      index = node.next
    }
    return dead
  }

  /// In whose lists a push is.
  func owners(of message: MessageID) -> [RegistrationNumber] {
    var owners: [RegistrationNumber] = []
    _ = byMessage.first(Self.hash(message)) {
      if nodes[$0].message == message.rawValue { owners.append(RegistrationNumber(nodes[$0].owner)) }
      return false
    }
    return owners
  }

  /// Whether a push is in any list.
  func contains(_ message: MessageID) -> Bool {
    byMessage.first(Self.hash(message)) { nodes[$0].message == message.rawValue } != nil
  }

  /// What a list holds that is newer than `sent`, alive, and matches, oldest first.
  func alive(
    in list: List, of owner: RegistrationNumber, after sent: MessageID, at seconds: UInt32, limit: Int,
    where matches: (MessageID) -> Bool = { _ in true }
  ) -> [MessageID] {
    var found: [MessageID] = []
    // Mostly `sent` was in the page before, and is in the list still.
    var index = list.count == 0 ? list.head : place(of: sent, of: owner).map { nodes[$0].next } ?? list.head
    while index != .max, found.count < limit {
      let node = nodes[index]
      let message = MessageID(node.message)
      if sent < message, seconds < node.expires, matches(message) { found.append(message) }
      index = node.next
    }
    return found
  }

  /// How many entries of a list up to one are alive and match.
  func aliveCount(
    in list: List, through sent: MessageID, at seconds: UInt32,
    where matches: (MessageID) -> Bool = { _ in true }
  ) -> Int {
    var (count, index) = (0, list.head)
    while index != .max, nodes[index].message <= sent.rawValue {
      if seconds < nodes[index].expires, matches(MessageID(nodes[index].message)) { count += 1 }
      index = nodes[index].next
    }
    return count
  }

  /// Whether all lists are what they should be: in order, of one owner each, and every place of the pool in
  /// one of them or free. For assertions, since it visits all places.
  func isConsistent(_ list: (RegistrationNumber) -> List) -> Bool {
    let owners = Set((0..<used).filter { nodes[$0].message != 0 }.map { nodes[$0].owner })
    var linked: UInt32 = 0
    for owner in owners {
      let list = list(RegistrationNumber(owner))
      var (index, previous, length, last) = (list.head, UInt32.max, UInt32(0), UInt64(0))
      while index != .max {
        let node = nodes[index]
        guard node.owner == owner, node.previous == previous, node.message > last else { return false }
        (previous, last, length, index) = (index, node.message, length + 1, node.next)
      }
      guard previous == list.tail, length == list.count else { return false }
      linked += length
    }
    var freed: UInt32 = 0
    var index = free
    while index != .max {
      guard nodes[index].message == 0 else { return false }
      (freed, index) = (freed + 1, nodes[index].next)
    }
    return linked == count && byMessage.count == count && linked + freed == used
  }

  /// How many entries of all lists belong to some pushes.
  func count(of messages: Set<MessageID>) -> Int {
    (0..<used).count { messages.contains(MessageID(nodes[$0].message)) }
  }

  /// How many places of the pool a sweep has to visit.
  var places: Int { Int(used) }

  /// Owners of dead entries among some places of the pool.
  func ownersOfExpired(in places: Range<Int>, at seconds: UInt32) -> Set<RegistrationNumber> {
    var owners: Set<RegistrationNumber> = []
    for place in places.clamped(to: 0..<self.places) {
      let node = nodes[UInt32(place)]
      if node.message != 0, node.expires <= seconds { owners.insert(RegistrationNumber(node.owner)) }
    }
    return owners
  }
}
