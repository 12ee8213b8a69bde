import BorealisNet
import Dispatch
import Synchronization

extension LoopHandle {
  /// Waits until the loop has read all that was there when a pause ended.
  package func waitUntilCaughtUp() {
    final class Answer: Sendable {
      let isCatchingUp = Atomic(true)
      let done = DispatchSemaphore(value: 0)
    }
    let answer = Answer()
    while answer.isCatchingUp.load(ordering: .relaxed) {
      post { loop in
        answer.isCatchingUp.store(loop.isCatchingUp, ordering: .relaxed)
        answer.done.signal()
      }
      answer.done.wait()
    }
  }
}
