import BorealisBase
import PushTesting
import Testing

@testable import Core

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

  /// Sets with few members agree with Swift's own sets, whether they once had more or not, and leave copies
  /// alone.
  @Test(arguments: 0..<200) func fewMembers(seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    // Two neighbours, and one in another container.
    let values: [UInt32] = [7, 8, 70_000]
    var sets = [NumberSet(), NumberSet(numbers([7])), NumberSet(numbers(values))]
    var models: [Set<UInt32>] = [[], [7], Set(values)]
    for _ in 0..<60 {
      let (one, other) = (Int.random(in: 0..<3, using: &random), Int.random(in: 0..<3, using: &random))
      let value = values[Int.random(in: 0..<3, using: &random)]
      let (set, model) = (sets[other], models[other])
      switch Int.random(in: 0..<10, using: &random) {
      case 0, 1:
        sets[one].insert(RegistrationNumber(value))
        models[one].insert(value)
      case 2, 3: #expect(sets[one].remove(RegistrationNumber(value)) == (models[one].remove(value) != nil))
      case 4:
        sets[one].formUnion(set)
        models[one].formUnion(model)
      case 5:
        sets[one].formIntersection(set)
        models[one].formIntersection(model)
      case 6:
        sets[one].subtract(set)
        models[one].subtract(model)
      case 7: (sets[one], models[one]) = (set, model)
      case 8: sets[one].compact()
      default:
        #expect(sets[one].union(set).members() == numbers(models[one].union(model).sorted()))
        #expect(sets[one].intersection(set).members() == numbers(models[one].intersection(model).sorted()))
        #expect(sets[one].subtracting(set).members() == numbers(models[one].subtracting(model).sorted()))
        #expect(sets[one].intersectionCount(set) == models[one].intersection(model).count)
      }
      for (set, model) in zip(sets, models) {
        let sorted = numbers(model.sorted())
        #expect(set.members() == sorted && set.count == model.count && set.isEmpty == model.isEmpty)
        #expect(NumberSet(sorted).serialized() == set.serialized(), "one form for one set")
        #expect(NumberSet(serialized: set.serialized())?.members() == sorted)
        for value in values + [9] {
          let number = RegistrationNumber(value)
          #expect(set.contains(number) == model.contains(value))
          #expect(set.place(of: number) == model.count { $0 < value })
          #expect(set.members(from: number) == sorted.filter { $0 >= number })
        }
        for place in 0..<4 { #expect(set.member(at: place) == sorted.dropFirst(place).first) }
        #expect(set.members(limit: 0).isEmpty && set.members(limit: 1) == Array(sorted.prefix(1)))
      }
    }
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

  /// Sets with containers of each kind, alone and together, with and without a table of offsets.
  static let shapes: [[UInt32]] = [
    [], [0], [UInt32.max], [5, 70_000], Array(0..<5000), Array(stride(from: 0, to: 20_000, by: 2)),
    Array(0..<70_000), [1, 3] + Array(65_536..<65_600) + Array(stride(from: 131_072, to: 150_000, by: 2)),
    [1, 65_537, 131_073, 196_609, 262_145] + Array(300_000..<300_500),
  ]

  /// Each bit of small sets is turned, and many of large ones: the bytes are refused or are another good set.
  /// Without the check the library takes members out of order and wrong counts, and then writes out of
  /// bounds.
  @Test(arguments: shapes.indices) func damagedBytes(shape: Int) {
    let values = Self.shapes[shape]
    var random = SeededRandom(seed: UInt64(values.count))
    let whole = NumberSet(numbers(values))
    let bytes = whole.serialized()
    #expect(NumberSet(serialized: bytes)?.members() == numbers(values))
    for length in 0..<min(bytes.count, 600) { #expect(NumberSet(serialized: Array(bytes[..<length])) == nil) }
    #expect(NumberSet(serialized: bytes + [0]) == nil)
    let bits = bytes.count * 8
    let places =
      bits < 8000 ? Array(0..<bits) : (0..<4000).map { _ in Int.random(in: 0..<bits, using: &random) }
    for place in places {
      var damaged = bytes
      damaged[place / 8] ^= 1 << UInt8(place % 8)
      guard let read = NumberSet(serialized: damaged) else { continue }
      let members = read.members()
      #expect(members.count == read.count)
      #expect(zip(members, members.dropFirst()).allSatisfy { $0 < $1 })
      #expect(NumberSet(serialized: read.serialized())?.members() == members)
      var both = read
      both.formUnion(whole)
      #expect(both.count >= max(read.count, values.count))
    }
  }

  /// Little-endian words: what each rule of the format refuses.
  @Test(arguments: [
    ([12_346, 0, 1, 0, 0, 1, 16, 0, 3, 9], true), ([12_346, 0, 1, 0, 0, 1, 16, 0, 9, 3], false),
    ([12_346, 0, 1, 0, 0, 1, 16, 0, 3, 3], false), ([12_346, 0, 1, 0, 0, 1, 17, 0, 3, 9], false),
    ([12_346, 1, 1, 0, 0, 1, 16, 0, 3, 9], false), ([12_345, 0, 1, 0, 0, 1, 16, 0, 3, 9], false),
    ([12_346, 0, 2, 0, 7, 0, 7, 0, 24, 0, 26, 0, 3, 9], false),
    ([12_346, 0, 2, 0, 7, 0, 8, 0, 24, 0, 26, 0, 3, 9], true),
    ([12_346, 0, 2, 1, 0, 0], false), ([12_346, 0, 0, 0], true),
  ])
  func rules(words: [UInt16], isValid: Bool) {
    let bytes = words.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    #expect((NumberSet(serialized: bytes) != nil) == isValid)
  }

  /// One container of runs: flags in one byte, so that words come after it.
  @Test(arguments: [
    ([0, 9, 2, 3, 4, 20, 4], true), ([0, 9, 2, 3, 4, 7, 4], false), ([0, 8, 2, 3, 4, 20, 4], false),
    ([0, 9, 2, 20, 4, 3, 4], false), ([0, 4, 1, 65_532, 4], false), ([0, 3, 1, 65_532, 3], true),
  ])
  func runs(words: [UInt16], isValid: Bool) {
    let tail = words.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    #expect((NumberSet(serialized: [0x3b, 0x30, 0, 0, 1] + tail) != nil) == isValid)
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
      pool.alive(in: first, of: one, after: MessageID(0), at: 0, limit: 9).map(\.rawValue) == [
        4, 6, 7, 8, 9, 11,
      ])
    #expect(pool.alive(in: first, of: one, after: MessageID(6), at: 8, limit: 1).map(\.rawValue) == [9])
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
      let all = pool.alive(
        in: lists[index], of: RegistrationNumber(UInt32(index)), after: MessageID(0), at: 0, limit: .max)
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
