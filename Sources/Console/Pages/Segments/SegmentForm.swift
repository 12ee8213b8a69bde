import BorealisBase
import Core
import Model

/// What the form for a segment asks for: a name, and conditions of one level. A condition with more to it is
/// edited as JSON.
struct SegmentForm: NamedForm {
  /// A line of the form.
  struct Line: Equatable {
    /// What it is about: a member of the API's conditions, or the name of a fact.
    var what = ""
    var how = How.isValue
    var value = ""
  }

  enum How: String, CaseIterable {
    case isValue = "is"
    case isNot = "is_not"
    case atLeast = "at_least"
    case atMost = "at_most"
    case beginsWith = "begins_with"
    case inLastDays = "within"
    case notInLastDays = "not_within"
  }

  /// Lines that a form may have.
  static let mostLines = 20

  var name = ""
  var matchesAll = true
  var lines: [Line] = []
  /// A condition that the lines cannot express, as it is typed.
  var json: String?

  init() {}

  init(_ call: PageCall) {
    name = call.field("name")
    matchesAll = call.field("match") != "any"
    json = call.text("condition")
    for number in 1...Self.mostLines {
      let line = Line(
        what: call.field("what\(number)"), how: How(rawValue: call.field("how\(number)")) ?? .isValue,
        value: call.field("value\(number)"))
      if !line.what.isEmpty { lines.append(line) }
    }
  }

  /// The form that makes a segment.
  init(_ segment: Segment) {
    name = segment.name
    let (parts, isAll) =
      switch segment.condition {
      case .all(let parts): (parts, true)
      case .any(let parts): (parts, false)
      case let one: ([one], true)
      }
    matchesAll = isAll
    lines = parts.compactMap { Line($0) }
    if lines.count != parts.count || parts.isEmpty || parts.count > Self.mostLines {
      json = String(decoding: JSONWriter.serialize(segment.condition.json), as: UTF8.self)
    }
  }

  /// The condition that the form stands for.
  func condition() throws(FieldProblem) -> DeviceCondition {
    if let json {
      guard let value = try? parseJSON(Array(json.utf8)), let condition = try? DeviceCondition.parse(value)
      else { throw FieldProblem(Words.conditionWrong.with("1"), at: "condition") }
      return condition
    }
    guard !lines.isEmpty else { throw FieldProblem(Words.conditionMissing, at: "what1") }
    var parts: [DeviceCondition] = []
    for (place, line) in lines.enumerated() {
      guard let json = line.json, let condition = try? DeviceCondition.parse(json) else {
        throw FieldProblem(Words.conditionWrong.with(String(place + 1)), at: "value\(place + 1)")
      }
      parts.append(condition)
    }
    return matchesAll ? .all(parts) : .any(parts)
  }
}

extension SegmentForm.Line {
  private static let reactions = DeviceCondition.PushReaction.allCases.map(\.rawValue)
  private static let times = ["last_seen", "registered"]

  /// What lines may be about in an app: only facts that it asks for say anything.
  static func kinds(_ facts: DeviceFactSet) -> [(what: String, phrase: Phrase)] {
    [("tag", Words.tag), ("alias", Words.alias), ("platform", Words.platform)]
      + facts.facts.map { ($0.name, $0.phrase) }
      + [
        ("last_seen", Words.lastSeenField), ("registered", Words.registeredField),
        ("received", Words.receivedField), ("shown", Words.shownField), ("tapped", Words.tappedField),
      ]
  }

  /// Reads a condition; nil if it has more to it than a line has fields for.
  init?(_ condition: DeviceCondition) {
    if case .not(let inner) = condition {
      guard let line = Self(inner) else { return nil }
      self = line
      switch how {
      case .isValue: how = .isNot
      case .inLastDays: how = .notInLastDays
      default: return nil
      }
      return
    }
    switch condition {
    case .tag(let name): (what, value) = ("tag", name)
    case .hasAlias: what = "alias"
    case .platform(let platform): (what, value) = ("platform", platform.name)
    case .known(let fact): what = fact.name
    case .compare(let fact, let comparison, let text):
      guard let how = SegmentForm.How(rawValue: comparison.rawValue) else { return nil }
      (what, self.how, value) = (fact.name, how, text)
    case .lastSeen(let window), .registered(let window):
      guard let days = window.lastDays, window == TimeWindow(lastDays: days) else { return nil }
      if case .lastSeen = condition { what = "last_seen" } else { what = "registered" }
      (how, value) = (.inLastDays, String(days))
    case .push(let reaction, let id): (what, value) = (reaction.rawValue, id.text)
    case .all, .any, .not: return nil
    }
  }

  /// The condition in the API's form; nil if the fields do not fit together.
  fileprivate var json: JSONValue? {
    let isNegative = how == .isNot || how == .notInLastDays
    guard let json = positive else { return nil }
    return isNegative ? ["not": json] : json
  }

  private var positive: JSONValue? {
    let isPlain = how == .isValue || how == .isNot
    if Self.times.contains(what) {
      guard how == .inLastDays || how == .notInLastDays, let days = Int(value) else { return nil }
      return [what: ["within_days": .number(JSONNumber(days))]]
    }
    if let fact = DeviceFact(name: what) {
      if isPlain, value.isEmpty { return ["fact": .string(fact.name), "known": true] }
      guard isPlain || DeviceCondition.Comparison(rawValue: how.rawValue) != nil else { return nil }
      return ["fact": .string(fact.name), isPlain ? "is" : how.rawValue: .string(value)]
    }
    guard isPlain else { return nil }
    if what == "alias" { return value.isEmpty ? ["alias": true] : nil }
    guard ["tag", "platform"].contains(what) || Self.reactions.contains(what) else { return nil }
    return [what: .string(what == "platform" ? value.lowercased() : value)]
  }
}
