/// Waits for the result of a function that calls back once, on any thread.
public func awaitCallback<Value: Sendable>(
  _ start: (@escaping @Sendable (Value) -> Void) -> Void
) async -> Value {
  await withCheckedContinuation { continuation in start { continuation.resume(returning: $0) } }
}
