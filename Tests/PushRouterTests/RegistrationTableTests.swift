import PushBase
import Testing

@testable import PushRouter

/// Forty registrations: platform, tags and alias follow from the number, so that a slow filter can say who is meant.
private struct Fixture {
  var table = RegistrationTable()
  let names = ["red", "green", "blue"]

  init() {
    for (index, name) in names.enumerated() { table.defineTag(name, number: UInt32(index)) }
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

  func means(_ terms: AudienceTerms, _ number: UInt32) -> Bool {
    let tags = tags(number).map { names[Int($0)] }
    return (terms.tags.isEmpty || terms.tags.contains { tags.contains($0) })
      && terms.tagsAnd.allSatisfy { tags.contains($0) } && !terms.tagsNot.contains { tags.contains($0) }
      && (terms.aliases.isEmpty || number % 5 != 0 && terms.aliases.contains("user\(number % 8)"))
      && (terms.registrationIDs.isEmpty || terms.registrationIDs.contains(id(number)))
  }
}

@Suite struct RegistrationTableTests {
  /// Every combination of small term lists resolves to what a filter over all registrations finds.
  @Test func audiencesAgreeWithAFilter() {
    let fixture = Fixture()
    let tagChoices: [[String]] = [[], ["red"], ["red", "blue"], ["nobody"]]
    let aliasChoices: [[String]] = [[], ["user1", "user2"], ["nobody", "user3"], ["nobody"]]
    let idChoices: [[RegistrationID]] = [[], [1, 2, 3, 21, 22, 900].map { fixture.id($0) }]
    var checked = 0
    for tags in tagChoices {
      for tagsAnd in tagChoices {
        for tagsNot in tagChoices {
          for aliases in aliasChoices {
            for ids in idChoices {
              var terms = AudienceTerms()
              (terms.tags, terms.tagsAnd, terms.tagsNot) = (tags, tagsAnd, tagsNot)
              (terms.aliases, terms.registrationIDs) = (aliases, ids)
              for platforms in [PlatformSet.all, PlatformSet(.ios)] {
                let expected = (0..<40 as Range<UInt32>).filter {
                  fixture.means(terms, $0) && (platforms == .all || $0 % 3 == 0)
                }
                let found = fixture.table.resolve(terms, platforms: platforms).members().map(\.rawValue)
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

  /// A removed registration is in no audience, and its alias and tags are free.
  @Test func removalReleasesEverything() {
    var fixture = Fixture()
    let number = RegistrationNumber(7)
    #expect(fixture.table.find(fixture.id(7)) == number)
    #expect(fixture.table.registrations(alias: "user7").contains(number))
    fixture.table.remove(number)
    #expect(fixture.table.find(fixture.id(7)) == nil)
    #expect(!fixture.table.isActive(number) && !fixture.table.isActive(RegistrationNumber(1 << 30)))
    #expect(!fixture.table.registrations(alias: "user7").contains(number))
    #expect(!fixture.table.members(tag: "red").contains(number))
    #expect(!fixture.table.resolve(AudienceTerms(), platforms: .all).contains(number))
    #expect(fixture.table.count == 39)
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
    fixture.table.defineTag("lone", number: 9)
    fixture.table.changeTags(of: number, added: [9], removed: [0])
    #expect(fixture.table.members(tag: "lone").members() == [number])
    #expect(!fixture.table.members(tag: "red").contains(number))
    #expect(fixture.table.tags.contains("lone"))
    fixture.table.changeTags(of: number, added: [], removed: [9])
    #expect(!fixture.table.tags.contains("lone"))
  }
}
