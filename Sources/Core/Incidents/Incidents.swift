import BorealisBase
import Model
import Storage

/// An incident with what the app did meanwhile.
package struct Incident: Sendable, Equatable {
  package let row: IncidentRow
  /// How many pushes the app accepted while it lasted, at most `Incidents.mostPushes`.
  package let pushes: Int
}

/// What is and was wrong with apps. Safe to use from any thread.
package struct Incidents: Sendable {
  /// Pushes that are counted for an incident.
  package static let mostPushes = 1000

  let store: Store
  let channels: PluggedChannels
  let zone: any Zone
  let time: any TimeSource

  /// What somebody has to look at now in an app.
  package func troubles(of app: App) async -> Result<[AppTrouble], StorageError> {
    let (zone, now) = (zone, time.now())
    let stored = await store.read { transaction throws(StorageError) in
      try AppTrouble.stored(of: app, in: transaction, zone, at: now)
    }
    return stored.map { AppTrouble.inMemory(of: app, channels) + $0 }
  }

  /// An app's incidents, the newest first, older than `before`.
  package func list(
    of app: App, before id: Int64 = .max, limit: Int
  ) async -> Result<[Incident], StorageError> {
    let now = time.now()
    return await store.read { transaction throws(StorageError) in
      try transaction.incidents.list(app: app.id, before: id, limit: limit).map { row throws(StorageError) in
        Incident(
          row: row,
          pushes: try transaction.incidents.pushes(
            app: app.id, from: row.beganAt, to: row.endedAt ?? now, limit: Self.mostPushes))
      }
    }
  }
}
