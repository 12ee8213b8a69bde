import BorealisBase

/// Writes a set of registration numbers from words of 64 bits, lowest numbers first, in the portable Roaring
/// format (github.com/RoaringBitmap/RoaringFormatSpec): many times as fast as adding members one by one.
struct RoaringWriter {
  private static let wordsInContainer = 1024
  /// Containers of up to this many members are arrays of 16-bit numbers, larger ones bitmaps.
  private static let arrayLimit = 4096

  private var words: [UInt64] = []
  private var keys: [(key: UInt16, members: Int)] = []
  private var containers: [[UInt8]] = []
  private var next = 0

  /// Adds the next words.
  mutating func append(_ more: [UInt64]) {
    words += more
    if words.count >= Self.wordsInContainer { close() }
  }

  /// The set.
  consuming func finish() -> NumberSet {
    close()
    guard !keys.isEmpty else { return NumberSet() }
    var writer = [UInt8]()
    func write(_ value: Int, bytes: Int, _ writer: inout [UInt8]) {
      for byte in 0..<bytes { writer.append(UInt8(truncatingIfNeeded: value >> (8 * byte))) }
    }
    write(12_346, bytes: 4, &writer)
    write(keys.count, bytes: 4, &writer)
    for (key, members) in keys {
      write(Int(key), bytes: 2, &writer)
      write(members - 1, bytes: 2, &writer)
    }
    var offset = 8 + 8 * keys.count
    for container in containers {
      write(offset, bytes: 4, &writer)
      offset += container.count
    }
    for container in containers { writer += container }
    guard let set = NumberSet(serialized: writer) else {
      preconditionFailure("what this writes is of the format")
    }
    return set
  }

  private mutating func close() {
    let members = words.reduce(0) { $0 + $1.nonzeroBitCount }
    defer {
      words.removeAll(keepingCapacity: true)
      next += 1
    }
    guard members > 0 else { return }
    keys.append((UInt16(truncatingIfNeeded: next), members))
    containers.append(members > Self.arrayLimit ? bitmap() : array(members))
  }

  private func bitmap() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(8 * Self.wordsInContainer)
    for index in 0..<Self.wordsInContainer {
      let word = index < words.count ? words[index] : 0
      withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
    }
    return bytes
  }

  private func array(_ members: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(2 * members)
    for (index, word) in words.enumerated() {
      var rest = word
      while rest != 0 {
        let number = 64 * index + rest.trailingZeroBitCount
        bytes.append(UInt8(number & 0xff))
        bytes.append(UInt8(number >> 8))
        rest &= rest - 1
      }
    }
    return bytes
  }
}
