/// Appends big-endian numbers and counted byte strings to an array.
public struct ByteWriter: Sendable {
  /// What was written so far.
  public var bytes: [UInt8]

  /// Starts empty, with room for `capacity` bytes.
  public init(capacity: Int = 0) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  /// Appends an integer, most significant byte first.
  @inlinable
  public mutating func write(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  /// Appends bytes as they are.
  @inlinable
  public mutating func write(bytes more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }
}

/// Reads big-endian numbers and counted byte strings from an array; every read past the end gives nil.
public struct ByteReader: Sendable {
  @usableFromInline
  let bytes: [UInt8]
  @usableFromInline
  var place = 0

  /// Index of the next byte to read.
  public var position: Int { place }

  /// Reads from the start of `bytes`.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// How many bytes are left.
  @inlinable
  public var remaining: Int { bytes.count - place }

  /// Reads an integer, most significant byte first.
  @inlinable
  public mutating func read<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) -> Value? {
    let size = Value.bitWidth / 8
    guard remaining >= size else { return nil }
    var value: Value = 0
    for offset in 0..<size {
      if size > 1 { value <<= 8 }
      value |= Value(truncatingIfNeeded: bytes[place + offset])
    }
    place += size
    return value
  }

  /// Reads `count` bytes.
  public mutating func read(count: Int) -> [UInt8]? {
    guard count >= 0, remaining >= count else { return nil }
    defer { place += count }
    return Array(bytes[place..<place + count])
  }
}

extension [UInt8] {
  /// Appends what a span shows; spans have no such operation that is quick without a pointer.
  @inlinable
  public mutating func append(copying span: Span<UInt8>) {
    span.withUnsafeBufferPointer { append(contentsOf: $0) }
  }

  /// Appends a text as UTF-8, in one piece.
  @inlinable
  public mutating func append(_ text: String) { text.withUTF8Span { append(copying: $0) } }
}
