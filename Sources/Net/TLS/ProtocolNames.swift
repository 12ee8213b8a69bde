/// Names of protocols in the form of RFC 7301: each after a byte with its length.
struct ProtocolNames: Sendable {
  let encoded: [UInt8]

  init(_ names: [String]) throws(TLSError) {
    var encoded: [UInt8] = []
    for name in names {
      guard let count = UInt8(exactly: name.utf8.count), count > 0 else {
        throw .library("a protocol's name has 1 to 255 bytes")
      }
      encoded.append(count)
      encoded.append(contentsOf: name.utf8)
    }
    self.encoded = encoded
  }

  /// The position in a client's offer of the first of these names that it contains; nil if there is none.
  func pick(from offered: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
    var own = 0
    while let name = Self.name(in: encoded, at: own) {
      var place = 0
      while let other = Self.name(in: offered, at: place) {
        if encoded[name].elementsEqual(offered[other]) { return other }
        place = other.upperBound
      }
      own = name.upperBound
    }
    return nil
  }

  private static func name(in list: some RandomAccessCollection<UInt8>, at start: Int) -> Range<Int>? {
    guard start < list.count else { return nil }
    let first = start + 1
    let end = first + Int(list[list.index(list.startIndex, offsetBy: start)])
    return end <= list.count ? first..<end : nil
  }
}
