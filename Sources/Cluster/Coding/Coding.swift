import BorealisBase

/// Writing and reading of what devices ask, with counted texts and bytes.
extension ByteWriter {
  mutating func write(counted bytes: [UInt8]) {
    write(UInt32(truncatingIfNeeded: bytes.count))
    write(bytes: bytes)
  }

  mutating func write(text: String) { write(counted: Array(text.utf8)) }

  mutating func write(texts: [String]) {
    write(UInt32(truncatingIfNeeded: texts.count))
    for text in texts { write(text: text) }
  }
}

extension ByteReader {
  mutating func counted() -> [UInt8]? { read(UInt32.self).flatMap { read(count: Int($0)) } }

  mutating func text() -> String? { counted().flatMap { String(validating: $0, as: UTF8.self) } }

  mutating func texts() -> [String]? {
    guard let count = read(UInt32.self), Int(count) <= remaining / 4 else { return nil }
    var texts: [String] = []
    for _ in 0..<count {
      guard let text = text() else { return nil }
      texts.append(text)
    }
    return texts
  }

  /// Whether nothing is left.
  var isAtEnd: Bool { remaining == 0 }
}
