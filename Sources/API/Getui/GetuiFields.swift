import BorealisBase
import Model

/// Reads the members of a JSON object and throws Getui's errors, which name a member by its path. `null`
/// counts as absent, and so does any value that asks for nothing where another type is expected. Numbers and
/// booleans may be strings, since Getui's official clients send such.
struct GetuiFields {
  let object: JSONObject
  let path: String
  /// Members of the request that are accepted without effect.
  let ignored: IgnoredMembers

  init(_ object: JSONObject, path: String = "", ignored: IgnoredMembers = IgnoredMembers()) {
    self.object = object
    self.path = path
    self.ignored = ignored
  }

  /// Reads an object inside this one, under a member's name.
  func inner(_ object: JSONObject, _ key: String) -> GetuiFields {
    GetuiFields(object, path: name(key), ignored: ignored)
  }

  /// Returns the path of a member.
  func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  /// The value of a member; nil if it is absent.
  subscript(key: String) -> JSONValue? {
    guard let value = object[key], value != .null else { return nil }
    return value
  }

  /// The value of a member that asks for something.
  func wish(_ key: String) -> JSONValue? {
    guard let value = object[key], !value.asksForNothing else { return nil }
    return value
  }

  /// Reads a string of at most `most` characters.
  func text(_ key: String, most: Int = .max) throws(GetuiError) -> String? {
    guard let value = self[key] else { return nil }
    guard let text = value.string else {
      if value.asksForNothing { return nil }
      throw .wrongType(name(key), "a string")
    }
    // A string has no more characters than bytes, and counting bytes is cheap.
    guard text.utf8.count > most, text.unicodeScalars.count > most else { return text }
    let count = text.unicodeScalars.count
    throw .overLimit(name(key), "it has \(count) characters, at most \(most) are allowed")
  }

  /// Reads a string that must be present and not empty.
  func required(_ key: String, most: Int = .max) throws(GetuiError) -> String {
    guard let text = try text(key, most: most), !text.isEmpty else { throw .missing(name(key)) }
    return text
  }

  /// Reads an integer in a range.
  func integer(_ key: String, in range: ClosedRange<Int64>) throws(GetuiError) -> Int64? {
    guard let value = self[key] else { return nil }
    let number = value.int64 ?? value.string.flatMap { Int64($0) }
    if let number, range.contains(number) { return number }
    if value.asksForNothing { return nil }
    guard number != nil else { throw .wrongType(name(key), "an integer") }
    throw .invalid(name(key), "it must be from \(range.lowerBound) to \(range.upperBound)")
  }

  /// Reads a boolean.
  func flag(_ key: String) throws(GetuiError) -> Bool? {
    guard let value = self[key] else { return nil }
    if let flag = Fields.flag(value) { return flag }
    if value.asksForNothing { return nil }
    throw .wrongType(name(key), "true or false")
  }

  /// Reads an object.
  func fields(_ key: String) throws(GetuiError) -> GetuiFields? {
    guard let value = self[key] else { return nil }
    guard let object = value.object else {
      if value.asksForNothing { return nil }
      throw .wrongType(name(key), "a JSON object")
    }
    return inner(object, key)
  }

  /// Reads an object; nil also for one that asks for nothing.
  func wishes(_ key: String) throws(GetuiError) -> GetuiFields? {
    guard let fields = try fields(key), wish(key) != nil else { return nil }
    return fields
  }

  /// Reads an array of at most `most` values.
  func array(_ key: String, most: Int = .max) throws(GetuiError) -> [JSONValue]? {
    guard let value = self[key] else { return nil }
    guard let array = value.array else {
      if value.asksForNothing { return nil }
      throw .wrongType(name(key), "a JSON array")
    }
    guard array.count <= most else {
      throw .overLimit(name(key), "it has \(array.count) values, at most \(most) are allowed")
    }
    return array
  }

  /// Reads the name of a task of some kinds.
  func task(_ key: String, _ kinds: [GetuiTaskID.Kind]) throws(GetuiError) -> GetuiTaskID {
    try GetuiError.task(try required(key), kinds, at: name(key))
  }

  /// Reads an array of objects, of which there is at least one.
  func objects(_ key: String, most: Int) throws(GetuiError) -> [GetuiFields] {
    guard let array = try array(key, most: most), !array.isEmpty else { throw .missing(name(key)) }
    var objects: [GetuiFields] = []
    objects.reserveCapacity(array.count)
    for (place, value) in array.enumerated() {
      let name = "\(key)[\(place)]"
      guard let object = value.object else { throw .wrongType(self.name(name), "a JSON object") }
      objects.append(inner(object, name))
    }
    return objects
  }

  /// Reads an array of distinct strings, none of them empty.
  func texts(_ key: String, most: Int) throws(GetuiError) -> [String]? {
    guard let array = try array(key, most: most) else { return nil }
    var texts: [String] = []
    texts.reserveCapacity(array.count)
    for value in array {
      guard let text = value.string else { throw .wrongType("\(name(key))[\(texts.count)]", "a string") }
      guard !text.isEmpty else { throw .missing("\(name(key))[\(texts.count)]") }
      texts.append(text)
    }
    try GetuiError.refuseDuplicates(texts, of: key)
    return texts
  }

  /// Whether the object has no members.
  var isEmpty: Bool { object.members.allSatisfy { $0.value == .null } }

  // MARK: Other members

  /// Refuses members that are not in the list and ask for something.
  func allow(_ keys: [String]) throws(GetuiError) {
    for member in object.members where !keys.contains(member.key) && !member.value.asksForNothing {
      let known = keys.sorted().joined(separator: ", ")
      throw .invalid(name(String(member.key.prefix(64))), "it is not known; known are \(known)")
    }
  }

  /// Notes that members which are not in the list have no effect. One that is spelled almost like one of the
  /// list is refused.
  func ignoreOthers(than keys: [String]) throws(GetuiError) {
    func plain(_ key: String) -> String { key.lowercased().filter { $0 != "_" && $0 != "-" } }
    for member in object.members where !keys.contains(member.key) && !member.value.asksForNothing {
      let spelling = plain(member.key)
      if let meant = keys.first(where: { plain($0) == spelling }) {
        throw .invalid(name(String(member.key.prefix(64))), "it is not known: write \(meant)")
      }
      ignore(member.key)
    }
  }

  /// Notes that a member has no effect if it asks for something.
  func ignore(_ key: String) { if wish(key) != nil { ignored.add(name(key)) } }
}
