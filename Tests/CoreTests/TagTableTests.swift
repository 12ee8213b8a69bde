import BorealisBase
import PushTesting
import Testing

@testable import Core

@Suite struct TagTableTests {
  /// What the table says of tags, and of those that go, is what a list of all that happened says.
  @Test(arguments: 1...4 as ClosedRange<UInt64>) func `Any changes leave what a model says`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var table = TagTable()
    var members: [UInt32: Set<UInt32>] = [:]
    var names: [UInt32: String] = [:]
    /// Since when nobody has a tag, at the earliest.
    var unusedSince: [UInt32: UInt32] = [:]
    var (next, now) = (UInt32(0), UInt32(1000))
    for _ in 0..<4000 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0, 1:
        let name = "t\(Int.random(in: 0..<40, using: &random))"
        guard !names.values.contains(name) else { continue }
        table.define(name, next)
        (names[next], unusedSince[next]) = (name, now)
        next += 1
      case 2...5:
        guard let tag = names.keys.sorted().randomElement(using: &random) else { continue }
        let number = UInt32.random(in: 0..<3, using: &random)
        table.add(tag, to: RegistrationNumber(number))
        members[tag, default: []].insert(number)
        unusedSince[tag] = nil
      case 6...8:
        guard let tag = names.keys.sorted().randomElement(using: &random) else { continue }
        let number = UInt32.random(in: 0..<3, using: &random)
        table.remove(tag, from: RegistrationNumber(number))
        if members[tag]?.remove(number) != nil, members[tag]?.isEmpty == true { unusedSince[tag] = now }
      default:
        now += UInt32.random(in: 0..<50, using: &random)
        let taken = table.popUnused(for: 60, at: now, limit: 5)
        for tag in taken { #expect(unusedSince[tag].map { $0 + 60 <= now } == true) }
        let removed = Set(taken.filter { _ in Bool.random(using: &random) })
        #expect(table.unused(among: taken) == taken)
        table.endRemoval(of: taken, removed: removed)
        for tag in removed { (names[tag], members[tag], unusedSince[tag]) = (nil, nil, nil) }
      }
      let used = names.filter { members[$0.key]?.isEmpty == false }.values.sorted()
      #expect(table.first(100) == used && table.names == names.count && table.next == Int(next))
    }
    for (tag, name) in names {
      #expect(table.members(name).members().map(\.rawValue) == (members[tag] ?? []).sorted())
    }
    // In the end all go that nobody has.
    var gone: Set<UInt32> = []
    for _ in 0..<200 {
      now += 61
      let taken = table.popUnused(for: 60, at: now, limit: 5)
      table.endRemoval(of: taken, removed: Set(taken))
      gone.formUnion(taken)
    }
    #expect(gone == Set(unusedSince.keys) && table.names == names.count - gone.count)
  }

  @Test func `A name that comes back has a new number`() {
    var table = TagTable()
    let number = RegistrationNumber(1)
    table.define("a", 0)
    _ = table.popUnused(for: 0, at: 1, limit: 9)
    // The deletion and the new number are in one commit: memory learns of the deletion first, or of the new
    // number.
    table.define("a", 1)
    table.add(1, to: number)
    table.endRemoval(of: [0], removed: [0])
    #expect(table.members("a").members() == [number] && table.names == 1 && table.first(9) == ["a"])
    table.remove(0, from: number)
    #expect(table.members("a").members() == [number])
  }
}
