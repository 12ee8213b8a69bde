import BorealisBase
import BorealisProtocol

/// The body of an entry. Fields are only ever added at its end: who knows fewer of them leaves the rest
/// unread, and who knows more reads the values that a missing field stands for. The items of a list never
/// change; a new list goes to the end.
protocol MessageBody: Hashable, Sendable {
  /// Appends the fields.
  func write(into output: inout [UInt8])
  /// Reads the fields from an entry's bytes.
  init(from reader: inout BodyReader, in bytes: Span<UInt8>) throws(FrameError)
}

extension [UInt8] {
  mutating func append(flag: Bool) { append(flag ? 1 : 0) }

  mutating func append(id: MessageID) { appendBigEndian(id.rawValue) }

  mutating func append(number: RegistrationNumber) { appendBigEndian(number.rawValue) }

  mutating func append(registrationID id: RegistrationID) {
    appendBigEndian(id.high)
    appendBigEndian(id.low << 4)
  }

  mutating func append(key: AppKey) {
    appendBigEndian(key.high)
    appendBigEndian(key.low)
  }

  mutating func append(counted bytes: [UInt8]) {
    appendVarint(UInt64(bytes.count))
    append(contentsOf: bytes)
  }

  /// At most 255 bytes of it: counts of texts are one byte.
  mutating func append(text: String) {
    let bytes = text.utf8.count <= 255 ? Array(text.utf8) : Self.prefix(of: text)
    append(UInt8(bytes.count))
    append(contentsOf: bytes)
  }

  private static func prefix(of text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      let more = Array(String(scalar).utf8)
      guard bytes.count + more.count <= 255 else { break }
      bytes += more
    }
    return bytes
  }

  mutating func append(handle: Handle) {
    appendVarint(handle.incarnation.rawValue)
    appendBigEndian(handle.loop)
    appendBigEndian(handle.slot)
    appendBigEndian(handle.generation)
  }

  mutating func append<Item>(list items: [Item], _ write: (Item, inout [UInt8]) -> Void) {
    appendVarint(UInt64(items.count))
    for item in items { write(item, &self) }
  }
}

extension BodyReader {
  mutating func flag(in bytes: Span<UInt8>) throws(FrameError) -> Bool {
    let value = try integer(UInt8.self, in: bytes)
    guard value <= 1 else { throw .invalidValue }
    return value == 1
  }

  mutating func id(in bytes: Span<UInt8>) throws(FrameError) -> MessageID {
    MessageID(try integer(in: bytes))
  }

  mutating func number(in bytes: Span<UInt8>) throws(FrameError) -> RegistrationNumber {
    RegistrationNumber(try integer(in: bytes))
  }

  mutating func key(in bytes: Span<UInt8>) throws(FrameError) -> AppKey {
    AppKey(high: try integer(in: bytes), low: try integer(in: bytes))
  }

  mutating func handle(in bytes: Span<UInt8>) throws(FrameError) -> Handle {
    Handle(
      incarnation: Incarnation(try varint(in: bytes)), loop: try integer(in: bytes),
      slot: try integer(in: bytes), generation: try integer(in: bytes))
  }

  mutating func smallVarint(in bytes: Span<UInt8>) throws(FrameError) -> UInt32 {
    guard let value = UInt32(exactly: try varint(in: bytes)) else { throw .invalidValue }
    return value
  }

  mutating func counted(atMost limit: Int, in bytes: Span<UInt8>) throws(FrameError) -> [UInt8] {
    guard let count = Int(exactly: try varint(in: bytes)), count <= limit else { throw .invalidCount }
    return bytes.array(try readRange(count))
  }

  /// Reads a list whose items take `bytesEach` at least, so that a large count in a small body reserves no
  /// memory.
  mutating func list<Item>(
    atMost limit: Int = .max, bytesEach: Int, in bytes: Span<UInt8>,
    _ read: (inout BodyReader) throws(FrameError) -> Item
  ) throws(FrameError) -> [Item] {
    guard let count = Int(exactly: try varint(in: bytes)), count <= limit, count <= rest.count / bytesEach
    else { throw .invalidCount }
    var items: [Item] = []
    items.reserveCapacity(count)
    for _ in 0..<count { items.append(try read(&self)) }
    return items
  }
}
