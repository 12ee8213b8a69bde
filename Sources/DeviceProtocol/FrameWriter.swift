import BorealisBase

/// Builds one frame at the end of an array. Length comes first on the wire but is known last: `finish` moves
/// the body.
struct FrameWriter: ~Copyable {
  private(set) var body: [UInt8] = []
  /// False once a field did not fit its count.
  private(set) var isValid = true

  init(_ type: FrameType) { body.append(type.rawValue) }

  mutating func integer(_ value: some FixedWidthInteger & UnsignedInteger) { body.appendBigEndian(value) }

  mutating func bytes(_ value: [UInt8]) { body.append(contentsOf: value) }

  mutating func longText(_ value: String, atMost limit: Int) {
    guard value.utf8.count <= limit, let count = UInt16(exactly: value.utf8.count) else {
      return isValid = false
    }
    integer(count)
    bytes(Array(value.utf8))
  }

  mutating func copy(_ range: Range<Int>, of bytes: Span<UInt8>) {
    guard range.lowerBound >= 0, range.upperBound <= bytes.count else { return isValid = false }
    for index in range { body.append(bytes[index]) }
  }

  mutating func counted(_ value: [UInt8]) {
    guard value.count <= WireLimits.maxCounted else { return isValid = false }
    body.append(UInt8(value.count))
    body.append(contentsOf: value)
  }

  mutating func text(_ value: String) { counted(Array(value.utf8)) }

  mutating func texts(_ values: [String]) {
    guard let count = UInt16(exactly: values.count) else { return isValid = false }
    integer(count)
    for value in values { text(value) }
  }

  mutating func appKey(_ key: AppKey) {
    integer(key.high)
    integer(key.low)
  }

  mutating func registrationID(_ id: RegistrationID) {
    integer(id.high)
    integer(id.low << 4)
  }

  mutating func secret(_ secret: DeviceSecret) {
    integer(secret.high)
    integer(secret.low)
  }

  /// Appends length, type and body; appends nothing and returns false when the frame cannot be written.
  consuming func finish(into output: inout [UInt8]) -> Bool {
    guard isValid, body.count <= WireLimits.maxFrame else { return false }
    output.appendLength(body.count)
    output.append(contentsOf: body)
    return true
  }
}

extension [UInt8] {
  /// Appends an integer, most significant byte first.
  @inlinable
  public mutating func appendBigEndian<Value: FixedWidthInteger & UnsignedInteger>(_ value: Value) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }

  /// Appends a count or a length, not below 0, as LEB128.
  mutating func appendLength(_ length: Int) { appendVarint(UInt64(length)) }

  /// Appends an unsigned LEB128 in as few bytes as possible.
  package mutating func appendVarint(_ value: UInt64) {
    var rest = value
    while rest > 0x7F {
      append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }
}
