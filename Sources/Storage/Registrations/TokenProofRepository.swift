import BorealisBase
import Model

/// What is known of the tokens that worked with an app's credential for a service of a channel.
package struct TokenProofRow: Sendable, Equatable {
  package var service: ServiceID
  /// The ID of the credential that was used last.
  package var credential: String
  /// Whether it is known to be right.
  package var isProven: Bool
  /// Hashes of tokens that have worked with it.
  package var working: [[UInt8]]
  /// The same of the credential before, until this one is known to be right.
  package var former: [[UInt8]]

  package init(
    service: ServiceID, credential: String, isProven: Bool, working: [[UInt8]], former: [[UInt8]]
  ) {
    self.service = service
    self.credential = credential
    self.isProven = isProven
    self.working = working
    self.former = former
  }

  /// The bytes of a hash.
  package static let hashSize = 16
}

/// Which tokens have worked with the credentials of channels.
package struct TokenProofRepository<Access>: Repository {
  let database: Database
}

extension TokenProofRepository {
  /// Those of an app for a channel: one for each service.
  package func all(app: AppID, channel: ChannelID) throws(StorageError) -> [TokenProofRow] {
    try database.all(
      """
      SELECT service, credential, is_proven, working, former FROM token_proof WHERE app_id = ? AND channel = ?
      """, .app(app), .integer(channel.rawValue)
    ) { row in
      TokenProofRow(
        service: ServiceID(rawValue: row.integer("service", as: UInt8.self)),
        credential: row.text("credential"), isProven: row.integer("is_proven") != 0,
        working: Self.split(row.blob("working")), former: Self.split(row.blob("former")))
    }
  }

  private static func split(_ bytes: [UInt8]) -> [[UInt8]] {
    let size = TokenProofRow.hashSize
    return stride(from: 0, to: bytes.count - bytes.count % size, by: size).map {
      Array(bytes[$0..<$0 + size])
    }
  }
}

extension TokenProofRepository<Writing> {
  /// Stores what is known of a service's tokens. `.constraint` for an unknown app.
  package func set(_ row: TokenProofRow, app: AppID, channel: ChannelID) throws(StorageError) {
    try database.run(
      """
      INSERT INTO token_proof (app_id, channel, service, credential, is_proven, working, former)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
      ON CONFLICT (app_id, channel, service) DO UPDATE SET credential = excluded.credential,
        is_proven = excluded.is_proven, working = excluded.working, former = excluded.former
      """, .app(app), .integer(channel.rawValue), .integer(row.service.rawValue), .text(row.credential),
      .integer(row.isProven ? 1 : 0), .blob(Array(row.working.joined())), .blob(Array(row.former.joined())))
  }
}
