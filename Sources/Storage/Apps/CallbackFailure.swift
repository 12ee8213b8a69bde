import BorealisBase

/// What goes wrong with telling an app's server of something.
package enum CallbackFailure: Sendable, Equatable {
  /// Nothing.
  case none
  /// It waits, after an attempt that failed; since when it waits.
  case waiting(error: String, since: Timestamp)
  /// It was given up; when.
  case givenUp(error: String, at: Timestamp)
  /// More goes wrong than was looked at.
  case unknown
}
