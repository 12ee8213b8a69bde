import BorealisNet

/// Why a request is not carried out that waited to be read while the process stood still: its client may have
/// given up, and asked for something else elsewhere since.
enum HTTPDelay {
  /// Nobody waits for the answer.
  case clientHasLeft
  /// It may have waited for longer than its client does.
  case tooLong

  /// Nanoseconds for which the process may stand still before a request has lost its client if that is gone,
  /// and for which it may have waited to be served at all.
  private static let longestPause: UInt64 = 3_000_000_000
  private static let longestWait: UInt64 = 10_000_000_000

  /// Nil for a request that is carried out, though it may have waited on a connection for so many
  /// nanoseconds.
  init?(_ waited: UInt64, of connection: Connection) {
    guard waited > Self.longestPause else { return nil }
    if connection.hasPeerLeft {
      self = .clientHasLeft
    } else if waited > Self.longestWait {
      self = .tooLong
    } else {
      return nil
    }
  }
}
