import PushBase
import PushDomain

/// When things of a registration came and went; what nobody noted is nil.
public struct RegistrationHistory: Sendable, Equatable {
  /// When its alias became what it is.
  public var aliasAt: Timestamp?
  /// When each of its tags came, ascending by number.
  public var tags: [TimedTag]
  /// The latest tags that went, newest first.
  public var lostTags: [TimedTag]
  /// Since when its ordinary token is what it is, or missing.
  public var tokenSince: Timestamp?
  /// When the device last told it.
  public var tokenToldAt: Timestamp?
  /// Why it has none.
  public var tokenEnd: TokenEnd
}

/// A registration that is no more.
public struct GoneRegistration: Sendable, Equatable {
  /// Its public name.
  public var registrationID: RegistrationID
  /// Its number within the app.
  public var number: RegistrationNumber
  /// What its device ran.
  public var platform: Platform
  /// The registration that took its place.
  public var successor: RegistrationID?
  /// When it went.
  public var at: Timestamp
}

/// A push in a device's list.
public struct DevicePush: Sendable, Equatable {
  /// Its ID.
  public var id: MessageID
  /// When it was accepted.
  public var createdAt: Timestamp
  /// What devices get, in the router's encoding.
  public var content: [UInt8]
}

extension ReadTransaction {
  /// When things of a registration came and went, nil if the app has none of that number.
  public func history(app: AppID, number: RegistrationNumber) throws(StorageError) -> RegistrationHistory? {
    try database.first(
      """
      SELECT alias_at, tags, tag_times, lost_tags, token_since, apns_token_at, token_end
      FROM registration WHERE app_id = ? AND number = ?
      """, .app(app), .number(number)
    ) { row in
      let tags = TagList.decode(row, 1)
      let times = TagTimes(tags: tags, row.blob(2), lost: row.blob(3))
      return RegistrationHistory(
        aliasAt: row.moment(0), tags: tags.map { TimedTag(number: $0, seconds: times.bound[$0] ?? 0) },
        lostTags: times.lost, tokenSince: row.moment(4), tokenToldAt: row.moment(5),
        tokenEnd: TokenEnd(rawValue: row.integer(6, as: UInt8.self)) ?? .none)
    }
  }

  /// A registration of an app that is no more, nil if it is unknown or forgotten.
  public func goneRegistration(_ id: RegistrationID, app: AppID) throws(StorageError) -> GoneRegistration? {
    try database.first(
      """
      SELECT registration_id, number, platform, successor, at FROM gone_registration
      WHERE registration_id = ? AND app_id = ?
      """, .blob(id.stored), .app(app), map: Self.gone)
  }

  /// Registrations of an app that are no more, of a range of numbers.
  public func goneRegistrations(
    of app: AppID, from first: RegistrationNumber, through last: RegistrationNumber
  ) throws(StorageError) -> [GoneRegistration] {
    try database.all(
      """
      SELECT registration_id, number, platform, successor, at FROM gone_registration
      WHERE app_id = ? AND number BETWEEN ? AND ? ORDER BY id
      """, .app(app), .number(first), .number(last), map: Self.gone)
  }

  private static func gone(_ row: Statement) -> GoneRegistration {
    GoneRegistration(
      registrationID: RegistrationID(stored: row.blob(0)), number: row.number(1),
      platform: Platform(rawValue: row.integer(2, as: UInt8.self)) ?? .android,
      successor: row.optionalBlob(3).map { RegistrationID(stored: $0) }, at: row.time(4))
  }

  /// The registration of an app that has one of Apple's tokens, whatever it is for.
  public func holder(ofToken token: [UInt8], app: AppID) throws(StorageError) -> RegistrationNumber? {
    try database.first(
      """
      SELECT number FROM registration WHERE app_id = ?1 AND apns_token = ?2
      UNION ALL SELECT number FROM apns_token WHERE app_id = ?1 AND token = ?2 LIMIT 1
      """, .app(app), .blob(token)
    ) { $0.number(0) }
  }

  /// The number of a tag's name, nil if the app has no such tag.
  public func tagNumber(app: AppID, name: String) throws(StorageError) -> UInt32? {
    try database.first("SELECT number FROM tag WHERE app_id = ? AND name = ?", .app(app), .text(name)) {
      $0.integer(0, as: UInt32.self)
    }
  }

  /// A push object as it was sent, nil if it was not kept.
  public func pushObject(of id: MessageID) throws(StorageError) -> [UInt8]? {
    let bytes = try database.first("SELECT object FROM push WHERE msg_id = ?", .message(id)) {
      $0.optionalBlob(0)
    }
    return bytes.flatMap { $0 }
  }

  /// The push that took a push's place, nil if none did.
  public func replacement(of id: MessageID) throws(StorageError) -> MessageID? {
    let found = try database.first("SELECT replaced_by FROM push WHERE msg_id = ?", .message(id)) {
      $0.optionalInteger(0)
    }
    return found?.map { MessageID(UInt64(truncatingIfNeeded: $0)) }
  }

  /// Over how many minutes a push is being spread, nil for one that is not, or no more.
  public func spreadMinutes(of id: MessageID) throws(StorageError) -> Int64? {
    try database.first("SELECT minutes FROM steady_push WHERE msg_id = ?", .message(id)) { $0.integer(0) }
  }

  /// Whether a registration of an app is a device for tests.
  public func isTestDevice(_ id: RegistrationID, app: AppID) throws(StorageError) -> Bool {
    try database.first(
      "SELECT 1 FROM test_device WHERE app_id = ? AND registration_id = ?", .app(app), .text(id.text)
    ) { _ in true } == true
  }

  /// Pushes of an app that are for a registration, the newest first, older than `before`: those to it alone, and those to
  /// several, for whose targets `isTarget` is asked with both sets (targets and unreached, in the router's encoding). Looks
  /// at no more than `depth` pushes, and at the sets of no more than `groups`; `next` is where it goes on then.
  public func latestPushes(
    app: AppID, of number: RegistrationNumber, before: MessageID = MessageID(UInt64(Int64.max)), limit: Int,
    depth: Int = 10_000, groups: Int = 100, isTarget: ([UInt8], [UInt8]) -> Bool
  ) throws(StorageError) -> (pushes: [DevicePush], next: MessageID?) {
    let candidates = try database.all(
      """
      SELECT msg_id, target FROM (
        SELECT msg_id, target FROM push INDEXED BY push_app
        WHERE app_id = ?1 AND msg_id < ?4 ORDER BY msg_id DESC LIMIT ?3)
      WHERE target = ?2 OR target IS NULL ORDER BY msg_id DESC
      """, .app(app), .number(number), .integer(depth), .message(before)
    ) { (id: $0.message(0), isSingle: !$0.isNull(1)) }
    var found: [DevicePush] = []
    var groupsLeft = groups
    var last = before
    for candidate in candidates {
      guard found.count < limit, candidate.isSingle || groupsLeft > 0 else { return (found, last) }
      last = candidate.id
      if !candidate.isSingle {
        groupsLeft -= 1
        let sets = try database.first(
          "SELECT targets, unreached FROM push WHERE msg_id = ?", .message(candidate.id)
        ) { ($0.blob(0), $0.blob(1)) }
        guard let sets, isTarget(sets.0, sets.1) else { continue }
      }
      let push = try database.first(
        "SELECT msg_id, created_at, content FROM push WHERE msg_id = ?", .message(candidate.id)
      ) { DevicePush(id: $0.message(0), createdAt: $0.time(1), content: $0.blob(2)) }
      if let push { found.append(push) }
    }
    let oldest = try database.first(
      """
      SELECT msg_id FROM push INDEXED BY push_app
      WHERE app_id = ? AND msg_id < ? ORDER BY msg_id DESC LIMIT 1 OFFSET ?
      """, .app(app), .message(before), .integer(depth)
    ) { MessageID($0.message(0).rawValue + 1) }
    return (found, oldest)
  }
}

extension Statement {
  /// A time of the row; nil for NULL and for 0, which both mean that nobody noted it.
  func moment(_ column: Int32) -> Timestamp? {
    let milliseconds = integer(column)
    return milliseconds == 0 ? nil : Timestamp(milliseconds: milliseconds)
  }
}

extension WriteTransaction {
  /// Remembers registrations that are replaced by another.
  func remember(
    _ gone: [Replaced], of app: AppID, replacedBy successor: RegistrationID, at now: Timestamp
  ) throws(StorageError) {
    for one in gone {
      try database.run(
        """
        INSERT OR REPLACE INTO gone_registration (registration_id, app_id, number, platform, successor, at)
        VALUES (?, ?, ?, ?, ?, ?)
        """, .blob(one.registrationID.stored), .app(app), .number(one.number),
        .integer(one.platform.rawValue), .blob(successor.stored), .time(now))
    }
  }

  /// Forgets registrations that went before a time, out of the `limit` oldest; tells how many.
  public func sweepGoneRegistrations(before time: Timestamp, limit: Int) throws(StorageError) -> Int {
    try database.run(
      """
      DELETE FROM gone_registration
      WHERE id IN (SELECT id FROM gone_registration ORDER BY id LIMIT ?2) AND at < ?1
      """, .time(time), .integer(limit))
    return database.changes
  }
}
