import BorealisBase

/// Reads comma-separated values (RFC 4180) piece by piece: fields may be quoted, a quote in them is doubled,
/// lines end with LF or CR LF. A byte order mark before all is passed over, as spreadsheets write it.
package struct CSVReader: Sendable {
  /// One record.
  package struct Record: Equatable, Sendable {
    /// The line that it begins on, from 1.
    package let line: Int
    /// Its fields; nil if it cannot be read.
    package let fields: [String]?
  }

  /// Bytes that a record may have.
  package static let maximumBytes = 64 * 1024

  private enum Place {
    case start
    case plain
    case quoted
    /// Behind a quote that ends the field or is half of a doubled one.
    case quote
  }

  private var place = Place.start
  /// The fields of the record, one behind the other, and where each of them ends.
  private var content: [UInt8] = []
  private var ends: [Int] = []
  private var bytes = 0
  private var line = 1
  private var firstLine = 1
  private var isBroken = false
  private var records: [Record] = []
  /// Bytes of a byte order mark that the file began with; nil when something else follows.
  private var markBytes: Int? = 0

  private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// At the beginning of a file.
  package init() {}

  /// Reads bytes; returns the records that end in them. Empty lines are passed over.
  package mutating func read(_ input: Span<UInt8>) -> [Record] {
    var index = 0
    while index < input.count {
      guard markBytes == nil else {
        if readMark(input[index]) { index += 1 }
        continue
      }
      // Most bytes mean nothing but themselves: these are taken together.
      let end = endOfRun(input, from: index)
      guard end > index else {
        parse(input[index])
        index += 1
        continue
      }
      if !isBroken {
        input.extracting(index..<end).withUnsafeBufferPointer { content.append(contentsOf: $0) }
      }
      if place == .start { place = .plain }
      bytes += end - index
      index = end
    }
    defer { records = [] }
    return records
  }

  /// Whether a byte at the beginning of the file belongs to its byte order mark. What was none is read as it
  /// is.
  private mutating func readMark(_ byte: UInt8) -> Bool {
    guard let count = markBytes else { return false }
    if byte == Self.mark[count] {
      markBytes = count + 1 < Self.mark.count ? count + 1 : nil
      return true
    }
    markBytes = nil
    for byte in Self.mark[..<count] { parse(byte) }
    return false
  }

  /// Ends the file; returns the record without a line end, if there is one.
  package mutating func finish() -> Record? {
    // Bytes of an unfinished mark are no text.
    if let count = markBytes, count > 0 { isBroken = true }
    if place == .quoted { isBroken = true }
    endRecord()
    defer { records = [] }
    return records.first
  }

  /// Where bytes end that belong to the field as they are; the index itself if there is none.
  private func endOfRun(_ input: Span<UInt8>, from index: Int) -> Int {
    // 34 is a quote, 44 a comma, 10 the end of a line.
    let (stop, other): (UInt8, UInt8)
    switch place {
    case .quote: return index
    case .quoted: (stop, other) = (34, 10)
    case .start:
      guard input[index] != 34 else { return index }
      (stop, other) = (44, 10)
    case .plain: (stop, other) = (44, 10)
    }
    let limit = min(input.count, index + max(0, Self.maximumBytes - bytes))
    var end = index
    while end < limit, input[end] != stop, input[end] != other { end += 1 }
    return end
  }

  private mutating func parse(_ byte: UInt8) {
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
    if !isBroken { content.append(byte) }
  }

  private mutating func endField() {
    if !isBroken { ends.append(content.count) }
    place = .start
  }

  private mutating func endRecord() {
    if place == .plain, content.count > ends.last ?? 0, content.last == 13 { content.removeLast() }
    let isEmpty = ends.isEmpty && content.isEmpty && place != .quote && !isBroken
    endField()
    if !isEmpty { records.append(Record(line: firstLine, fields: isBroken ? nil : fields())) }
    content.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    bytes = 0
    isBroken = false
  }

  /// The texts of the record; nil if one of them is not in UTF-8.
  private func fields() -> [String]? {
    var texts: [String] = []
    texts.reserveCapacity(ends.count)
    var start = 0
    for end in ends {
      guard let text = String(validating: content[start..<end], as: UTF8.self) else { return nil }
      texts.append(text)
      start = end
    }
    return texts
  }
}
