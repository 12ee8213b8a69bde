import BorealisBase
import Core
import Model
import Storage

/// The audience of a push, in words.
struct AudienceText: Sendable, Equatable {
  private let audience: Audience
  /// The app's segments, for their names.
  private let segments: [Segment]
  /// Its A/B tests, for the same.
  private let tests: [ABTest]

  /// Characters of a line of a list.
  private static let lineLength = 40

  init(_ audience: Audience, _ segments: [Segment], _ tests: [ABTest] = []) {
    (self.audience, self.segments, self.tests) = (audience, segments, tests)
  }

  /// Reads a push object that was accepted once; nil if it says nothing about an audience.
  init?(object bytes: [UInt8]?, _ segments: [Segment], _ tests: [ABTest] = []) {
    guard let audience = bytes.flatMap({ Audience(recorded: $0) }) else { return nil }
    self.init(audience, segments, tests)
  }

  // MARK: In words

  /// In a line of a list.
  func line(_ language: Language) -> String {
    let text = text(language, isShort: true)
    return text.count > Self.lineLength ? "\(text.prefix(Self.lineLength - 1))…" : text
  }

  /// With many more names.
  func full(_ language: Language) -> String { text(language, isShort: false) }

  private func text(_ language: Language, isShort: Bool) -> String {
    let conditions = phrases(audience, isShort: isShort)
    guard let first = conditions.first else { return "" }
    // A target meets all conditions.
    let words = conditions.dropFirst().reduce(first) { Words.andAlso.with(each: $0, $1) }[language]
    guard audience.isForTestDevices else { return words }
    return words + (language == .chinese ? "，" : ", ") + Words.onlyTestDevices[language]
  }

  // MARK: In lists

  /// The audience of a push in a list: by name, or for older pushes by kind.
  static func text(_ push: PushSummary, _ call: PageCall) -> String {
    AudienceText(object: push.object, call.segments, call.abTests)?.full(call.language)
      ?? PushNames.audiences(push.traits, call)
  }

  /// The number of its devices, and its audience.
  static func cell(_ push: PushSummary, _ call: PageCall) -> HTML {
    let known = AudienceText(object: push.object, call.segments, call.abTests)
    let line = known?.line(call.language) ?? PushNames.audiences(push.traits, call)
    return """
      <span title="\(known?.full(call.language) ?? line)">\(line)</span>
      <span class="quiet">\(call(Counted.devices(Int(push.targetCount))))</span>
      """
  }
}

extension AudienceText {
  /// The conditions with their names, or with the first of them.
  private func phrases(_ audience: Audience, isShort: Bool) -> [Phrase] {
    switch audience {
    case .all: return [Words.everybody]
    case .testDevices(let audience): return phrases(audience, isShort: isShort)
    case .file(let id): return [Words.toFile.with(id)]
    case .filter(let filter):
      let ids = filter.registrationIDs
      return [
        Self.named(filter.tags, one: Words.toTag, several: Words.toTags, joint: Words.or, isShort),
        Self.named(filter.tagsAnd, one: Words.toTag, several: Words.toTags, joint: Words.and, isShort),
        Self.named(filter.aliases, one: Words.toAlias, several: Words.toAliases, joint: Words.or, isShort),
        Self.named(
          isShort && ids.count > 1 ? ids.map { "\($0.prefix(6))…" } : ids, one: Words.toDevice,
          several: Words.toDevices, joint: Words.or, isShort),
        Self.named(filter.tagsNot, one: Words.toNoTag, several: Words.toNoTag, joint: Words.or, isShort),
        filter.segment.map { id in
          Words.toSegment.with(segments.first { $0.id == id }?.name ?? String(id))
        },
        filter.abTest.map { id in Words.toABTest.with(tests.first { $0.id == id }?.name ?? String(id)) },
        filter.liveActivityID.map { Words.toActivity.with($0) },
      ].compactMap { $0 }
    }
  }

  private static func named(
    _ names: [String], one: Phrase, several: Phrase, joint: Phrase, _ isShort: Bool
  ) -> Phrase? {
    guard !names.isEmpty else { return nil }
    return (names.count == 1 ? one : several).with(each: list(names, most: isShort ? 3 : 100, joint))
  }

  private static func list(_ names: [String], most: Int, _ joint: Phrase) -> Phrase {
    let isCut = names.count > most
    let shown = names.prefix(most)
    let last = isCut ? Counted.grouped(names.count - most) : shown.last ?? ""
    let first = isCut ? shown : shown.dropLast()
    guard !first.isEmpty else { return Phrase(last, last) }
    let head = Phrase(first.joined(separator: ", "), first.joined(separator: "、"))
    return (isCut ? Words.andMore : joint).with(each: head, Phrase(last, last))
  }
}
