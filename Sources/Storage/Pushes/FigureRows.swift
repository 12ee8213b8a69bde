import BorealisBase
import Model

/// What an app's home says of it for pages that other homes show.
package struct AppFiguresRow: Sendable, Equatable {
  package var app: AppID
  package var registrations: Int
  /// Those that are connected.
  package var connected: Int
  /// The channels whose credentials need a look, by number.
  package var alerts: [ChannelID]

  package init(app: AppID, registrations: Int, connected: Int, alerts: [ChannelID]) {
    (self.app, self.registrations, self.connected, self.alerts) = (app, registrations, connected, alerts)
  }

  init(_ row: Row) {
    self.init(
      app: row.app("app_id"), registrations: row.count("registrations"), connected: row.count("connected"),
      alerts: row.text("alerts").split(separator: ",").compactMap {
        UInt8($0).map { ChannelID(rawValue: $0) }
      })
  }
}

/// Only PostgreSQL has several homes.
extension HomeRepository {
  /// Seconds for which figures are worth showing.
  private static var freshness: Int64 { 30 }

  /// What homes have said of an account's apps lately.
  package func figures(of account: AccountID) throws(StorageError) -> [AppFiguresRow] {
    let oldest = try clock() - Self.freshness * 1000
    return try database.all(
      """
      SELECT app_id, registrations, connected, alerts FROM app_figures
      WHERE app_id IN (SELECT id FROM app WHERE account_id = ?1) AND at > ?2 ORDER BY app_id
      """, .account(account), .integer(oldest)
    ) { AppFiguresRow($0) }
  }

  /// The clock that all homes share, in milliseconds.
  private func clock() throws(StorageError) -> Int64 {
    try database.first("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) AS now") {
      $0.integer("now")
    } ?? 0
  }
}

extension HomeRepository<Writing> {
  /// Says how apps stand, in place of what was said before: one statement for all.
  package func setFigures(_ rows: [AppFiguresRow]) throws(StorageError) {
    let now = try clock()
    for row in rows {
      let alerts = row.alerts.map { String($0.rawValue) }.joined(separator: ",")
      try database.runLater(
        """
        INSERT INTO app_figures (app_id, registrations, connected, alerts, at) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (app_id) DO UPDATE SET registrations = excluded.registrations,
          connected = excluded.connected, alerts = excluded.alerts, at = excluded.at
        """, .app(row.app), .integer(row.registrations), .integer(row.connected), .text(alerts), .integer(now)
      )
    }
  }
}
