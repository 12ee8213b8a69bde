/// The fields of a message in order, names in lower case.
package struct HTTPHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
  /// One field.
  package struct Field: Sendable, Equatable {
    /// The name in lower case.
    package let name: String
    /// The value without white space around it. Bytes that are not UTF-8 were replaced by U+FFFD.
    package let value: String
  }

  /// All fields in order.
  package private(set) var fields: [Field] = []

  /// Starts empty.
  package init() {}

  /// Fields in the order given, names in any case.
  package init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { append(name, value) }
  }

  /// Appends a field. The name may be in any case.
  package mutating func append(_ name: String, _ value: String) {
    fields.append(Field(name: name.lowercased(), value: value))
  }

  /// Removes the fields for which a closure returns true.
  package mutating func removeAll(where isUnwanted: (Field) -> Bool) { fields.removeAll(where: isUnwanted) }

  /// Replaces all fields of this name, which is in lower case, by one.
  package mutating func set(_ name: String, _ value: String) {
    fields.removeAll { $0.name == name }
    append(lowercase: name, value)
  }

  /// Appends a field whose name is in lower case.
  package mutating func append(lowercase name: String, _ value: String) {
    fields.append(Field(name: name, value: value))
  }

  /// The first value under a name in lower case.
  package subscript(name: String) -> String? {
    for field in fields where field.name == name { return field.value }
    return nil
  }

  /// All values under a name in lower case.
  package func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

  /// How many fields have a name in lower case.
  func count(_ name: String) -> Int { fields.count { $0.name == name } }

  /// Whether a comma-separated list under a name in lower case has an element in lower case, in any case
  /// there.
  package func lists(_ name: String, _ element: String) -> Bool {
    for field in fields where field.name == name {
      for part in field.value.utf8.split(separator: UInt8(ascii: ",")) where equal(trimmed(part), element) {
        return true
      }
    }
    return false
  }
}

/// Whether ASCII text equals text in lower case, in any case.
func equal(_ text: some Collection<UInt8>, _ lowercase: String) -> Bool {
  text.count == lowercase.utf8.count && zip(text, lowercase.utf8).allSatisfy { lowered($0) == $1 }
}

/// Text without the spaces and tabs around it (OWS, RFC 9110 section 5.6.3).
func trimmed<Text: BidirectionalCollection<UInt8>>(_ text: Text) -> Text.SubSequence {
  var rest = text[...]
  while let first = rest.first, first == 32 || first == 9 { rest.removeFirst() }
  while let last = rest.last, last == 32 || last == 9 { rest.removeLast() }
  return rest
}

func lowered(_ byte: UInt8) -> UInt8 { 65...90 ~= byte ? byte | 0x20 : byte }

/// The characters of methods and field names (RFC 9110 section 5.6.2).
package func isToken(_ byte: UInt8) -> Bool {
  switch byte {
  case 48...57, 65...90, 94...122, 33, 35...39, 42, 43, 45, 46, 124, 126: true
  default: false
  }
}

/// The characters of field values: tab, visible ASCII, space and what is above ASCII.
func isFieldContent(_ byte: UInt8) -> Bool { byte >= 32 && byte != 127 || byte == 9 }
