import BorealisBase
import Core
import Model

/// What the form for an A/B test asks for. A test with more to it is edited as JSON.
struct ABTestForm: NamedForm {
  /// Title and text of a content.
  struct Line: Equatable {
    var title = "", alert = ""

    var isEmpty: Bool { self == Line() }
  }

  enum Audience: String, CaseIterable { case everybody, segment, tag, alias }

  var name = ""
  /// Without empty ones.
  var lines: [Line] = []
  var share = "20"
  var minutes = "60"
  /// In percent; empty for none.
  var confidence = ""
  var audience = Audience.everybody
  /// Tags or aliases.
  var names = ""
  /// The number of a segment.
  var segment = ""
  /// A test that the fields cannot express, as it is typed.
  var json: String?

  init() {}

  init(_ call: PageCall) {
    name = call.field("name")
    for number in 1...ABTestDesign.contentCounts.upperBound {
      let line = Line(title: call.field("title\(number)"), alert: call.field("alert\(number)"))
      if !line.isEmpty { lines.append(line) }
    }
    (share, minutes, confidence) = (call.field("share"), call.field("minutes"), call.field("confidence"))
    audience = Audience(rawValue: call.field("audience")) ?? .everybody
    (names, segment) = (call.field("names"), call.field("segment"))
    json = call.text("abtest")
  }

  /// The form that makes a test.
  init(_ test: ABTest, rules: PushRules) {
    let design = test.design
    name = test.name
    lines = design.texts.map { Line(title: $0.title ?? "", alert: $0.alert ?? "") }
    (share, minutes) = (String(design.share), String(design.seconds / 60))
    confidence = design.confidence.map { String($0) } ?? ""
    if let filter = design.audience.filter {
      if let id = filter.segment { (audience, segment) = (.segment, String(id)) }
      if !filter.tags.isEmpty { (audience, names) = (.tag, filter.tags.joined(separator: ", ")) }
      if !filter.aliases.isEmpty { (audience, names) = (.alias, filter.aliases.joined(separator: ", ")) }
    }
    if (try? self.design(rules: rules)) != design {
      json = String(decoding: design.stored, as: UTF8.self)
    }
  }

  /// The test that the form stands for.
  func design(rules: PushRules) throws(FieldProblem) -> ABTestDesign {
    let object: JSONObject
    if let json {
      guard let typed = (try? parseJSON(Array(json.utf8)))?.object else {
        throw FieldProblem(Words.abTestWrong.with("JSON"), at: "abtest")
      }
      object = typed
    } else {
      object = try fields()
    }
    do throws(APIError) { return try ABTestDesign.parse(object, rules: rules) } catch {
      throw FieldProblem(Words.abTestWrong.with(error.message), at: json == nil ? "alert1" : "abtest")
    }
  }

  private func fields() throws(FieldProblem) -> JSONObject {
    guard lines.count >= ABTestDesign.contentCounts.lowerBound, !lines.contains(where: \.alert.isEmpty) else {
      throw FieldProblem(Words.abTestContentMissing, at: "alert1")
    }
    var object = JSONObject()
    object.set("contents", .array(lines.map(\.json)))
    object.set("share", try Self.number(share, in: ABTestDesign.shares, Words.abTestShareWrong, at: "share"))
    let most = 1...(ABTestDesign.durations.upperBound / 60)
    let minutes = try Self.number(minutes, in: most, Words.abTestMinutesWrong, at: "minutes")
    object.set("after", .number(JSONNumber((minutes.int64 ?? 0) * 60)))
    if let level = Int64(confidence) { object.set("confidence", .number(JSONNumber(level))) }
    object.set("audience", try audienceJSON())
    return object
  }

  private func audienceJSON() throws(FieldProblem) -> JSONValue {
    let (key, values): (String, [String])
    switch audience {
    case .everybody: return "all"
    case .segment: (key, values) = ("segment", PushForm.list(segment))
    case .tag: (key, values) = ("tag", PushForm.list(names))
    case .alias: (key, values) = ("alias", PushForm.list(names))
    }
    guard !values.isEmpty else {
      throw FieldProblem(Words.abTestAudienceMissing, at: audience == .segment ? "segment" : "names")
    }
    var object = JSONObject()
    object.set(key, .array(values.map { .string($0) }))
    return .object(object)
  }

  private static func number(
    _ text: String, in range: ClosedRange<Int64>, _ complaint: Phrase, at field: String
  ) throws(FieldProblem) -> JSONValue {
    guard let number = Int64(text), range.contains(number) else { throw FieldProblem(complaint, at: field) }
    return .number(JSONNumber(number))
  }
}

extension ABTestForm.Line {
  /// The content as APIs have it; braces mean nothing here.
  fileprivate var json: JSONValue {
    func plain(_ text: String) -> JSONValue {
      .string(text.replacing("{", with: "{{").replacing("}", with: "}}"))
    }
    var object = JSONObject()
    if !title.isEmpty { object.set("title", plain(title)) }
    object.set("alert", plain(alert))
    return .object(object)
  }
}
