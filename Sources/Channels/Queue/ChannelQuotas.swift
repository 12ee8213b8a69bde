import BorealisBase
import Synchronization

/// The quotas of an app that a channel's service has called used up, where it has several: what counts
/// against one of them waits until it is counted anew, and nothing else does. Safe to use from any thread.
package final class ChannelQuotas: Sendable {
  /// A quota that is used up.
  package struct UsedUp: Sendable {
    /// On `TimeSource.monotonic`.
    package let until: UInt64
    /// The service's words.
    package let reason: String
  }

  /// Senders choose the names of some quotas.
  private static let most = 256

  private struct State {
    var usedUp: [String: UsedUp] = [:]
    var isAnyRenewed = false
  }

  private let state = Mutex(State())

  /// None is used up.
  package init() {}

  /// The service refuses what counts against a quota until a moment; false if too many are
  /// remembered already.
  package func useUp(_ quota: String, until: UInt64, _ reason: String) -> Bool {
    state.withLock { state in
      guard state.usedUp.count < Self.most || state.usedUp[quota] != nil else { return false }
      state.usedUp[quota] = UsedUp(until: until, reason: reason)
      return true
    }
  }

  /// The one that is used up for the longest; nil if none is.
  package var usedUp: UsedUp? { state.withLock { $0.usedUp.values.max { $0.until < $1.until } } }

  /// Whether a quota is used up, and until when.
  package func usedUp(_ quota: String) -> UsedUp? { state.withLock { $0.usedUp[quota] } }

  /// Whether a part of a push has to wait.
  func holdBack(_ part: QueuedPart?) -> Bool { part?.quota.map { usedUp($0) != nil } ?? false }

  /// Another credential has quotas of its own.
  package func renewAll() {
    state.withLock { state in
      state.isAnyRenewed = state.isAnyRenewed || !state.usedUp.isEmpty
      state.usedUp = [:]
    }
  }

  /// Drops those whose time is over; true if some were dropped since the last call.
  func renew(at moment: UInt64) -> Bool {
    state.withLock { state in
      let left = state.usedUp.filter { $0.value.until > moment }
      defer { state.isAnyRenewed = false }
      let isAnyRenewed = state.isAnyRenewed || left.count < state.usedUp.count
      state.usedUp = left
      return isAnyRenewed
    }
  }
}

extension TimeSource {
  /// When a moment of `monotonic` is by the wall clock; the present for one that has passed.
  package func moment(_ other: UInt64) -> Timestamp {
    let now = monotonic()
    return self.now().adding(seconds: Int64(clamping: (max(other, now) - now) / 1_000_000_000))
  }
}
