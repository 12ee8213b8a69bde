import BorealisBase
import HTTP
import Model
import Storage

/// The filter of the list of pushes, as in the page's URL.
struct HistoryForm: Sendable, Equatable {
  /// The first and the last day, `YYYY-MM-DD` by the server's clock.
  var from = ""
  var to = ""
  var state = ""
  var kind = ""
  var audience = ""
  var sender = ""
  /// Part of what a push says, or its number.
  var text = ""
  /// Where the page before ended.
  var before: MessageID?

  init(_ target: HTTPTarget) {
    from = target["from"] ?? ""
    to = target["to"] ?? ""
    state = target["state"] ?? ""
    kind = target["kind"] ?? ""
    audience = target["audience"] ?? ""
    sender = target["sender"] ?? ""
    text = Self.cut(target["q"] ?? "")
    before = target["before"].flatMap { MessageID(decimal: Array($0.utf8)) }
  }

  /// Bytes of a text that is looked for: a hundred Chinese characters, and some more.
  static let mostBytes = 400

  /// As much of a text as is looked for. A single `Character` may be of any length.
  private static func cut(_ text: String) -> String {
    var bytes = 0
    var kept = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      bytes += UTF8.width(scalar)
      if bytes > mostBytes { break }
      kept.append(scalar)
    }
    return String(kept)
  }

  /// How a push ended, as people tell it apart. Of one to several it is only said that it did: its outcome
  /// differs from target to target. Without states: what a channel refused for some target, whatever became
  /// of it elsewhere.
  static let states: [(value: String, phrase: Phrase, states: Set<OutcomeStatus>, isToSeveral: Bool?)] = [
    ("open", Words.stateOpen, [.open], nil),
    ("delivered", Words.stateDeliveredOrAccepted, [.delivered], false),
    ("expired", Words.stateExpired, [.expired], false),
    ("failed", Words.stateFailed, [.dropped, .refused, .replaced], false),
    ("refused", Words.stateRefused, [], nil),
    ("complete", Words.completeToSeveral, [.delivered, .expired, .dropped, .refused, .replaced], true),
    ("recalled", Words.stateRecalled, [.recalled], nil),
    ("replaced", Words.stateOverridden, [.overridden], nil),
  ]

  static let kinds: [(value: String, phrase: Phrase, traits: PushTraits)] = [
    ("notification", Words.notification, .notification), ("message", Words.message, .message),
  ]

  static let audiences: [(value: String, phrase: Phrase, traits: PushTraits)] = [
    ("everybody", Words.everybody, .everybody), ("tag", Words.tag, .tags),
    ("alias", Words.alias, .aliases), ("registration", Words.oneDevice, .registrations),
    ("segment", Words.segment, .segment), ("file", Words.audienceFile, .file),
    ("live_activity", Words.liveActivity, .liveActivity), ("abtest", Words.abTest, .abTest),
  ]

  static let senders: [(value: String, phrase: Phrase, kind: PushSender.Kind, isBatch: Bool?)] = [
    ("api", Words.senderAPI, .api, false), ("batch", Words.senderBatch, .api, true),
    ("console", Words.senderConsole, .person, nil), ("schedule", Words.senderSchedule, .schedule, nil),
    ("group", Words.senderGroup, .group, nil),
  ]

  /// Whether there is any filter.
  var isEmpty: Bool { [from, to, state, kind, audience, sender, text].allSatisfy(\.isEmpty) }

  /// The number that is looked for, if the text is one: numbers of pushes have been long from the first one
  /// on.
  var messageID: MessageID? { text.utf8.count >= 12 ? MessageID(decimal: Array(text.utf8)) : nil }

  /// The query of the database. Invalid days are ignored.
  func filter(in zone: any Zone) -> PushFilter {
    var filter = PushFilter()
    if let first = zone.start(of: from) { filter.from = MessageID(firstAt: first) }
    if let end = zone.start(of: to, after: 1) { filter.before = MessageID(firstAt: end) }
    if let before { filter.before = min(filter.before, before) }
    if let wanted = Self.states.first(where: { $0.value == state }) {
      (filter.states, filter.isToSeveral) = (wanted.states, wanted.isToSeveral)
      filter.isRefused = wanted.value == "refused"
    }
    filter.kinds = Self.kinds.first { $0.value == kind }?.traits ?? []
    filter.audiences = Self.audiences.first { $0.value == audience }?.traits ?? []
    if let sender = Self.senders.first(where: { $0.value == sender }) {
      (filter.sender, filter.isBatch) = (sender.kind, sender.isBatch)
    }
    return filter
  }

  /// The query of an address that asks for the same, from another place on.
  func query(before: MessageID?) -> String {
    AddressText.query([
      ("q", text), ("from", from), ("to", to), ("state", state), ("kind", kind), ("audience", audience),
      ("sender", sender), ("before", before?.text ?? ""),
    ])
  }
}

/// Finds pushes by what they say, without regard to the case of ASCII letters.
struct TextSearch: Sendable {
  private let words: ByteSearch
  /// As the words stand within JSON.
  private let quoted: ByteSearch

  /// Nil for no words.
  init?(_ text: String) {
    guard !text.isEmpty else { return nil }
    words = ByteSearch(text.utf8)
    quoted = ByteSearch(JSONWriter.serialize(.string(text)).dropFirst().dropLast())
  }

  /// Whether a push's title or text holds the words; the content is in the router's encoding.
  func matches(_ content: [UInt8]) -> Bool {
    // Most contents are passed over without being taken apart.
    guard quoted.isFound(in: content) else { return false }
    let excerpt = PushExcerpt(content)
    return [excerpt.title, excerpt.text].contains { words.isFound(in: $0.utf8) }
  }
}

/// Finds bytes in others without regard to the case of ASCII letters, in time linear in both, whatever
/// repeats in them (Knuth, Morris and Pratt): both are up to tenants.
struct ByteSearch: Sendable {
  private let words: [UInt8]
  /// For each place, how many bytes up to it are also the first ones.
  private let overlaps: [Int]

  init(_ text: some Sequence<UInt8>) {
    words = text.map { Self.lowercase($0) }
    var overlaps: [Int] = []
    for byte in words {
      var length = overlaps.last ?? 0
      while length > 0, words[length] != byte { length = overlaps[length - 1] }
      overlaps.append(!overlaps.isEmpty && words[length] == byte ? length + 1 : 0)
    }
    self.overlaps = overlaps
  }

  /// Whether a text holds the bytes; nothing is found nowhere.
  func isFound(in text: some Sequence<UInt8>) -> Bool {
    guard !words.isEmpty else { return false }
    var length = 0
    for byte in text {
      let byte = Self.lowercase(byte)
      while length > 0, words[length] != byte { length = overlaps[length - 1] }
      if words[length] == byte { length += 1 }
      if length == words.count { return true }
    }
    return false
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte | 0x20 : byte }
}

extension Zone {
  /// When a day begins, or one that is some days later; nil if the text is not a day, such as `2026-03-01`.
  func start(of day: String, after days: Int64 = 0) -> Timestamp? {
    LocalTime(day + " 00:00:00").map { time in
      moment(of: LocalTime(date: time.date.adding(days: days), secondOfDay: 0))
    }
  }
}
