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
        push.apns_targets, push.call_targets
      FROM apns_pending JOIN push ON push.msg_id = apns_pending.msg_id
      WHERE apns_pending.app_id = ? AND apns_pending.msg_id > ? AND apns_pending.expires_at <= ?
      ORDER BY apns_pending.msg_id LIMIT ?
      """, .app(app), .message(id), .time(end), .integer(limit)
    ) { OpenAPNsPush(push: Self.push($0), answered: [:], results: [:]) }
    for index in pushes.indices {
      pushes[index].answered = try apnsAnswered(of: pushes[index].push.id)
      guard !pushes[index].answered.isEmpty else { continue }
      pushes[index].results = try apnsResults(of: pushes[index].push.id)
    }
    return pushes
  }

  /// What is stored of Apple's answers for a push: whether it is not through, for whom there are answers (in the router's
  /// encoding), and devices by outcome, both by kind of token.
  public func apnsProgress(
    of id: MessageID, app: AppID
  ) throws(StorageError) -> (isPending: Bool, answered: [APNsTokenKind: [UInt8]], results: APNsResults) {
    let isPending = try isAPNsPending(id: id, app: app)
    return (isPending, isPending ? try apnsAnswered(of: id) : [:], try apnsResults(of: id))
  }

  fileprivate func isAPNsPending(id: MessageID, app: AppID) throws(StorageError) -> Bool {
    try database.first(
      "SELECT 1 FROM apns_pending WHERE app_id = ? AND msg_id = ?", .app(app), .message(id)
    ) { _ in true } == true
  }

  private func apnsAnswered(of id: MessageID) throws(StorageError) -> [APNsTokenKind: [UInt8]] {
    let rows = try database.all("SELECT kind, targets FROM apns_answered WHERE msg_id = ?", .message(id)) {
      (APNsTokenKind(rawValue: $0.integer(0, as: UInt8.self)), $0.blob(1))
    }
    return rows.reduce(into: [:]) { answered, row in
      if let kind = row.0 { answered[kind] = row.1 }
    }
  }

  private func apnsResults(of id: MessageID) throws(StorageError) -> APNsResults {
    let rows = try database.all("SELECT kind, reason, count FROM apns_result WHERE msg_id = ?", .message(id))
    {
      (APNsTokenKind(rawValue: $0.integer(0, as: UInt8.self)), $0.text(1), Int($0.integer(2)))
    }
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

  /// Saves for whom Apple has answered and what, for one kind of token; does nothing once the push is through.
  public func saveAPNsAnswers(
    id: MessageID, app: AppID, kind: APNsTokenKind, answered: [UInt8], results: [String: Int]
  ) throws(StorageError) {
    guard try reading.isAPNsPending(id: id, app: app) else { return }
    try database.run(
      """
      INSERT INTO apns_answered (msg_id, kind, targets) VALUES (?, ?, ?)
      ON CONFLICT (msg_id, kind) DO UPDATE SET targets = excluded.targets
      """, .message(id), .integer(kind.rawValue), .blob(answered))
    try saveAPNsResults(id, [kind: results])
  }

  /// Ends a push's way to Apple, with all that was answered; false if it had ended before.
  @discardableResult
  public func finishAPNs(
    id: MessageID, app: AppID, results: APNsResults
  ) throws(StorageError) -> Bool {
    try database.run("DELETE FROM apns_pending WHERE app_id = ? AND msg_id = ?", .app(app), .message(id))
    guard database.changes > 0 else { return false }
    try database.run("DELETE FROM apns_answered WHERE msg_id = ?", .message(id))
    try saveAPNsResults(id, results)
    return true
  }

  /// Notes how a push ended for which nobody waits over our connection.
  public func settleUnlessPending(_ end: Settlement) throws(StorageError) {
    try database.run(
      """
      INSERT INTO outcome (msg_id, status, at) SELECT ?1, ?2, ?3
        WHERE NOT EXISTS (SELECT 1 FROM pending WHERE msg_id = ?1)
      ON CONFLICT (msg_id) DO UPDATE SET status = excluded.status, at = excluded.at WHERE outcome.status = 0
      """, .message(end.id), .integer(end.status.rawValue), .time(end.at))
  }

  /// Saves outcomes of a push, also of one that was taken back meanwhile. Numbers of devices only grow.
  public func saveAPNsResults(_ id: MessageID, _ results: APNsResults) throws(StorageError) {
    for (kind, counts) in results {
      for (reason, count) in counts {
        try database.run(
          """
          INSERT INTO apns_result (msg_id, kind, reason, count) VALUES (?, ?, ?, ?)
          ON CONFLICT (msg_id, kind, reason) DO UPDATE SET count = max(count, excluded.count)
          """, .message(id), .integer(kind.rawValue), .text(reason), .integer(count))
      }
    }
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
