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

  /// Seconds from the last of some failures, one at least, to the next attempt: doubled with each, at most an
  /// eighth of the seconds that the certificate has `left`, or an hour if that is more. `jitter` is between 0
  /// and 1.
  package static func pause(failures: Int, left: Int64, retryAfter: Int64?, jitter: Double) -> Int64 {
    let doubled = pauses.lowerBound << Int64(min(max(failures - 1, 0), 10))
    let most = min(max(3600, left / 8), pauses.upperBound)
    let pause = min(doubled, most)
    return max(pause + Int64(Double(pause) / 10 * jitter), min(retryAfter ?? 0, longestWish))
  }
}
