import PushBase
import Testing

@testable import PushRouter

private func numbers(_ values: [UInt32]) -> [RegistrationNumber] { values.map { RegistrationNumber($0) } }

@Suite struct NumberSetTests {
  /// The algebra agrees with Swift's own sets on random input, sparse and dense.
  @Test(arguments: 0..<20) func agreesWithSet(seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    let range = UInt32(seed.isMultiple(of: 2) ? 200 : 200_000)
    let left = Set((0..<500).map { _ in UInt32.random(in: 0..<range, using: &random) })
    let right = Set((0..<500).map { _ in UInt32.random(in: 0..<range, using: &random) })
    let (leftSet, rightSet) = (NumberSet(numbers(Array(left))), NumberSet(numbers(Array(right))))
    var (both, either, only) = (leftSet, leftSet, leftSet)
    both.formIntersection(rightSet)
    either.formUnion(rightSet)
    only.subtract(rightSet)
    #expect(both.members() == numbers(left.intersection(right).sorted()))
    #expect(either.members() == numbers(left.union(right).sorted()))
    #expect(only.members() == numbers(left.subtracting(right).sorted()))
    #expect(leftSet.members() == numbers(left.sorted()), "copies are values")
    #expect(NumberSet(serialized: either.serialized())?.members() == either.members())
    #expect(either.members(from: .init(range / 2), limit: 7).count <= 7)
  }

  /// A stored audience of a million neighbours costs bytes, and broken bytes are refused.
  @Test func serializedForm() {
    let dense = NumberSet((0..<1_000_000 as Range<UInt32>).lazy.map { RegistrationNumber($0) })
    let bytes = dense.serialized()
    #expect(bytes.count < 1000)
    #expect(NumberSet(serialized: bytes)?.count == 1_000_000)
    #expect(NumberSet(serialized: []) == nil)
    for length in 0..<min(bytes.count, 40) { #expect(NumberSet(serialized: Array(bytes[..<length])) == nil) }
  }
}

@Suite struct HashIndexTests {
  /// Random inserts and removes under few hashes agree with a dictionary of sets.
  @Test(arguments: 0..<10) func agreesWithDictionary(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var index = HashIndex()
    var model: [UInt64: Set<UInt32>] = [:]
    for number in 0..<3000 as Range<UInt32> {
      let hash = UInt64.random(in: 0..<300, using: &random) &* 0x9e37_79b9_7f4a_7c15
      if number.isMultiple(of: 3), let victim = model[hash]?.min() {
        let isRemoved = index.remove(hash, victim)
        #expect(isRemoved)
        model[hash]?.remove(victim)
      } else {
        index.insert(hash, number)
        model[hash, default: []].insert(number)
      }
      let isFound = index.remove(hash, 1_000_000)
      #expect(!isFound)
    }
    #expect(index.count == model.values.reduce(0) { $0 + $1.count })
    for (hash, values) in model { #expect(Set(index.all(hash)) == values) }
  }
}

@Suite struct PendingListsTests {
  /// Lists keep their order through removals anywhere, and share one pool.
  @Test func ordersAndRemovals() {
    var pool = PendingLists()
    var (first, second) = (PendingLists.List(), PendingLists.List())
    for value in 1...10 as ClosedRange<UInt64> {
      pool.append(MessageID(value), expires: UInt32(value), to: &first)
      pool.append(MessageID(100 + value), expires: 1000, to: &second)
    }
    let removed = [1, 5, 10, 5].map { pool.remove(MessageID($0), from: &first) }
    #expect(removed == [true, true, true, false])
    let expired = pool.removeExpired(at: 3, from: &first)
    #expect(expired == [MessageID(2), MessageID(3)])
    pool.append(MessageID(11), expires: 1000, to: &first)
    var left: [UInt64] = []
    pool.forEach(in: first) { message, _ in left.append(message.rawValue) }
    #expect(left == [4, 6, 7, 8, 9, 11])
    #expect(first.count == 6 && second.count == 10 && pool.count == 16)
    while pool.removeFirst(from: &first) != nil {}
    #expect(first.count == 0 && pool.count == 10)
    let oldest = pool.removeFirst(from: &second)
    #expect(oldest == MessageID(101))
  }
}
