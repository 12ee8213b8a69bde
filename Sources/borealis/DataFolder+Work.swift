import PushBase
import PushStorage

/// Work of one command on the database. It is waited for, and works beside a running server.
extension DataFolder {
  /// Opens the database for a command. It must be there, unless `makes` says that it may be made.
  func withStore<Value>(
    makes: Bool = false, _ body: (Store) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    if makes { try create() } else { try expectDatabase() }
    let store = try openStore(readers: 1, log: Log(level: .warning))
    defer { store.close() }
    return try body(store)
  }

  /// Reads from the database, which must be there; `what` begins the line that tells why that failed.
  func read<Value: Sendable>(
    orFail what: String, _ body: @escaping @Sendable (ReadTransaction) throws(StorageError) -> Value
  ) throws(Failure) -> Value {
    try withStore { store throws(Failure) in try store.readNow(orFail: what, body) }
  }

  /// Changes the database; `what` begins the line that tells why that failed.
  func change<Value: Sendable>(
    makes: Bool = false, orFail what: String,
    _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> Value
  ) throws(Failure) -> Value {
    try withStore(makes: makes) { store throws(Failure) in try store.writeNow(orFail: what, body) }
  }
}

extension Store {
  /// Reads and waits for it; `what` begins the line that tells why that failed.
  func readNow<Value: Sendable>(
    orFail what: String, _ body: @escaping @Sendable (ReadTransaction) throws(StorageError) -> Value
  ) throws(Failure) -> Value {
    do throws(StorageError) {
      return try Blocking.wait { done in read(body, completion: done) }
    } catch {
      throw DataFolder.failure(what, error)
    }
  }

  /// Changes and waits for it; `what` begins the line that tells why that failed.
  func writeNow<Value: Sendable>(
    orFail what: String, _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> Value
  ) throws(Failure) -> Value {
    do throws(StorageError) {
      return try Blocking.wait { done in write(body, completion: done) }
    } catch {
      throw DataFolder.failure(what, error)
    }
  }
}
