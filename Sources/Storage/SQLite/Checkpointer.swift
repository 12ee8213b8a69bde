import BorealisBase
import Synchronization

/// Checkpoints the write-ahead log on its own thread and connection, so that commits do not wait for a
/// thousand page writes and their sync. Only pages that the writer appends in the meantime are left to it.
final class Checkpointer: Sendable {
  private let requests = WorkQueue<Bool>(capacity: 1)
  private let finished = WorkQueue<Bool>(capacity: 1)
  private let working = Atomic<Bool>(false)

  /// Starts the thread; the database exists.
  init(path: String, log: Log) throws(StorageError) {
    let database = try SQLiteConnection(path: path, mode: .checkpoint)
    try WorkThread.start("db-checkpoint") { [self] in
      while requests.dequeue(upTo: 1) != nil {
        do throws(StorageError) { try database.checkpoint(.passive, patience: 0) } catch {
          // The writer tries as well, and insists if the log grows too long.
          log.debug("checkpoint not done", ["error": .text(error.description)])
        }
        working.store(false, ordering: .releasing)
      }
      database.close()
      _ = finished.push(true)
    }
  }

  /// Whether a checkpoint is asked for or running; another one has to wait for it.
  var isBusy: Bool { working.load(ordering: .acquiring) }

  /// Begins a checkpoint unless one is under way.
  func request() {
    guard !working.exchange(true, ordering: .acquiringAndReleasing) else { return }
    _ = requests.push(true)
  }

  /// Ends the thread and waits for it.
  func stop() {
    requests.close()
    _ = finished.dequeue(upTo: 1)
  }
}
