import BorealisBase

/// Checks bytes of the portable Roaring format (github.com/RoaringBitmap/RoaringFormatSpec). The library of
/// Debian 12 has no check of its own: it keeps to the bounds of the buffer, but takes members out of order,
/// counts that don't agree and the like, and later calls on such a bitmap may write out of bounds.
struct RoaringForm {
  /// First word of a bitmap without and with containers of runs.
  private static let cookieWithoutRuns = 12_346
  private static let cookieWithRuns = 12_347
  /// With runs, a bitmap of fewer containers has no table of offsets.
  private static let offsetThreshold = 4
  /// Containers of up to this many members are arrays, larger ones bitmaps.
  private static let arrayLimit = 4096
  private static let bitmapBytes = 8192

  private let bytes: [UInt8]
  private var position = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Whether the bytes are one whole bitmap that keeps every rule of the format.
  static func isValid(_ bytes: [UInt8]) -> Bool {
    var form = RoaringForm(bytes)
    return form.readAll() ?? false
  }

  // MARK: Small sets

  /// The bytes of a set with one member or none.
  static func bytes(of member: RegistrationNumber?) -> [UInt8] {
    guard let value = member?.rawValue else { return [0x3a, 0x30, 0, 0, 0, 0, 0, 0] }
    let (high, low) = (value >> 16, value & 0xffff)
    return [
      0x3a, 0x30, 0, 0, 1, 0, 0, 0, UInt8(high & 0xff), UInt8(high >> 8), 0, 0, 16, 0, 0, 0,
      UInt8(low & 0xff), UInt8(low >> 8),
    ]
  }

  /// The member, if these are the bytes of a set with one; nil for all others, good or bad.
  static func onlyMember(of bytes: [UInt8]) -> RegistrationNumber? {
    guard bytes.count == 18 else { return nil }
    let value = [16, 17, 8, 9].enumerated().reduce(UInt32(0)) { all, place in
      all | UInt32(bytes[place.element]) << UInt32(8 * place.offset)
    }
    let member = RegistrationNumber(value)
    return Self.bytes(of: member) == bytes ? member : nil
  }

  // MARK: The whole format

  /// Reads everything; nil where the bytes end too early.
  private mutating func readAll() -> Bool? {
    guard let (count, runs) = readCookie(), let cardinalities = readKeys(count) else { return nil }
    let offsets = runs == nil || count >= Self.offsetThreshold ? position : nil
    if offsets != nil { position += 4 * count }
    guard position <= bytes.count else { return nil }
    for (index, cardinality) in cardinalities.enumerated() {
      if let offsets, word32(at: offsets + 4 * index) != position { return false }
      let isRun = runs.map { bytes[$0 + index / 8] >> UInt8(index % 8) & 1 == 1 } ?? false
      guard readContainer(cardinality, isRun: isRun) == true else { return false }
    }
    return position == bytes.count
  }

  /// The number of containers, and where the flags are that tell containers of runs; no place if there are
  /// none.
  private mutating func readCookie() -> (count: Int, runs: Int?)? {
    guard let low = read16(), let high = read16() else { return nil }
    if low == Self.cookieWithRuns {
      let (count, runs) = (high + 1, position)
      position += (count + 7) / 8
      return position <= bytes.count ? (count, runs) : nil
    }
    guard low == Self.cookieWithoutRuns, high == 0, let count = read16(), let more = read16() else {
      return nil
    }
    return more == 0 || (more == 1 && count == 0) ? (count + more << 16, nil) : nil
  }

  /// The cardinality of each container; the keys must ascend.
  private mutating func readKeys(_ count: Int) -> [Int]? {
    var cardinalities: [Int] = []
    var next = 0
    for _ in 0..<count {
      guard let key = read16(), let less = read16(), key >= next else { return nil }
      next = key + 1
      cardinalities.append(less + 1)
    }
    return cardinalities
  }

  private mutating func readContainer(_ cardinality: Int, isRun: Bool) -> Bool? {
    if isRun { return readRuns(cardinality) }
    if cardinality <= Self.arrayLimit { return readArray(cardinality) }
    guard bytes.count - position >= Self.bitmapBytes else { return nil }
    let bits = bytes[position..<position + Self.bitmapBytes].reduce(0) { $0 + $1.nonzeroBitCount }
    position += Self.bitmapBytes
    return bits == cardinality
  }

  /// Ascending members.
  private mutating func readArray(_ cardinality: Int) -> Bool? {
    var next = 0
    for _ in 0..<cardinality {
      guard let member = read16() else { return nil }
      if member < next { return false }
      next = member + 1
    }
    return true
  }

  /// Ascending runs that neither overlap nor leave the container.
  private mutating func readRuns(_ cardinality: Int) -> Bool? {
    guard let count = read16() else { return nil }
    var (next, members) = (0, 0)
    for _ in 0..<count {
      guard let start = read16(), let less = read16() else { return nil }
      if start < next || start + less > 0xffff { return false }
      next = start + less + 1
      members += less + 1
    }
    return members == cardinality
  }

  private mutating func read16() -> Int? {
    guard bytes.count - position >= 2 else { return nil }
    defer { position += 2 }
    return Int(bytes[position]) | Int(bytes[position + 1]) << 8
  }

  private func word32(at index: Int) -> Int {
    (0..<4).reduce(0) { $0 | Int(bytes[index + $1]) << (8 * $1) }
  }
}
