import BorealisBase
import Model
import Storage

/// What became of a recall.
package struct Recalled: Sendable, Equatable {
  /// For how many devices the push still waited.
  package let waiting: Int
  /// How many other nodes had not confirmed it in time: devices that are connected there may still show the
  /// push.
  package let unconfirmed: Int

  /// Both numbers.
  package init(waiting: Int, unconfirmed: Int = 0) {
    self.waiting = waiting
    self.unconfirmed = unconfirmed
  }
}

/// A push that was recalled a short time ago.
package struct RecentRecall: Sendable {
  package let app: AppID
  /// The push.
  package let id: MessageID
  /// Whom it was for; nil if they are too many to say: devices that never got it know nothing of its ID.
  package let audience: NumberSet?

  package init(app: AppID, id: MessageID, audience: NumberSet?) {
    self.app = app
    self.id = id
    self.audience = audience
  }
}

extension Deliveries {
  /// Seconds for which a recall is recent, and for which the pushes are looked through that may have been
  /// recalled.
  private static let recentSeconds: Int64 = 600
  private static let searchedSeconds: Int64 = 86_400
  /// Recalls that are recent at most.
  package static let mostRecent = 1024
  /// Bytes of the largest set of targets that is read, and of all of them.
  private static let setBytes = 64 << 10
  private static let allSetBytes = 8 << 20

  /// The recalls of the last ten minutes among some apps' rows.
  fileprivate func recentRecalls(
    in rows: AppRows, found: @escaping @Sendable (Result<[RecentRecall], DeviceFailure>) -> Void
  ) {
    let now = time.now()
    store.read { transaction throws(StorageError) in
      let rows = try transaction.deliveries.recalled(
        since: now.adding(seconds: -Self.recentSeconds),
        of: MessageID(firstAt: now.adding(seconds: -Self.searchedSeconds)), limit: Self.mostRecent,
        setBytes: Self.setBytes, in: rows)
      var bytes = 0
      return rows.map { row in
        bytes += row.targets?.count ?? 0
        let set = bytes <= Self.allSetBytes ? row.targets.flatMap { NumberSet(serialized: $0) } : nil
        return RecentRecall(app: row.app, id: row.id, audience: row.target.map { NumberSet([$0]) } ?? set)
      }
    } completion: {
      found($0.mapError { _ in .unavailable })
    }
  }
}

extension Router {
  /// Finds the recalls of the last ten minutes, of pushes of the last day, the newest 1024: of the home
  /// before nobody knows which of them all nodes have heard of. `found` is called on a reader's thread, or on
  /// this one; with an error if they cannot be read.
  package func recentRecalls(found: @escaping @Sendable (Result<[RecentRecall], DeviceFailure>) -> Void) {
    deliveries.recentRecalls(in: scope.rows, found: found)
  }

  /// The same of one app, which has come from another home.
  package func recentRecalls(
    of app: AppID, found: @escaping @Sendable (Result<[RecentRecall], DeviceFailure>) -> Void
  ) {
    deliveries.recentRecalls(in: .of(app), found: found)
  }
}
