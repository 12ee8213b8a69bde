import PushRouter
import Synchronization

/// Counts the answers of a batch of changes that run at the same time.
final class StepProgress: Sendable {
  private let state: Mutex<(waiting: Int, failures: [DeviceFailure])>

  init(count: Int) { state = Mutex((count, [])) }

  /// Notes one answer; after the last it returns the failures.
  func finish(_ result: Result<Void, DeviceFailure>) -> [DeviceFailure]? {
    state.withLock { state in
      state.waiting -= 1
      if case .failure(let failure) = result { state.failures.append(failure) }
      return state.waiting == 0 ? state.failures : nil
    }
  }
}
