import Synchronization

/// Resumes a task that waits in `withContinuation` or `withThrowingContinuation`, exactly once and on any thread.
public struct Continuation<Value, Failure: Error>: Sendable {
  private final class Duty: Sendable {
    let isDone = Atomic(false)
  }

  fileprivate let task: UnsafeContinuation<Value, Failure>
  private let duty = Duty()

  fileprivate init(_ task: UnsafeContinuation<Value, Failure>) { self.task = task }

  private func noteCall() {
    precondition(!duty.isDone.exchange(true, ordering: .relaxed), "resumed twice")
  }

  /// The task goes on with a value.
  public func resume(returning value: sending Value) {
    noteCall()
    task.resume(returning: value)
  }

  /// The task goes on with a result.
  public func resume(with result: sending Result<Value, Failure>) {
    noteCall()
    task.resume(with: result)
  }

  /// The task goes on with a result.
  public func resume<Other: Error>(with result: sending Result<Value, Other>) where Failure == any Error {
    noteCall()
    task.resume(with: result)
  }

  /// The task goes on with an error.
  public func resume(throwing error: Failure) {
    noteCall()
    task.resume(throwing: error)
  }

  /// The task goes on.
  public func resume() where Value == Void { resume(returning: ()) }
}

/// Waits until what is given to `body` is resumed, as `withCheckedContinuation` does. That one waits inside the Swift library,
/// where ThreadSanitizer cannot be shown what a task gets that is resumed before it waits (Tests/Sanitize/visible-waits.c).
public func withContinuation<Value>(
  isolation: isolated (any Actor)? = #isolation, _ body: (Continuation<Value, Never>) -> Void
) async -> sending Value {
  await withUnsafeContinuation { body(Continuation($0)) }
}

/// The same if it can fail, for `withCheckedThrowingContinuation`.
public func withThrowingContinuation<Value>(
  isolation: isolated (any Actor)? = #isolation, _ body: (Continuation<Value, any Error>) -> Void
) async throws -> sending Value {
  try await withUnsafeThrowingContinuation { body(Continuation($0)) }
}
