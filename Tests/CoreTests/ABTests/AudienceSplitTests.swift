import BorealisBase
import Model
import Testing

@testable import Core

/// Who of an audience gets which content.
@Suite struct AudienceSplitTests {
  private func design(contents: Int, share: Int) throws -> ABTestDesign {
    let texts = (0..<contents).map { #"{"alert":"\#($0)"}"# }.joined(separator: ",")
    let text = #"{"contents":[\#(texts)],"share":\#(share),"after":60,"audience":"all"}"#
    return try ABTestDesign.parse(
      try #require(try parseJSON(Array(text.utf8)).object), rules: PushRules())
  }

  private func audience(_ count: Int, step: UInt32 = 3) -> Recipients {
    Recipients((0..<UInt32(count)).map { RegistrationNumber($0 * step) })
  }

  @Test(arguments: [
    (1000, 2, 20, [100, 100]), (1000, 3, 20, [67, 67, 66]), (1000, 4, 1, [3, 3, 2, 2]),
    (1000, 2, 100, [500, 500]), (3, 2, 20, [1, 1]), (4, 4, 1, [1, 1, 1, 1]), (2, 2, 100, [1, 1]),
    (149, 2, 1, [1, 1]), (150, 2, 1, [1, 1]), (250, 2, 1, [2, 1]),
    (100_000, 4, 33, [8250, 8250, 8250, 8250]),
    (65, 3, 50, [11, 11, 11]),
  ])
  func `Shares are exact`(_ count: Int, _ contents: Int, _ share: Int, _ sizes: [Int]) throws {
    let (design, audience) = (try design(contents: contents, share: share), audience(count))
    for seed: UInt64 in [0, 7, .max] {
      let split = AudienceSplit(audience, by: design, seed: seed)
      #expect(split.groups.map(\.count) == sizes && split.rest.count == count - sizes.reduce(0, +))
      #expect(AudienceSplit.participants(of: count, in: design) == sizes.reduce(0, +))
      // Nobody is in two, and everybody in one.
      let all = split.groups.reduce(split.rest) { $0.union($1) }
      #expect(all.count == count && audience.intersection(all).count == count)
    }
  }

  @Test func `The same seed chooses the same devices, another one others, without order`() throws {
    let (design, audience) = (try design(contents: 2, share: 10), audience(20_000, step: 1))
    func members(_ seed: UInt64) -> [[RegistrationNumber]] {
      AudienceSplit(audience, by: design, seed: seed).groups.map { $0.members() }
    }
    #expect(members(1) == members(1) && members(1) != members(2))
    // Old and new registrations alike: of a thousand, about half are in the lower half.
    for group in members(3) {
      #expect((420...580).contains(group.filter { $0.rawValue < 10_000 }.count))
      #expect((420...580).contains(group.filter { $0.rawValue % 2 == 0 }.count))
    }
    // Two runs have few in common: a tenth of a tenth.
    let both = Set(members(1).joined()).intersection(members(2).joined())
    #expect((120...290).contains(both.count), "\(both.count)")
  }
}
