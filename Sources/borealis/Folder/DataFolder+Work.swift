import BorealisBase
import Glibc
import Storage

/// Work of one command on the database: the one way in which commands open it, unless a server that has it
/// open carries them out. It is waited for, and works beside a running server; a folder without a database,
/// an empty file, and a schema that is not this program's are refused as a server refuses them.
extension DataFolder {
  /// Opens the database for a command. It must be there. `keys` is for those that change contents, or how
  /// they are stored.
  func withStore<Value>(
    keys: SecretKeyFile? = nil, _ body: (Store) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    if let served { return try body(served.store) }
    try expectDatabase()
    let store = try openBesideServer(keys: keys)
    defer { store.close() }
    return try body(store)
  }

  /// Makes the folder and the database, unless they are there.
  func initialize() throws(Failure) {
    try create()
    try makeDatabase()
    try openBesideServer(makes: true).close()
  }

  /// The same with the app that has a key.
  func withApp<Value>(
    _ key: String, _ body: (Store, AppRow) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard let key = AppKey(key) else { throw .usage("KEY has 24 lower-case hexadecimal digits") }
    return try withStore { store throws(Failure) in
      let app = try store.readNow(orFail: "cannot read the apps") { transaction throws(StorageError) in
        try transaction.apps.find(key: key)
      }
      guard let app else { throw .failed("no app has the key \(key.text)") }
      return try body(store, app)
    }
  }

  /// Opens the database, beside a running server if there is one. Only servers bring one to this program's
  /// schema: a program of the older schema could not start on it any more, nor go on if it runs. One without
  /// tables is filled if `makes` says so.
  private func openBesideServer(makes: Bool = false, keys: SecretKeyFile? = nil) throws(Failure) -> Store {
    let log = Log(level: .warning)
    var options = Store.Options()
    options.migrates = false
    options.isServer = false
    if let keys { options.secretKeys = keys.source }
    do throws(StorageError) {
      return try Store.open(location, readers: 1, log: log, options: options)
    } catch {
      guard case .olderThanProgram(found: 0, _) = error.kind else { throw openFailure(error) }
    }
    guard makes else { throw emptyFailure }
    options.migrates = true
    options.isServer = true
    let store =
      holdsDatabase
      ? try whileUnserved { () throws(Failure) in try openStore(readers: 1, log: log, options: options) }
      : try openStore(readers: 1, log: log, options: options)
    guard let store else { throw .failed("another server uses \(path); stop it first") }
    return store
  }

  /// Nothing was ever put into the database.
  var emptyFailure: Failure {
    .failed("\(database) is empty; \"borealis serve\" or \"borealis init\" fills it")
  }

  /// Does something while servers are kept out of the folder; nil, and nothing done, if one is there.
  func whileUnserved<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value? {
    BlockingCall.assertAllowed()
    let descriptor = open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .failed("cannot write in \(path): \(SystemCalls.reason(errno))") }
    defer { close(descriptor) }
    guard try hasAcquired(flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : -errno) else { return nil }
    guard access(file, F_OK) == 0 else { return try body() }
    guard let lock = DatabaseLock(file) else {
      throw .failed("cannot open \(file): \(SystemCalls.reason(errno))")
    }
    guard try hasAcquired(lock.acquire()) else { return nil }
    defer { lock.release() }
    return try body()
  }

  /// Reads from the database, which must exist; `what` begins the error message.
  func read<Value: Sendable>(
    orFail what: String, _ body: @escaping @Sendable (ReadTransaction) throws(StorageError) -> Value
  ) throws(Failure) -> Value {
    try withStore { store throws(Failure) in try store.readNow(orFail: what, body) }
  }

  /// Changes the database; `what` begins the error message.
  func change<Value: Sendable>(
    keys: SecretKeyFile? = nil, orFail what: String,
    _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> Value
  ) throws(Failure) -> Value {
    for _ in 1..<Self.changeAttempts {
      let value = try withStore(keys: keys) { store throws(Failure) -> Value? in
        do throws(StorageError) {
          let value: Value = try Store.wait { done in store.write(body, completion: done) }
          return value
        } catch {
          // A server has started meanwhile: nothing is stored, and its schema is looked at anew.
          guard error.kind == .takenOver, !error.isInDoubt else { throw Self.failure(what, error) }
          return nil
        }
      }
      if let value { return value }
    }
    return try withStore(keys: keys) { store throws(Failure) in
      try store.writeNow(orFail: what, body)
    }
  }

  /// Attempts to change something while servers start.
  private static var changeAttempts: Int { 3 }
}

extension Store {
  /// Reads and waits for the result; `what` begins the error message.
  func readNow<Value: Sendable>(
    orFail what: String, _ body: @escaping @Sendable (ReadTransaction) throws(StorageError) -> Value
  ) throws(Failure) -> Value {
    do throws(StorageError) {
      return try Store.wait { done in read(body, completion: done) }
    } catch {
      throw DataFolder.failure(what, error)
    }
  }

  /// Changes and waits for the result; `what` begins the error message.
  func writeNow<Value: Sendable>(
    orFail what: String, _ body: @escaping @Sendable (WriteTransaction) throws(StorageError) -> Value
  ) throws(Failure) -> Value {
    do throws(StorageError) {
      return try Store.wait { done in write(body, completion: done) }
    } catch {
      throw DataFolder.failure(what, error)
    }
  }
}
