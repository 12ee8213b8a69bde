import BorealisBase

extension Audience {
  /// Most names in each of `tag`, `tag_and` and `tag_not`.
  package static let maximumTags = 20
  /// The same of all conditions of Getui's API together, of which there may be 100.
  package static let maximumTagsOfGetui = 1000
  /// Most values in `alias` and `registration_id`.
  package static let maximumDevices = 1000

  private static let members =
    "tag, tag_and, tag_not, alias, registration_id, segment, abtest, live_activity_id"
  private static let rule = "'all' or an object with any of \(members)"

  /// Reads the member `audience` of a push object: `"all"` or an object of arrays. Empty arrays count as
  /// absent; with nothing left that's 1002, as is no audience; everything else that's wrong is 1003.
  static func parse(
    _ push: Fields, rules: PushRules, kind: AudienceKind = .named
  ) throws(APIError) -> Audience {
    guard let value = push.wish("audience") else { throw push.missing("audience", rule) }
    if let text = value.string {
      guard text == "all" else { throw push.invalid("audience", "must be 'all' or a JSON object") }
      guard kind != .file else {
        throw push.invalid("audience", "must name a file: {\"file\":{\"file_id\":\"…\"}}")
      }
      return .all
    }
    guard let fields = try push.fields("audience") else { throw push.missing("audience", rule) }
    if fields.wish("file") != nil, kind != .named { return try file(fields) }
    guard kind != .file else { throw fields.missing("file") }
    for member in fields.present where !member.value.asksForNothing {
      switch member.key {
      case "tag", "tag_and", "tag_not", "alias", "registration_id", "segment", "abtest", "live_activity_id":
        continue
      // Passing over a condition would reach people that the sender wanted to leave out.
      default: throw fields.invalid(String(member.key.prefix(64)), "is not supported; known are \(members)")
      }
    }
    var filter = AudienceFilter()
    let most = rules.isGetui ? maximumTagsOfGetui : maximumTags
    filter.tags = try fields.names("tag", maximum: most, rules: rules) ?? []
    filter.tagsAnd = try fields.names("tag_and", maximum: most, rules: rules) ?? []
    filter.tagsNot = try fields.names("tag_not", maximum: most, rules: rules) ?? []
    filter.aliases = try fields.names("alias", maximum: maximumDevices, rules: rules) ?? []
    filter.registrationIDs = try fields.texts("registration_id", maximum: maximumDevices) ?? []
    if filter.registrationIDs.count == 1, RegistrationID(filter.registrationIDs[0]) == nil {
      throw fields.invalid(
        "registration_id",
        "holds '\(filter.registrationIDs[0].prefix(40))', which is not 19 hexadecimal digits")
    }
    if let text = try fields.texts("segment", maximum: 1)?.first {
      guard let segment = Int64(text) else {
        throw fields.invalid("segment", "holds '\(text.prefix(40))', which is not the ID of a segment")
      }
      filter.segment = segment
    }
    filter.abTest = try abTest(fields)
    filter.liveActivityID = try liveActivity(fields)
    guard !filter.isEmpty else { throw push.missing("audience", rule) }
    return .filter(filter)
  }

  /// A file is the complete audience: no other member is allowed beside it.
  private static func file(_ fields: Fields) throws(APIError) -> Audience {
    for member in fields.present where member.key != "file" && !member.value.asksForNothing {
      throw fields.invalid(String(member.key.prefix(64)), "does not go with file")
    }
    guard let file = try fields.fields("file") else { throw fields.missing("file") }
    guard let id = try file.string("file_id") else { throw file.missing("file_id") }
    guard (1...100).contains(id.utf8.count) else { throw file.invalid("file_id", "must have 1 to 100 bytes") }
    return .file(id)
  }

  /// The number of an A/B test, which has an audience of its own.
  private static func abTest(_ fields: Fields) throws(APIError) -> Int64? {
    guard let text = try fields.texts("abtest", maximum: 1)?.first else { return nil }
    guard let test = Int64(text) else {
      throw fields.invalid("abtest", "holds '\(text.prefix(40))', which is not the ID of an A/B test")
    }
    try alone("abtest", in: fields)
    return test
  }

  private static func alone(_ key: String, in fields: Fields) throws(APIError) {
    guard fields.present.allSatisfy({ $0.key == key || $0.value.asksForNothing }) else {
      throw fields.invalid(key, "does not go with other conditions")
    }
  }

  /// A Live Activity by the name that devices reported with its token.
  private static func liveActivity(_ fields: Fields) throws(APIError) -> String? {
    guard fields.wish("live_activity_id") != nil, let name = try fields.string("live_activity_id") else {
      return nil
    }
    guard APNsTokenSlot(.liveActivity, name: name) != nil, name.isPlainLine else {
      throw fields.invalid(
        "live_activity_id", "must have 1 to \(APNsTokenSlot.maximumName) bytes and no control characters")
    }
    try alone("live_activity_id", in: fields)
    return name
  }
}

extension AudienceFilter {
  /// Refuses names of aliases and tags that break the rules, as the parser does.
  func checkNames(_ rules: PushRules) throws(APIError) {
    let fields = Fields(JSONObject(), path: "audience")
    for (key, names) in [("tag", tags), ("tag_and", tagsAnd), ("tag_not", tagsNot), ("alias", aliases)] {
      try fields.check(names, of: key, rules)
    }
  }
}

extension Audience {
  /// Writes the member `audience` of a push object; nothing for one that depends on other members too.
  package func write(to writer: inout JSONWriter) {
    switch self {
    case .testDevices: return
    case .all: writer.member("audience", "all")
    case .file(let id):
      writer.key("audience")
      writer.value(["file": ["file_id": .string(id)]])
    case .filter(let filter):
      writer.key("audience")
      writer.beginObject()
      for (key, names) in [
        ("tag", filter.tags), ("tag_and", filter.tagsAnd), ("tag_not", filter.tagsNot),
        ("alias", filter.aliases), ("registration_id", filter.registrationIDs),
        ("segment", filter.segment.map { [String($0)] } ?? []),
        ("abtest", filter.abTest.map { [String($0)] } ?? []),
      ] where !names.isEmpty {
        writer.key(key)
        writer.beginArray()
        for name in names { writer.value(name) }
        writer.endArray()
      }
      if let activity = filter.liveActivityID { writer.member("live_activity_id", activity) }
      writer.endObject()
    }
  }
}
