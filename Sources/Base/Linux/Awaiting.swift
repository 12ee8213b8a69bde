import Synchronization

/// Waits for the result of a function that calls back once, on any thread. Of several calls the first counts.
public func awaitCallback<Value: Sendable>(
  _ start: (@escaping @Sendable (Value) -> Void) -> Void
) async -> Value {
  // Not a checked one: that ends the process at a second call, and everybody's connections with it.
  await withUnsafeContinuation { continuation in
    let duty = CallbackDuty()
    start { value in
      if duty.isFirst { continuation.resume(returning: value) }
    }
  }
}

/// Resumes a continuation exactly once.
private final class CallbackDuty: Sendable {
  private let isDone = Atomic(false)

  /// Whether this is the first call.
  var isFirst: Bool {
    let isFirst = !isDone.exchange(true, ordering: .relaxed)
    assert(isFirst, "called back twice")
    return isFirst
  }
}

extension BackgroundWork {
  /// The result of a job that is queued; nil if the queue is full, and then the job is never done.
  public func result<Value: Sendable>(of body: @escaping @Sendable () -> Value) async -> Value? {
    await awaitCallback { done in
      if !run({ done(body()) }) { done(nil) }
    }
  }

  /// The same for an owner with a limit of waiting jobs.
  public func result<Value: Sendable>(
    for owner: UInt32, of body: @escaping @Sendable () -> Value
  ) async -> Value? {
    await awaitCallback { done in
      if !run(for: owner, { done(body()) }) { done(nil) }
    }
  }
}
