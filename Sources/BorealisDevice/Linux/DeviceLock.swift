import Synchronization

/// A value that one thread at a time uses.
struct DeviceLock<Value: ~Copyable>: ~Copyable, Sendable {
  private let mutex: Mutex<Value>

  init(_ value: consuming sending Value) { mutex = Mutex(value) }

  /// Runs `body` while no other thread does.
  func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try mutex.withLock(body)
  }
}
