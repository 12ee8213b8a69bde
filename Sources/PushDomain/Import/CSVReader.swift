import PushBase

/// Reads comma-separated values (RFC 4180) piece by piece: fields may stand in quotes, a quote in them is doubled, lines
/// end with LF or CR LF.
public struct CSVReader: Sendable {
  /// One record.
  public struct Record: Equatable, Sendable {
    /// The line that it begins on, from 1.
    public let line: Int
    /// Its fields; nil if it cannot be read.
    public let fields: [String]?
  }

  /// Bytes that a record may have.
  public static let maximumBytes = 64 * 1024

  private enum Place {
    case start
    case plain
    case quoted
    /// Behind a quote that ends the field or is half of a doubled one.
    case quote
  }

  private var place = Place.start
  private var field: [UInt8] = []
  private var fields: [[UInt8]] = []
  private var bytes = 0
  private var line = 1
  private var firstLine = 1
  private var isBroken = false
  private var records: [Record] = []

  /// At the beginning of a file.
  public init() {}

  /// Reads bytes; returns the records that end in them. Empty lines are passed over.
  public mutating func read(_ input: some Sequence<UInt8>) -> [Record] {
    for byte in input { take(byte) }
    defer { records = [] }
    return records
  }

  /// The file is over; returns the record that had no end of line, if there is one.
  public mutating func finish() -> Record? {
    if place == .quoted { isBroken = true }
    endRecord()
    defer { records = [] }
    return records.first
  }

  private mutating func take(_ byte: UInt8) {
    bytes += 1
    if bytes > Self.maximumBytes {
      isBroken = true
      // A quote that is never closed must not swallow the rest of the file.
      if place == .quoted { place = .quote }
    }
    switch (place, byte) {
    case (.quoted, 34): place = .quote
    case (.quoted, _):
      if byte == 10 { line += 1 }
      keep(byte)
    case (.quote, 34):
      keep(34)
      place = .quoted
    case (_, 44): endField()
    case (_, 10):
      endRecord()
      line += 1
      firstLine = line
    case (.start, 34): place = .quoted
    case (.quote, 13): break
    case (.quote, _): isBroken = true
    default:
      keep(byte)
      place = .plain
    }
  }

  private mutating func keep(_ byte: UInt8) {
    if !isBroken { field.append(byte) }
  }

  private mutating func endField() {
    if !isBroken { fields.append(field) }
    field.removeAll(keepingCapacity: true)
    place = .start
  }

  private mutating func endRecord() {
    if place == .plain, field.last == 13 { field.removeLast() }
    let isEmpty = fields.isEmpty && field.isEmpty && place != .quote && !isBroken
    endField()
    if !isEmpty {
      let texts = fields.map { String(validating: $0, as: UTF8.self) }
      let isReadable = !isBroken && !texts.contains(nil)
      records.append(Record(line: firstLine, fields: isReadable ? texts.compactMap { $0 } : nil))
    }
    fields.removeAll(keepingCapacity: true)
    bytes = 0
    isBroken = false
  }
}
