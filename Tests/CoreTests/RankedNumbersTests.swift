import PushTesting
import Synchronization
import Testing

@testable import Core

@Suite struct RankedNumbersTests {
  @Test(arguments: [1, 7, 400]) func `After any changes the smallest are those of a sorted list`(count: Int) {
    var random = SeededRandom(seed: UInt64(count))
    var ranked = RankedNumbers<String>()
    var listed: Set<UInt32> = []
    // Every third name is that of another number too, as canonically equivalent names are.
    let names = (0..<count).map { "tag\($0 % 3 == 0 ? 0 : $0 &* 7919 % 1000)" }
    for number in (0..<UInt32(count)).shuffled(using: &random) { ranked.define(number, names[Int(number)]) }
    for step in 0..<2000 {
      let number = UInt32.random(in: 0..<UInt32(count), using: &random)
      // More and more come, then more and more go.
      if Int.random(in: 0..<2000, using: &random) < (step < 1000 ? 1600 : 400) {
        ranked.insert(number)
        listed.insert(number)
      } else {
        ranked.remove(number)
        listed.remove(number)
      }
      let sorted = listed.sorted { (names[Int($0)], $0) < (names[Int($1)], $1) }.map { names[Int($0)] }
      #expect(ranked.first(20) == Array(sorted.prefix(20)))
      if step % 100 == 0 { #expect(ranked.first(count) == sorted && ranked.first(0).isEmpty) }
    }
  }

  @Test func `A number without a key, or out of reach, is not listed`() {
    var ranked = RankedNumbers<String>()
    ranked.insert(0)
    ranked.remove(7)
    ranked.define(2, "b")
    ranked.insert(1)
    ranked.insert(2)
    ranked.insert(2)
    #expect(ranked.first(9) == ["b"])
    ranked.define(2, "a")
    #expect(ranked.first(9) == ["b"])
    ranked.define(1, "a")
    ranked.insert(1)
    #expect(ranked.first(9) == ["a", "b"])
    ranked.remove(2)
    ranked.remove(2)
    #expect(ranked.first(9) == ["a"])
  }

  /// A key that counts how often it is compared.
  private struct CountedKey: Comparable, Sendable {
    static let comparisons = Atomic(0)
    let value: Int

    static func < (left: Self, right: Self) -> Bool {
      comparisons.add(1, ordering: .relaxed)
      return left.value < right.value
    }
  }

  @Test func `Of many only a few are looked at`() {
    var random = SeededRandom(seed: 1)
    var ranked = RankedNumbers<CountedKey>()
    let count = 50_000
    for (number, value) in (0..<count).shuffled(using: &random).enumerated() {
      ranked.define(UInt32(number), CountedKey(value: value))
      ranked.insert(UInt32(number))
    }
    let before = CountedKey.comparisons.load(ordering: .relaxed)
    #expect(ranked.first(100).map(\.value) == Array(0..<100))
    let comparisons = CountedKey.comparisons.load(ordering: .relaxed) - before
    #expect(comparisons < 4000)
  }
}
