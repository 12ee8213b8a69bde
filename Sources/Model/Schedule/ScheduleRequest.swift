import BorealisBase

/// What `POST /v3/schedules` asks for.
package struct ScheduleRequest: Equatable, Sendable {
  /// Makes a repeated request safe; that it was issued to this app is not checked here.
  package let cid: String?
  /// The app server's name for it.
  package let name: String
  /// When it fires; that this is still to come is not checked here.
  package let trigger: ScheduleTrigger
  /// What it pushes.
  package let push: ScheduledPush

  /// Makes a request of parts that passed the checks.
  package init(cid: String?, name: String, trigger: ScheduleTrigger, push: ScheduledPush) {
    self.cid = cid
    self.name = name
    self.trigger = trigger
    self.push = push
  }

  /// Reads the body (JPush REST v3, "Schedule API"). Throws 8100 for whatever is wrong, with the name of the
  /// member; the push is held to the rules of `POST /v3/push`.
  package static func parse(
    _ json: JSONValue, rules: PushRules = PushRules()
  ) throws(APIError) -> ScheduleRequest {
    let fields = try ScheduleFields(json)
    guard let name = try fields.name() else { throw fields.missing("name") }
    guard let isEnabled = try fields.isEnabled() else { throw fields.missing("enabled") }
    guard isEnabled else { throw .scheduleInvalid("enabled must be true for a new schedule") }
    guard let trigger = try fields.trigger() else { throw fields.missing("trigger") }
    guard let push = try fields.push(rules) else { throw fields.missing("push") }
    return ScheduleRequest(cid: try fields.cid(), name: name, trigger: trigger, push: push)
  }
}

/// What `PUT /v3/schedules/{id}` asks for: the sections to change, each complete.
package struct ScheduleUpdate: Equatable, Sendable {
  /// Its new name.
  package var name: String?
  /// Whether it fires from now on.
  package var isEnabled: Bool?
  /// When it fires; that this is still to come is not checked here.
  package var trigger: ScheduleTrigger?
  /// What it pushes.
  package var push: ScheduledPush?

  /// Makes an update.
  package init(
    name: String? = nil, isEnabled: Bool? = nil, trigger: ScheduleTrigger? = nil, push: ScheduledPush? = nil
  ) {
    self.name = name
    self.isEnabled = isEnabled
    self.trigger = trigger
    self.push = push
  }

  /// Reads the body. Throws 8100 for whatever is wrong, also if it changes nothing.
  package static func parse(
    _ json: JSONValue, rules: PushRules = PushRules()
  ) throws(APIError) -> ScheduleUpdate {
    let fields = try ScheduleFields(json)
    let update = ScheduleUpdate(
      name: try fields.name(), isEnabled: try fields.isEnabled(), trigger: try fields.trigger(),
      push: try fields.push(rules))
    guard update != ScheduleUpdate() else {
      throw .scheduleInvalid("Missing parameter: one of name, enabled, trigger, push")
    }
    return update
  }
}

/// A push object that is kept until its schedule fires.
package struct ScheduledPush: Equatable, Sendable {
  /// The push object as JSON, without `cid`, which means nothing here.
  package let json: [UInt8]
  /// What it asks for.
  package let request: PushRequest

  /// The number of the segment that its audience names; nil for none.
  package var segment: Int64? { abTest == nil ? request.audience.filter?.segment : nil }

  /// The number of the template that it names; nil for none.
  package var template: Int64? { request.template }

  /// The number of the A/B test that is its audience; nil for none.
  package var abTest: Int64? { request.abTest?.id }

  /// Members of the schedule object that have no effect.
  package var ignored: [String] { request.ignored.map { "push." + $0 } }

  /// Reads a push object by the rules of `POST /v3/push`; throws that API's errors.
  package init(_ push: JSONValue, rules: PushRules = PushRules()) throws(APIError) {
    guard let object = push.object else { throw .invalidValue("push must be a JSON object") }
    var kept = JSONObject()
    for member in object.members where member.key != "cid" { kept.set(member.key, member.value) }
    request = try PushRequest.parse(.object(kept), rules: rules, audience: .any)
    json = JSONWriter.serialize(.object(kept))
  }

  /// Reads a stored push object; throws the push API's errors, since rules may have changed in the meantime.
  package init(stored bytes: [UInt8], rules: PushRules) throws(APIError) {
    guard let json = try? parseJSON(bytes) else { throw .internalError }
    try self.init(json, rules: rules)
  }
}

/// The members of a schedule object.
private struct ScheduleFields {
  private static let longestName = 255
  // Answers have `schedule_id`, and clients send back what they got.
  private static let keys: Set<String> = ["cid", "name", "enabled", "trigger", "push", "schedule_id"]

  private let fields: Fields

  init(_ json: JSONValue) throws(APIError) {
    guard let object = json.object else { throw .scheduleInvalid("The body must be a JSON object") }
    fields = Fields(object, faults: .schedule)
    try fields.allow(Self.keys)
  }

  func missing(_ key: String) -> APIError { fields.missing(key) }

  func cid() throws(APIError) -> String? {
    guard let cid = try fields.string("cid"), !cid.isEmpty else { return nil }
    guard (1...64).contains(cid.utf8.count), cid.isPlainLine else {
      throw fields.invalid("cid", "must have 1 to 64 bytes and no control characters")
    }
    return cid
  }

  /// 1 to 255 bytes: letters, digits, `_` and Chinese characters.
  func name() throws(APIError) -> String? {
    guard let name = try fields.string("name") else { return nil }
    guard (1...Self.longestName).contains(name.utf8.count) else {
      throw fields.invalid("name", "must have 1 to \(Self.longestName) bytes")
    }
    guard name.unicodeScalars.allSatisfy(NameRules.isWordCharacter) else {
      throw fields.invalid("name", "must hold letters, digits, '_' and Chinese characters only")
    }
    return name
  }

  func isEnabled() throws(APIError) -> Bool? { try fields.flag("enabled") }

  func trigger() throws(APIError) -> ScheduleTrigger? {
    guard let trigger = try fields.fields("trigger") else { return nil }
    return try ScheduleTrigger.parse(trigger)
  }

  func push(_ rules: PushRules) throws(APIError) -> ScheduledPush? {
    guard let push = fields["push"] else { return nil }
    do throws(APIError) {
      return try ScheduledPush(push, rules: rules)
    } catch {
      throw .scheduleInvalid("push: \(error.message)")
    }
  }
}
