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
  /// Pushes that one commit takes back: some milliseconds of the writer's time.
  private static let recallsInCommit = 16

  /// Takes pushes back as if each was recalled, several in a commit, and passes over those that the app does
  /// not have. An error may leave some of them taken back: to repeat the recall does no harm.
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
        known.known += recalled.count
        // A node that has not confirmed one is not waited for again.
        guard known.unconfirmed == 0 else {
          return recall(ids.dropFirst(batch.count), after: known, in: app, reply: reply)
        }
        confirm(recalled, in: app) { [self, known] unconfirmed in
          var known = known
          known.unconfirmed = unconfirmed
          recall(ids.dropFirst(batch.count), after: known, in: app, reply: reply)
        }
      }
    }
  }

  /// Takes pushes back in one commit; gives those that the app has.
  private func recallTogether(
    _ ids: ArraySlice<MessageID>, in app: App,
    done: @escaping @Sendable (Result<[MessageID], APIError>) -> Void
  ) {
    let (now, holder) = (time.now(), PushHolder())
    writeBehind.flushEnds()
    store.write(of: app.id) { [self] transaction throws(StorageError) in
      var found: [(id: MessageID, taken: TakenBack)] = []
      for id in ids {
        let taken = try takeBack(id, of: app, at: now, by: holder, in: transaction)
        if let taken { found.append((id, taken)) }
      }
      return found
    } completion: { [self] result in
      switch result {
      case .failure(let error):
        for id in ids { channels.resume(id, of: app, by: holder) }
        done(.failure(error.apiError))
      case .success(let found):
        for (id, taken) in found {
          _ = channels.withdraw(id, of: app, .recalled, at: now)
          channels.recall(id, of: app, audience: taken.audience, takenBy: taken.takers)
        }
        done(.success(found.map(\.id)))
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
