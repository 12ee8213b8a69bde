extension JSONParser {
  /// Reads a string; `position` is at its opening quotation mark.
  mutating func string(_ bytes: Span<UInt8>) throws(JSONError) -> String {
    let start = position + 1
    var end = start
    var escaped = false
    while true {
      guard end < bytes.count else { throw .unexpectedEnd(at: bytes.count) }
      let byte = bytes[end]
      if byte == UInt8(ascii: "\"") { break }
      guard byte >= 0x20 else { throw .badString(at: end) }
      if byte == UInt8(ascii: "\\") {
        escaped = true
        end += 1
      }
      end += 1
    }
    position = end + 1
    let raw = bytes.extracting(start..<end)
    let plain = try text(raw, at: start)
    guard escaped else { return plain }
    let resolved = try unescape(raw, at: start)
    return try resolved.withSpan { resolved throws(JSONError) in try text(resolved, at: start) }
  }

  /// UTF-8 as a string. Escapes are ASCII, so this may look at a string before or after they are resolved.
  func text(_ bytes: Span<UInt8>, at offset: Int) throws(JSONError) -> String {
    do {
      return try String(validUTF8: bytes)
    } catch {
      throw .badUTF8(at: offset + error.offset)
    }
  }

  /// The bytes of a string with its escapes resolved. A backslash is never the last byte of `raw`.
  private func unescape(_ raw: Span<UInt8>, at offset: Int) throws(JSONError) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(raw.count)
    var index = 0
    while index < raw.count {
      let byte = raw[index]
      guard byte == UInt8(ascii: "\\"), index + 1 < raw.count else {
        result.append(byte)
        index += 1
        continue
      }
      let start = index
      index += 2
      switch raw[start + 1] {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): result.append(raw[start + 1])
      case UInt8(ascii: "b"): result.append(8)
      case UInt8(ascii: "f"): result.append(12)
      case UInt8(ascii: "n"): result.append(10)
      case UInt8(ascii: "r"): result.append(13)
      case UInt8(ascii: "t"): result.append(9)
      case UInt8(ascii: "u"):
        guard let (scalar, end) = codePoint(raw, from: start) else { throw .badEscape(at: offset + start) }
        result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        index = end
      default: throw .badEscape(at: offset + start)
      }
    }
    return result
  }

  /// The character of the `\uXXXX` escape, or pair of escapes, at `start` and the index after it.
  private func codePoint(_ raw: Span<UInt8>, from start: Int) -> (Unicode.Scalar, Int)? {
    guard let first = codeUnit(raw, at: start) else { return nil }
    if let scalar = Unicode.Scalar(first) { return (scalar, start + 6) }
    guard first < 0xdc00, let second = codeUnit(raw, at: start + 6), second & 0xfc00 == 0xdc00 else {
      return nil
    }
    guard let scalar = Unicode.Scalar(0x10000 + (first & 0x3ff) << 10 + second & 0x3ff) else { return nil }
    return (scalar, start + 12)
  }

  /// The 16 bits of the `\uXXXX` at `start`, nil if there is none.
  private func codeUnit(_ raw: Span<UInt8>, at start: Int) -> UInt32? {
    guard start + 6 <= raw.count, raw[start] == UInt8(ascii: "\\"), raw[start + 1] == UInt8(ascii: "u") else {
      return nil
    }
    var unit: UInt32 = 0
    for index in start + 2..<start + 6 {
      switch raw[index] {
      case 48...57: unit = unit << 4 | UInt32(raw[index] - 48)
      case 65...70: unit = unit << 4 | UInt32(raw[index] - 55)
      case 97...102: unit = unit << 4 | UInt32(raw[index] - 87)
      default: return nil
      }
    }
    return unit
  }
}
