import BorealisBase

// The columns of BorealisBase's values.

extension RegistrationID {
  /// 10 bytes: both halves, big-endian.
  var stored: [UInt8] {
    var writer = ByteWriter(capacity: 10)
    writer.write(high)
    writer.write(low)
    return writer.bytes
  }

  init(stored bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    self.init(high: reader.read() ?? 0, low: reader.read() ?? 0)
  }
}

/// The column `registration.tags`.
enum TagList {
  /// Sorted, each once, big-endian; nil for none.
  static func encode(_ tags: some Sequence<UInt32>) -> [UInt8]? {
    let sorted = Set(tags).sorted()
    if sorted.isEmpty { return nil }
    var writer = ByteWriter(capacity: sorted.count * 4)
    for tag in sorted { writer.write(tag) }
    return writer.bytes
  }

  static func decode(_ bytes: [UInt8]) -> [UInt32] {
    var reader = ByteReader(bytes)
    var tags: [UInt32] = []
    tags.reserveCapacity(bytes.count / 4)
    while let tag = reader.read(UInt32.self) { tags.append(tag) }
    return tags
  }

  /// Reads a column of the current row without copying its bytes first.
  static func decode(_ row: Row, _ column: StaticString) -> [UInt32] {
    row.bytes(of: column) { bytes in
      (0..<bytes.count / 4).map {
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self))
      }
    }
  }
}

extension Row {
  func number(_ column: StaticString = "") -> RegistrationNumber {
    RegistrationNumber(integer(column, as: UInt32.self))
  }
  func app(_ column: StaticString = "") -> AppID { AppID(integer(column, as: UInt32.self)) }
  func account(_ column: StaticString = "") -> AccountID { AccountID(integer(column, as: UInt32.self)) }
  func message(_ column: StaticString = "") -> MessageID { MessageID(integer(column, as: UInt64.self)) }
  func time(_ column: StaticString = "") -> Timestamp { Timestamp(milliseconds: integer(column)) }

  /// A big-endian number inside a column of bytes; 0 if the column is too short.
  func bigEndian<Value: FixedWidthInteger>(
    _ column: StaticString, at offset: Int, as: Value.Type = Value.self
  ) -> Value {
    bytes(of: column) { bytes in
      guard offset >= 0, offset + MemoryLayout<Value>.size <= bytes.count else { return 0 }
      return Value(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Value.self))
    }
  }

  /// The account of a column, or nil for NULL.
  func optionalAccount(_ column: StaticString) -> AccountID? { isNull(column) ? nil : account(column) }
  /// The time of a column, or nil for NULL.
  func optionalTime(_ column: StaticString) -> Timestamp? { isNull(column) ? nil : time(column) }
}

extension SQLValue {
  static func app(_ id: AppID) -> SQLValue { .integer(id.rawValue) }
  static func account(_ id: AccountID) -> SQLValue { .integer(id.rawValue) }
  static func number(_ number: RegistrationNumber) -> SQLValue { .integer(number.rawValue) }
  static func message(_ id: MessageID) -> SQLValue { .integer(id.rawValue) }
  static func time(_ time: Timestamp) -> SQLValue { .integer(time.milliseconds) }
}
