import BorealisBase

/// Reads that wait for a reader, in the order in which they came. Of those that take long one is among them
/// at a time.
final class ReadQueue: Sendable {
  /// One read with its answer inside.
  typealias Job = @Sendable (Database) -> Void

  private let queue: WorkQueue<Job>
  /// Long reads; it waits for each that it has put into the queue.
  private let long: BackgroundWork

  /// Long reads of an app that wait at most.
  private static let longOfEach = 256
  private static let full = StorageError(.overloaded, "too many reads wait")

  init(capacity: Int) {
    queue = WorkQueue(capacity: capacity)
    long = BackgroundWork("db-turns", limit: capacity, limitOfEach: Self.longOfEach)
  }

  /// See `Store.read`.
  func add<Value: Sendable>(
    _ body: @escaping @Sendable (ReadTransaction) throws(StorageError) -> Value,
    completion: @escaping @Sendable (Result<Value, StorageError>) -> Void
  ) {
    Self.add(body, to: queue, completion)
  }

  /// See `Store.read(inTurnOf:)`.
  func add<Value: Sendable>(
    inTurnOf app: AppID, _ body: @escaping @Sendable (ReadTransaction) throws(StorageError) -> Value,
    completion: @escaping @Sendable (Result<Value, StorageError>) -> Void
  ) {
    let isQueued = long.run(for: app.rawValue) { [queue] in
      let end = Semaphore()
      Self.add(body, to: queue) {
        completion($0)
        end.signal()
      }
      end.wait()
    }
    if !isQueued { completion(.failure(Self.full)) }
  }

  private static func add<Value: Sendable>(
    _ body: @escaping @Sendable (ReadTransaction) throws(StorageError) -> Value, to queue: WorkQueue<Job>,
    _ completion: @escaping @Sendable (Result<Value, StorageError>) -> Void
  ) {
    let job: Job = { database in
      let result: Result<Value, StorageError>
      do throws(StorageError) {
        try database.begin(.reading)
        result = .success(try body(ReadTransaction(database)))
      } catch {
        result = .failure(error)
      }
      // Before the completion: an open read transaction keeps the log from being reused.
      database.rollBack()
      completion(result)
    }
    if let error = queue.push(job).refusal("reads", doubt: full) { completion(.failure(error)) }
  }

  /// Waits for a read; nil once the queue is closed and empty.
  func next() -> Job? { queue.dequeue(upTo: 1)?.first }

  /// Refuses further reads, and the long ones that wait; other reads that wait are still handed out.
  func close() { queue.close() }
}

extension Store {
  /// Looks at items of an app one after the other, at as many in one turn as take some milliseconds. Gives
  /// what `body` finds, and ends when it has found so many.
  package func read<Item: Sendable, Value: Sendable>(
    inTurnOf app: AppID, each items: [Item], upTo limit: Int = .max,
    _ body: @escaping @Sendable (ReadTransaction, Item) throws(StorageError) -> Value?,
    completion: @escaping @Sendable (Result<[Value], StorageError>) -> Void
  ) {
    ItemReads(store: self, app: app, limit: limit, body: body, completion: completion).go(
      items[...], after: [])
  }
}

/// Reads that look at items of an app.
private struct ItemReads<Item: Sendable, Value: Sendable>: Sendable {
  /// Nanoseconds after which a read ends, and the rest of the items waits for the app's next turn.
  private static var turn: UInt64 { 5_000_000 }

  let store: Store
  let app: AppID
  let limit: Int
  let body: @Sendable (ReadTransaction, Item) throws(StorageError) -> Value?
  let completion: @Sendable (Result<[Value], StorageError>) -> Void

  func go(_ items: ArraySlice<Item>, after known: [Value]) {
    store.read(inTurnOf: app) { transaction throws(StorageError) in
      var (found, rest) = (known, items)
      let start = store.time.monotonic()
      while found.count < limit, let item = rest.popFirst() {
        if let value = try body(transaction, item) { found.append(value) }
        if store.time.monotonic() &- start > Self.turn { break }
      }
      return (found: found, rest: found.count < limit ? rest : [])
    } completion: { result in
      switch result {
      case .failure(let error): completion(.failure(error))
      case .success(let (found, rest)) where rest.isEmpty: completion(.success(found))
      case .success(let (found, rest)): go(rest, after: found)
      }
    }
  }
}
