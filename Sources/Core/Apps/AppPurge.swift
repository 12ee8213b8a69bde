import BorealisBase
import Storage
import Synchronization

/// Deletes what the database keeps of deleted apps, in small steps.
final class AppPurge: Sendable {
  private let store: Store
  private let time: any TimeSource
  private let log: Log
  private let apps: AppTable
  private let channels: PluggedChannels
  private let gateways: DeviceGateways
  /// Rows that one step changes.
  private let rows: Int
  private let purging = Mutex<Set<AppID>>([])

  init(
    store: Store, time: any TimeSource, log: Log, apps: AppTable, channels: PluggedChannels,
    gateways: DeviceGateways, rows: Int
  ) {
    self.store = store
    self.time = time
    self.log = log
    self.apps = apps
    self.channels = channels
    self.gateways = gateways
    self.rows = rows
  }

  /// A deleted app leaves memory, and its data the disk.
  func forget(_ deleted: DeletedApp) {
    if let app = apps.remove(deleted.key) {
      app.markDeleted()
      gateways.disconnectAll(app)
      for plugged in channels.all { plugged.channel.forget(app) }
    }
    guard purging.withLock({ $0.insert(deleted.id).inserted }) else { return }
    purgeRows(of: deleted.id, from: PurgePosition())
  }

  /// One step; the next is queued behind waiting work, as when pushes are swept.
  private func purgeRows(of app: AppID, from position: PurgePosition) {
    store.write { [rows] transaction throws(StorageError) in
      try transaction.deletedApps.purge(of: app, limit: rows, from: position)
    } completion: { [self] result in
      switch result {
      case .failure: giveUpPurging(app)
      case .success(let next?): purgeRows(of: app, from: next)
      case .success(nil): purgePushes(of: app, after: MessageID(0))
      }
    }
  }

  private func purgePushes(of app: AppID, after start: MessageID) {
    store.read { [rows] transaction throws(StorageError) in
      try transaction.pushes.ids(of: app, after: start, limit: rows)
    } completion: { [self] result in
      guard case .success(let ids) = result else { return giveUpPurging(app) }
      guard let last = ids.last else { return finishPurging(app) }
      store.write { transaction throws(StorageError) in
        try transaction.pushes.delete(ids)
      } completion: { [self] result in
        if case .success = result {
          purgePushes(of: app, after: last)
        } else {
          giveUpPurging(app)
        }
      }
    }
  }

  private func finishPurging(_ app: AppID) {
    let now = time.now()
    store.write { transaction throws(StorageError) in
      try transaction.deletedApps.markPurged(app, at: now)
    } completion: { [self] result in
      giveUpPurging(app)
      if case .success = result {
        log.info("deleted app purged", ["app": .number(Int64(app.rawValue))])
      }
    }
  }

  /// The next look at the apps finds it again, unless all is done.
  private func giveUpPurging(_ app: AppID) { purging.withLock { _ = $0.remove(app) } }
}
