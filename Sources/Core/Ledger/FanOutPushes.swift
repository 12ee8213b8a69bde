import BorealisBase

/// The open pushes of an app to many, ordered by ID, in blocks. Each block keeps for whom its pushes may
/// wait, so that a look at what waits for a device passes over a block with one test.
struct FanOutPushes: Sendable {
  /// The position of a push; void after a removal.
  struct Place: Sendable {
    fileprivate let block: Int
    fileprivate let index: Int
  }

  private struct Block: Sendable {
    /// Not empty.
    var pushes: [FanOutPush]
    /// Whoever one of them waits for, and others about whom that has not been looked up since they were
    /// settled.
    var candidates: NumberSet
  }

  /// Pushes in a block. A device that has all of an app's open pushes costs a test for each block, and one
  /// that lacks a push of a block a test for each push in it.
  private static let blockSize = 64

  private var blocks: [Block] = []
  /// How many pushes.
  private(set) var count = 0
  /// About what they take.
  private(set) var bytes = 0

  /// Adds a push; its ID is larger than that of every push before it.
  mutating func append(_ push: FanOutPush) {
    precondition(
      blocks.last?.pushes.last.map { $0.id < push.id } ?? true, "message IDs must grow")
    count += 1
    bytes += push.bytes
    if let last = blocks.indices.last, blocks[last].pushes.count < Self.blockSize {
      blocks[last].candidates.formUnion(push.waiting)
      blocks[last].pushes.append(push)
    } else {
      blocks.append(Block(pushes: [push], candidates: push.waiting))
    }
  }

  subscript(place: Place) -> FanOutPush {
    _read { yield blocks[place.block].pushes[place.index] }
    _modify { yield &blocks[place.block].pushes[place.index] }
  }

  /// Where a push is.
  func place(of id: MessageID) -> Place? {
    let place = firstPlace(from: id)
    guard place.block < blocks.count, self[place].id == id else { return nil }
    return place
  }

  /// Where the first push is whose ID is not smaller; behind the last block if there is none.
  private func firstPlace(from id: MessageID) -> Place {
    let block = Self.first(in: blocks) { $0.pushes.last.map { $0.id >= id } ?? false }
    guard block < blocks.count else { return Place(block: block, index: 0) }
    return Place(block: block, index: Self.first(in: blocks[block].pushes) { $0.id >= id })
  }

  /// Position of the first element that matches, and with it all behind it.
  private static func first<Element>(in elements: [Element], _ matches: (Element) -> Bool) -> Int {
    var (low, high) = (0, elements.count)
    while low < high {
      let middle = (low + high) / 2
      if matches(elements[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// Calls `body` with each push, oldest first.
  func forEach(_ body: (FanOutPush) -> Void) {
    for block in blocks { for push in block.pushes { body(push) } }
  }

  /// The oldest that matches.
  func oldest(where matches: (MessageID) -> Bool) -> MessageID? {
    for block in blocks { for push in block.pushes where matches(push.id) { return push.id } }
    return nil
  }

  // MARK: What waits for a registration

  /// Calls `body` with the pushes after `sent` that wait for a registration, oldest first, until it returns
  /// false or about `looks` pushes and blocks were looked at. Returns the ID through which that was done; nil
  /// if it came to the newest.
  mutating func visit(
    waitingFor number: RegistrationNumber, after sent: MessageID, looks: Int, _ body: (FanOutPush) -> Bool
  ) -> MessageID? {
    guard sent.rawValue < .max else { return nil }
    let start = firstPlace(from: MessageID(sent.rawValue + 1))
    var left = looks
    for block in start.block..<blocks.count {
      let from = block == start.block ? start.index : 0
      for index in look(in: block, from: from, for: number, &left) {
        let push = blocks[block].pushes[index]
        if !body(push) { return push.id }
      }
      if left <= 0, block < blocks.count - 1 { return blocks[block].pushes.last?.id }
    }
    return nil
  }

  /// How many pushes up to `newest` that match wait for a registration, as far as about `looks` pushes and
  /// blocks tell, from the newest on; and whether these were all.
  mutating func count(
    waitingFor number: RegistrationNumber, through newest: MessageID = MessageID(.max), looks: Int,
    where matches: (FanOutPush) -> Bool
  ) -> (count: Int, isComplete: Bool) {
    var (found, left) = (0, looks)
    for block in blocks.indices.reversed() {
      guard let first = blocks[block].pushes.first, first.id <= newest else { continue }
      guard left > 0 else { return (found, false) }
      for index in look(in: block, for: number, &left)
      where blocks[block].pushes[index].id <= newest && matches(blocks[block].pushes[index]) { found += 1 }
    }
    return (found, true)
  }

  /// Which pushes of a block wait for a registration. If none does, the next look passes over the block.
  private mutating func look(
    in block: Int, from start: Int = 0, for number: RegistrationNumber, _ left: inout Int
  ) -> [Int] {
    guard blocks[block].candidates.contains(number) else {
      left -= 1
      return []
    }
    left -= blocks[block].pushes.count - start
    let found = blocks[block].pushes.indices[start...].filter {
      blocks[block].pushes[$0].isPending(for: number)
    }
    if found.isEmpty, start == 0 { blocks[block].candidates.remove(number) }
    return found
  }

  /// A registration was replaced: nothing waits for it any more. Returns the pushes that did.
  mutating func release(_ number: RegistrationNumber) -> [MessageID] {
    var released: [MessageID] = []
    for block in blocks.indices where blocks[block].candidates.remove(number) {
      for index in blocks[block].pushes.indices where blocks[block].pushes[index].isPending(for: number) {
        blocks[block].pushes[index].progress.replaced.insert(number)
        released.append(blocks[block].pushes[index].id)
      }
    }
    return released
  }

  /// Has a push wait again for one who was handed over to another channel; false if he was not.
  mutating func awaitAgain(_ number: RegistrationNumber, at place: Place) -> Bool {
    guard self[place].progress.handedOver.remove(number) else { return false }
    blocks[place.block].candidates.insert(number)
    return true
  }

  // MARK: Removal

  /// Removes a push.
  mutating func remove(at place: Place) -> FanOutPush {
    let push = blocks[place.block].pushes.remove(at: place.index)
    count -= 1
    bytes -= push.bytes
    joinBlocks()
    return push
  }

  /// Removes some pushes.
  mutating func remove(_ ids: Set<MessageID>) {
    guard !ids.isEmpty else { return }
    for block in blocks.indices where blocks[block].pushes.contains(where: { ids.contains($0.id) }) {
      blocks[block].pushes.removeAll { push in
        guard ids.contains(push.id) else { return false }
        count -= 1
        bytes -= push.bytes
        return true
      }
    }
    joinBlocks()
  }

  /// Joins what has become small, so that there are always few blocks for the pushes that are left.
  private mutating func joinBlocks() {
    var joined: [Block] = []
    joined.reserveCapacity(blocks.count)
    for block in blocks where !block.pushes.isEmpty {
      if let last = joined.indices.last,
        joined[last].pushes.count + block.pushes.count <= Self.blockSize / 2
      {
        joined[last].pushes += block.pushes
        joined[last].candidates.formUnion(block.candidates)
      } else {
        joined.append(block)
      }
    }
    blocks = joined
  }

  /// Whether pushes are in order, and blocks know all for whom they wait. For assertions, since it visits
  /// everything.
  var isConsistent: Bool {
    var newest = MessageID(0)
    for block in blocks {
      for push in block.pushes {
        guard newest < push.id, push.waiting.subtracting(block.candidates).isEmpty else { return false }
        newest = push.id
      }
    }
    let pushes = blocks.flatMap(\.pushes)
    return blocks.allSatisfy { !$0.pushes.isEmpty } && pushes.count == count
      && pushes.reduce(0) { $0 + $1.bytes } == bytes
  }
}
