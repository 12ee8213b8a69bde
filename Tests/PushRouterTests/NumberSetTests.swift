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
    let (one, two) = (RegistrationNumber(1), RegistrationNumber(2))
    for value in 1...10 as ClosedRange<UInt64> {
      pool.append(MessageID(value), expires: UInt32(value), of: one, to: &first)
      pool.append(MessageID(100 + value), expires: 1000, of: two, to: &second)
    }
    let removed = [1, 5, 10, 5].map { pool.remove(MessageID($0), of: one, from: &first) }
    #expect(removed == [true, true, true, false])
    let foreign = pool.remove(MessageID(101), of: one, from: &first)
    #expect(!foreign)
    let expired = pool.removeExpired(at: 3, from: &first)
    #expect(expired == [MessageID(2), MessageID(3)])
    pool.append(MessageID(11), expires: 1000, of: one, to: &first)
    #expect(
      pool.alive(in: first, after: MessageID(0), at: 0, limit: 9).map(\.rawValue) == [4, 6, 7, 8, 9, 11])
    #expect(pool.alive(in: first, after: MessageID(6), at: 8, limit: 1).map(\.rawValue) == [9])
    #expect(first.count == 6 && second.count == 10 && pool.count == 16)
    while pool.removeFirst(from: &first) != nil {}
    #expect(first.count == 0 && pool.count == 10)
    let oldest = pool.removeFirst(from: &second)
    #expect(oldest == MessageID(101))
  }

  /// Random changes of many lists agree with arrays.
  @Test(arguments: 0..<5) func agreesWithArrays(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var pool = PendingLists()
    var lists = [PendingLists.List](repeating: PendingLists.List(), count: 20)
    var model = [[(id: UInt64, expires: UInt32)]](repeating: [], count: 20)
    for value in 1...600 as ClosedRange<UInt64> {
      // A few get the same push, as a push to several does.
      for index in lists.indices where Int.random(in: 0..<8, using: &random) == 0 {
        let expires = UInt32.random(in: 1...100, using: &random)
        pool.append(MessageID(value << 12), expires: expires, of: owner(index), to: &lists[index])
        model[index].append((value << 12, expires))
      }
      let index = lists.indices.randomElement(using: &random) ?? 0
      if let victim = model[index].indices.randomElement(using: &random), value.isMultiple(of: 2) {
        let id = model[index].remove(at: victim).id
        let isRemoved = pool.remove(MessageID(id), of: owner(index), from: &lists[index])
        #expect(isRemoved)
      }
      if value.isMultiple(of: 100) {
        let dead = pool.removeExpired(at: 30, from: &lists[index]).map(\.rawValue)
        #expect(dead == model[index].filter { $0.expires <= 30 }.map(\.id))
        model[index].removeAll { $0.expires <= 30 }
      }
    }
    #expect(pool.count == model.reduce(0) { $0 + $1.count })
    for (index, entries) in model.enumerated() {
      let all = pool.alive(in: lists[index], after: MessageID(0), at: 0, limit: .max)
      #expect(all.map(\.rawValue) == entries.map(\.id))
    }
    for value in 1...600 as ClosedRange<UInt64> {
      let owners = model.indices.filter { index in model[index].contains { $0.id == value << 12 } }
      #expect(Set(pool.owners(of: MessageID(value << 12))) == Set(owners.map { owner($0) }))
      #expect(pool.contains(MessageID(value << 12)) == !owners.isEmpty)
    }
  }

  private func owner(_ index: Int) -> RegistrationNumber { RegistrationNumber(UInt32(index)) }
}
