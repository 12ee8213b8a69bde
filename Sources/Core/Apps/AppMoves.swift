import BorealisBase
import Storage

/// Hands apps over to other homes. Each step is durable before the next one begins, so that an app has one
/// home at any moment: this one until the hand-over is committed, the next one from then on.
struct AppMoves {
  let store: Store
  let scope: HomeScope
  let apps: AppTable
  let channels: PluggedChannels
  let gateways: DeviceGateways
  let writeBehind: WriteBehind
  let statistics: Statistics
  let activity: UserActivity
  let contents: ContentCache
  let housekeeping: Housekeeping
  let imports: Imports
  let requestLog: RequestLog
  let time: any TimeSource

  /// Closes an app's entrances, stores all that is known of it, and gives it to another home: its calls get
  /// "try again later", its devices log in again, unless somebody keeps their sessions for the next home.
  /// Returns its new epoch; nil, and the app stays here as before, if it is not this home's, or if the other
  /// one has no fence or the database does not take it. Blocks.
  func handOver(_ key: AppKey, to next: (node: Int64, home: Int64), keepingSessions: Bool) -> Int64? {
    guard let own = scope.assigned, let app = apps.find(key), own.contains(app.id) else { return nil }
    // Before the app leaves: what is imported from then on is passed over, and learned again if it stays.
    let known = imports.last
    // From now on nobody brings it back into memory.
    own.remove(app.id)
    guard apps.unload(key) != nil else { return nil }
    if !keepingSessions { gateways.disconnectAll(app, .loginAgain) }
    for plugged in channels.services { plugged.channel.release(app) }
    storeAll(of: app)
    let epoch = try? Store.wait { (done: @escaping @Sendable (Result<Int64?, StorageError>) -> Void) in
      store.write(
        { transaction throws(StorageError) in try transaction.homes.handOver(app.id, to: next) },
        completion: done)
    }
    // A push that was being stored has made queues anew, which nobody looks after.
    for plugged in channels.services { plugged.channel.release(app) }
    guard let epoch = epoch ?? nil else {
      own.admit(app.id)
      apps.add(app)
      own.insert(app.id)
      imports.relearn(after: known)
      return nil
    }
    // A login may have been let in when the entrances were about to close.
    if !keepingSessions { gateways.disconnectAll(app, .loginAgain) }
    // The next home may change who waits for a push: should the app come back, it is read anew.
    contents.removeAll()
    statistics.forget(app.id)
    return epoch
  }

  /// Twice: what is stored may be followed by something else that is to be stored.
  private func storeAll(of app: App) {
    requestLog.finish([app])
    housekeeping.storeKeyUses(of: app)
    for _ in 0..<2 {
      writeBehind.flush(isLast: true)
      statistics.finish(to: store)
      activity.flush([app], at: time.now())
      // Behind what waits until the writer has nothing else to do.
      try? Store.wait { store.write(lowPriority: true, { _ throws(StorageError) in }, completion: $0) }
    }
    // What is lost of this is the time at which devices were last seen.
    let deadline = time.monotonic() &+ Self.touching
    _ = housekeeping.touchAll(of: app) { [time] in time.monotonic() < deadline }
  }

  /// Nanoseconds for storing when devices were last seen.
  private static let touching: UInt64 = 5_000_000_000
}
