import PushBase

/// When a batch is sent again.
enum CallbackRetries {
  /// For how long a batch is tried, in seconds: a day.
  static let lifetime: Int64 = 86_400
  private static let first: Int64 = 5000
  private static let longest: Int64 = 3_600_000

  /// When to try again after so many failures, from 1 on; nil if the batch ends before that. The delay doubles from 5 to
  /// 10 seconds up to between half an hour and an hour; at random, so that what failed together does not come back
  /// together.
  static func next(
    afterFailures failures: Int, now: Timestamp, end: Timestamp,
    using random: inout some RandomNumberGenerator
  ) -> Timestamp? {
    let most = min(longest, (first * 2) << Int64(min(max(0, failures - 1), 20)))
    let next = Timestamp(milliseconds: now.milliseconds &+ Int64.random(in: most / 2...most, using: &random))
    return next < end ? next : nil
  }
}
