/// An open-addressing table from 64-bit hashes to 32-bit numbers, several of which may share a hash: 12 bytes
/// an entry at a load of at most 3/4. The caller compares the values of the numbers.
struct HashIndex: Sendable {
  private static let empty: UInt32 = .max

  private var hashes: [UInt64] = []
  private var numbers: [UInt32] = []
  private var mask = 0
  /// Entries in the table.
  private(set) var count = 0

  /// Reserves capacity for this many more entries, so that no insert has to move the table.
  init(capacity: Int = 0) { resize(to: Self.size(for: capacity)) }

  private static func size(for count: Int) -> Int {
    var size = 16
    while size * 3 / 4 <= count { size *= 2 }
    return size
  }

  /// Reserves capacity for a total number of entries.
  mutating func reserve(_ capacity: Int) {
    let size = Self.size(for: capacity)
    if size > numbers.count { resize(to: size) }
  }

  private mutating func resize(to size: Int) {
    let old = (hashes, numbers)
    hashes = Array(repeating: 0, count: size)
    numbers = Array(repeating: Self.empty, count: size)
    mask = size - 1
    count = 0
    for index in old.1.indices where old.1[index] != Self.empty { insert(old.0[index], old.1[index]) }
  }

  private func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: (hash ^ hash >> 32) & UInt64(mask)) }

  /// Adds an entry; the same pair may not be added twice.
  mutating func insert(_ hash: UInt64, _ number: UInt32) {
    precondition(number != Self.empty, "registration numbers are used up")
    if (count + 1) * 4 > (mask + 1) * 3 { resize(to: (mask + 1) * 2) }
    var index = home(hash)
    while numbers[index] != Self.empty { index = (index + 1) & mask }
    hashes[index] = hash
    numbers[index] = number
    count += 1
  }

  /// Removes an entry; false if there is none.
  @discardableResult
  mutating func remove(_ hash: UInt64, _ number: UInt32) -> Bool {
    var index = home(hash)
    while numbers[index] != number || hashes[index] != hash {
      if numbers[index] == Self.empty { return false }
      index = (index + 1) & mask
    }
    closeGap(at: index)
    count -= 1
    return true
  }

  /// Moves up the entries that were displaced past a gap, so that no marker of a removed entry has to stay.
  private mutating func closeGap(at removed: Int) {
    var gap = removed
    var index = (gap + 1) & mask
    while numbers[index] != Self.empty {
      // Only an entry whose home is not behind the gap may move into it.
      if (index - home(hashes[index])) & mask >= (index - gap) & mask {
        hashes[gap] = hashes[index]
        numbers[gap] = numbers[index]
        gap = index
      }
      index = (index + 1) & mask
    }
    numbers[gap] = Self.empty
  }

  /// The first number under a hash that `matches` accepts.
  func first(_ hash: UInt64, where matches: (UInt32) -> Bool) -> UInt32? {
    var index = home(hash)
    while numbers[index] != Self.empty {
      if hashes[index] == hash, matches(numbers[index]) { return numbers[index] }
      index = (index + 1) & mask
    }
    return nil
  }

  /// All numbers under a hash.
  func all(_ hash: UInt64) -> [UInt32] {
    var found: [UInt32] = []
    _ = first(hash) {
      found.append($0)
      return false
    }
    return found
  }
}
