/// An ordered list of header fields, pseudo fields such as `:status` first, with duplicates. Names and values
/// are bytes in one array, so a list costs two allocations however long it is, and none when it is emptied
/// and filled again.
public struct HTTP2Headers: Equatable, Sendable {
  /// How a field may be compressed (RFC 7541 section 6.2).
  public enum Compression: UInt8, Sendable {
    /// May enter the shared table of fields: for values that repeat.
    case indexed
    /// Never enters a table, here or at any later hop: for values that change each time, and for secrets.
    case neverIndexed
  }

  @usableFromInline
  struct Field: Equatable, Sendable {
    @usableFromInline let start: Int
    @usableFromInline let nameCount: Int
    @usableFromInline let valueCount: Int
    @usableFromInline let compression: Compression

    @inlinable
    init(start: Int, nameCount: Int, valueCount: Int, compression: Compression) {
      self.start = start
      self.nameCount = nameCount
      self.valueCount = valueCount
      self.compression = compression
    }
  }

  /// Names and values, one after the other.
  @usableFromInline var bytes: [UInt8] = []
  @usableFromInline var fields: [Field] = []

  /// Starts empty.
  public init() {}

  init(reserving bytes: Int, fields count: Int) {
    self.bytes.reserveCapacity(bytes)
    fields.reserveCapacity(count)
  }

  /// How many fields there are.
  public var count: Int { fields.count }

  /// Bytes of all names and values.
  public var byteCount: Int { bytes.count }

  /// Adds a field with a static name: lower case, as HTTP/2 requires.
  @inlinable
  public mutating func append(
    _ name: StaticString, _ value: some Collection<UInt8>, _ compression: Compression = .indexed
  ) {
    let start = bytes.count
    name.withUTF8Buffer { bytes.append(contentsOf: $0) }
    close(start: start, nameCount: name.utf8CodeUnitCount, value, compression)
  }

  /// Adds a field with a dynamic name, which must be in lower case.
  @inlinable
  public mutating func append(
    name: some Collection<UInt8>, _ value: some Collection<UInt8>, _ compression: Compression = .indexed
  ) {
    let start = bytes.count
    bytes.append(contentsOf: name)
    close(start: start, nameCount: bytes.count - start, value, compression)
  }

  /// Adds a field with text as its value.
  public mutating func append(
    _ name: StaticString, text value: String, _ compression: Compression = .indexed
  ) {
    append(name, value.utf8, compression)
  }

  /// Adds all fields of another list.
  public mutating func append(contentsOf other: HTTP2Headers) {
    let shift = bytes.count
    bytes.append(contentsOf: other.bytes)
    for field in other.fields {
      fields.append(
        Field(
          start: field.start + shift, nameCount: field.nameCount, valueCount: field.valueCount,
          compression: field.compression))
    }
  }

  @inlinable
  mutating func close(
    start: Int, nameCount: Int, _ value: some Collection<UInt8>, _ compression: Compression
  ) {
    bytes.append(contentsOf: value)
    fields.append(
      Field(
        start: start, nameCount: nameCount, valueCount: bytes.count - start - nameCount,
        compression: compression))
  }

  /// Drops the fields after the first `count` and keeps the memory.
  public mutating func truncate(to count: Int) {
    guard count < fields.count else { return }
    bytes.removeLast(bytes.count - fields[max(0, count)].start)
    fields.removeLast(fields.count - max(0, count))
  }

  // MARK: Reading

  /// The bytes of a field's name; the index is below `count`.
  public func name(at index: Int) -> ArraySlice<UInt8> {
    let field = fields[index]
    return bytes[field.start..<field.start + field.nameCount]
  }

  /// The bytes of a field's value; the index is below `count`.
  public func value(at index: Int) -> ArraySlice<UInt8> {
    let field = fields[index]
    let start = field.start + field.nameCount
    return bytes[start..<start + field.valueCount]
  }

  /// The value of the first field of a name in lower case, nil if there is none.
  public func first(_ name: StaticString) -> ArraySlice<UInt8>? {
    for index in fields.indices where fields[index].nameCount == name.utf8CodeUnitCount {
      if has(name, at: index) { return value(at: index) }
    }
    return nil
  }

  /// How many fields of a name in lower case there are.
  public func count(of name: StaticString) -> Int {
    fields.indices.count { fields[$0].nameCount == name.utf8CodeUnitCount && has(name, at: $0) }
  }

  /// The value of the first field of a name as text; bytes that are no UTF-8 are replaced.
  public func text(_ name: StaticString) -> String? {
    first(name).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The fields as text, for logs.
  public var pairs: [(name: String, value: String)] {
    fields.indices.map {
      (String(decoding: name(at: $0), as: UTF8.self), String(decoding: value(at: $0), as: UTF8.self))
    }
  }

  private func has(_ name: StaticString, at index: Int) -> Bool {
    name.withUTF8Buffer { $0.elementsEqual(self.name(at: index)) }
  }
}

extension HTTP2Headers {
  /// The number in `:status`, nil if it is missing or malformed.
  public var status: Int? {
    guard let digits = first(":status"), digits.count == 3 else { return nil }
    var number = 0
    for digit in digits {
      guard (48...57).contains(digit) else { return nil }
      number = number * 10 + Int(digit - 48)
    }
    return number
  }
}
