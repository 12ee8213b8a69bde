import BorealisBase
import Model

/// Pushes on their way by vendors' channels: their targets there, and what the channels' services answered.
package struct ChannelQueueRepository<Access>: Repository {
  let database: Database
}

extension ChannelQueueRepository {
  /// The oldest pushes of an app that a channel's service has not answered for all devices of, above an ID,
  /// at most `limit`. `triedOnce` are the kinds of the channel's tokens to which things are sent at most
  /// once.
  package func open(
    of channel: ChannelID, app: AppID, after id: MessageID, limit: Int, triedOnce: Set<UInt8> = []
  ) throws(StorageError) -> [OpenChannelPush] {
    try pushes(
      of: channel, app: app, after: id, endingBy: Timestamp(milliseconds: .max), limit: limit,
      triedOnce: triedOnce)
  }

  /// The same, of those whose time is over.
  package func expired(
    of channel: ChannelID, app: AppID, at now: Timestamp, limit: Int, triedOnce: Set<UInt8> = []
  ) throws(StorageError) -> [OpenChannelPush] {
    try pushes(
      of: channel, app: app, after: MessageID(0), endingBy: now, limit: limit, triedOnce: triedOnce)
  }

  /// The oldest pushes of an app that a channel's service has not answered for all devices of, above an ID,
  /// at most `limit`, with the targets of their main leg where these take at most so many bytes. Costs two
  /// small rows for each.
  package func targets(
    of channel: ChannelID, app: AppID, after id: MessageID, limit: Int, setBytes: Int
  ) throws(StorageError) -> [(id: MessageID, targets: [UInt8]?)] {
    try database.all(
      """
      SELECT channel_pending.msg_id AS msg_id,
        CASE WHEN length(channel_targets.targets) <= ? THEN channel_targets.targets END AS targets
      FROM channel_pending LEFT JOIN channel_targets
        ON channel_targets.msg_id = channel_pending.msg_id AND channel_targets.channel = channel_pending.channel
        AND channel_targets.leg = ? AND channel_targets.outcome = ''
      WHERE channel_pending.app_id = ? AND channel_pending.channel = ? AND channel_pending.msg_id > ?
      ORDER BY channel_pending.msg_id LIMIT ?
      """, .integer(setBytes), .integer(DeliveryLeg.main), .app(app), .integer(channel.rawValue),
      .message(id), .integer(limit)
    ) { ($0.message("msg_id"), $0.optionalBlob("targets")) }
  }

  /// A push of an app that a channel's service has not answered for all devices of; nil if there is none of
  /// this ID.
  package func find(
    _ id: MessageID, of channel: ChannelID, app: AppID, triedOnce: Set<UInt8> = []
  ) throws(StorageError) -> OpenChannelPush? {
    let before = MessageID(id.rawValue &- 1)
    return try open(of: channel, app: app, after: before, limit: 1, triedOnce: triedOnce).first {
      $0.push.id == id
    }
  }

  private func pushes(
    of channel: ChannelID, app: AppID, after id: MessageID, endingBy end: Timestamp, limit: Int,
    triedOnce: Set<UInt8>
  ) throws(StorageError) -> [OpenChannelPush] {
    let ids = try database.all(
      """
      SELECT msg_id FROM channel_pending WHERE app_id = ? AND channel = ? AND msg_id > ? AND expires_at <= ?
        AND EXISTS (SELECT 1 FROM push WHERE push.msg_id = channel_pending.msg_id)
      ORDER BY msg_id LIMIT ?
      """, .app(app), .integer(channel.rawValue), .message(id), .time(end), .integer(limit)
    ) { $0.message("msg_id") }
    var pushes: [OpenChannelPush] = []
    for id in ids {
      guard let push = try transaction.pushes.find(id: id) else { continue }
      var open = OpenChannelPush(push: push, results: try legs(of: id).results)
      for kind in triedOnce { open.tried[kind] = try tried(of: id, by: channel, kind) }
      open.isWithdrawn = try transaction.deliveries.outcome(of: id)?.withdrawal != nil
      pushes.append(open)
    }
    return pushes
  }

  /// The channels whose services have not answered for all devices of a push.
  func pending(of id: MessageID, app: AppID) throws(StorageError) -> Set<ChannelID> {
    let channels = try database.all(
      """
      SELECT channel FROM channel_targets JOIN channel_pending USING (channel, msg_id)
      WHERE channel_targets.msg_id = ? AND channel_pending.app_id = ?
      """, .message(id), .app(app)
    ) { ChannelID(rawValue: $0.integer("channel", as: UInt8.self)) }
    return Set(channels)
  }

  /// Who is to get a push from vendors' channels.
  func targets(of id: MessageID) throws(StorageError) -> [LegTargetsRow] {
    try database.all(
      "SELECT channel, leg, targets FROM channel_targets WHERE msg_id = ? AND outcome = ''", .message(id),
      map: Self.leg)
  }

  /// The targets of a push on channels to outside services, and those with an outcome.
  func legs(of id: MessageID) throws(StorageError) -> (targets: [LegTargetsRow], results: LegResults) {
    let rows = try database.all(
      "SELECT channel, leg, outcome, targets FROM channel_targets WHERE msg_id = ? AND targets IS NOT NULL",
      .message(id)
    ) { (Self.leg($0), $0.text("outcome")) }
    var found: (targets: [LegTargetsRow], results: LegResults) = ([], [:])
    for (row, outcome) in rows {
      if outcome.isEmpty {
        found.targets.append(row)
      } else {
        found.results[row.leg, default: [:]][outcome] = row.targets
      }
    }
    return found
  }

  /// Who is to get pushes to several from vendors' channels, of which something is undelivered over the
  /// direct connection.
  func openLegs(in rows: AppRows) throws(StorageError) -> [MessageID: [LegTargetsRow]] {
    let rows = try database.all(
      """
      SELECT msg_id, channel, leg, targets FROM channel_targets
      WHERE outcome = ''
        AND msg_id IN (
          SELECT msg_id FROM pending {sqlite CROSS} JOIN push USING (msg_id)
          WHERE push.target IS NULL AND {own pending.app_id})
      """, in: rows
    ) { ($0.message("msg_id"), Self.leg($0)) }
    return rows.reduce(into: [:]) { $0[$1.0, default: []].append($1.1) }
  }

  private static func leg(_ row: Row) -> LegTargetsRow {
    LegTargetsRow(
      leg: DeliveryLeg(
        ChannelID(rawValue: row.integer("channel", as: UInt8.self)), row.integer("leg", as: UInt8.self)),
      targets: row.blob("targets"))
  }

  /// The number for a device's icon that is stored; nil for an unknown registration.
  package func badge(of number: RegistrationNumber, app: AppID) throws(StorageError) -> Int64? {
    try database.first(
      "SELECT badge FROM registration WHERE app_id = ? AND number = ?", .app(app), .number(number)
    ) { $0.integer() }
  }

  /// For whom something was taken of a push, for a kind of a channel's tokens.
  private func tried(
    of id: MessageID, by channel: ChannelID, _ kind: UInt8
  ) throws(StorageError) -> [RegistrationNumber] {
    try database.all(
      "SELECT taken FROM channel_taken WHERE msg_id = ? AND channel = ? AND kind = ? ORDER BY range",
      .message(id), .integer(channel.rawValue), .integer(kind)
    ) { ClaimedBadges.decode($0.blob()) }.flatMap { $0.map(\.number) }
  }
}

extension ChannelQueueRepository<Writing> {
  /// Records that a push is pending on a channel. `.constraint` if it is recorded already.
  package func insert(
    id: MessageID, app: AppID, channel: ChannelID, expiresAt: Timestamp
  ) throws(StorageError) {
    try database.runLater(
      "INSERT INTO channel_pending (app_id, channel, msg_id, expires_at) VALUES (?, ?, ?, ?)", .app(app),
      .integer(channel.rawValue), .message(id), .time(expiresAt))
  }

  /// The same, whether it is recorded already or not.
  package func ensure(
    id: MessageID, app: AppID, channel: ChannelID, expiresAt: Timestamp
  ) throws(StorageError) {
    try database.run(
      """
      INSERT INTO channel_pending (app_id, channel, msg_id, expires_at) VALUES (?, ?, ?, ?)
      ON CONFLICT (app_id, channel, msg_id) DO NOTHING
      """, .app(app), .integer(channel.rawValue), .message(id), .time(expiresAt))
  }

  /// Ends a push on a channel; false if it had ended before.
  @discardableResult
  package func finish(id: MessageID, app: AppID, channel: ChannelID) throws(StorageError) -> Bool {
    try database.run(
      "DELETE FROM channel_pending WHERE app_id = ? AND channel = ? AND msg_id = ?", .app(app),
      .integer(channel.rawValue), .message(id))
    guard database.changes > 0 else { return false }
    try database.run(
      "DELETE FROM channel_taken WHERE msg_id = ? AND channel = ?", .message(id), .integer(channel.rawValue))
    return true
  }

  /// Saves the targets of an outcome of a push's leg, also of one that was recalled in the meantime. Sets
  /// only grow.
  package func saveResult(
    _ id: MessageID, _ leg: DeliveryLeg, _ outcome: String, targets: [UInt8], count: Int
  ) throws(StorageError) {
    try database.run(
      """
      INSERT INTO channel_targets (msg_id, channel, leg, outcome, count, targets) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (msg_id, channel, leg, outcome) DO UPDATE SET count = excluded.count, targets = excluded.targets
      WHERE excluded.count >= channel_targets.count
      """, .message(id), .integer(leg.channel.rawValue), .integer(leg.number), .text(outcome),
      .integer(count), .blob(targets))
  }

  /// Stores who is to get a leg of a push, in place of what was stored. `haveGrown` if they are more than
  /// when the push was accepted: `grownTargets`.
  package func setTargets(
    of id: MessageID, _ row: LegTargetsRow, haveGrown: Bool = false
  ) throws(StorageError) {
    try database.runLater(
      """
      INSERT INTO channel_targets (msg_id, channel, leg, outcome, count, targets)
      VALUES (?, ?, ?, '', ?, ?)
      ON CONFLICT (msg_id, channel, leg, outcome) DO UPDATE SET
        count = CASE WHEN excluded.count > channel_targets.count THEN excluded.count
          ELSE channel_targets.count END,
        targets = excluded.targets
      """, .message(id), .integer(row.leg.channel.rawValue), .integer(row.leg.number),
      .integer(haveGrown ? 1 : 0), .blob(row.targets))
  }

  /// Who is to get a leg of a push, if they have become more since it was accepted; nil if not.
  package func grownTargets(of id: MessageID, _ leg: DeliveryLeg) throws(StorageError) -> [UInt8]? {
    try database.first(
      """
      SELECT targets FROM channel_targets
      WHERE msg_id = ? AND channel = ? AND leg = ? AND outcome = '' AND count > 0
      """, .message(id), .integer(leg.channel.rawValue), .integer(leg.number)
    ) { $0.blob() }
  }

  /// Changes who waits for a push over the direct connection, after a channel's service has refused it for
  /// some.
  package func setOwnTargets(id: MessageID, own: [UInt8]) throws(StorageError) {
    try database.run("UPDATE push SET own_targets = ? WHERE msg_id = ?", .blob(own), .message(id))
  }

  /// Claims for devices what a push may claim once for a kind of token: the next number for the icon, which
  /// is stored and reported, and the one try of what is sent at most once. Those for whom that was done
  /// before get the same number again. `numbers` ascend strictly; unknown registrations are passed over.
  /// Costs the same however much the push has claimed before.
  package func claim(
    _ push: MessageID, app: AppID, _ slot: TokenSlot, for numbers: [RegistrationNumber],
    _ badge: BadgeChange
  ) throws(StorageError) -> [RegistrationNumber: Int64] {
    var taken: [RegistrationNumber: Int64] = [:]
    var rest = numbers[...]
    while let first = rest.first {
      let range = ClaimedBadges.range(of: first)
      let asked = rest.prefix { $0.rawValue >> 8 == first.rawValue >> 8 }
      rest = rest.dropFirst(asked.count)
      let row = try database.first(
        ClaimedBadges.row, .message(push), .integer(slot.channel.rawValue), .integer(slot.kind), .blob(range),
        map: { $0.blob() })
      var entries = row.map(ClaimedBadges.decode) ?? []
      let known = Dictionary(entries.map { ($0.number, $0.badge) }) { first, _ in first }
      for number in asked {
        if let badge = known[number] {
          taken[number] = badge
        } else if let badge = try next(badge, for: number, of: app) {
          entries.append((number, badge))
          taken[number] = badge
        }
      }
      guard entries.count > known.count else { continue }
      entries.sort { $0.number < $1.number }
      try database.run(
        """
        INSERT INTO channel_taken (msg_id, channel, kind, range, taken) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (msg_id, channel, kind, range) DO UPDATE SET taken = excluded.taken
        """, .message(push), .integer(slot.channel.rawValue), .integer(slot.kind), .blob(range),
        .blob(ClaimedBadges.encode(entries)))
    }
    return taken
  }

  /// Counts a device's icon on; gives 0 where nothing is counted, nil for an unknown registration.
  private func next(_ badge: BadgeChange, for number: RegistrationNumber, of app: AppID) throws(StorageError)
    -> Int64?
  {
    guard let stored = try self.badge(of: number, app: app) else { return nil }
    guard let next = badge.applied(to: stored) else { return 0 }
    if next != stored { _ = try transaction.registrations.setBadge(app: app, number: number, next) }
    return next
  }
}

/// Registration numbers with numbers for the icon, as `channel_taken` holds them.
enum ClaimedBadges {
  /// What finds the row of a range.
  static let row: StaticString =
    "SELECT taken FROM channel_taken WHERE msg_id = ? AND channel = ? AND kind = ? AND range = ?"

  typealias Entry = (number: RegistrationNumber, badge: Int64)

  /// What names the row of a number: 256 neighbours are in one.
  static func range(of number: RegistrationNumber) -> [UInt8] {
    var writer = ByteWriter(capacity: 4)
    writer.write(number.rawValue)
    return Array(writer.bytes.prefix(3))
  }

  static func encode(_ entries: [Entry]) -> [UInt8] {
    var writer = ByteWriter(capacity: entries.count * 8)
    for entry in entries {
      writer.write(entry.number.rawValue)
      writer.write(UInt32(clamping: entry.badge))
    }
    return writer.bytes
  }

  static func decode(_ bytes: [UInt8]) -> [Entry] {
    var reader = ByteReader(bytes)
    var entries: [Entry] = []
    while let number = reader.read(UInt32.self), let badge = reader.read(UInt32.self) {
      entries.append((RegistrationNumber(number), Int64(badge)))
    }
    return entries
  }
}
