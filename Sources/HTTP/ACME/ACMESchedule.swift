import BorealisBase

/// When a certificate is renewed, and how long it takes until the next attempt.
package enum ACMESchedule {
  /// The least and the most seconds between a failed attempt and the next: Let's Encrypt lets five
  /// validations of a name fail in an hour.
  package static let pauses: ClosedRange<Int64> = 900...86_400
  /// The most seconds for which an authority's wish is followed.
  package static let longestWish: Int64 = 7 * 86_400

  /// When two thirds of a life are over, and up to a thirtieth of it later: not all servers at once. `jitter`
  /// is between 0 and 1.
  package static func renewal(from start: Timestamp, to end: Timestamp, jitter: Double) -> Timestamp {
    let life = max(0, end.milliseconds - start.milliseconds)
    return Timestamp(milliseconds: start.milliseconds + life / 3 * 2 + Int64(Double(life) / 30 * jitter))
  }

  /// Seconds before which a new certificate is not renewed, whatever the clock says.
  package static func rest(from start: Timestamp, to end: Timestamp) -> Int64 {
    max(1, min(86_400, (end.milliseconds - start.milliseconds) / 3000))
  }

  /// Seconds from the last of some failures, one at least, to the next attempt: doubled with each, or the
  /// authority's wish if that is more. Either is at most an eighth of the seconds that the certificate has
  /// `left`, or an hour if that is more. A limit of the authority is waited for to its end, unless the
  /// certificate would expire meanwhile.
  package static func pause(failures: Int64, left: Int64, _ failure: ACMEFailure) -> Int64 {
    let most = max(3600, left / 8)
    let doubled = pauses.lowerBound << min(max(failures - 1, 0), 10)
    let wish = min(failure.retryAfter ?? 0, longestWish)
    let isFollowed = failure.isLimit && (left <= 0 || wish < left)
    return max(min(doubled, most, pauses.upperBound), isFollowed ? wish : min(wish, most))
  }
}

/// When the next attempt begins: behind a pause, which is on the clock that never jumps, and once the wall
/// clock, which is that of certificates, shows that one is due.
package struct ACMENextAttempt: Equatable, Sendable {
  /// On the clock that never jumps, in nanoseconds.
  private let pauseEnd: UInt64
  /// Nil if it is due anyway.
  private let renewal: Timestamp?

  /// Not before `earliest`, which the wall clock may have stored when it was wrong: so at most `longestWish`
  /// from now. `now` and `monotonic` are the present moment.
  package init(earliest: Timestamp, renewal: Timestamp?, now: Timestamp, monotonic: UInt64) {
    let end = min(max(earliest, now), now.adding(seconds: ACMESchedule.longestWish))
    pauseEnd = monotonic + UInt64(clamping: end.milliseconds - now.milliseconds) * 1_000_000
    self.renewal = renewal
  }

  /// Whether it begins at this moment.
  package func isDue(now: Timestamp, monotonic: UInt64) -> Bool {
    monotonic >= pauseEnd && renewal.map { now >= $0 } ?? true
  }

  /// When it begins if nobody sets the wall clock.
  package func begin(now: Timestamp, monotonic: UInt64) -> Timestamp {
    let pause = Int64(clamping: (max(pauseEnd, monotonic) - monotonic) / 1_000_000)
    return max(Timestamp(milliseconds: now.milliseconds + pause), renewal ?? now)
  }
}
