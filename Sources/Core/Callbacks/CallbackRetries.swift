import BorealisBase

/// The retry schedule of a batch.
enum CallbackRetries {
  private static let first: Int64 = 5000
  private static let longest: Int64 = 3_600_000

  /// The time of the next attempt after a number of failures, from 1; nil if the batch expires before. The
  /// delay doubles from 5-10 seconds up to 30-60 minutes, with jitter, so that batches that failed together
  /// are not retried together.
  static func next(
    afterFailures failures: Int, now: Timestamp, end: Timestamp,
    using random: inout some RandomNumberGenerator
  ) -> Timestamp? {
    let most = min(longest, (first * 2) << Int64(min(max(0, failures - 1), 20)))
    let next = Timestamp(milliseconds: now.milliseconds &+ Int64.random(in: most / 2...most, using: &random))
    return next < end ? next : nil
  }
}
