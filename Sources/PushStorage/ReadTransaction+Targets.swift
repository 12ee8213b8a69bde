import PushBase

/// All that is stored of what became of a push for its targets. Sets stand in the router's encoding.
public struct TargetRows: Sendable, Equatable {
  /// The push.
  public var push: PushRow
  /// What is known of its end over our connection, and of its only target's receipts; nil if nothing.
  public var outcome: OutcomeRow?
  /// Whether somebody waits for it over our connection.
  public var isPending: Bool
  /// Who acknowledged it over our connection; nil if nobody did, or all did and it ended so.
  public var delivered: [UInt8]?
  /// Who will not get it over our connection, by reason.
  public var dropped: [String: [UInt8]]
  /// Whether Apple has not answered for all.
  public var isAPNsPending: Bool
  /// For whom there is an outcome of the way to Apple.
  public var apnsResults: APNsResults
  /// Who showed it, and whose users tapped it, of a push to several.
  public var shown, tapped: [UInt8]?
}

extension ReadTransaction {
  /// What became of a push for its targets, nil if it is unknown or swept.
  public func targets(of id: MessageID) throws(StorageError) -> TargetRows? {
    guard let push = try push(id: id) else { return nil }
    let dropped = try database.all("SELECT reason, targets FROM dropped WHERE msg_id = ?", .message(id)) {
      ($0.text(0), $0.blob(1))
    }
    return TargetRows(
      push: push, outcome: try outcome(of: id),
      isPending: try isPending(id),
      delivered: try delivered(id), dropped: Dictionary(dropped) { first, _ in first },
      isAPNsPending: try isAPNsPending(id: id, app: push.app),
      apnsResults: try apnsResults(of: id), shown: try receipts(of: id, .shown),
      tapped: try receipts(of: id, .tapped))
  }

  /// When a version of the schema came to the database, nil if it has not.
  public func migratedAt(_ version: Int) throws(StorageError) -> Timestamp? {
    try database.first("SELECT applied_at FROM schema_migration WHERE version = ?", .integer(version)) {
      $0.time(0)
    }
  }

  /// Whether somebody waits for a push over our connection.
  public func isPending(_ id: MessageID) throws(StorageError) -> Bool {
    try database.first("SELECT 1 FROM pending WHERE msg_id = ?", .message(id)) { _ in true } == true
  }

  /// Who acknowledged a push to several, as it was saved; nil if nothing was.
  public func delivered(_ id: MessageID) throws(StorageError) -> [UInt8]? {
    try database.first("SELECT targets FROM delivered WHERE msg_id = ?", .message(id)) { $0.blob(0) }
  }

  /// Whose push it is and for whom; no targets if it is for one alone. Nil if it is unknown or swept.
  public func audience(of id: MessageID) throws(StorageError) -> (app: AppID, targets: [UInt8]?)? {
    try database.first(
      "SELECT app_id, CASE WHEN target IS NULL THEN targets END FROM push WHERE msg_id = ?", .message(id)
    ) { ($0.app(0), $0.optionalBlob(1)) }
  }

  /// Who reported an act for a push to several; nil for nobody.
  public func receipts(of id: MessageID, _ kind: WriteTransaction.Receipt) throws(StorageError) -> [UInt8]? {
    try database.first(
      "SELECT targets FROM receipt WHERE msg_id = ? AND kind = ?", .message(id), .integer(kind.rawValue)
    ) { $0.blob(0) }
  }
}
