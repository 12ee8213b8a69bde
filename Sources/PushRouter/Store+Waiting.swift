import Dispatch
import PushStorage
import Synchronization

extension Store {
  /// Waits for what a reader finds. Blocks.
  @discardableResult
  func wait<Value: Sendable>(
    _ body: @escaping @Sendable (ReadTransaction) throws(StorageError) -> Value
  ) throws(StorageError) -> Value {
    try Self.wait { read(body, completion: $0) }
  }

  /// Waits for an answer of the database.
  static func wait<Value: Sendable>(
    for start: (@escaping @Sendable (Result<Value, StorageError>) -> Void) -> Void
  ) throws(StorageError) -> Value {
    let done = DispatchSemaphore(value: 0)
    let box = Mutex<Result<Value, StorageError>?>(nil)
    start { result in
      box.withLock { $0 = result }
      done.signal()
    }
    done.wait()
    guard let result = box.withLock({ $0 }) else { throw StorageError(.io, "the database gave no answer") }
    return try result.get()
  }
}
