import PushBase

/// Walks over a frame's body; it keeps only indices, so that it can live beside the span it reads.
struct BodyReader {
  private var at: Int
  private let end: Int

  init(_ body: Range<Int>, in bytes: Span<UInt8>) throws(FrameError) {
    guard body.lowerBound >= 0, body.upperBound <= bytes.count else { throw .truncatedBody }
    at = body.lowerBound
    end = body.upperBound
  }

  /// The unread bytes.
  var rest: Range<Int> { at..<end }

  mutating func take(_ count: Int) throws(FrameError) -> Range<Int> {
    guard count <= end - at else { throw .truncatedBody }
    defer { at += count }
    return at..<at + count
  }

  mutating func takeRest() -> Range<Int> {
    defer { at = end }
    return at..<end
  }

  func finish() throws(FrameError) {
    guard at == end else { throw .trailingBytes }
  }

  mutating func integer<Value: FixedWidthInteger & UnsignedInteger>(
    _ type: Value.Type = Value.self, in bytes: Span<UInt8>
  ) throws(FrameError) -> Value {
    bytes.bigEndian(at: try take(Value.bitWidth / 8).lowerBound)
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
    return bytes.array(try take(count))
  }

  mutating func text(in bytes: Span<UInt8>) throws(FrameError) -> String {
    let count = Int(try integer(UInt8.self, in: bytes))
    let part = bytes.extracting(try take(count))
    guard let valid = try? UTF8Span(validating: part) else { throw .invalidUTF8 }
    return String(copying: valid)
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
    let part = bytes.extracting(try take(count))
    guard let valid = try? UTF8Span(validating: part) else { throw .invalidUTF8 }
    return String(copying: valid)
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

  mutating func registrationID(in bytes: Span<UInt8>) throws(FrameError) -> RegistrationID {
    let high = try integer(UInt64.self, in: bytes)
    let low = try integer(UInt16.self, in: bytes)
    guard low & 0xF == 0 else { throw .invalidValue }
    return RegistrationID(high: high, low: low >> 4)
  }

  mutating func secret(in bytes: Span<UInt8>) throws(FrameError) -> DeviceSecret {
    DeviceSecret(high: try integer(in: bytes), low: try integer(in: bytes))
  }
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
  func array(_ range: Range<Int>) -> [UInt8] {
    var copy: [UInt8] = []
    copy.reserveCapacity(range.count)
    for index in range { copy.append(self[index]) }
    return copy
  }
}
