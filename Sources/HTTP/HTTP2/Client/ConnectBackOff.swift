/// How long to wait before the next connection. Times are in milliseconds.
struct ConnectBackOff {
  /// This many consecutive connections may end gracefully without a useful response before they count as
  /// failures: a server that only sends GOAWAY must not cause a busy loop.
  static let mostGraceful = 5

  private let longest: UInt64
  private var gracefulInRow = 0
  /// Failures since the last success.
  private(set) var failures = 0

  init(longest: UInt64) { self.longest = longest }

  /// Records a response that shows that connection and credential are good.
  mutating func succeeded() {
    failures = 0
    gracefulInRow = 0
  }

  /// Counts a failure: a random wait of up to 1, 2, 4, … seconds.
  mutating func afterFailure() -> UInt64 {
    failures = min(failures + 1, 1000)
    let most = min(longest, 1000 << UInt64(min(failures - 1, 20)))
    return UInt64.random(in: 0...most)
  }

  /// Counts a normal end: no wait, unless that happens too often.
  mutating func afterGracefulEnd() -> UInt64 {
    gracefulInRow = min(gracefulInRow + 1, 1000)
    return gracefulInRow > Self.mostGraceful ? afterFailure() : 0
  }
}
