import BorealisBase

/// An A/B test: what is compared, among whom, and when the winner is chosen.
package struct ABTestDesign: Equatable, Sendable {
  /// How many contents one compares.
  package static let contentCounts = 2...4
  /// Percent of the audience that may take part.
  package static let shares: ClosedRange<Int64> = 1...100
  /// Seconds after which the winner may be chosen: a minute to seven days.
  package static let durations: ClosedRange<Int64> = 60...604_800
  /// Levels of confidence that one may ask for, in percent.
  package static let levels = [90, 95, 99]

  /// What is compared. None has variables, and no two say the same.
  package let contents: [PushTemplate]
  /// Percent of the audience that takes part, the same number of devices with each content.
  package let share: Int
  /// Seconds after its start at which the winner is chosen at the latest.
  package let seconds: Int64
  /// The confidence in percent with which a content has to be better than each other to win earlier; nil if
  /// nothing wins earlier.
  package let confidence: Int?
  /// Who gets one of the contents, or the winner.
  package let audience: Audience

  private init(
    _ contents: [PushTemplate], share: Int, seconds: Int64, confidence: Int?, audience: Audience
  ) {
    (self.contents, self.share, self.seconds) = (contents, share, seconds)
    (self.confidence, self.audience) = (confidence, audience)
  }

  /// What each of its contents says in its default language.
  package var texts: [PushTexts] { contents.compactMap { $0.said(with: [:]).first?.texts } }

  /// The segment that its audience names; nil for none.
  package var segment: Int64? { audience.filter?.segment }

  /// Reads a test as APIs have it: `contents`, `share`, `after`, `confidence` and `audience`. Throws the
  /// codes of the push API.
  package static func parse(_ object: JSONObject, rules: PushRules) throws(APIError) -> ABTestDesign {
    let fields = Fields(object)
    try fields.allow(["contents", "share", "after", "confidence", "audience"])
    let audience = try Audience.parse(fields, rules: rules)
    if audience.filter?.abTest != nil || audience.liveActivityID != nil {
      throw fields.invalid("audience", "names an A/B test or a Live Activity, which no A/B test may be for")
    }
    return try read(fields, audience)
  }

  private static func read(_ fields: Fields, _ audience: Audience) throws(APIError) -> ABTestDesign {
    let rule = "an array of \(contentCounts.lowerBound) to \(contentCounts.upperBound) contents"
    guard let given = try fields.array("contents") else { throw fields.missing("contents", rule) }
    guard contentCounts.contains(given.count) else { throw fields.invalid("contents", "must be \(rule)") }
    var contents: [PushTemplate] = []
    for (place, value) in given.enumerated() {
      let content = try content(value, "contents[\(place)]")
      if let other = contents.firstIndex(of: content) {
        throw .invalidValue("contents[\(place)] says the same as contents[\(other)]")
      }
      contents.append(content)
    }
    guard let share = try fields.integer("share", in: shares) else { throw fields.missing("share") }
    guard let seconds = try fields.integer("after", in: durations) else { throw fields.missing("after") }
    let confidence = try fields.integer("confidence", in: 0...100).map { Int($0) } ?? 0
    guard confidence == 0 || levels.contains(confidence) else {
      throw fields.invalid(
        "confidence", "must be one of \(levels.map { String($0) }.joined(separator: ", "))")
    }
    return ABTestDesign(
      contents, share: Int(share), seconds: seconds, confidence: confidence == 0 ? nil : confidence,
      audience: audience)
  }

  private static func content(_ value: JSONValue, _ name: String) throws(APIError) -> PushTemplate {
    guard let object = value.object else { throw .invalidValue("\(name) must be a JSON object") }
    let content: PushTemplate
    do throws(APIError) { content = try PushTemplate.parse(object) } catch {
      throw error.saying("\(name): \(error.message)")
    }
    guard let variable = content.variables.first else { return content }
    throw .invalidValue(
      "\(name) has the variable '\(variable.name)': nothing gives a value for it. Write {{ for a brace")
  }

  /// Reads what was kept, whatever the rules for names are today; nil if it cannot be read.
  package init?(recorded bytes: [UInt8]) {
    guard let json = try? parseJSON(bytes), let object = json.object,
      let audience = Audience(recorded: json), let read = try? Self.read(Fields(object), audience)
    else { return nil }
    self = read
  }

  /// Writes its members, as APIs have them, perhaps with another audience.
  package func write(to writer: inout JSONWriter, for other: Audience? = nil) {
    writer.key("contents")
    writer.beginArray()
    for content in contents { writer.value(.object(content.json)) }
    writer.endArray()
    writer.member("share", share)
    writer.member("after", seconds)
    if let confidence { writer.member("confidence", confidence) }
    (other ?? audience).write(to: &writer)
  }

  /// The object that it is kept as.
  package var stored: [UInt8] {
    var writer = JSONWriter(capacity: 1024)
    writer.beginObject()
    write(to: &writer)
    writer.endObject()
    return writer.bytes
  }
}
