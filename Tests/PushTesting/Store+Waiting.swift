import BorealisBase
import Storage

extension Store {
  /// Writes and waits for the commit; with `lowPriority` also for all that waited before it until nobody else
  /// had something to write.
  package func change<Value: Sendable>(
    single: Bool = false, lowPriority: Bool = false,
    _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> Value
  ) async throws -> Value {
    try await awaitCallback { continuation in
      write(single: single, lowPriority: lowPriority, body) { continuation($0) }
    }.get()
  }

  /// Reads and waits for the answer.
  package func look<Value: Sendable>(
    _ body: @escaping @Sendable (ReadTransaction) throws(StorageError) -> Value
  ) async throws -> Value {
    try await awaitCallback { continuation in
      read(body) { continuation($0) }
    }.get()
  }
}

extension AuditRow {
  /// A note of what a test does.
  package static let test = AuditRow(
    at: Timestamp(milliseconds: 0), account: nil, person: nil, who: "test", action: "test", target: "",
    address: "")
}
