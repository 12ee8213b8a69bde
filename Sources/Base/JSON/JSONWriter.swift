/// Appends JSON to an array of bytes and puts in the commas. The caller keeps begin and end in balance and
/// writes a key before each value of an object.
public struct JSONWriter: Sendable {
  /// What was written so far.
  public private(set) var bytes: [UInt8]
  private var needsComma = false

  /// Starts empty, with room for `capacity` bytes.
  public init(capacity: Int = 256) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  /// A document's bytes, without white space.
  public static func serialize(_ value: JSONValue) -> [UInt8] {
    var writer = JSONWriter()
    writer.value(value)
    return writer.bytes
  }

  /// Opens an object.
  public mutating func beginObject() { open(UInt8(ascii: "{")) }

  /// Closes the object opened last.
  public mutating func endObject() { close(UInt8(ascii: "}")) }

  /// Opens an array.
  public mutating func beginArray() { open(UInt8(ascii: "[")) }

  /// Closes the array opened last.
  public mutating func endArray() { close(UInt8(ascii: "]")) }

  /// Writes a member's name; its value must be next.
  public mutating func key(_ name: String) {
    comma()
    quoted(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Writes a string.
  public mutating func value(_ text: String) {
    comma()
    quoted(text)
  }

  /// Writes a truth value.
  public mutating func value(_ flag: Bool) { raw(flag ? "true".utf8 : "false".utf8) }

  /// Writes a whole number.
  public mutating func value(_ number: some FixedWidthInteger) { raw(String(number).utf8) }

  /// Writes the shortest spelling of a number, `null` for infinities and NaN.
  public mutating func value(_ number: Double) {
    raw(number.isFinite ? number.description.utf8 : "null".utf8)
  }

  /// Writes a number as it is spelled.
  public mutating func value(_ number: JSONNumber) { raw(number.text.utf8) }

  /// Writes `null`.
  public mutating func null() { raw("null".utf8) }

  /// Writes any value.
  public mutating func value(_ value: JSONValue) {
    switch value {
    case .null: null()
    case .bool(let flag): self.value(flag)
    case .number(let number): self.value(number)
    case .string(let text): self.value(text)
    case .array(let elements):
      beginArray()
      for element in elements { self.value(element) }
      endArray()
    case .object(let object):
      beginObject()
      for member in object.members {
        key(member.key)
        self.value(member.value)
      }
      endObject()
    }
  }

  /// Writes a name and a string.
  public mutating func member(_ name: String, _ text: String) {
    key(name)
    value(text)
  }

  /// Writes a name and a whole number.
  public mutating func member(_ name: String, _ number: some FixedWidthInteger) {
    key(name)
    value(number)
  }

  /// Writes a name and a truth value.
  public mutating func member(_ name: String, _ flag: Bool) {
    key(name)
    value(flag)
  }

  /// Writes one value that is JSON already.
  public mutating func raw(_ json: some Collection<UInt8>) {
    comma()
    bytes.append(contentsOf: json)
  }

  private mutating func open(_ bracket: UInt8) {
    comma()
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  private mutating func comma() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func quoted(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    let isWritten = text.withUTF8Span { text in
      guard Self.isPlain(text) else { return false }
      bytes.append(copying: text)
      return true
    }
    if !isWritten { for byte in text.utf8 { escaped(byte) } }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Whether nothing needs an escape.
  private static func isPlain(_ bytes: Span<UInt8>) -> Bool {
    for index in bytes.indices {
      let byte = bytes[index]
      if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return false }
    }
    return true
  }

  private mutating func escaped(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
    case 8: bytes.append("\\b")
    case 9: bytes.append("\\t")
    case 10: bytes.append("\\n")
    case 12: bytes.append("\\f")
    case 13: bytes.append("\\r")
    case 0..<0x20:
      bytes.append("\\u00")
      bytes += [48 + byte >> 4, byte & 15 < 10 ? 48 + byte & 15 : 87 + byte & 15]
    default: bytes.append(byte)
    }
  }
}
