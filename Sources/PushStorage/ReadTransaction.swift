import PushBase
import PushDomain

/// What can be read. Valid only while the body that got it runs; all its reads see one state of the database.
public final class ReadTransaction {
  let database: Database

  init(_ database: Database) { self.database = database }

  /// All tags of an app, by number.
  public func tags(app: AppID) throws(StorageError) -> [(number: UInt32, name: String)] {
    try database.all("SELECT number, name FROM tag WHERE app_id = ? ORDER BY number", .app(app)) {
      (number: $0.integer(0, as: UInt32.self), name: $0.text(1))
    }
  }

  /// The names of an app's tag numbers, in their order, without the unknown ones.
  public func tagNames(app: AppID, numbers: [UInt32]) throws(StorageError) -> [String] {
    var names: [String] = []
    names.reserveCapacity(numbers.count)
    for number in numbers {
      let name = try database.first(
        "SELECT name FROM tag WHERE app_id = ? AND number = ?", .app(app), .integer(number)
      ) { $0.text(0) }
      if let name { names.append(name) }
    }
    return names
  }

  /// How many registrations an app has.
  public func registrationCount(app: AppID) throws(StorageError) -> Int {
    try database.first("SELECT count(*) FROM registration WHERE app_id = ?", .app(app)) {
      Int($0.integer(0))
    } ?? 0
  }

  /// Calls `body` for each registration of an app, by number, with what deliveries need of it: several times as fast as
  /// `registrations`.
  public func deliveryRows(app: AppID, each body: (DeliveryRow) -> Void) throws(StorageError) {
    let statement = try database.statement(
      """
      SELECT number, registration_id, secret_hash, platform, alias, tags, last_seen_at, apns_environment,
        last_end
      FROM registration WHERE app_id = ? ORDER BY number
      """)
    try statement.each([.app(app)]) { body(Self.delivery($0)) }
  }

  /// Calls `body` for each registration of an app, by number, without holding them all.
  public func registrations(app: AppID, each body: (RegistrationRow) -> Void) throws(StorageError) {
    let statement = try database.statement(
      """
      SELECT app_id, number, registration_id, secret_hash, platform, fingerprint, alias, tags, apns_environment,
        apns_token, badge, mobile, app_version, created_at, last_seen_at
      FROM registration WHERE app_id = ? ORDER BY number
      """)
    try statement.each([.app(app)]) { body(Self.registration($0)) }
  }

  /// One registration, nil if the app has none of that number.
  public func registration(app: AppID, number: RegistrationNumber) throws(StorageError) -> RegistrationRow? {
    try database.first(
      """
      SELECT app_id, number, registration_id, secret_hash, platform, fingerprint, alias, tags, apns_environment,
        apns_token, badge, mobile, app_version, created_at, last_seen_at
      FROM registration WHERE app_id = ? AND number = ?
      """, .app(app), .number(number), map: Self.registration)
  }

  /// Calls `body` for each push of which something is undelivered, by ID.
  public func openPushes(each body: (OpenPush) -> Void) throws(StorageError) {
    let statement = try database.statement(
      """
      SELECT push.msg_id, push.app_id, push.created_at, push.expires_at, push.sendno, push.platforms, push.target,
        push.targets, push.target_count, push.strategy, push.overrides,
        CASE WHEN push.target IS NULL THEN push.content ELSE x'' END, push.own_targets, push.apns_targets,
        push.call_targets, NULL, NULL, push.online_only, delivered.targets
      FROM pending JOIN push ON push.msg_id = pending.msg_id
        LEFT JOIN delivered ON delivered.msg_id = pending.msg_id
      ORDER BY pending.msg_id
      """)
    try statement.each([]) { body(OpenPush(push: Self.push($0), delivered: $0.optionalBlob(18))) }
  }

  /// Calls `body` for each set of targets that will not get a push of which something is undelivered.
  public func droppedOfOpenPushes(
    each body: (_ id: MessageID, _ reason: String, _ targets: [UInt8]) -> Void
  ) throws(StorageError) {
    let statement = try database.statement(
      "SELECT msg_id, reason, targets FROM dropped WHERE msg_id IN (SELECT msg_id FROM pending)")
    try statement.each([]) { body($0.message(0), $0.text(1), $0.blob(2)) }
  }

  /// A push with its content, nil if it is unknown or swept.
  public func push(id: MessageID) throws(StorageError) -> PushRow? {
    try database.first(
      """
      SELECT msg_id, app_id, created_at, expires_at, sendno, platforms, target, targets, target_count, strategy,
        overrides, content, own_targets, apns_targets, call_targets, ios_targets, unreached, online_only
      FROM push WHERE msg_id = ?
      """, .message(id), map: Self.push)
  }

  /// What a device's connection needs of a push.
  public struct Content: Sendable, Equatable {
    /// What the devices get, in the router's encoding.
    public var content: [UInt8]
    /// Number of the channel strategy.
    public var strategy: UInt8
    /// Who gets it from Apple, in the router's encoding; nil for nobody.
    public var apnsTargets: [UInt8]?

    /// All fields.
    public init(content: [UInt8], strategy: UInt8, apnsTargets: [UInt8]?) {
      self.content = content
      self.strategy = strategy
      self.apnsTargets = apnsTargets
    }
  }

  /// The contents of pushes, in the order asked for; nil for an unknown one.
  public func contents(of ids: [MessageID]) throws(StorageError) -> [Content?] {
    var found: [Content?] = []
    found.reserveCapacity(ids.count)
    for id in ids {
      found.append(
        try database.first("SELECT content, strategy, apns_targets FROM push WHERE msg_id = ?", .message(id))
        {
          Content(
            content: $0.blob(0), strategy: $0.integer(1, as: UInt8.self), apnsTargets: $0.optionalBlob(2))
        })
    }
    return found
  }

  /// Whose push it is and what became of it, nil if it is unknown or swept.
  public func origin(of id: MessageID) throws(StorageError) -> PushOrigin? {
    try database.first("SELECT app_id, created_at, replaced_by FROM push WHERE msg_id = ?", .message(id)) {
      PushOrigin(app: $0.app(0), createdAt: $0.time(1), isReplaced: !$0.isNull(2))
    }
  }

  /// What is known of a push's end, nil if nothing.
  public func outcome(of id: MessageID) throws(StorageError) -> OutcomeRow? {
    try database.first("SELECT status, at, shown_at, tapped_at FROM outcome WHERE msg_id = ?", .message(id)) {
      OutcomeRow(
        status: OutcomeStatus(rawValue: $0.integer(0, as: UInt8.self)) ?? .open, at: $0.time(1),
        shownAt: $0.optionalInteger(2).map { Timestamp(milliseconds: $0) },
        tappedAt: $0.optionalInteger(3).map { Timestamp(milliseconds: $0) })
    }
  }

  /// The largest ID ever given that the database still knows, 0 if there is none. New IDs must be larger.
  public func lastMessageID() throws(StorageError) -> MessageID {
    try database.first(
      """
      SELECT max(coalesce((SELECT max(msg_id) FROM push), 0), coalesce((SELECT max(msg_id) FROM outcome), 0),
        coalesce((SELECT max(msg_id) FROM pending), 0), coalesce((SELECT max(msg_id) FROM schedule_run), 0),
        coalesce((SELECT max(group_msgid) FROM group_push), 0))
      """
    ) { $0.message(0) } ?? MessageID(0)
  }

  static func delivery(_ row: Statement) -> DeliveryRow {
    DeliveryRow(
      number: row.number(0),
      registrationID: RegistrationID(high: row.bigEndian(1, at: 0), low: row.bigEndian(1, at: 8)),
      secretHash: (row.bigEndian(2, at: 0), row.bigEndian(2, at: 8)),
      platform: Platform(rawValue: row.integer(3, as: UInt8.self)) ?? .android,
      alias: row.optionalText(4), tags: TagList.decode(row, 5), lastSeenAt: row.time(6),
      environment: APNsEnvironment(rawValue: row.integer(7, as: UInt8.self)) ?? .none,
      lastEnd: ConnectionEnd(rawValue: row.integer(8, as: UInt8.self)) ?? .unknown)
  }

  private static func registration(_ row: Statement) -> RegistrationRow {
    RegistrationRow(
      app: row.app(0), number: row.number(1), registrationID: RegistrationID(stored: row.blob(2)),
      secretHash: row.blob(3), platform: Platform(rawValue: row.integer(4, as: UInt8.self)) ?? .android,
      fingerprint: row.blob(5), alias: row.optionalText(6), tags: TagList.decode(row.blob(7)),
      environment: APNsEnvironment(rawValue: row.integer(8, as: UInt8.self)) ?? .none, token: row.blob(9),
      badge: row.integer(10), mobile: row.optionalText(11), appVersion: row.text(12),
      createdAt: row.time(13), lastSeenAt: row.time(14))
  }

  static func push(_ row: Statement) -> PushRow {
    PushRow(
      id: row.message(0), app: row.app(1), createdAt: row.time(2), expiresAt: row.time(3),
      sendno: row.integer(4), platforms: PlatformSet(rawValue: row.integer(5, as: UInt8.self)),
      target: row.optionalInteger(6).map { RegistrationNumber(UInt32(truncatingIfNeeded: $0)) },
      targets: row.optionalBlob(7), ownTargets: row.optionalBlob(12), apnsTargets: row.optionalBlob(13),
      callTargets: row.optionalBlob(14), iosTargets: row.optionalBlob(15), unreached: row.optionalBlob(16),
      isOnlineOnly: row.integer(17) != 0,
      targetCount: row.integer(8, as: UInt32.self),
      strategy: row.integer(9, as: UInt8.self),
      overrides: row.optionalInteger(10).map { MessageID(UInt64(truncatingIfNeeded: $0)) },
      content: row.blob(11))
  }

  /// What an app's request name stands for, nil if it is new.
  public func lookupCID(app: AppID, cid: String) throws(StorageError) -> CIDRow? {
    try database.first(
      """
      SELECT cid.msg_id, cid.sendno, push.target_count FROM cid LEFT JOIN push ON push.msg_id = cid.msg_id
      WHERE cid.app_id = ? AND cid.cid = ?
      """, .app(app), .text(cid)
    ) { CIDRow(id: $0.message(0), sendno: $0.integer(1), targetCount: $0.integer(2, as: UInt32.self)) }
  }
}
