import PushBase
import PushJSON

/// Reads the members of one JSON object, with errors that name the member by its whole path. `null` and empty
/// arrays count as absent, as JPush has it (PHP writes its empty objects as `[]`).
public struct Fields {
  let object: JSONObject
  /// The object's own path; empty for the outermost.
  public let path: String
  /// What errors are like in the API that is called.
  let faults: APIFaults

  /// Reads an object; errors are as in the given API.
  public init(_ object: JSONObject, path: String = "", faults: APIFaults = .push) {
    self.object = object
    self.path = path
    self.faults = faults
  }

  /// The path of a member.
  public func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  /// A member has a value that is not allowed.
  public func invalid(_ key: String, _ complaint: String) -> APIError {
    faults.invalid("\(name(key)) \(complaint)")
  }

  /// A member that has to be there is not.
  public func missing(_ key: String) -> APIError {
    faults.missing("Missing parameter: \(name(key))")
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
  public subscript(key: String) -> JSONValue? {
    guard let value = object[key], !Self.isAbsent(value) else { return nil }
    return value
  }

  /// The members that are present, in order.
  public var present: [JSONObject.Member] { object.members.filter { !Self.isAbsent($0.value) } }

  /// A text; nil if absent.
  public func string(_ key: String) throws(APIError) -> String? {
    guard let value = self[key] else { return nil }
    guard let text = value.string else { throw invalid(key, "must be a string") }
    return text
  }

  /// An object; nil if absent.
  public func fields(_ key: String) throws(APIError) -> Fields? {
    guard let value = self[key] else { return nil }
    guard let object = value.object else { throw invalid(key, "must be a JSON object") }
    return Fields(object, path: name(key), faults: faults)
  }

  func array(_ key: String) throws(APIError) -> [JSONValue]? {
    guard let value = self[key] else { return nil }
    guard let elements = value.array else { throw invalid(key, "must be a JSON array") }
    return elements
  }

  func integer(_ key: String, in range: ClosedRange<Int64>) throws(APIError) -> Int64? {
    guard let value = self[key] else { return nil }
    guard let number = value.int64 else { throw invalid(key, "must be an integer") }
    guard range.contains(number) else {
      throw invalid(key, "must be between \(range.lowerBound) and \(range.upperBound)")
    }
    return number
  }

  func flag(_ key: String) throws(APIError) -> Bool? {
    guard let value = self[key] else { return nil }
    guard let flag = Self.flag(value) else { throw invalid(key, "must be true or false") }
    return flag
  }

  /// A truth value in any form that official clients send: a literal, 0 or 1, or the literal as a string.
  public static func flag(_ value: JSONValue) -> Bool? {
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
    guard let value = self[key] else { return nil }
    guard let elements = value.array else { throw invalid(key, "must be JSON Array format") }
    guard elements.count <= maximum else { throw invalid(key, "has more than \(maximum) values") }
    var seen: Set<ExactName> = []
    var texts: [String] = []
    for element in elements {
      guard let text = element.string else { throw invalid(key, "must hold strings only") }
      guard !text.isEmpty else { throw invalid(key, "holds an empty value") }
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
    for text in names {
      let check =
        if !rules.isGetui {
          NameRules.check(text, allowHyphen: rules.allowHyphen)
        } else if key == "alias" {
          NameRules.checkGetuiAlias(text)
        } else {
          NameRules.checkGetuiTag(text)
        }
      if let complaint = check.complaint {
        throw invalid(key, "is invalid: '\(text.prefix(64))' \(complaint)")
      }
    }
  }

  /// Refuses keys that aren't in a list.
  func allow(_ keys: some Collection<String>) throws(APIError) {
    for member in present where !keys.contains(member.key) {
      throw faults.unsupportedKey("\(name(String(member.key.prefix(64)))) is not supported")
    }
  }
}
