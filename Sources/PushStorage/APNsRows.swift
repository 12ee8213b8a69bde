import PushBase
import PushDomain

extension ReadTransaction {
  /// The oldest pushes of an app that Apple has not answered for all devices of, above an ID, at most `limit`.
  public func openAPNsPushes(
    app: AppID, after id: MessageID, limit: Int
  ) throws(StorageError) -> [OpenAPNsPush] {
    try openAPNsPushes(app: app, after: id, endingBy: Timestamp(milliseconds: .max), limit: limit)
  }

  /// The same, of those whose time is over.
  public func expiredAPNsPushes(
    app: AppID, at now: Timestamp, limit: Int
  ) throws(StorageError) -> [OpenAPNsPush] {
    try openAPNsPushes(app: app, after: MessageID(0), endingBy: now, limit: limit)
  }

  private func openAPNsPushes(
    app: AppID, after id: MessageID, endingBy end: Timestamp, limit: Int
  ) throws(StorageError) -> [OpenAPNsPush] {
    var pushes = try database.all(
      """
      SELECT push.msg_id, push.app_id, push.created_at, push.expires_at, push.sendno, push.platforms, push.target,
        push.targets, push.target_count, push.strategy, push.overrides, push.content, push.own_targets,
        push.apns_targets, push.call_targets, push.ios_targets, push.unreached, push.online_only
      FROM apns_pending JOIN push ON push.msg_id = apns_pending.msg_id
      WHERE apns_pending.app_id = ? AND apns_pending.msg_id > ? AND apns_pending.expires_at <= ?
      ORDER BY apns_pending.msg_id LIMIT ?
      """, .app(app), .message(id), .time(end), .integer(limit)
    ) { OpenAPNsPush(push: Self.push($0), results: [:]) }
    for index in pushes.indices {
      pushes[index].results = try apnsResults(of: pushes[index].push.id)
    }
    return pushes
  }

  /// Whether Apple has not answered for all devices of a push.
  func isAPNsPending(id: MessageID, app: AppID) throws(StorageError) -> Bool {
    try database.first(
      "SELECT 1 FROM apns_pending WHERE app_id = ? AND msg_id = ?", .app(app), .message(id)
    ) { _ in true } == true
  }

  /// For whom there is an outcome of a push's way to Apple.
  func apnsResults(of id: MessageID) throws(StorageError) -> APNsResults {
    let rows = try database.all(
      "SELECT kind, reason, targets FROM apns_result WHERE msg_id = ? AND targets IS NOT NULL", .message(id)
    ) { (APNsTokenKind(rawValue: $0.integer(0, as: UInt8.self)), $0.text(1), $0.blob(2)) }
    return rows.reduce(into: [:]) { results, row in
      if let kind = row.0 { results[kind, default: [:]][row.1] = row.2 }
    }
  }
}

extension WriteTransaction {
  /// Notes that a push is on its way to Apple. `.constraint` if it is noted already.
  public func insertAPNsPending(id: MessageID, app: AppID, expiresAt: Timestamp) throws(StorageError) {
    try database.run(
      "INSERT INTO apns_pending (app_id, msg_id, expires_at) VALUES (?, ?, ?)", .app(app), .message(id),
      .time(expiresAt))
  }

  /// Ends a push's way to Apple; false if it had ended before.
  @discardableResult
  public func finishAPNs(id: MessageID, app: AppID) throws(StorageError) -> Bool {
    try database.run("DELETE FROM apns_pending WHERE app_id = ? AND msg_id = ?", .app(app), .message(id))
    return database.changes > 0
  }

  /// Notes how a push ended for which nobody waits over our connection, nor did before.
  public func settleUnlessPending(_ end: Settlement) throws(StorageError) {
    if try !reading.isPending(end.id) { _ = try noteFirstEnd(end) }
  }

  /// Saves for whom an outcome of a push stands for one kind of token, also of one that was taken back meanwhile. Sets only
  /// grow.
  public func saveAPNsResult(
    _ id: MessageID, _ kind: APNsTokenKind, _ reason: String, targets: [UInt8], count: Int
  ) throws(StorageError) {
    try database.run(
      """
      INSERT INTO apns_result (msg_id, kind, reason, count, targets) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (msg_id, kind, reason) DO UPDATE SET count = excluded.count, targets = excluded.targets
      WHERE excluded.count >= apns_result.count
      """, .message(id), .integer(kind.rawValue), .text(reason), .integer(count), .blob(targets))
  }

  /// Changes who waits for a push over our connection, after Apple has refused it for some.
  public func setOwnTargets(id: MessageID, own: [UInt8], apns: [UInt8]) throws(StorageError) {
    try database.run(
      "UPDATE push SET own_targets = ?, apns_targets = ? WHERE msg_id = ?", .blob(own), .blob(apns),
      .message(id))
  }

  /// Changes the badge numbers of registrations as a push asks, and tells the new ones.
  public func changeBadges(
    app: AppID, of numbers: [RegistrationNumber], _ change: APNsBadge
  ) throws(StorageError) -> [RegistrationNumber: Int64] {
    var badges: [RegistrationNumber: Int64] = [:]
    for number in numbers {
      let stored = try database.first(
        "SELECT badge FROM registration WHERE app_id = ? AND number = ?", .app(app), .number(number)
      ) { $0.integer(0) }
      guard let stored, let badge = change.applied(to: stored) else { continue }
      badges[number] = badge
      if badge != stored { _ = try setBadge(app: app, number: number, badge) }
    }
    return badges
  }
}
