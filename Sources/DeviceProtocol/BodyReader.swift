import BorealisBase

/// Walks over a frame's body; it keeps only indices, so that it can live beside the span it reads. Nodes of a
/// cluster read what they tell each other with it, too.
package struct BodyReader {
  private var at: Int
  private let end: Int

  /// Reads a part of `bytes`; the same span goes with every call.
  package init(_ body: Range<Int>, in bytes: Span<UInt8>) throws(FrameError) {
    guard body.lowerBound >= 0, body.upperBound <= bytes.count else { throw .truncatedBody }
    at = body.lowerBound
    end = body.upperBound
  }

  /// The unread bytes.
  package var rest: Range<Int> { at..<end }

  /// Passes over `count` bytes and returns their range.
  package mutating func readRange(_ count: Int) throws(FrameError) -> Range<Int> {
    guard count >= 0, count <= end - at else { throw .truncatedBody }
    defer { at += count }
    return at..<at + count
  }

  mutating func readRest() -> Range<Int> {
    defer { at = end }
    return at..<end
  }

  /// Checks that nothing is left.
  package func finish() throws(FrameError) {
    guard at == end else { throw .trailingBytes }
  }

  /// Reads an integer, most significant byte first.
  package mutating func integer<Value: WireInteger>(
    _ type: Value.Type = Value.self, in bytes: Span<UInt8>
  ) throws(FrameError) -> Value {
    Value.read(at: try readRange(MemoryLayout<Value>.size).lowerBound, in: bytes)
  }

  /// Reads an unsigned LEB128 of ten bytes at most, written in as few as possible.
  package mutating func varint(in bytes: Span<UInt8>) throws(FrameError) -> UInt64 {
    var value: UInt64 = 0
    for place in 0..<10 {
      let byte = bytes[try readRange(1).lowerBound]
      // The tenth byte has room for the last bit only.
      guard place < 9 || byte <= 1 else { throw .lengthTooLong }
      value |= UInt64(byte & 0x7F) << UInt64(7 * place)
      guard byte < 0x80 else { continue }
      guard byte > 0 || place == 0 else { throw .lengthNotMinimal }
      return value
    }
    throw .lengthTooLong
  }

  mutating func value<Value: RawRepresentable<UInt8>>(
    _ type: Value.Type = Value.self, in bytes: Span<UInt8>
  ) throws(FrameError) -> Value {
    guard let value = Value(rawValue: try integer(in: bytes)) else { throw .invalidValue }
    return value
  }

  mutating func counted(
    _ allowed: ClosedRange<Int> = 0...WireLimits.maxCounted, in bytes: Span<UInt8>
  ) throws(FrameError) -> [UInt8] {
    let count = Int(try integer(UInt8.self, in: bytes))
    guard allowed.contains(count) else { throw .invalidCount }
    return bytes.array(try readRange(count))
  }

  /// Reads a text behind its count, which is one byte.
  package mutating func text(in bytes: Span<UInt8>) throws(FrameError) -> String {
    let count = Int(try integer(UInt8.self, in: bytes))
    return try text(of: try readRange(count), in: bytes)
  }

  /// A text that is stored: U+0000 is no valid value, since not every database can hold it.
  mutating func storableText(in bytes: Span<UInt8>) throws(FrameError) -> String {
    let text = try text(in: bytes)
    guard !text.utf8.contains(0) else { throw .invalidValue }
    return text
  }

  /// A text with a count of two bytes.
  mutating func longText(atMost limit: Int, in bytes: Span<UInt8>) throws(FrameError) -> String {
    let count = Int(try integer(UInt16.self, in: bytes))
    guard count <= limit else { throw .invalidCount }
    return try text(of: try readRange(count), in: bytes)
  }

  private func text(of part: Range<Int>, in bytes: Span<UInt8>) throws(FrameError) -> String {
    guard let text = try? String(validUTF8: bytes.extracting(part)) else { throw .invalidUTF8 }
    return text
  }

  mutating func texts(in bytes: Span<UInt8>) throws(FrameError) -> [String] {
    let count = Int(try integer(UInt16.self, in: bytes))
    // Each text takes a byte at least: a large count in a small body must not reserve memory.
    guard count <= end - at else { throw .invalidCount }
    var texts: [String] = []
    texts.reserveCapacity(count)
    for _ in 0..<count { texts.append(try text(in: bytes)) }
    return texts
  }

  mutating func appKey(in bytes: Span<UInt8>) throws(FrameError) -> AppKey {
    AppKey(high: try integer(in: bytes), low: try integer(in: bytes))
  }

  /// Reads a registration ID in ten bytes.
  package mutating func registrationID(in bytes: Span<UInt8>) throws(FrameError) -> RegistrationID {
    let high = try integer(UInt64.self, in: bytes)
    let low = try integer(UInt16.self, in: bytes)
    guard low & 0xF == 0 else { throw .invalidValue }
    return RegistrationID(high: high, low: low >> 4)
  }

  mutating func secret(in bytes: Span<UInt8>) throws(FrameError) -> DeviceSecret {
    DeviceSecret(high: try integer(in: bytes), low: try integer(in: bytes))
  }
}

/// An integer in a frame. Other modules call `BodyReader.integer` without its type being known, since a span
/// goes with it: what is done for each byte is here, where the type is known.
package protocol WireInteger: Sendable {
  /// The integer whose most significant byte is at `index`; the caller has checked the bounds.
  static func read(at index: Int, in bytes: Span<UInt8>) -> Self
}

extension UInt8: WireInteger {
  package static func read(at index: Int, in bytes: Span<UInt8>) -> UInt8 { bytes[index] }
}

extension UInt16: WireInteger {
  package static func read(at index: Int, in bytes: Span<UInt8>) -> UInt16 { bytes.bigEndian(at: index) }
}

extension UInt32: WireInteger {
  package static func read(at index: Int, in bytes: Span<UInt8>) -> UInt32 { bytes.bigEndian(at: index) }
}

extension UInt64: WireInteger {
  package static func read(at index: Int, in bytes: Span<UInt8>) -> UInt64 { bytes.bigEndian(at: index) }
}

extension Span<UInt8> {
  /// The integer whose most significant byte is at `index`; the caller has checked the bounds.
  func bigEndian<Value: FixedWidthInteger & UnsignedInteger>(at index: Int) -> Value {
    var value: Value = 0
    for place in 0..<Value.bitWidth / 8 {
      value = (value &<< 8) | Value(truncatingIfNeeded: self[index + place])
    }
    return value
  }

  /// A copy of a part; the caller has checked the bounds.
  package func array(_ range: Range<Int>) -> [UInt8] {
    var copy: [UInt8] = []
    copy.reserveCapacity(range.count)
    for index in range { copy.append(self[index]) }
    return copy
  }
}
