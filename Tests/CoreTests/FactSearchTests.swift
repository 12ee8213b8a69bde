import BorealisBase
import Model
import Testing

@testable import Core
@testable import Storage

/// Expressions over facts against a plain model.
@Suite struct FactSearchTests {
  private struct Random: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state ^ state >> 33) &* 0xff51_afd7_ed55_8ccd
    }
  }

  /// How many values of each fact there are.
  private static let sizes: [DeviceFact: Int] = [
    .language: 5, .systemVersion: 30, .model: 400, .appVersion: 60, .notificationPermission: 3,
  ]

  private static func text(_ fact: DeviceFact, _ place: Int) -> String {
    switch fact {
    case .systemVersion, .appVersion: "\(place / 8).\(place % 8 * 3)"
    default: "\(fact.name) \(place)"
    }
  }

  /// A table of so many registrations, and the place of each value in `sizes`, -1 for none.
  private static func table(_ count: Int, _ random: inout Random) -> (FactTable, [DeviceFact: [Int]]) {
    var (facts, model) = (FactTable(), [DeviceFact: [Int]]())
    for (base, fact) in DeviceFact.allCases.enumerated() {
      guard let size = sizes[fact] else { continue }
      let values = (0..<size).map {
        FactValue(number: UInt32(base * 1000 + $0), fact: fact, text: text(fact, $0))
      }
      values.forEach { facts.define($0) }
      var places: [Int] = []
      places.reserveCapacity(count)
      for number in 0..<UInt32(count) {
        let place = Int.random(in: -1..<size, using: &random)
        places.append(place)
        if place >= 0 {
          facts.take(FactChange(set: [values[place]]), of: RegistrationNumber(number))
        }
      }
      model[fact] = places
    }
    return (facts, model)
  }

  private static func expression(_ depth: Int, _ random: inout Random) -> FactExpression {
    let kind = Int.random(in: 0..<(depth == 0 ? 5 : 9), using: &random)
    switch kind {
    case 0:
      return .known(sizes.keys.sorted { $0.rawValue < $1.rawValue }.randomElement(using: &random) ?? .model)
    case 1...4:
      let facts = sizes.keys.sorted { $0.rawValue < $1.rawValue } + [.timeZone]
      let fact = facts.randomElement(using: &random) ?? .model
      let size = sizes[fact] ?? 3
      let comparison = FactExpression.Comparison.allCases.randomElement(using: &random) ?? .equal
      return .compare(fact, comparison, text(fact, Int.random(in: 0..<size, using: &random)))
    case 5: return .not(expression(depth - 1, &random))
    default:
      let parts = (0..<Int.random(in: 0...3, using: &random)).map { _ in expression(depth - 1, &random) }
      return kind == 6 ? .all(parts) : .any(parts)
    }
  }

  private static func holds(
    _ expression: FactExpression, _ number: Int, _ model: [DeviceFact: [Int]]
  ) -> Bool {
    switch expression {
    case .known(let fact): return (model[fact]?[number] ?? -1) >= 0
    case .compare(let fact, let comparison, let value):
      guard let place = model[fact]?[number], place >= 0 else { return false }
      return comparison.holds(text(fact, place), value)
    case .not(let inner): return !holds(inner, number, model)
    case .all(let parts): return parts.allSatisfy { holds($0, number, model) }
    case .any(let parts): return parts.contains { holds($0, number, model) }
    }
  }

  private static func leaves(_ expression: FactExpression) -> Int {
    switch expression {
    case .known, .compare: 1
    case .not(let inner): leaves(inner)
    case .all(let parts), .any(let parts): parts.map(leaves).reduce(0, +)
    }
  }

  @Test func `400 random expressions mean the same as in a plain model`() {
    var random = Random(state: 7)
    let count = 20_000
    let (facts, model) = Self.table(count, &random)
    for _ in 0..<400 {
      let expression = Self.expression(3, &random)
      var search = FactSearch(expression, in: facts)
      let found = search.numbers(below: count).below(RegistrationNumber(UInt32(count)))
      let expected = NumberSet(
        (0..<count).filter { Self.holds(expression, $0, model) }.map { RegistrationNumber(UInt32($0)) })
      #expect(found.members() == expected.members(), "\(expression)")
      // Each column is read once for each part at most, by words of 64 registrations.
      #expect(search.reads <= Self.leaves(expression) * 5 * 4096)
    }
  }

  @Test func `Parts that name one fact are read together`() {
    var random = Random(state: 1)
    let (facts, _) = Self.table(4096, &random)
    let range = FactExpression.all([
      .compare(.appVersion, .greaterOrEqual, "2.3"), .not(.compare(.appVersion, .equal, "3.0")),
      .any([.compare(.appVersion, .less, "4"), .compare(.appVersion, .beginsWith, "5.")]),
    ])
    var search = FactSearch(range, in: facts)
    _ = search.numbers(below: 4096)
    #expect(search.reads == 4096)
    // What cannot match any more is not looked at.
    var none = FactSearch(.all([range, .compare(.model, .equal, "none")]), in: facts)
    _ = none.numbers(below: 4096)
    #expect(none.reads <= 2 * 4096)
  }

  @Test func `Facts take two bytes a registration each`() {
    var facts = FactTable()
    for (index, fact) in DeviceFact.allCases.enumerated() {
      let value = FactValue(number: UInt32(index), fact: fact, text: "x")
      facts.define(value)
      for number in 0..<4096 as Range<UInt32> {
        facts.take(FactChange(set: [value]), of: RegistrationNumber(number))
      }
    }
    let bytes = facts.columns.values.map { $0.places.count * MemoryLayout<UInt16>.stride }.reduce(0, +)
    #expect(bytes <= 24 * 4096)
  }

  @Test(arguments: [
    ("2.9", "2.10", true), ("2.10", "2.9", false), ("2.9", "2.9.1", true), ("2.9", "2.9", false),
    ("2.09", "2.9", false), ("2.9", "2.09", false), ("", "0", true), ("1.0-beta", "1.0-rc", true),
    ("99999999999999999999", "100000000000000000000", true), ("14", "9", false),
  ])
  func `Versions are in order`(first: String, second: String, isOrdered: Bool) {
    #expect(VersionOrder.isOrdered(first, second) == isOrdered)
  }

  /// Sets of every form of container, with gaps between them.
  @Test func `Words become sets`() {
    var (writer, expected) = (RoaringWriter(), [RegistrationNumber]())
    for chunk in 0..<64 as Range<UInt32> {
      let step: UInt32? = [16: 1, 17: 3, 40: 1000][chunk] ?? (chunk >= 48 ? 2 : nil)
      var words = [UInt64](repeating: 0, count: 64)
      if let step {
        for bit in stride(from: 0, to: 4096 as UInt32, by: Int(step)) {
          words[Int(bit / 64)] |= 1 << UInt64(bit % 64)
          expected.append(RegistrationNumber(chunk * 4096 + bit))
        }
      }
      writer.append(words)
    }
    #expect(writer.finish().members() == expected)
    #expect(RoaringWriter().finish().isEmpty)
  }
}
