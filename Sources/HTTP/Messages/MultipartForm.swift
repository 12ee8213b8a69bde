/// Why a body is not a valid form.
package enum MultipartFault: Error, Sendable, Equatable {
  /// The type of the content is not `multipart/form-data` with a boundary of 1 to 70 characters.
  case notMultipart
  /// A delimiter is missing, is not followed by the end of its line, or does not start the body.
  case badDelimiter
  /// The header of a part is malformed, or has more than the limits.
  case badHeader
  /// A part is encoded in a way that forms must not use.
  case unsupportedCoding
  /// More parts than the limit.
  case tooManyParts
  /// The body ends before the last delimiter, or continues after it.
  case badEnd
}

/// A body of the type `multipart/form-data` (RFC 7578), split into its parts. Nothing is copied: a part is a
/// range of the body's bytes. Strict: what two readers might split differently is refused.
package struct MultipartForm: Sendable, Equatable {
  /// One field of the form.
  package struct Part: Sendable, Equatable {
    /// The name of the field.
    package let name: String
    /// The name of the file, if it is one.
    package let fileName: String?
    /// Where its content is in the body.
    package let content: Range<Int>
  }

  /// The most parts of a form.
  package static let maximumParts = 16
  /// The most lines in the header of a part, and bytes of one.
  static let headerLines = 8
  static let headerLineBytes = 1024

  /// The parts in order. Names may occur more than once.
  package let parts: [Part]

  /// Splits a body. `contentType` is the value of the field of that name.
  package init(contentType: String, body: [UInt8]) throws(MultipartFault) {
    guard let boundary = Self.boundary(of: contentType) else { throw .notMultipart }
    var reader = Reader(body: body, delimiter: [13, 10, 45, 45] + boundary)
    try reader.skipFirstDelimiter()
    var parts: [Part] = []
    while try reader.hasMore() {
      guard parts.count < Self.maximumParts else { throw .tooManyParts }
      let disposition = try reader.readHeader()
      let content = try reader.readContent()
      parts.append(Part(name: disposition.name, fileName: disposition.fileName, content: content))
    }
    self.parts = parts
  }

  /// The boundary that a content type names (RFC 2046 section 5.1.1).
  static func boundary(of contentType: String) -> [UInt8]? {
    guard let value = FieldValue(contentType), equal(value.text, "multipart/form-data"),
      let boundary = value["boundary"]
    else { return nil }
    let bytes = Array(boundary.utf8)
    guard (1...70).contains(bytes.count), bytes.last != 32, bytes.allSatisfy(isBoundaryCharacter) else {
      return nil
    }
    return bytes
  }

  private static func isBoundaryCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, 32, 39...41, 43...47, 58, 61, 63, 95: true
    default: false
    }
  }
}

extension MultipartForm {
  fileprivate struct Reader {
    let body: [UInt8]
    /// A delimiter with the preceding line break, which belongs to it.
    let delimiter: [UInt8]
    private var index = 0

    init(body: [UInt8], delimiter: [UInt8]) {
      self.body = body
      self.delimiter = delimiter
    }

    /// The first delimiter needs no preceding line break.
    mutating func skipFirstDelimiter() throws(MultipartFault) {
      index = body.starts(with: delimiter) ? delimiter.count : delimiter.count - 2
      guard body.starts(with: delimiter) || body.starts(with: delimiter.dropFirst(2)) else {
        throw .badDelimiter
      }
    }

    /// Reads what follows a delimiter: the end of its line, or the end of the form.
    mutating func hasMore() throws(MultipartFault) -> Bool {
      if has(45, at: index), has(45, at: index + 1) {
        index += 2
        skipPadding()
        if index < body.count {
          guard has(13, at: index), has(10, at: index + 1), index + 2 == body.count else { throw .badEnd }
        }
        return false
      }
      skipPadding()
      guard has(13, at: index), has(10, at: index + 1) else {
        throw index < body.count ? .badDelimiter : .badEnd
      }
      index += 2
      return true
    }

    /// Spaces that a transport may have added after a delimiter.
    private mutating func skipPadding() { while has(32, at: index) || has(9, at: index) { index += 1 } }

    private func has(_ byte: UInt8, at index: Int) -> Bool { index < body.count && body[index] == byte }

    /// Reads field lines up to the empty line.
    mutating func readHeader() throws(MultipartFault) -> (name: String, fileName: String?) {
      var found: (name: String, fileName: String?)?
      for _ in 0...MultipartForm.headerLines {
        let line = try readLine()
        if line.isEmpty {
          guard let found else { throw .badHeader }
          return found
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
          line[..<colon].allSatisfy(isToken), line.allSatisfy(isFieldContent)
        else { throw .badHeader }
        let value = String(decoding: trimmed(line[(colon + 1)...]), as: UTF8.self)
        if equal(line[..<colon], "content-disposition") {
          guard found == nil else { throw .badHeader }
          found = try Self.disposition(value)
        } else if equal(line[..<colon], "content-transfer-encoding") {
          // RFC 7578 section 4.7: nothing but the bytes themselves.
          guard ["7bit", "8bit", "binary"].contains(where: { equal(value.utf8, $0) }) else {
            throw .unsupportedCoding
          }
        }
      }
      throw .badHeader
    }

    private mutating func readLine() throws(MultipartFault) -> ArraySlice<UInt8> {
      let start = index
      while index < body.count, body[index] != 13, index - start <= MultipartForm.headerLineBytes {
        index += 1
      }
      guard index - start <= MultipartForm.headerLineBytes else { throw .badHeader }
      guard has(13, at: index), has(10, at: index + 1) else {
        throw index + 1 < body.count ? .badHeader : .badEnd
      }
      index += 2
      return body[start..<index - 2]
    }

    private static func disposition(
      _ text: String
    ) throws(MultipartFault) -> (name: String, fileName: String?) {
      guard let value = FieldValue(text), equal(value.text, "form-data"), let name = value["name"] else {
        throw .badHeader
      }
      guard let coded = value["filename*"] else { return (name, value["filename"]) }
      // RFC 7578 section 4.2 does without this form, Python's client does not.
      let parts = coded.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
      guard parts.count == 3, equal(parts[0], "utf-8"),
        let fileName = decodeEscapes(parts[2], plusIsSpace: false)
      else { throw .badHeader }
      return (name, fileName)
    }

    /// Reads up to the next delimiter.
    mutating func readContent() throws(MultipartFault) -> Range<Int> {
      // The end of the empty line before empty content is also the delimiter's line break.
      let start = index
      var end = index - 2
      while let next = body[end...].firstIndex(of: 13) {
        if body[next...].starts(with: delimiter) {
          index = next + delimiter.count
          return start..<max(start, next)
        }
        end = next + 1
      }
      throw .badEnd
    }
  }
}

/// The value of a field with parameters: `text; name=token; name="quoted string"` (RFC 9110 section 5.6.6).
struct FieldValue {
  /// The text before the parameters.
  let text: Substring.UTF8View
  private var parameters: [(name: String, value: String)] = []

  /// The value of a parameter with a name in lower case.
  subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

  /// Nil if it is malformed, if a parameter occurs twice, and for more than 16 parameters.
  init?(_ value: String) {
    let bytes = Substring(value).utf8
    let end = bytes.firstIndex(of: UInt8(ascii: ";")) ?? bytes.endIndex
    text = trimmed(bytes[..<end])
    var rest = bytes[end...]
    while rest.popFirst() != nil {
      rest = rest.trimmingStart()
      // Semicolons at the end, or repeated ones, mean nothing.
      if rest.isEmpty || rest.first == UInt8(ascii: ";") { continue }
      guard parameters.count < 16, let equals = rest.firstIndex(of: UInt8(ascii: "=")),
        equals > rest.startIndex, rest[..<equals].allSatisfy(isToken)
      else { return nil }
      let name = String(decoding: rest[..<equals].map(lowered), as: UTF8.self)
      rest = rest[equals...].dropFirst()
      guard let value = Self.parseValue(&rest), self[name] == nil else { return nil }
      parameters.append((name, value))
      rest = rest.trimmingStart()
      guard rest.isEmpty || rest.first == UInt8(ascii: ";") else { return nil }
    }
  }

  private static func parseValue(_ rest: inout Substring.UTF8View) -> String? {
    guard rest.first == UInt8(ascii: "\"") else {
      let end = rest.firstIndex { !isToken($0) } ?? rest.endIndex
      guard end > rest.startIndex else { return nil }
      defer { rest = rest[end...] }
      return String(decoding: rest[..<end], as: UTF8.self)
    }
    rest.removeFirst()
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
      case UInt8(ascii: "\\"):
        // Old browsers send a path of Windows, whose backslashes are no escapes.
        if let next = rest.first, next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\") {
          bytes.append(next)
          rest.removeFirst()
        } else {
          bytes.append(byte)
        }
      default: bytes.append(byte)
      }
    }
    return nil
  }
}

extension Substring.UTF8View {
  fileprivate func trimmingStart() -> Substring.UTF8View { self.drop { $0 == 32 || $0 == 9 } }
}
