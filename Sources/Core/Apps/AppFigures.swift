import BorealisBase
import Model
import Storage
import Synchronization

/// How an app stands, for pages about several apps.
package struct AppFigures: Sendable, Equatable {
  package let registrations: Int
  /// Those that are connected.
  package let connected: Int
  /// The channels whose credentials need a look.
  package let alerts: Set<ChannelID>
}

/// Knows how apps stand, those of other homes as well: each home says it of its own in the database, when
/// something has changed, every five seconds at most.
package final class AppFigureBoard: Sendable {
  private struct State: Sendable {
    var seconds = 0
    /// What was said last, and at which second.
    var said: [AppID: (row: AppFiguresRow, at: Int)] = [:]
    var isWriting = false
  }

  /// Seconds between two writes, and after which what has not changed is said again: it is believed for 30.
  private static let (interval, renewal) = (5, 15)

  private let store: Store
  private let scope: HomeScope
  private let apps: AppTable
  private let channels: PluggedChannels
  private let state = Mutex(State())

  init(store: Store, scope: HomeScope, apps: AppTable, channels: PluggedChannels) {
    (self.store, self.scope, self.apps, self.channels) = (store, scope, apps, channels)
  }

  /// How apps stand. One is missing if its home has said nothing lately.
  package func find(_ rows: [AppRow]) async -> Result<[AppID: AppFigures], StorageError> {
    var found: [AppID: AppFigures] = [:]
    var elsewhere: Set<AccountID> = []
    for row in rows {
      if scope.isSettled(row.id), let app = apps.find(row.id) {
        let own = own(app)
        found[row.id] = AppFigures(
          registrations: own.registrations, connected: own.connected, alerts: Set(own.alerts))
      } else if scope.assigned != nil {
        elsewhere.insert(row.account)
      } else {
        // Made by another process: it has no registrations that memory would have to know.
        found[row.id] = AppFigures(registrations: 0, connected: 0, alerts: [])
      }
    }
    guard !elsewhere.isEmpty else { return .success(found) }
    let told = await store.read { [elsewhere] transaction throws(StorageError) -> [AppFiguresRow] in
      var told: [AppFiguresRow] = []
      for account in elsewhere { told += try transaction.homes.figures(of: account) }
      return told
    }
    return told.map { told in
      for row in told where found[row.app] == nil {
        found[row.app] = AppFigures(
          registrations: row.registrations, connected: row.connected, alerts: Set(row.alerts))
      }
      return found
    }
  }

  private func own(_ app: App) -> AppFiguresRow {
    AppFiguresRow(
      app: app.id, registrations: app.directory.registrationCount, connected: app.directory.onlineCount,
      alerts: Set(channels.alerts(of: app).map(\.channel.id)).sorted())
  }

  /// Says how this home's apps stand, if there are other homes. Call once a second.
  func tick(_ loaded: [App]) {
    guard scope.assigned != nil else { return }
    let second = state.withLock { state -> Int? in
      state.seconds += 1
      guard state.seconds % Self.interval == 0, !state.isWriting else { return nil }
      state.isWriting = true
      return state.seconds
    }
    guard let second else { return }
    let now = loaded.filter { scope.isSettled($0.id) }.map { own($0) }
    let rows = state.withLock { state in
      now.filter { row in
        guard let said = state.said[row.app] else { return true }
        return said.row != row || second - said.at >= Self.renewal
      }
    }
    guard !rows.isEmpty else { return state.withLock { $0.isWriting = false } }
    store.write { [scope] transaction throws(StorageError) in
      try transaction.homes.setFigures(rows.filter { !scope.hasLeft($0.app) })
    } completion: { [self] result in
      let own = Set(now.map(\.app))
      state.withLock { state in
        state.isWriting = false
        guard case .success = result else { return }
        // What was said of an app before it left says nothing when it comes back.
        state.said = state.said.filter { own.contains($0.key) }
        for row in rows { state.said[row.app] = (row, second) }
      }
    }
  }
}
