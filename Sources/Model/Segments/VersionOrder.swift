/// The order of versions: runs of digits count as numbers, everything else byte by byte. So 2.10 is behind
/// 2.9, and 2.9.1 behind 2.9.
package enum VersionOrder {
  /// Whether a version comes before another.
  package static func isOrdered(_ first: String, _ second: String) -> Bool {
    let (first, second) = (Array(first.utf8), Array(second.utf8))
    var (left, right) = (0, 0)
    while left < first.count, right < second.count {
      guard isDigit(first[left]), isDigit(second[right]) else {
        if first[left] != second[right] { return first[left] < second[right] }
        left += 1
        right += 1
        continue
      }
      let (one, other) = (number(in: first, from: &left), number(in: second, from: &right))
      if one.count != other.count { return one.count < other.count }
      for (digit, otherDigit) in zip(one, other) where digit != otherDigit { return digit < otherDigit }
    }
    return left == first.count && right < second.count
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// The digits from a place on, without leading zeros.
  private static func number(in text: [UInt8], from place: inout Int) -> ArraySlice<UInt8> {
    let start = place
    while place < text.count, isDigit(text[place]) { place += 1 }
    return text[start..<place].drop { $0 == 0x30 }
  }
}
