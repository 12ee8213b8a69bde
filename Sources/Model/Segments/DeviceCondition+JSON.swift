import BorealisBase

extension DeviceCondition {
  /// The most conditions in one, those that combine others included.
  package static let mostParts = 100
  /// How deep conditions may be nested.
  package static let mostLevels = 8
  /// The most pushes that a condition may name.
  package static let mostPushes = 10

  private static let kinds =
    "all, any, not, tag, alias, platform, fact, last_seen, registered, received, shown, tapped"

  /// Reads a condition; `path` names it in errors. 1003 if it is not one, or larger than allowed.
  package static func parse(_ value: JSONValue, path: String = "condition") throws(APIError)
    -> DeviceCondition
  {
    var room = mostParts
    let condition = try read(value, path, level: 1, room: &room)
    guard condition.pushes.count <= mostPushes else {
      throw .invalidValue("\(path) names more than \(mostPushes) pushes")
    }
    return condition
  }

  private static func read(
    _ value: JSONValue, _ path: String, level: Int, room: inout Int
  ) throws(APIError) -> DeviceCondition {
    guard let object = value.object else { throw .invalidValue("\(path) must be a JSON object") }
    guard level <= mostLevels else {
      throw .invalidValue("\(path) is nested more than \(mostLevels) levels deep")
    }
    room -= 1
    guard room >= 0 else { throw .invalidValue("\(path) is one of more than \(mostParts) conditions") }
    let fields = Fields(object, path: path)
    if fields["fact"] != nil { return try fact(fields) }
    guard object.count == 1, let (key, value) = object.members.first.map({ ($0.key, $0.value) }) else {
      throw .invalidValue("\(path) must have exactly one of \(kinds)")
    }
    switch key {
    case "all", "any":
      guard let parts = value.array else { throw fields.invalid(key, "must be a JSON array") }
      var conditions: [DeviceCondition] = []
      for (place, part) in parts.enumerated() {
        conditions.append(try read(part, "\(path).\(key)[\(place)]", level: level + 1, room: &room))
      }
      return key == "all" ? .all(conditions) : .any(conditions)
    case "not": return .not(try read(value, "\(path).not", level: level + 1, room: &room))
    case "tag":
      guard let name = value.string else { throw fields.invalid(key, "must be a string") }
      if let complaint = NameRules.check(name, as: .tag).complaint(of: name, as: .tag, allowHyphen: false) {
        throw fields.invalid(key, "is invalid: \(complaint)")
      }
      return .tag(name)
    case "alias":
      guard let isThere = Fields.flag(value) else { throw fields.invalid(key, "must be true or false") }
      return isThere ? .hasAlias : .not(.hasAlias)
    case "platform":
      guard let platform = value.string.flatMap({ Platform(name: $0) }) else {
        let names = Platform.allCases.map(\.name).joined(separator: ", ")
        throw fields.invalid(key, "must be one of \(names)")
      }
      return .platform(platform)
    case "last_seen": return .lastSeen(try window(fields, key))
    case "registered": return .registered(try window(fields, key))
    default:
      guard let reaction = PushReaction(rawValue: key) else {
        throw .invalidValue("\(path).\(key.prefix(64)) is not supported; known are \(kinds)")
      }
      guard let id = value.string.flatMap({ UInt64($0) }) ?? value.int64.flatMap({ UInt64(exactly: $0) })
      else {
        throw fields.invalid(key, "must be the msg_id of a push, as a string")
      }
      return .push(reaction, MessageID(id))
    }
  }

  /// `{"fact": "app_version", "at_least": "2.10"}`, or with `"known": true`.
  private static func fact(_ fields: Fields) throws(APIError) -> DeviceCondition {
    guard let fact = try fields.string("fact").flatMap({ DeviceFact(name: $0) }) else {
      throw fields.invalid("fact", "must be one of \(DeviceFactSet.all.text)")
    }
    let known = Comparison.allCases.map(\.rawValue) + ["known"]
    let others = fields.object.members.filter { $0.key != "fact" }
    guard others.count == 1, let other = others.first, known.contains(other.key) else {
      throw .invalidValue(
        "\(fields.path) must have exactly one of \(known.joined(separator: ", ")) beside fact")
    }
    guard let comparison = Comparison(rawValue: other.key) else {
      guard let isKnown = Fields.flag(other.value) else {
        throw fields.invalid(other.key, "must be true or false")
      }
      return isKnown ? .known(fact) : .not(.known(fact))
    }
    guard let text = other.value.string, !text.isEmpty, text.utf8.count <= DeviceFact.maximumBytes else {
      throw fields.invalid(other.key, "must be a string of 1 to \(DeviceFact.maximumBytes) bytes")
    }
    if comparison == .equal, !fact.accepts(text) {
      throw fields.invalid(
        other.key, "must be one of \((fact.values ?? []).joined(separator: ", ")) for \(fact.name)")
    }
    return .compare(fact, comparison, text)
  }

  private static func window(_ fields: Fields, _ key: String) throws(APIError) -> TimeWindow {
    guard let inner = try fields.fields(key) else { throw fields.invalid(key, "must be a JSON object") }
    try inner.allow(["within_days", "since", "before"])
    func time(_ key: String) throws(APIError) -> LocalTime? {
      guard let text = try inner.string(key) else { return nil }
      guard let time = LocalTime(text) else {
        throw inner.invalid(key, "must be a time as '2026-01-31 09:00:00'")
      }
      return time
    }
    let days = try inner.integer("within_days", in: 1...TimeWindow.mostDays)
    let window = TimeWindow(
      lastDays: days.map { Int($0) }, since: try time("since"), before: try time("before"))
    guard window != TimeWindow() else {
      throw .invalidValue("\(inner.path) must have within_days, since or before")
    }
    return window
  }

  /// The form that `parse` reads.
  package var json: JSONValue {
    switch self {
    case .all(let parts): ["all": .array(parts.map(\.json))]
    case .any(let parts): ["any": .array(parts.map(\.json))]
    case .not(let inner): ["not": inner.json]
    case .tag(let name): ["tag": .string(name)]
    case .hasAlias: ["alias": true]
    case .platform(let platform): ["platform": .string(platform.name)]
    case .known(let fact): ["fact": .string(fact.name), "known": true]
    case .compare(let fact, let comparison, let value):
      ["fact": .string(fact.name), comparison.rawValue: .string(value)]
    case .lastSeen(let window): ["last_seen": window.json]
    case .registered(let window): ["registered": window.json]
    case .push(let reaction, let id): [reaction.rawValue: .string(String(id.rawValue))]
    }
  }
}

extension TimeWindow {
  fileprivate var json: JSONValue {
    var object = JSONObject()
    if let lastDays { object.set("within_days", .number(JSONNumber(lastDays))) }
    if let since { object.set("since", .string(since.text)) }
    if let before { object.set("before", .string(before.text)) }
    return .object(object)
  }
}
