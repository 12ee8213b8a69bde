import Synchronization

extension Store {
  /// How a step of cleaning ended.
  package enum Cleaning: Sendable, Equatable {
    /// The next step begins with this page.
    case more(Int)
    /// Readers or other programs were in the way.
    case later
    /// Nothing is left of what was deleted before the first step.
    case done
  }

  /// Overwrites what the file and its log hold of deleted rows, in steps that take about as long as a commit;
  /// the first one begins with page 0. In PostgreSQL there is nothing to do: VACUUM is its own.
  package func clean(
    from page: Int, completion: @escaping @Sendable (Result<Cleaning, StorageError>) -> Void
  ) {
    let outcome = CleaningOutcome()
    write(lowPriority: true) { transaction throws(StorageError) in
      guard let file = transaction.database.sqlite else { return }
      transaction.whenCommitted {
        let result = Result { () throws(StorageError) in try file.clean(from: page) }
        outcome.result.withLock { $0 = result }
      }
    } completion: { result in
      completion(result.flatMap { outcome.result.withLock { $0 } })
    }
  }
}

/// What the writer's thread has done after a commit, for the job's completion.
private final class CleaningOutcome: Sendable {
  let result = Mutex(Result<Store.Cleaning, StorageError>.success(.done))
}

extension SQLiteConnection {
  /// Milliseconds for which others may hold up a step.
  private static var patience: Int32 { 100 }

  /// A step of `Store.clean`, between two transactions of the writer.
  fileprivate func clean(from page: Int) throws(StorageError) -> Store.Cleaning {
    let version = try dataVersion()
    guard try isCheckpointed(.restart) else { return .later }
    try begin(.writing)
    defer { if isInTransaction { rollBack() } }
    // Else another program has committed in between: its pages are in the log alone.
    guard try dataVersion() == version else { return .later }
    // Pages that were read before would be written as they were.
    releaseMemory()
    if let next = try cleaner().clean(from: page) { return .more(next) }
    rollBack()
    return try isCheckpointed(.truncate) ? .done : .later
  }

  private func isCheckpointed(_ kind: Checkpoint) throws(StorageError) -> Bool {
    do throws(StorageError) { try checkpoint(kind, patience: Self.patience) } catch {
      guard error.kind == .busy else { throw error }
      return false
    }
    return true
  }
}
