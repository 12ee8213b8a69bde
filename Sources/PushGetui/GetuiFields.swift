import PushJSON

/// Reads the members of a JSON object and throws Getui's errors, which name a member by its path. `null` counts as absent.
/// Numbers and booleans may be strings, since Getui's official clients send such.
struct GetuiFields {
  let object: JSONObject
  let path: String

  init(_ object: JSONObject, path: String = "") {
    self.object = object
    self.path = path
  }

  /// Returns the path of a member.
  func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  /// The value of a member; nil if it is absent.
  subscript(key: String) -> JSONValue? {
    guard let value = object[key], value != .null else { return nil }
    return value
  }

  /// Reads a string of at most `most` characters.
  func text(_ key: String, most: Int = .max) throws(GetuiError) -> String? {
    guard let value = self[key] else { return nil }
    guard let text = value.string else { throw .wrongType(name(key)) }
    // A string has no more characters than bytes, and counting bytes is cheap.
    guard text.utf8.count <= most || text.unicodeScalars.count <= most else { throw .overLimit(name(key)) }
    return text
  }

  /// Reads a string that must be present and not empty.
  func required(_ key: String, most: Int = .max) throws(GetuiError) -> String {
    guard let text = try text(key, most: most), !text.isEmpty else { throw .missing(name(key)) }
    return text
  }

  /// Reads an integer in a range.
  func integer(_ key: String, in range: ClosedRange<Int64>) throws(GetuiError) -> Int64? {
    guard let value = self[key] else { return nil }
    guard let number = value.int64 ?? value.string.flatMap({ Int64($0) }) else { throw .wrongType(name(key)) }
    guard range.contains(number) else {
      throw .invalid(name(key), "it must be from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// Reads a boolean.
  func flag(_ key: String) throws(GetuiError) -> Bool? {
    guard let value = self[key] else { return nil }
    switch value {
    case .bool(let flag): return flag
    case .string("true"): return true
    case .string("false"): return false
    default: throw .wrongType(name(key))
    }
  }

  /// Reads an object.
  func fields(_ key: String) throws(GetuiError) -> GetuiFields? {
    guard let value = self[key] else { return nil }
    guard let object = value.object else { throw .wrongType(name(key)) }
    return GetuiFields(object, path: name(key))
  }

  /// Reads an array of at most `most` values.
  func array(_ key: String, most: Int = .max) throws(GetuiError) -> [JSONValue]? {
    guard let value = self[key] else { return nil }
    guard let array = value.array else { throw .wrongType(name(key)) }
    guard array.count <= most else { throw .overLimit(name(key)) }
    return array
  }

  /// Reads an array of distinct strings, none of them empty.
  func texts(_ key: String, most: Int) throws(GetuiError) -> [String]? {
    guard let array = try array(key, most: most) else { return nil }
    var texts: [String] = []
    texts.reserveCapacity(array.count)
    for value in array {
      guard let text = value.string else { throw .wrongType(name(key)) }
      guard !text.isEmpty else { throw .missing(name(key)) }
      texts.append(text)
    }
    guard Set(texts).count == texts.count else { throw .parameter("contains duplicate \(key)") }
    return texts
  }

  /// Whether the object has no members.
  var isEmpty: Bool { object.members.allSatisfy { $0.value == .null } }
}
