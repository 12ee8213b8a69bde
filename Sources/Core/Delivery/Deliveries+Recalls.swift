import BorealisBase
import Model
import Storage
import Synchronization

/// What became of the recall of several pushes.
package struct RecalledPushes: Sendable, Equatable {
  /// How many of them the app has.
  package fileprivate(set) var known = 0
  /// How many other nodes had not confirmed it in time, at most of one push: devices that are connected there
  /// may still show pushes.
  package fileprivate(set) var unconfirmed = 0
}

/// Taking many pushes back at once.
extension Deliveries {
  /// Pushes that one commit recalls: some milliseconds of the writer's time.
  private static let recallsInCommit = 16

  /// Recalls pushes as if one by one, several in a commit, and passes over those that the app does
  /// not have. An error may leave some of them recalled: to repeat the recall does no harm.
  package func recall(
    _ ids: ArraySlice<MessageID>, in app: App,
    reply: @escaping @Sendable (Result<RecalledPushes, APIError>) -> Void
  ) {
    recall(ids, after: RecalledPushes(), in: app, reply: reply)
  }

  private func recall(
    _ ids: ArraySlice<MessageID>, after known: RecalledPushes, in app: App,
    reply: @escaping @Sendable (Result<RecalledPushes, APIError>) -> Void
  ) {
    guard !ids.isEmpty else { return reply(.success(known)) }
    let batch = ids.prefix(Self.recallsInCommit)
    recallTogether(batch, in: app) { [self] result in
      switch result {
      case .failure(let error): reply(.failure(error))
      case .success(let recalled):
        var known = known
        known.known += recalled.known
        // A node that has not confirmed one is not waited for again.
        guard known.unconfirmed == 0 else {
          return recall(ids.dropFirst(batch.count), after: known, in: app, reply: reply)
        }
        confirm(recalled.pushes, in: app) { [self, known] unconfirmed in
          var known = known
          known.unconfirmed = unconfirmed
          recall(ids.dropFirst(batch.count), after: known, in: app, reply: reply)
        }
      }
    }
  }

  /// What one commit has recalled.
  struct RecallCommit {
    /// How many of the pushes the app has.
    var known = 0
    /// These, and the pushes to the rest of their canaries.
    var pushes: [MessageID] = []
    /// Devices that waited for one of the pushes and never get it.
    var waiting = 0
  }

  /// Recalls pushes in one commit, each with the push to the rest of its canary, whose ID its sender may
  /// not know. The audit log says it in the same commit, if there is something to note and the app has one
  /// of the pushes.
  func recallTogether(
    _ ids: ArraySlice<MessageID>, in app: App, noting note: AuditRow? = nil,
    done: @escaping @Sendable (Result<RecallCommit, APIError>) -> Void
  ) {
    let (now, holder) = (time.now(), PushHolder())
    writeBehind.flushEnds()
    // Also those that the commit finds: if it fails, channels go on with them.
    let tried = Mutex(Array(ids))
    store.write(of: app.id) {
      [self] transaction throws(StorageError) -> (known: Int, recalled: [RecalledPush]) in
      var (known, recalled) = (0, [RecalledPush]())
      for id in ids {
        guard let push = try storeRecall(id, of: app, at: now, by: holder, in: transaction) else { continue }
        known += 1
        recalled.append(push)
        guard let rest = try transaction.canaries.pushToRest(after: id, app: app.id) else { continue }
        tried.withLock { $0.append(rest) }
        if let push = try storeRecall(rest, of: app, at: now, by: holder, in: transaction) {
          recalled.append(push)
        }
      }
      if known > 0, let note { try transaction.audit.add(note) }
      return (known, recalled)
    } completion: { [self] result in
      switch result {
      case .failure(let error):
        for id in tried.withLock({ $0 }) { channels.resume(id, of: app, by: holder) }
        done(.failure(error.apiError))
      case .success(let (known, recalled)):
        var commit = RecallCommit(known: known)
        for push in recalled {
          commit.pushes.append(push.id)
          commit.waiting += channels.withdraw(push.id, of: app, .recalled, at: now)
          channels.recall(push.id, of: app, audience: push.audience, sentOver: push.channels)
        }
        done(.success(commit))
      }
    }
  }

  /// Waits until all nodes have confirmed some recalls, in bounded time; `done` gets the most that have not
  /// confirmed one.
  func confirm(_ ids: [MessageID], in app: App, done: @escaping @Sendable (Int) -> Void) {
    guard !ids.isEmpty else { return done(0) }
    let left = Mutex((waiting: ids.count, unconfirmed: 0))
    for id in ids {
      gateways.confirmRecall(id, of: app) { count in
        let unconfirmed = left.withLock { left -> Int? in
          left.waiting -= 1
          left.unconfirmed = max(left.unconfirmed, count)
          return left.waiting == 0 ? left.unconfirmed : nil
        }
        if let unconfirmed { done(unconfirmed) }
      }
    }
  }
}
