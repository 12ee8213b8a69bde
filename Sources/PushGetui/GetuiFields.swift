import PushJSON

/// Reads the members of one JSON object, with Getui's errors, which name the member by its path. `null` counts as absent; numbers
/// and truth values may come as strings, as Getui's official clients send them.
struct GetuiFields {
  let object: JSONObject
  let path: String

  init(_ object: JSONObject, path: String = "") {
    self.object = object
    self.path = path
  }

  /// The path of a member.
  func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  /// A member that is there.
  subscript(key: String) -> JSONValue? {
    guard let value = object[key], value != .null else { return nil }
    return value
  }

  /// A text of at most so many characters.
  func text(_ key: String, most: Int = .max) throws(GetuiError) -> String? {
    guard let value = self[key] else { return nil }
    guard let text = value.string else { throw .wrongType(name(key)) }
    // Characters never are more than bytes.
    guard text.utf8.count <= most || text.unicodeScalars.count <= most else { throw .overLimit(name(key)) }
    return text
  }

  /// A text that has to be there and not empty.
  func required(_ key: String, most: Int = .max) throws(GetuiError) -> String {
    guard let text = try text(key, most: most), !text.isEmpty else { throw .missing(name(key)) }
    return text
  }

  /// A whole number in a range.
  func integer(_ key: String, in range: ClosedRange<Int64>) throws(GetuiError) -> Int64? {
    guard let value = self[key] else { return nil }
    guard let number = value.int64 ?? value.string.flatMap({ Int64($0) }) else { throw .wrongType(name(key)) }
    guard range.contains(number) else {
      throw .invalid(name(key), "it must be from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// A truth value.
  func flag(_ key: String) throws(GetuiError) -> Bool? {
    guard let value = self[key] else { return nil }
    switch value {
    case .bool(let flag): return flag
    case .string("true"): return true
    case .string("false"): return false
    default: throw .wrongType(name(key))
    }
  }

  /// An object.
  func fields(_ key: String) throws(GetuiError) -> GetuiFields? {
    guard let value = self[key] else { return nil }
    guard let object = value.object else { throw .wrongType(name(key)) }
    return GetuiFields(object, path: name(key))
  }

  /// A list.
  func array(_ key: String, most: Int = .max) throws(GetuiError) -> [JSONValue]? {
    guard let value = self[key] else { return nil }
    guard let array = value.array else { throw .wrongType(name(key)) }
    guard array.count <= most else { throw .overLimit(name(key)) }
    return array
  }

  /// A list of texts, none empty and none twice.
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

  /// Whether there is nothing.
  var isEmpty: Bool { object.members.allSatisfy { $0.value == .null } }
}
