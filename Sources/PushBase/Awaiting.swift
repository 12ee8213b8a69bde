import Synchronization

/// Waits for what a function gives that calls back, once, on whatever thread. Of several calls the first counts.
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

/// Sees to it that a continuation goes on once.
private final class CallbackDuty: Sendable {
  private let isDone = Atomic(false)

  /// Whether nobody has asked before.
  var isFirst: Bool {
    let isFirst = !isDone.exchange(true, ordering: .relaxed)
    assert(isFirst, "called back twice")
    return isFirst
  }
}

extension BackgroundWork {
  /// What some work comes to, done after all that was taken before; nil if too much waits, and then it is never done.
  public func result<Value: Sendable>(of body: @escaping @Sendable () -> Value) async -> Value? {
    await awaitCallback { done in
      if !run({ done(body()) }) { done(nil) }
    }
  }

  /// The same for somebody of whom only so much may wait.
  public func result<Value: Sendable>(
    for owner: UInt32, of body: @escaping @Sendable () -> Value
  ) async -> Value? {
    await awaitCallback { done in
      if !run(for: owner, { done(body()) }) { done(nil) }
    }
  }
}
