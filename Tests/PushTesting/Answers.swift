import BorealisBase
import Synchronization

/// Collects the answers to one request: whoever asks must answer it once. It is told to be over when nobody
/// is left who could give another.
package final class Answers: Sendable {
  private let statuses = Mutex<[Int]>([])
  private let done: @Sendable ([Int]) -> Void

  private init(done: @escaping @Sendable ([Int]) -> Void) { self.done = done }

  /// Notes an answer by its HTTP status.
  package func add(_ status: Int) { statuses.withLock { $0.append(status) } }

  deinit { done(statuses.withLock { $0 }) }

  /// The status of every answer that a handler gives.
  package static func statuses(_ handle: (Answers) -> Void) async -> [Int] {
    await awaitCallback { done in handle(Answers { done($0) }) }
  }
}
