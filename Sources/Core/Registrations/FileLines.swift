import BorealisBase
import Model
import Storage

/// The values of an uploaded file: each is checked, and each is there once.
package struct FileLines: Sendable {
  /// What is wrong with a file.
  package enum Fault: Error, Sendable, Equatable {
    /// It is not in UTF-8.
    case notText
    /// A line, counted from 1, is no value.
    case badLine(Int)
    /// There is no value.
    case empty
    /// There are more values than allowed.
    case tooMany
  }

  /// The most values of a file; it takes some 100 MB to find out which are there twice.
  package static let maximumValues = 1_000_000
  /// About how many bytes a piece has: some milliseconds of work.
  private static let pieceBytes = 256 << 10

  /// How many values there are.
  package private(set) var count = 0
  /// The values, one a line, in pieces that end with a line.
  package private(set) var pieces: [[UInt8]] = []

  /// Reads a text with one value a line. Spaces around values and empty lines do not matter, nor does a byte
  /// order mark.
  package init(_ text: ArraySlice<UInt8>, kind: FileKind, allowHyphen: Bool) throws(Fault) {
    let text = text.starts(with: [0xef, 0xbb, 0xbf]) ? text.dropFirst(3) : text
    var seen: Set<ArraySlice<UInt8>> = []
    var piece: [UInt8] = []
    var number = 0
    // A line at a time: an array of them all would need many times the memory of a file of empty ones.
    var rest = text
    while !rest.isEmpty {
      number += 1
      let line = rest.prefix { $0 != 10 }
      rest = rest[min(line.endIndex + 1, rest.endIndex)...]
      let value = Self.trimmed(line)
      guard !value.isEmpty else { continue }
      guard let name = String(validating: value, as: UTF8.self) else { throw .notText }
      guard Self.isValid(name, kind, allowHyphen) else { throw .badLine(number) }
      guard seen.insert(value).inserted else { continue }
      count += 1
      guard count <= Self.maximumValues else { throw .tooMany }
      piece += value
      piece.append(10)
      if piece.count >= Self.pieceBytes {
        pieces.append(piece)
        piece = []
      }
    }
    guard count > 0 else { throw .empty }
    if !piece.isEmpty { pieces.append(piece) }
  }

  private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 13 }
    var line = line.drop(while: isSpace)
    while let last = line.last, isSpace(last) { line.removeLast() }
    return line
  }

  private static func isValid(_ name: String, _ kind: FileKind, _ allowHyphen: Bool) -> Bool {
    switch kind {
    case .aliases: NameRules.check(name, as: .alias, allowHyphen: allowHyphen) == .ok
    case .registrationIDs: RegistrationID(name) != nil
    }
  }
}
