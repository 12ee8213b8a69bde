import BorealisBase

extension Store {
  /// What a reading transaction gives.
  package func read<Value: Sendable>(
    _ body: @escaping @Sendable (ReadTransaction) throws(StorageError) -> Value
  ) async -> Result<Value, StorageError> {
    await awaitCallback { read(body, completion: $0) }
  }

  /// The same for a read that may take long, in its app's turn.
  package func read<Value: Sendable>(
    inTurnOf app: AppID, _ body: @escaping @Sendable (ReadTransaction) throws(StorageError) -> Value
  ) async -> Result<Value, StorageError> {
    await awaitCallback { read(inTurnOf: app, body, completion: $0) }
  }

  /// What a transaction gives once it is committed.
  package func write<Value: Sendable>(
    _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> Value
  ) async -> Result<Value, StorageError> {
    await awaitCallback { write(body, completion: $0) }
  }
}
