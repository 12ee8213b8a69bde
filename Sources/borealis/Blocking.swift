import Dispatch
import PushStorage
import Synchronization

/// Waits for what a store answers on its own threads.
enum Blocking {
  static func wait<Value: Sendable>(
    _ start: (@escaping @Sendable (Result<Value, StorageError>) -> Void) -> Void
  ) throws(StorageError) -> Value {
    let answered = DispatchSemaphore(value: 0)
    let answer = Mutex<Result<Value, StorageError>?>(nil)
    start { result in
      answer.withLock { $0 = result }
      answered.signal()
    }
    answered.wait()
    guard let result = answer.withLock({ $0 }) else { throw StorageError(.other, "no answer") }
    return try result.get()
  }
}
