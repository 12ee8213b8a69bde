import BorealisBase

/// What an app server changes about one device: `POST /v3/devices/{registration_id}`. Nothing given, nothing
/// changed.
package struct DeviceUpdate: Equatable, Sendable {
  /// A change of the device's tags.
  package enum Tags: Equatable, Sendable {
    /// All tags go.
    case clear
    /// Tags that come and tags that go. No name is in both: a name in both lists of a request stays, as
    /// JPush's own tests expect.
    case change(add: [String], remove: [String])
  }

  /// A change of a text.
  package enum Text: Equatable, Sendable {
    /// The text goes.
    case clear
    /// The text is replaced.
    case set(String)
  }

  /// The change of tags; nil for none.
  package var tags: Tags?
  /// The change of the alias; nil for none.
  package var alias: Text?
  /// The change of the mobile number; nil for none.
  package var mobile: Text?

  /// Makes an update.
  package init(tags: Tags? = nil, alias: Text? = nil, mobile: Text? = nil) {
    self.tags = tags
    self.alias = alias
    self.mobile = mobile
  }

  /// Most names in each list of one call.
  package static let maximumTagsInCall = 100
  /// Most bytes of all names of one call.
  package static let maximumTagBytesInCall = 1000

  /// Reads the body of a call; every fault is 7002 naming the field. Keys that aren't known have no effect
  /// and are added to `ignored`.
  package static func parse(
    _ json: JSONValue, rules: PushRules = PushRules(), ignored: IgnoredMembers = IgnoredMembers()
  ) throws(APIError) -> DeviceUpdate {
    guard let object = json.object else { throw .deviceInvalid("The body must be a JSON object") }
    let body = Fields(object, faults: .device, ignored: ignored)
    body.ignoreOthers(than: ["tags", "alias", "mobile"])
    var update = DeviceUpdate(tags: try tags(body, rules))
    if let alias = try body.string("alias") {
      let check = NameRules.check(alias, as: .alias, allowHyphen: rules.allowHyphen)
      let error = check.deviceError(
        field: "alias", alias, as: .alias, allowHyphen: rules.allowHyphen)
      if !alias.isEmpty, let error { throw error }
      update.alias = alias.isEmpty ? .clear : .set(alias)
    }
    if let mobile = try body.string("mobile") {
      guard mobile.isEmpty || NameRules.isMobile(mobile) else {
        throw body.invalid("mobile", "must be a + or a digit, then digits and -, at most 20 characters")
      }
      update.mobile = mobile.isEmpty ? .clear : .set(mobile)
    }
    return update
  }

  private static func tags(_ body: Fields, _ rules: PushRules) throws(APIError) -> Tags? {
    if body["tags"] == "" { return .clear }
    guard let lists = try body.fields("tags") else { return nil }
    let add = try lists.names("add", maximum: maximumTagsInCall, rules: rules) ?? []
    let remove = try lists.names("remove", maximum: maximumTagsInCall, rules: rules) ?? []
    let size = (add + remove).reduce(0) { $0 + $1.utf8.count }
    guard size <= maximumTagBytesInCall else {
      throw body.invalid(
        "tags", "has \(size) bytes of names in one call, at most \(maximumTagBytesInCall) are allowed")
    }
    if add.isEmpty, remove.isEmpty { return nil }
    let kept = Set(add.map { ExactName($0) })
    return .change(add: add, remove: remove.filter { !kept.contains(ExactName($0)) })
  }
}

/// Devices that come to a tag or go from a tag or an alias.
package struct DeviceListUpdate: Equatable, Sendable {
  /// The devices that come; always empty for an alias.
  package var add: [RegistrationID]
  /// The devices that go; none of them is in `add`.
  package var remove: [RegistrationID]
  /// What is named in either list and is not a valid registration ID.
  package var malformed: [String]

  /// Makes an update.
  package init(add: [RegistrationID] = [], remove: [RegistrationID] = [], malformed: [String] = []) {
    self.add = add
    self.remove = remove
    self.malformed = malformed
  }

  /// Most devices in each list.
  package static let maximumDevices = 1000

  /// Reads the body of `POST /v3/tags/{tag}`: `{"registration_ids": {"add": […], "remove": […]}}`. Throws
  /// 7002; what to say of malformed registration IDs, and whether the others exist, is the caller's concern.
  package static func parseForTag(_ json: JSONValue) throws(APIError) -> DeviceListUpdate {
    try parse(json, mayAdd: true)
  }

  /// Reads the body of `POST /v3/aliases/{alias}`: `{"registration_ids": {"remove": […]}}`; errors as for
  /// tags.
  package static func parseForAlias(_ json: JSONValue) throws(APIError) -> DeviceListUpdate {
    try parse(json, mayAdd: false)
  }

  private static func parse(_ json: JSONValue, mayAdd: Bool) throws(APIError) -> DeviceListUpdate {
    guard let object = json.object else { throw .deviceInvalid("The body must be a JSON object") }
    let body = Fields(object, faults: .device)
    guard let lists = try body.fields("registration_ids") else { throw body.missing("registration_ids") }
    let add = try lists.texts("add", maximum: maximumDevices) ?? []
    let remove = try lists.texts("remove", maximum: maximumDevices) ?? []
    if !mayAdd, !add.isEmpty { throw lists.invalid("add", "is not supported") }
    guard !add.isEmpty || !remove.isEmpty else { throw body.invalid("registration_ids", "is empty") }
    let coming = add.compactMap { RegistrationID($0) }
    let kept = Set(coming)
    return DeviceListUpdate(
      add: coming, remove: remove.compactMap { RegistrationID($0) }.filter { !kept.contains($0) },
      malformed: (add + remove).filter { RegistrationID($0) == nil })
  }
}
