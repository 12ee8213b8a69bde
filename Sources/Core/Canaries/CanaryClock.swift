import BorealisBase
import Model
import Synchronization

/// Notices that somebody sets the wall clock, by which the moments of looks are stored: a wait must not end
/// before devices had the time that it gives them. What is set while no server runs is not noticed.
final class CanaryClock: Sendable {
  /// By what moments are to be moved, and of pushes up to which.
  struct Jump: Sendable {
    let milliseconds: Int64
    let newest: MessageID
  }

  private struct State: Sendable {
    /// The clocks when they were compared last, and the newest push by then.
    var last: (wall: Timestamp, monotonic: UInt64, newest: MessageID)?
    /// What was noticed and is not stored yet.
    var jump: Jump?
  }

  /// Milliseconds of difference between the clocks that mean something.
  private static let leastJump: UInt64 = 1000

  private let state = Mutex(State())

  /// Compares the clocks with those at the last call, about a second ago; nil if nothing is to be moved.
  func compare(_ wall: Timestamp, _ monotonic: UInt64, newest: MessageID) -> Jump? {
    state.withLock { state in
      defer { state.last = (wall, monotonic, newest) }
      guard let last = state.last else { return nil }
      let seen = Int64(clamping: (monotonic &- last.monotonic) / 1_000_000)
      let moved = wall.milliseconds &- last.wall.milliseconds &- seen
      guard moved.magnitude >= Self.leastJump else { return state.jump }
      state.jump = Jump(
        milliseconds: (state.jump?.milliseconds ?? 0) &+ moved, newest: state.jump?.newest ?? last.newest)
      return state.jump
    }
  }

  /// What `compare` said is stored.
  func settle() { state.withLock { $0.jump = nil } }
}
