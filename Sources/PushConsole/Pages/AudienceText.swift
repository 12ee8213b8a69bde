import PushBase
import PushDomain
import PushJSON
import PushRouter
import PushStorage

/// Whom a push is for, by name.
struct AudienceText: Sendable, Equatable {
  fileprivate enum Part: Sendable, Equatable {
    /// Devices with one of these tags, with all of them, with none of them.
    case tags([String]), allTags([String]), noTags([String])
    case aliases([String])
    case devices([String])
    case file(String)
    case activity(String)
  }

  private var parts: [Part] = []
  private var isForTestDevices = false

  /// Characters of a line of a list.
  private static let lineLength = 40

  /// Reads a push object that was accepted once; nil if it says nothing about an audience.
  init?(object bytes: [UInt8]?) {
    guard let bytes, let object = try? parseJSON(bytes), let audience = object["audience"] else { return nil }
    func names(_ key: String) -> [String] { (audience[key]?.array ?? []).compactMap(\.string) }
    add(
      tags: names("tag"), allTags: names("tag_and"), noTags: names("tag_not"), aliases: names("alias"),
      devices: names("registration_id"))
    if let file = audience["file"]?["file_id"]?.string { parts.append(.file(file)) }
    if let activity = audience["live_activity_id"]?.string { parts.append(.activity(activity)) }
    isForTestDevices = object["options"]?["test_model"]?.bool == true
  }

  /// The audience of a push that is about to be sent.
  init(_ request: AcceptRequest) {
    let terms = request.terms
    let ids = terms.registrationIDs.map(\.text)
    // Names that no registration can have still mean somebody else than everybody.
    add(
      tags: terms.tags, allTags: terms.tagsAnd, noTags: terms.tagsNot, aliases: terms.aliases,
      devices: ids.isEmpty && terms.namesRegistrations ? ["?"] : ids)
    if let file = request.file { parts.append(.file(file)) }
    if let activity = terms.liveActivityID { parts.append(.activity(activity)) }
    isForTestDevices = request.isForTestDevices
  }

  private mutating func add(
    tags: [String], allTags: [String], noTags: [String], aliases: [String], devices: [String]
  ) {
    parts += [.tags(tags), .allTags(allTags), .aliases(aliases), .devices(devices), .noTags(noTags)]
      .filter { !$0.isEmpty }
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
    var words = parts.map { $0.phrase(isShort: isShort)[language] }
    if words.isEmpty { words = [Words.everybody[language]] }
    if isForTestDevices { words.append(Words.onlyTestDevices[language]) }
    return words.joined(separator: language == .chinese ? "，" : ", ")
  }

  // MARK: In lists

  /// Whom a push in a list is for: by name, or for older pushes by kind.
  static func text(_ push: PushSummary, _ call: PageCall) -> String {
    AudienceText(object: push.object)?.full(call.language) ?? PushNames.audiences(push.traits, call)
  }

  /// How many devices it is for, and which.
  static func cell(_ push: PushSummary, _ call: PageCall) -> HTML {
    let known = AudienceText(object: push.object)
    let line = known?.line(call.language) ?? PushNames.audiences(push.traits, call)
    return """
      <span title="\(known?.full(call.language) ?? line)">\(line)</span>
      <span class="quiet">\(call(Counted.devices(Int(push.targetCount))))</span>
      """
  }
}

extension AudienceText.Part {
  fileprivate var isEmpty: Bool {
    switch self {
    case .tags(let names), .allTags(let names), .noTags(let names), .aliases(let names), .devices(let names):
      names.isEmpty
    case .file, .activity: false
    }
  }

  /// The part with its names, or with the first of them.
  fileprivate func phrase(isShort: Bool) -> Phrase {
    switch self {
    case .tags(let names):
      Self.named(names, one: Words.toTag, several: Words.toTags, joint: Words.or, isShort)
    case .allTags(let names):
      Self.named(names, one: Words.toTag, several: Words.toTags, joint: Words.and, isShort)
    case .noTags(let names):
      Self.named(names, one: Words.toNoTag, several: Words.toNoTag, joint: Words.or, isShort)
    case .aliases(let names):
      Self.named(names, one: Words.toAlias, several: Words.toAliases, joint: Words.or, isShort)
    case .devices(let ids):
      Self.named(
        isShort && ids.count > 1 ? ids.map { "\($0.prefix(6))…" } : ids, one: Words.toDevice,
        several: Words.toDevices, joint: Words.or, isShort)
    case .file(let id): Words.toFile.with(id)
    case .activity(let id): Words.toActivity.with(id)
    }
  }

  private static func named(
    _ names: [String], one: Phrase, several: Phrase, joint: Phrase, _ isShort: Bool
  ) -> Phrase {
    (names.count == 1 ? one : several).with(each: list(names, most: isShort ? 3 : 100, joint))
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
