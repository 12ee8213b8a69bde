import BorealisBase

/// Reads the members of one JSON object, with errors that name the member by its whole path. `null` and empty
/// arrays count as absent, as JPush has it (PHP writes its empty objects as `[]`), and so does any value that
/// asks for nothing where another type is expected.
package struct Fields {
  let object: JSONObject
  /// The object's own path; empty for the outermost.
  package let path: String
  /// What errors are like in the API that is called.
  let faults: APIFaults
  /// Members of the request that are accepted without effect.
  let ignored: IgnoredMembers

  /// Reads an object; errors are as in the given API. `ignored` collects what is accepted without effect.
  package init(
    _ object: JSONObject, path: String = "", faults: APIFaults = .push,
    ignored: IgnoredMembers = IgnoredMembers()
  ) {
    self.object = object
    self.path = path
    self.faults = faults
    self.ignored = ignored
  }

  /// Reads an object inside this one, under a member's name.
  func inner(_ object: JSONObject, _ key: String) -> Fields {
    Fields(object, path: name(key), faults: faults, ignored: ignored)
  }

  /// The path of a member.
  package func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  /// A member has a value that is not allowed. A rule ("must be …") is followed by the value.
  package func invalid(_ key: String, _ complaint: String) -> APIError {
    let value = complaint.hasPrefix("must") ? object[key].map { ", not \($0.excerpt)" } : nil
    return faults.invalid("\(name(key)) \(complaint)\(value ?? "")")
  }

  /// A member that has to be there is not; the rule says what it would be.
  package func missing(_ key: String, _ rule: String = "") -> APIError {
    faults.missing("Missing parameter: \(name(key))\(rule.isEmpty ? "" : ": \(rule)")")
  }

  /// The member asks for something that is not there for any app.
  func notPermitted(_ key: String) -> APIError { .notPermitted("\(name(key)) is not supported") }

  static func isAbsent(_ value: JSONValue) -> Bool {
    switch value {
    case .null: true
    case .array(let elements): elements.isEmpty
    default: false
    }
  }

  /// A member that is present.
  package subscript(key: String) -> JSONValue? {
    guard let value = object[key], !Self.isAbsent(value) else { return nil }
    return value
  }

  /// A member that asks for something.
  func wish(_ key: String) -> JSONValue? {
    // Written out: in a conditional expression, nil would be the JSON value null.
    guard let value = self[key], !value.asksForNothing else { return nil }
    return value
  }

  /// Notes that a member which asks for something has no effect.
  func ignore(_ key: String) { if wish(key) != nil { ignored.add(name(key)) } }

  /// Notes that members without a place in a list have no effect.
  func ignoreOthers(than keys: some Collection<String>) {
    for member in present where !keys.contains(member.key) { ignore(member.key) }
  }

  /// The members that are present, in order.
  package var present: [JSONObject.Member] { object.members.filter { !Self.isAbsent($0.value) } }

  /// A text; nil if absent.
  package func string(_ key: String) throws(APIError) -> String? {
    guard let value = self[key] else { return nil }
    if let text = value.string { return text }
    if value.asksForNothing { return nil }
    throw invalid(key, "must be a string")
  }

  /// An object; nil if absent.
  package func fields(_ key: String) throws(APIError) -> Fields? {
    guard let value = self[key] else { return nil }
    if let object = value.object { return inner(object, key) }
    if value.asksForNothing { return nil }
    throw invalid(key, "must be a JSON object")
  }

  func array(_ key: String) throws(APIError) -> [JSONValue]? {
    guard let value = self[key] else { return nil }
    if let elements = value.array { return elements }
    if value.asksForNothing { return nil }
    throw invalid(key, "must be a JSON array")
  }

  /// An integer; nil if absent, and for 0 where that is out of range.
  func integer(_ key: String, in range: ClosedRange<Int64>) throws(APIError) -> Int64? {
    guard let value = self[key] else { return nil }
    if let number = value.int64, range.contains(number) { return number }
    if value.asksForNothing { return nil }
    guard value.int64 != nil else { throw invalid(key, "must be an integer") }
    throw invalid(key, "must be between \(range.lowerBound) and \(range.upperBound)")
  }

  func flag(_ key: String) throws(APIError) -> Bool? {
    guard let value = self[key] else { return nil }
    if let flag = Self.flag(value) { return flag }
    if value.asksForNothing { return nil }
    throw invalid(key, "must be true or false")
  }

  /// A truth value in any form that official clients send: a literal, 0 or 1, or the literal as a string.
  package static func flag(_ value: JSONValue) -> Bool? {
    switch value {
    case .bool(let flag): flag
    case .number(let number): number.int64 == 1 ? true : number.int64 == 0 ? false : nil
    case .string("true"): true
    case .string("false"): false
    default: nil
    }
  }

  /// A list of distinct texts, none empty; nil if absent.
  func texts(_ key: String, maximum: Int) throws(APIError) -> [String]? {
    guard let elements = try array(key) else { return nil }
    guard elements.count <= maximum else {
      throw invalid(key, "has \(elements.count) values, at most \(maximum) are allowed")
    }
    var seen: Set<ExactName> = []
    var texts: [String] = []
    for element in elements {
      guard let text = element.string else {
        throw invalid(key, "holds \(element.excerpt); only strings are allowed")
      }
      guard !text.isEmpty else { throw invalid(key, "holds an empty string") }
      if seen.insert(ExactName(text)).inserted { texts.append(text) }
    }
    return texts
  }

  /// A list of good names of aliases or tags; nil if absent.
  func names(_ key: String, maximum: Int, rules: PushRules) throws(APIError) -> [String]? {
    guard let names = try texts(key, maximum: maximum) else { return nil }
    try check(names, of: key, rules)
    return names
  }

  /// Refuses names of aliases (`key` is `alias`) or tags that break the rules.
  func check(_ names: [String], of key: String, _ rules: PushRules) throws(APIError) {
    let kind = NameRules.Kind(field: key)
    for text in names {
      let check =
        if !rules.isGetui {
          NameRules.check(text, as: kind, allowHyphen: rules.allowHyphen)
        } else if kind == .alias {
          NameRules.checkGetuiAlias(text)
        } else {
          NameRules.checkGetuiTag(text)
        }
      let own = check.complaint(ofGetui: text) ?? check.complaint(maximum: NameRules.maximum(of: kind))
      let other = check.complaint(of: text, as: kind, allowHyphen: rules.allowHyphen)
      if let complaint = rules.isGetui ? own : other {
        throw invalid(key, "is invalid: \(complaint)")
      }
    }
  }

  /// Refuses members that have no place in a list and ask for something.
  package func allow(_ keys: some Collection<String>) throws(APIError) {
    for member in present where !keys.contains(member.key) && !member.value.asksForNothing {
      let known = keys.sorted().joined(separator: ", ")
      throw faults.unsupportedKey(
        "\(name(String(member.key.prefix(64)))) is not supported; known are \(known)")
    }
  }
}

extension JSONValue {
  /// The value in an error message: short ones as they are, of long ones the beginning.
  var excerpt: String {
    func cut(_ text: String) -> String { text.count > 40 ? "\(text.prefix(40))…" : text }
    switch self {
    case .null: return "null"
    case .bool(let flag): return flag ? "true" : "false"
    case .number(let number): return cut(number.text)
    case .string(let text): return "'\(cut(text))'"
    case .array(let elements): return elements.isEmpty ? "[]" : "an array"
    case .object(let object): return object.isEmpty ? "{}" : "an object"
    }
  }
}
