import BorealisBase
import Model
import PushTesting
import Testing

@testable import Core

/// Forty registrations: platform, tags and alias follow from the number, so that a slow filter can say who is
/// meant.
private struct Fixture {
  var table = RegistrationTable()
  let names = ["red", "green", "blue"]

  init() {
    for (index, name) in names.enumerated() { table.tags.define(name, UInt32(index)) }
    for number in 0..<40 as Range<UInt32> {
      table.insert(
        RegistrationEntry(
          number: RegistrationNumber(number), id: id(number), platform: number % 3 == 0 ? .ios : .android,
          secretHash: (1, 2), alias: number % 5 == 0 ? nil : "user\(number % 8)", tags: tags(number)))
    }
  }

  func id(_ number: UInt32) -> RegistrationID {
    // All share their first 16 digits: the last three must count.
    RegistrationID(high: 0xabcdef, low: UInt16(number))
  }

  func tags(_ number: UInt32) -> [UInt32] { (0..<3).filter { number >> $0 & 1 == 1 } }

  func means(_ terms: AudienceFilter, _ number: UInt32) -> Bool {
    let tags = tags(number).map { names[Int($0)] }
    return (terms.tags.isEmpty || terms.tags.contains { tags.contains($0) })
      && terms.tagsAnd.allSatisfy { tags.contains($0) } && !terms.tagsNot.contains { tags.contains($0) }
      && (terms.aliases.isEmpty || number % 5 != 0 && terms.aliases.contains("user\(number % 8)"))
      && (terms.registrationIDs.isEmpty || terms.registrationIDs.contains(id(number).text))
  }
}

@Suite struct RegistrationTableTests {
  /// Every combination of small term lists resolves to what a filter over all registrations finds.
  @Test func audiencesAgreeWithAFilter() {
    let fixture = Fixture()
    let tagChoices: [[String]] = [[], ["red"], ["red", "blue"], ["nobody"]]
    let aliasChoices: [[String]] = [[], ["user1", "user2"], ["nobody", "user3"], ["nobody"]]
    let idChoices: [[String]] = [[], [1, 2, 3, 21, 22, 900].map { fixture.id($0).text }]
    var checked = 0
    for tags in tagChoices {
      for tagsAnd in tagChoices {
        for tagsNot in tagChoices {
          for aliases in aliasChoices {
            for ids in idChoices {
              var terms = AudienceFilter()
              (terms.tags, terms.tagsAnd, terms.tagsNot) = (tags, tagsAnd, tagsNot)
              (terms.aliases, terms.registrationIDs) = (aliases, ids)
              for platforms in [PlatformSet.all, PlatformSet(.ios)] {
                let expected = (0..<40 as Range<UInt32>).filter {
                  fixture.means(terms, $0) && (platforms == .all || $0 % 3 == 0)
                }
                let found = fixture.table.means(terms, platforms).numbers.members()
                  .map(\.rawValue)
                #expect(found == expected)
                checked += 1
              }
            }
          }
        }
      }
    }
    #expect(checked == 1024)
  }

  @Test func `Without any condition nobody is meant`() {
    #expect(Fixture().table.resolve(AudienceFilter(), platforms: .all).isEmpty)
  }

  /// A removed registration is in no audience, and its alias and tags are free.
  @Test func removalReleasesEverything() {
    var fixture = Fixture()
    let number = RegistrationNumber(7)
    #expect(fixture.table.find(fixture.id(7)) == number)
    #expect(fixture.table.registrations(alias: "user7").contains(number))
    fixture.table.remove(number, tags: fixture.tags(7))
    #expect(fixture.table.find(fixture.id(7)) == nil)
    #expect(!fixture.table.isActive(number) && !fixture.table.isActive(RegistrationNumber(1 << 30)))
    #expect(!fixture.table.registrations(alias: "user7").contains(number))
    #expect(!fixture.table.tags.members("red").contains(number))
    for tag in fixture.names { #expect(!fixture.table.tags.members(tag).contains(number)) }
    #expect(!fixture.table.everybody(on: .all).numbers.contains(number))
    #expect(fixture.table.count == 39)
  }

  /// In a table of 16384 places, 10000 random ones are 7485 different ones.
  @Test(arguments: [0, 4, 12, 40, 60]) func `IDs that are counted up are spread over the index`(shift: Int) {
    let ids = (1...10_000).map { number in
      let digits = UInt128(number) << UInt128(shift)
      return RegistrationID(
        high: UInt64(truncatingIfNeeded: digits >> 12), low: UInt16(truncatingIfNeeded: digits & 0xfff))
    }
    let hashes = ids.map { RegistrationTable.hash(of: $0) }
    #expect(Set(hashes).count == ids.count)
    #expect(Set(hashes.map { ($0 ^ $0 >> 32) & 16383 }).count > 7000)
  }

  /// An alias moves with the last call, and a tag disappears from the list with its last member.
  @Test func aliasesAndTagsChange() {
    var fixture = Fixture()
    let number = RegistrationNumber(1)
    fixture.table.setAlias("other", of: number)
    #expect(fixture.table.registrations(alias: "other") == [number])
    #expect(!fixture.table.registrations(alias: "user1").contains(number))
    fixture.table.setAlias(nil, of: number)
    #expect(fixture.table.registrations(alias: "other").isEmpty)
    fixture.table.tags.define("lone", 9)
    fixture.table.changeTags(of: number, added: [9], removed: [0])
    #expect(fixture.table.tags.members("lone").members() == [number])
    #expect(!fixture.table.tags.members("red").contains(number))
    #expect(fixture.table.tags.first(100).contains("lone"))
    fixture.table.changeTags(of: number, added: [], removed: [9])
    #expect(!fixture.table.tags.first(100).contains("lone"))
  }

  /// A tag is listed as long as somebody has it, however it came and went, and whether its name came first or
  /// its members.
  @Test func `The first tags in use are listed in order`() {
    var fixture = Fixture()
    #expect(fixture.table.tags.first(100) == ["blue", "green", "red"])
    #expect(fixture.table.tags.first(2) == ["blue", "green"])
    let number = RegistrationNumber(0)
    fixture.table.changeTags(of: number, added: [5], removed: [])
    #expect(fixture.table.tags.first(100) == ["blue", "green", "red"])
    // Numbers may be any: they cost no memory.
    fixture.table.tags.define("zinc", .max)
    fixture.table.changeTags(of: number, added: [.max], removed: [.max - 1])
    fixture.table.tags.define("amber", 5)
    fixture.table.tags.define("amber", 5)
    #expect(fixture.table.tags.first(100) == ["amber", "blue", "green", "red", "zinc"])
    fixture.table.remove(number, tags: [5, .max])
    #expect(fixture.table.tags.first(100) == ["blue", "green", "red"])
    for other in 1..<40 as Range<UInt32> {
      fixture.table.changeTags(of: RegistrationNumber(other), added: [], removed: [2])
    }
    #expect(fixture.table.tags.first(100) == ["green", "red"])
    fixture.table.changeTags(of: RegistrationNumber(9), added: [2], removed: [])
    #expect(fixture.table.tags.first(100) == ["blue", "green", "red"])
  }

  /// Random expressions over random sets, small and large, agree with a filter over all registrations.
  @Test(arguments: [30, 300, 2000]) func randomAudiences(count: Int) {
    var random = SeededRandom(seed: UInt64(count))
    var table = RegistrationTable()
    let names = (0..<8).map { "tag\($0)" }
    for (number, name) in names.enumerated() { table.tags.define(name, UInt32(number)) }
    var entries: [RegistrationEntry] = []
    for number in 0..<UInt32(count) {
      // Tag n has about one in 2^n of all.
      let tags = (0..<8 as Range<UInt32>).filter { Int.random(in: 0..<(1 << Int($0)), using: &random) == 0 }
      let entry = RegistrationEntry(
        number: RegistrationNumber(number),
        id: RegistrationID(high: UInt64(number) / 3, low: UInt16(number % 3)),
        platform: Platform.allCases.randomElement(using: &random) ?? .ios, secretHash: (0, 0),
        alias: number.isMultiple(of: 4) ? "user\(number / 40)" : nil, tags: tags)
      table.insert(entry)
      if number.isMultiple(of: 9) {
        table.remove(entry.number, tags: tags)
      } else {
        entries.append(entry)
      }
    }
    for _ in 0..<150 {
      func some(_ chance: Int) -> [String] {
        Int.random(in: 0..<2, using: &random) == 0
          ? [] : names.filter { _ in Int.random(in: 0..<chance, using: &random) == 0 }
      }
      var terms = AudienceFilter()
      (terms.tags, terms.tagsAnd, terms.tagsNot) = (some(3), some(6), some(6))
      if Int.random(in: 0..<4, using: &random) == 0 {
        terms.aliases = (0..<20).map { _ in "user\(Int.random(in: 0...count / 40, using: &random))" }
      }
      if Int.random(in: 0..<4, using: &random) == 0 {
        let share = [2, 100].randomElement(using: &random) ?? 2
        // What is malformed names nobody; without it the list could be empty, and no condition.
        terms.registrationIDs =
          ["x"]
          + entries.filter { _ in Int.random(in: 0..<share, using: &random) == 0 }.map(\.id.text)
      }
      let platforms = PlatformSet(rawValue: UInt8.random(in: 0...15, using: &random) << 1)
      let expected = entries.filter { isMeant($0, terms, platforms, names) }.map(\.number)
      let found = table.means(terms, platforms)
      #expect(found.numbers.members() == expected)
      #expect(found.count == expected.count && found.isEmpty == expected.isEmpty)
      if case .few(let numbers) = found { #expect(numbers == expected) } else { #expect(expected.count > 64) }
    }
  }

  private func isMeant(
    _ entry: RegistrationEntry, _ terms: AudienceFilter, _ platforms: PlatformSet, _ names: [String]
  ) -> Bool {
    let tags = Set(entry.tags.map { names[Int($0)] })
    return platforms.contains(entry.platform) && (terms.tags.isEmpty || !tags.isDisjoint(with: terms.tags))
      && tags.isSuperset(of: terms.tagsAnd) && tags.isDisjoint(with: terms.tagsNot)
      && (terms.aliases.isEmpty || entry.alias.map { terms.aliases.contains($0) } == true)
      && (terms.registrationIDs.isEmpty || terms.registrationIDs.contains(entry.id.text))
  }
}

extension RegistrationTable {
  /// Without any condition everybody is meant here, who otherwise has to be asked for.
  fileprivate func means(_ filter: AudienceFilter, _ platforms: PlatformSet) -> Recipients {
    filter.isEmpty ? everybody(on: platforms) : resolve(filter, platforms: platforms)
  }
}
