import BorealisBase
import Model
import Testing

@testable import Core
@testable import Storage

/// Conditions for devices against a plain model.
@Suite struct ConditionSearchTests {
  fileprivate struct Random: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state ^ state >> 33) &* 0xff51_afd7_ed55_8ccd
    }
  }

  /// How many values of each fact there are.
  fileprivate static let sizes: [DeviceFact: Int] = [
    .language: 5, .systemVersion: 30, .model: 400, .appVersion: 60, .notificationPermission: 3,
  ]

  fileprivate static func text(_ fact: DeviceFact, _ place: Int) -> String {
    switch fact {
    case .systemVersion, .appVersion: "\(place / 8).\(place % 8 * 3)"
    default: "\(fact.name) \(place)"
    }
  }

  /// A table of so many registrations, and the place of each value in `sizes`, -1 for none.
  fileprivate static func table(_ count: Int, _ random: inout Random) -> (FactTable, [DeviceFact: [Int]]) {
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
          facts.apply(FactChange(set: [values[place]]), of: RegistrationNumber(number))
        }
      }
      model[fact] = places
    }
    return (facts, model)
  }

  /// What a condition is evaluated on, and the same in a form that a model reads.
  fileprivate struct World {
    var facts = FactTable()
    var registered = ChunkedArray<UInt32>(blank: 0)
    var tags: [String: NumberSet] = [:]
    var places: [DeviceFact: [Int]] = [:]
    var times: [UInt32] = []

    init(_ count: Int, _ random: inout Random) {
      (facts, places) = ConditionSearchTests.table(count, &random)
      for number in 0..<UInt32(count) {
        registered.reach(number)
        registered[number] = UInt32.random(in: 0..<100, using: &random) * 86_400
        times.append(registered[number])
      }
      for (tag, share) in [("rare", 1000), ("some", 7), ("most", 1)] {
        tags[tag] = NumberSet(
          (0..<UInt32(count)).filter { _ in Int.random(in: 0...share, using: &random) == 0 }
            .map { RegistrationNumber($0) })
      }
    }

    func search(_ condition: DeviceCondition) -> ConditionSearch {
      ConditionSearch(condition, in: facts) {
        switch $0 {
        case .tag(let name): return .set(tags[name] ?? NumberSet())
        case .registered(let window):
          return .moments(registered, UInt32(100 - (window.lastDays ?? 0)) * 86_400..<UInt32.max)
        default: return .set(NumberSet())
        }
      }
    }

    func holds(_ condition: DeviceCondition, _ number: Int) -> Bool {
      switch condition {
      case .known(let fact): return (places[fact]?[number] ?? -1) >= 0
      case .compare(let fact, let comparison, let value):
        guard let place = places[fact]?[number], place >= 0 else { return false }
        return comparison.holds(ConditionSearchTests.text(fact, place), value)
      case .tag(let name): return tags[name]?.contains(RegistrationNumber(UInt32(number))) == true
      case .registered(let window): return times[number] >= UInt32(100 - (window.lastDays ?? 0)) * 86_400
      case .not(let inner): return !holds(inner, number)
      case .all(let parts): return parts.allSatisfy { holds($0, number) }
      case .any(let parts): return parts.contains { holds($0, number) }
      case .hasAlias, .platform, .lastSeen, .push: return false
      }
    }
  }

  private static func condition(_ depth: Int, _ random: inout Random) -> DeviceCondition {
    switch Int.random(in: 0..<(depth == 0 ? 7 : 11), using: &random) {
    case 0:
      return .known(sizes.keys.sorted { $0.rawValue < $1.rawValue }.randomElement(using: &random) ?? .model)
    case 1...4:
      let facts = sizes.keys.sorted { $0.rawValue < $1.rawValue } + [.timeZone]
      let fact = facts.randomElement(using: &random) ?? .model
      let size = sizes[fact] ?? 3
      let comparison = DeviceCondition.Comparison.allCases.randomElement(using: &random) ?? .equal
      return .compare(fact, comparison, text(fact, Int.random(in: 0..<size, using: &random)))
    case 5: return .tag(["rare", "some", "most", "none"].randomElement(using: &random) ?? "some")
    case 6: return .registered(TimeWindow(lastDays: Int.random(in: 1...99, using: &random)))
    case 7: return .not(condition(depth - 1, &random))
    case 8, 9:
      return .all((0..<Int.random(in: 0...3, using: &random)).map { _ in condition(depth - 1, &random) })
    default:
      return .any((0..<Int.random(in: 0...3, using: &random)).map { _ in condition(depth - 1, &random) })
    }
  }

  private static func leaves(_ condition: DeviceCondition) -> Int {
    switch condition {
    case .not(let inner): leaves(inner)
    case .all(let parts), .any(let parts): parts.map(leaves).reduce(0, +)
    default: 1
    }
  }

  @Test func `400 random conditions mean the same as in a plain model`() {
    var random = Random(state: 7)
    let count = 20_000
    let world = World(count, &random)
    for _ in 0..<400 {
      let condition = Self.condition(3, &random)
      var search = world.search(condition)
      let found = search.numbers(below: count).below(RegistrationNumber(UInt32(count)))
      let expected = NumberSet(
        (0..<count).filter { world.holds(condition, $0) }.map { RegistrationNumber(UInt32($0)) })
      #expect(found.members() == expected.members(), "\(condition)")
      // Each column is read once for each part at most, by words of 64 registrations.
      #expect(search.reads <= Self.leaves(condition) * 5 * 4096)
    }
  }

  @Test func `Parts that name one fact are read together`() {
    var random = Random(state: 1)
    let world = World(4096, &random)
    let range = DeviceCondition.all([
      .compare(.appVersion, .greaterOrEqual, "2.3"), .not(.compare(.appVersion, .equal, "3.0")),
      .any([.compare(.appVersion, .less, "4"), .compare(.appVersion, .beginsWith, "5.")]),
    ])
    var search = world.search(range)
    _ = search.numbers(below: 4096)
    #expect(search.reads == 4096)
    // What cannot match any more is not looked at.
    var none = world.search(.all([range, .compare(.model, .equal, "none")]))
    _ = none.numbers(below: 4096)
    #expect(none.reads <= 2 * 4096)
  }

  @Test func `Facts take two bytes a registration each`() {
    var facts = FactTable()
    for (index, fact) in DeviceFact.allCases.enumerated() {
      let value = FactValue(number: UInt32(index), fact: fact, text: "x")
      facts.define(value)
      for number in 0..<4096 as Range<UInt32> {
        facts.apply(FactChange(set: [value]), of: RegistrationNumber(number))
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

  @Test func `Members of a set are bits of words`() {
    let members: [UInt32] = [0, 63, 64, 4095, 4096, 9000, 70_000]
    for set in [
      NumberSet(members.map { RegistrationNumber($0) }), NumberSet([RegistrationNumber(4096)]), NumberSet(),
    ] {
      for start in stride(from: 0, to: 81_920, by: 4096) {
        let words = set.words(from: start, count: 64)
        let found = (0..<4096).filter { words[$0 / 64] & 1 << UInt64($0 % 64) != 0 }
        let inChunk = set.members().map { Int($0.rawValue) }.filter { (start..<start + 4096).contains($0) }
        #expect(found.map { $0 + start } == inChunk)
      }
    }
  }
}
