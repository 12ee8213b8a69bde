import PushBase

// How the values of PushBase stand in columns.

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
  static func decode(_ row: Statement, _ column: Int32) -> [UInt32] {
    let count = row.size(column) / 4
    if count == 0 { return [] }
    return (0..<count).map { row.bigEndian(column, at: $0 * 4) }
  }
}

extension Statement {
  func number(_ column: Int32) -> RegistrationNumber { RegistrationNumber(integer(column, as: UInt32.self)) }
  func app(_ column: Int32) -> AppID { AppID(integer(column, as: UInt32.self)) }
  func message(_ column: Int32) -> MessageID { MessageID(integer(column, as: UInt64.self)) }
  func time(_ column: Int32) -> Timestamp { Timestamp(milliseconds: integer(column)) }
}

extension SQLValue {
  static func app(_ id: AppID) -> SQLValue { .integer(id.rawValue) }
  static func number(_ number: RegistrationNumber) -> SQLValue { .integer(number.rawValue) }
  static func message(_ id: MessageID) -> SQLValue { .integer(id.rawValue) }
  static func time(_ time: Timestamp) -> SQLValue { .integer(time.milliseconds) }
}
