import BorealisBase
import BorealisNet
import Synchronization

/// Starts event loops and waits for them.
enum LoopStart {
  /// Starts loops, as many as `begin` says, and waits until each of them has called one of the two.
  static func run(
    _ begin: (
      _ started: @escaping @Sendable () -> Void, _ failed: @escaping @Sendable (SystemError) -> Void
    ) throws(SystemError) -> Int
  ) throws(Failure) {
    let ended = Semaphore()
    let failure = Mutex<SystemError?>(nil)
    let count: Int
    do throws(SystemError) {
      count = try begin({ ended.signal() }) { error in
        failure.withLock { $0 = error }
        ended.signal()
      }
    } catch {
      throw .failed("cannot start a thread: \(SystemCalls.reason(error.number))")
    }
    for _ in 0..<count { ended.wait() }
    if let error = failure.withLock({ $0 }) {
      throw .failed("\(error.call): \(SystemCalls.reason(error.number))")
    }
  }
}
