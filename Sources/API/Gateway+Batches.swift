import BorealisBase
import Core
import Model
import Synchronization

/// The pushes of a batch that have a call left in this minute.
package struct BatchAdmission: Sendable {
  /// For each push of the batch whether it may be made.
  package let isAdmitted: [Bool]
  /// The app's calls afterwards; nil if they are not limited.
  let budget: RateLimiter.Budget?
}

extension Gateway {
  /// Runs a call with many pushes on a thread of its own, when the app's batches before it are done: so the
  /// writer has one batch between pushes of others. The body calls `done` when it has answered.
  func runBatch(
    _ call: GatewayCall,
    _ body: @escaping @Sendable (_ app: App, _ done: @escaping @Sendable () -> Void) -> Void
  ) {
    guard let app = call.app else { return }
    let hasPlace = batches.run(for: app.id) { [self] done in
      let isAccepted = background.run(for: app.id.rawValue) { body(app, done) }
      guard !isAccepted else { return }
      call.fail(.timeout)
      done()
    }
    if !hasPlace { call.fail(.timeout) }
  }

  /// Counts the pushes of a batch as calls, the first of which is the call itself, as far as the app has any
  /// left in this minute. If they do not suffice, pushes whose names the app has used before count as none:
  /// they are not made again. So a batch that is repeated unchanged is complete in the end. `names` has nil
  /// for pushes without a name. It may wait for the database.
  package func admitBatch(_ names: [String?], of app: App) -> BatchAdmission {
    let more = consumePushes(names.count - 1, of: app)
    guard let more, more.granted < names.count - 1 else {
      return BatchAdmission(
        isAdmitted: [Bool](repeating: true, count: names.count), budget: more?.budget)
    }
    let known = usedNames(names, of: app)
    var left = more.granted + 1
    let isAdmitted = names.map { name in
      if let name, known.contains(ExactName(name)) { return true }
      left -= 1
      return left >= 0
    }
    // The call itself stays counted.
    let budget = left > 0 ? giveBack(min(left, more.granted), to: app) : nil
    return BatchAdmission(isAdmitted: isAdmitted, budget: budget ?? more.budget)
  }

  private func usedNames(_ names: [String?], of app: App) -> Set<ExactName> {
    // Longer ones are no names, and U+0000 none that every database takes.
    let asked = names.compactMap { $0 }.filter { $0.utf8.count <= 256 && !$0.utf8.contains(0) }
    let found = Mutex<Set<ExactName>>([])
    let isRead = Semaphore()
    router.usedNames(asked, of: app) { known in
      found.withLock { $0 = known }
      isRead.signal()
    }
    isRead.wait()
    return found.withLock { $0 }
  }
}
