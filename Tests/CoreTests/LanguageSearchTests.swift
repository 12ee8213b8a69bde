import BorealisBase
import Model
import Testing

@testable import Core
@testable import Storage

/// Which devices get which language, and what is stored of that.
@Suite struct LanguageSearchTests {
  private static let reported = ["de-AT", "de", "zh-Hans-CN", "en", "fr", "x"]
  private static let tags = ["de", "zh-Hans", "de-AT", "ja"].compactMap { LanguageTag($0) }

  private static func content(_ text: String) -> PushContent {
    PushContent(variants: [
      ContentVariant(platforms: .all, notification: Array("{\"alert\":\"\(text)\"}".utf8))
    ])
  }

  /// The column is read once for many, the facts of each for a few: both find the same, whatever the numbers.
  @Test(arguments: [10, 64, 65, 5000, 70_000]) func `Everybody is found as a plain look finds them`(
    count: Int
  ) {
    let directory = AppDirectory(app: AppID(1), limits: PendingLimits(), start: 0)
    for (place, text) in Self.reported.enumerated() {
      directory.define(FactValue(number: UInt32(place + 1), fact: .language, text: text))
    }
    var random = SystemRandomNumberGenerator()
    var expected = [Set<RegistrationNumber>](repeating: [], count: Self.tags.count)
    var members: [RegistrationNumber] = []
    for raw in 0..<UInt32(count) {
      let number = RegistrationNumber(raw)
      let place = Int.random(in: -1..<Self.reported.count, using: &random)
      directory.insert(
        RegistrationEntry(
          number: number, id: RegistrationID(high: UInt64(raw), low: 0), platform: .android,
          secretHash: (0, 0), alias: nil, tags: [],
          lastSeen: 0, tokens: [], lastEnd: .unknown, facts: place < 0 ? [] : [UInt32(place + 1)]))
      guard Bool.random(using: &random) else { continue }
      members.append(number)
      guard place >= 0, let found = LanguageTag.place(of: Self.reported[place], among: Self.tags) else {
        continue
      }
      expected[found].insert(number)
    }
    let found = directory.readers(of: Self.tags, among: Recipients(members))
    #expect(found.map { Set($0.members()) } == expected)
    #expect(found[3].isEmpty)
  }

  @Test func `Without reports everybody gets the default`() {
    let directory = AppDirectory(app: AppID(1), limits: PendingLimits(), start: 0)
    for recipients in [
      Recipients.few([RegistrationNumber(3)]), .many(NumberSet((0..<99).map { RegistrationNumber($0) })),
    ] {
      #expect(directory.readers(of: Self.tags, among: recipients).allSatisfy { $0.isEmpty })
    }
  }

  private static func languages() -> PushLanguages? {
    PushLanguages([
      .init(
        language: "de", content: content("b"),
        targets: NumberSet((0..<100).map { RegistrationNumber($0 * 3) })),
      .init(language: "zh-Hans", content: content("c"), targets: NumberSet([RegistrationNumber(1)])),
    ])
  }

  @Test func `What is stored is read again, and nothing else is`() throws {
    let bytes = try #require(Self.languages()).encode()
    let read = try #require(PushLanguages(decoding: bytes))
    #expect(read.texts.map(\.language) == ["de", "zh-Hans"] && read.encode() == bytes)
    #expect(read.content(for: RegistrationNumber(3)) == Self.content("b"))
    #expect(read.content(for: RegistrationNumber(1)) == Self.content("c"))
    #expect(read.content(for: RegistrationNumber(2)) == nil)
    for count in 0..<bytes.count { #expect(PushLanguages(decoding: Array(bytes.prefix(count))) == nil) }
    #expect(PushLanguages(decoding: bytes + [0]) == nil)
    for place in bytes.indices {
      var broken = bytes
      broken[place] ^= 0xff
      // It may be readable, such as with another letter, but must not trap.
      _ = PushLanguages(decoding: broken)
    }
  }

  @Test func `Parts by language are all of the targets, each once`() throws {
    let push = StoredPush(content: Self.content("a"), languages: Self.languages())
    let targets = NumberSet((0..<60).map { RegistrationNumber($0) })
    let parts = push.byLanguage(targets)
    #expect(parts.count == 3 && parts.reduce(0) { $0 + $1.targets.count } == 60)
    #expect(parts.reduce(into: NumberSet()) { $0.formUnion($1.targets) }.members() == targets.members())
    for part in parts {
      #expect(part.push.languages == nil)
      for number in part.targets.members() {
        #expect(push.inLanguage(of: number).content == part.push.content)
      }
    }
    #expect(push.byLanguage(NumberSet([RegistrationNumber(1)])).map(\.push.content) == [Self.content("c")])
    #expect(push.byLanguage(NumberSet([RegistrationNumber(2)])).map(\.push.content) == [Self.content("a")])
  }

  /// Languages count for the room that contents may take.
  @Test func `The cache keeps languages within its bound`() {
    let cache = ContentCache(byteLimit: 20_000)
    let push = StoredPush(content: Self.content("a"), languages: Self.languages())
    for number in 1...500 {
      cache.replace(MessageID(UInt64(number)), push)
      #expect(cache.size <= 20_000 + 4096)
    }
    #expect(cache.find(MessageID(1)) == nil)
    #expect(cache.find(MessageID(500))?.languages?.texts.count == 2)
  }
}
