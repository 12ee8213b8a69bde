import BorealisBase
import Synchronization

extension Store {
  /// Waits for what a reader finds. Blocks: never on an event loop, and not in a completion.
  @discardableResult
  package func wait<Value: Sendable>(
    _ body: @escaping @Sendable (ReadTransaction) throws(StorageError) -> Value
  ) throws(StorageError) -> Value {
    try Self.wait { read(body, completion: $0) }
  }

  /// Waits for an answer of the database that `start` asks for.
  package static func wait<Value: Sendable>(
    for start: (@escaping @Sendable (Result<Value, StorageError>) -> Void) -> Void
  ) throws(StorageError) -> Value {
    let done = Semaphore()
    let answer = Mutex<Result<Value, StorageError>?>(nil)
    start { result in
      answer.withLock { $0 = result }
      done.signal()
    }
    done.wait()
    guard let result = answer.withLock({ $0 }) else {
      throw StorageError(.other, "the database gave no answer")
    }
    return try result.get()
  }
}
