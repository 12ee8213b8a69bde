import BorealisBase
import Storage

/// A device's word that a push has reached it, and when: the one place that decides the time of a delivery
/// over our connection, for pages, reports, callbacks and latencies
/// (Docs/decisions/0025-when-a-push-arrived.md).
package struct Arrival: Sendable, Equatable {
  /// The push.
  package let id: MessageID
  /// When it arrived by what the device said of its age; without that, when the server first knew that it
  /// had.
  package let at: Timestamp
  /// Whether the device said how long it has had it.
  package let isExact: Bool

  /// An acknowledgement received at `received` for a push that arrived `age` milliseconds before, nil if
  /// unknown. `reported` is the time of an earlier receipt. A push arrives neither before it was accepted nor
  /// after the device has reported it.
  package init(
    _ id: MessageID, acknowledgedAt received: Timestamp, age: UInt32? = nil,
    reportedAt reported: Timestamp? = nil
  ) {
    self.id = id
    isExact = age != nil
    let latest = min(received, reported ?? received)
    let told = age.map { Timestamp(milliseconds: received.milliseconds - Int64($0)) } ?? latest
    at = max(min(told, latest), id.time)
  }
}

extension OutcomeRow {
  /// When it ended. A push that its only target has shown or tapped had arrived by then, whatever the
  /// channel.
  package var endedAt: Timestamp {
    guard status == .delivered else { return at }
    return [shownAt, tappedAt].compactMap { $0 }.reduce(at) { min($0, $1) }
  }
}
