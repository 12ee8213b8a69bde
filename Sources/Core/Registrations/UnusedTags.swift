import BorealisBase
import Storage

/// Deletes the names of tags that no registration has any more, so that their places come back.
struct UnusedTags {
  let store: Store
  let imports: Imports
  let limits: TagLimits

  /// Names of an app that one job deletes; each step has one job.
  private static let step = 256

  /// Does a step for an app; one a second keeps up with all that devices may make.
  func step(_ app: App, at now: Timestamp) {
    let numbers = app.directory.popUnusedTags(
      for: limits.unusedSeconds, at: UInt32(clamping: now.seconds), limit: Self.step)
    guard !numbers.isEmpty else { return }
    store.write(of: app.id, lowPriority: true) { [imports] transaction throws(StorageError) -> [UInt32] in
      // Memory knows all that was committed before, but not what another process has just imported.
      guard try !transaction.imports.hasNext(after: imports.learned, into: app.id) else { return [] }
      return try transaction.tags.remove(app: app.id, numbers: app.directory.unusedTags(among: numbers))
    } completion: { result in
      // What could not be deleted has its time once more.
      app.directory.endRemoval(of: numbers, removed: (try? result.get()) ?? [])
    }
  }
}
