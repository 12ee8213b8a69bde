import BorealisBase

/// When to try again: delays that double, each with full jitter, so that what failed together does not come
/// back together.
package struct RetrySchedule: Equatable, Sendable {
  /// The longest delay, in milliseconds: 15 minutes, which is what APNs asks for after a failure of its own.
  package static let maximumDelay: Int64 = 15 * 60 * 1000
  /// The longest that a service can have the server wait (`Retry-After`), in seconds: six hours. One that
  /// asks for more by mistake does not stop an app's pushes for days.
  package static let longestAsked: Int64 = 21_600
  /// The shortest delay of a second try after one that was made at once, in milliseconds.
  private static let base: Int64 = 1000

  /// The shortest first delay, in milliseconds; 0 means that the first retry comes at once.
  package let first: Int64

  /// A schedule that starts with a delay of `firstSeconds` to twice as much. 0 to 900 count; others are
  /// brought there.
  package init(firstSeconds: Int64) {
    first = min(max(0, firstSeconds), Self.maximumDelay / 1000) * 1000
  }

  /// The delay before a retry in milliseconds. `failures` is how many attempts have failed before, from 1 on.
  package func delay(afterFailures failures: Int, using random: inout some RandomNumberGenerator) -> Int64 {
    guard let (least, most) = bounds(failures) else { return 0 }
    return Int64.random(in: least...most, using: &random)
  }

  /// When to try again; nil if the push ends before that.
  package func next(
    afterFailures failures: Int, now: Timestamp, end: Timestamp,
    using random: inout some RandomNumberGenerator
  ) -> Timestamp? {
    let (difference, overflows) = end.milliseconds.subtractingReportingOverflow(now.milliseconds)
    let room = overflows ? (end > now ? .max : 0) : difference
    guard room > 0 else { return nil }
    guard let (least, most) = bounds(failures) else { return now }
    guard least < room else { return nil }
    let delay = Int64.random(in: least...min(most, room - 1), using: &random)
    return Timestamp(milliseconds: now.milliseconds + delay)
  }

  /// The shortest and the longest delay; nil for none.
  private func bounds(_ failures: Int) -> (least: Int64, most: Int64)? {
    let doublings = max(1, failures) - (first == 0 ? 2 : 1)
    if doublings < 0 { return nil }
    let least = first == 0 ? Self.base : first
    let window = doublings < 20 ? least << Int64(doublings) : Self.maximumDelay
    return (least, min(least + window, Self.maximumDelay))
  }
}
