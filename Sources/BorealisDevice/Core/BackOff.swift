/// Decides how long to wait before the next connection, by the rules of Docs/protocol.md section 6. Times are
/// in milliseconds. The same seed gives the same waits.
public struct BackOff: Sendable {
  /// The longest random wait after a failure, in milliseconds; the server's `retryAfter` is added.
  public static let longestWait: UInt64 = 300_000
  /// A session counts as a success once it has lasted this long, in milliseconds.
  public static let successAfter: UInt64 = 60_000
  /// This many consecutive connections may end with "at once" before back-off is used instead: a server that
  /// always sends "at once" must not cause a busy loop.
  public static let mostAtOnce = 5

  /// Failures since the last session that counted as a success.
  public private(set) var failures = 0
  private var atOnceInRow = 0
  private var state: UInt64

  /// Starts without failures.
  public init(seed: UInt64) { state = seed }

  /// Records that a session has lasted long enough: the next failure is the first again.
  public mutating func succeeded() {
    failures = 0
    atOnceInRow = 0
  }

  /// Counts a failure; a random wait between 0 and min(300, 2^n) seconds, plus `retryAfter`.
  public mutating func afterFailure(retryAfter: UInt32 = 0) -> UInt64 {
    failures = min(failures + 1, 1000)
    let most = failures >= 9 ? Self.longestWait : 1000 << UInt64(failures)
    return random(upTo: min(most, Self.longestWait)) + UInt64(retryAfter)
  }

  /// A wait of one to two times `retryAfter`, without counting a failure, unless that happened too many times
  /// in a row.
  public mutating func atOnce(retryAfter: UInt32 = 0) -> UInt64 {
    atOnceInRow = min(atOnceInRow + 1, 1000)
    guard atOnceInRow <= Self.mostAtOnce else { return afterFailure(retryAfter: retryAfter) }
    return UInt64(retryAfter) + random(upTo: UInt64(retryAfter))
  }

  /// SplitMix64, reduced to 0...limit; the bias of the remainder does not matter for waits.
  private mutating func random(upTo limit: UInt64) -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return (value ^ value >> 31) % (limit + 1)
  }
}
