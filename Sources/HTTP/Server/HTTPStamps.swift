import BorealisBase

/// The request ID and the date of a server's answers.
struct HTTPStamps {
  private let prefix = Hex.digits(SystemRandom.next(), count: 7)
  private var count = SystemRandom.next()
  private var date = ""
  private var second = Int64.min

  /// A client's own ID if it is harmless, else one that is unique over the installation for all practical
  /// purposes.
  mutating func requestID(_ own: String?) -> String {
    if let own, (1...64).contains(own.utf8.count), own.utf8.allSatisfy(Self.isRequestIDByte) { return own }
    count &+= 1
    // Fifteen characters fit into a String without an allocation.
    return prefix + Hex.digits(count, count: 8)
  }

  /// The value of `Date` (RFC 9110 section 6.6.1), made once a second.
  mutating func date(at now: Int64) -> String {
    if now != second {
      second = now
      date = HTTPDate.text(seconds: now)
    }
    return date
  }

  private static func isRequestIDByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, 45, 46, 95: true
    default: false
    }
  }
}
