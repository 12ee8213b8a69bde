import Foundation

/// A value that one thread at a time uses. Docs/decisions/0097 says why this is not `Mutex`. `@unchecked
/// Sendable`: `value` is only used while `lock` is held.
final class DeviceLock<Value: ~Copyable>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  init(_ value: consuming sending Value) { self.value = value }

  /// Runs `body` while no other thread does.
  func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
