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
        push.apns_targets, apns_answered.targets
      FROM apns_pending JOIN push ON push.msg_id = apns_pending.msg_id
        LEFT JOIN apns_answered ON apns_answered.msg_id = apns_pending.msg_id
      WHERE apns_pending.app_id = ? AND apns_pending.msg_id > ? AND apns_pending.expires_at <= ?
      ORDER BY apns_pending.msg_id LIMIT ?
      """, .app(app), .message(id), .time(end), .integer(limit)
    ) { OpenAPNsPush(push: Self.push($0), answered: $0.optionalBlob(14), results: [:]) }
    for index in pushes.indices where pushes[index].answered != nil {
      pushes[index].results = try apnsResults(of: pushes[index].push.id)
    }
    return pushes
  }

  /// Tokens of registrations, ascending by number; those without a token are left out.
  public func tokens(app: AppID, of numbers: [RegistrationNumber]) throws(StorageError) -> [TokenRow] {
    var rows: [TokenRow] = []
    rows.reserveCapacity(numbers.count)
    for number in numbers {
      let row = try database.first(
        """
        SELECT number, apns_environment, apns_token, apns_token_at, badge FROM registration
        WHERE app_id = ? AND number = ? AND apns_token IS NOT NULL
        """, .app(app), .number(number)
      ) {
        TokenRow(
          number: $0.number(0),
          environment: APNsEnvironment(rawValue: $0.integer(1, as: UInt8.self)) ?? .none,
          token: $0.blob(2), tokenAt: $0.time(3), badge: $0.integer(4))
      }
      if let row { rows.append(row) }
    }
    return rows
  }

  /// What is stored of Apple's answers for a push: whether it is not through, for whom there are answers (in the router's
  /// encoding), and devices by outcome.
  public func apnsProgress(
    of id: MessageID, app: AppID
  ) throws(StorageError) -> (isPending: Bool, answered: [UInt8]?, results: [String: Int]) {
    let answered = try database.first(
      """
      SELECT apns_answered.targets FROM apns_pending
        LEFT JOIN apns_answered ON apns_answered.msg_id = apns_pending.msg_id
      WHERE apns_pending.app_id = ? AND apns_pending.msg_id = ?
      """, .app(app), .message(id)
    ) { $0.optionalBlob(0) }
    return (answered != nil, answered ?? nil, try apnsResults(of: id))
  }

  private func apnsResults(of id: MessageID) throws(StorageError) -> [String: Int] {
    var results: [String: Int] = [:]
    let rows = try database.all("SELECT reason, count FROM apns_result WHERE msg_id = ?", .message(id)) {
      ($0.text(0), Int($0.integer(1)))
    }
    for (reason, count) in rows { results[reason] = count }
    return results
  }
}

extension WriteTransaction {
  /// Notes that a push is on its way to Apple. `.constraint` if it is noted already.
  public func insertAPNsPending(id: MessageID, app: AppID, expiresAt: Timestamp) throws(StorageError) {
    try database.run(
      "INSERT INTO apns_pending (app_id, msg_id, expires_at) VALUES (?, ?, ?)", .app(app), .message(id),
      .time(expiresAt))
  }

  /// Saves for whom Apple has answered and what; does nothing once the push is through.
  public func saveAPNsAnswers(
    id: MessageID, app: AppID, answered: [UInt8], results: [String: Int]
  ) throws(StorageError) {
    let isOpen = try database.first(
      "SELECT 1 FROM apns_pending WHERE app_id = ? AND msg_id = ?", .app(app), .message(id)
    ) { _ in true }
    guard isOpen == true else { return }
    try database.run(
      """
      INSERT INTO apns_answered (msg_id, targets) VALUES (?, ?)
      ON CONFLICT (msg_id) DO UPDATE SET targets = excluded.targets
      """, .message(id), .blob(answered))
    try saveAPNsResults(id, results)
  }

  /// Ends a push's way to Apple, with all that was answered; false if it had ended before.
  @discardableResult
  public func finishAPNs(
    id: MessageID, app: AppID, results: [String: Int]
  ) throws(StorageError) -> Bool {
    try database.run("DELETE FROM apns_pending WHERE app_id = ? AND msg_id = ?", .app(app), .message(id))
    guard database.changes > 0 else { return false }
    try database.run("DELETE FROM apns_answered WHERE msg_id = ?", .message(id))
    try saveAPNsResults(id, results)
    return true
  }

  /// Notes how a push ended for which nobody waits over our connection.
  public func settleUnlessPending(_ end: Settlement) throws(StorageError) {
    let isPending = try database.first("SELECT 1 FROM pending WHERE msg_id = ?", .message(end.id)) { _ in true
    }
    if isPending != true { try settle([end]) }
  }

  /// Saves outcomes of a push, also of one that was taken back meanwhile. Numbers of devices only grow.
  public func saveAPNsResults(_ id: MessageID, _ results: [String: Int]) throws(StorageError) {
    for (reason, count) in results {
      try database.run(
        """
        INSERT INTO apns_result (msg_id, reason, count) VALUES (?, ?, ?)
        ON CONFLICT (msg_id, reason) DO UPDATE SET count = max(count, excluded.count)
        """, .message(id), .text(reason), .integer(count))
    }
  }

  /// Changes who waits for a push over our connection, after Apple has refused it for some.
  public func setOwnTargets(id: MessageID, own: [UInt8], apns: [UInt8]) throws(StorageError) {
    try database.run(
      "UPDATE push SET own_targets = ?, apns_targets = ? WHERE msg_id = ?", .blob(own), .blob(apns),
      .message(id))
  }

  /// Takes a token that Apple knows no more from its registration, unless the device has told it anew after `moment`;
  /// true if it was taken.
  public func retireToken(
    app: AppID, number: RegistrationNumber, token: [UInt8], unlessToldAfter moment: Timestamp
  ) throws(StorageError) -> Bool {
    try database.run(
      """
      UPDATE registration SET apns_environment = 0, apns_token = NULL
      WHERE app_id = ? AND number = ? AND apns_token = ? AND apns_token_at <= ?
      """, .app(app), .number(number), .blob(token), .time(moment))
    return database.changes > 0
  }

  /// Notes that a token works at the other of Apple's services; false if the registration has another token by now.
  public func moveToken(
    app: AppID, number: RegistrationNumber, token: [UInt8], to environment: APNsEnvironment
  ) throws(StorageError) -> Bool {
    try database.run(
      "UPDATE registration SET apns_environment = ? WHERE app_id = ? AND number = ? AND apns_token = ?",
      .integer(environment.rawValue), .app(app), .number(number), .blob(token))
    return database.changes > 0
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
