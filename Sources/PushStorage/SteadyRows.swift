import PushBase

extension ReadTransaction {
  /// Over how many minutes from their acceptance pushes are spread, of those that are not all released.
  public func steadyPushes() throws(StorageError) -> [MessageID: Int64] {
    var minutes: [MessageID: Int64] = [:]
    let rows = try database.all("SELECT msg_id, minutes FROM steady_push") { ($0.message(0), $0.integer(1)) }
    for (id, value) in rows { minutes[id] = value }
    return minutes
  }

  /// How many pushes of an app are being spread.
  public func steadyPushCount(app: AppID, at now: Timestamp) throws(StorageError) -> Int {
    try database.first(
      "SELECT count(*) FROM steady_push WHERE app_id = ? AND ends_at > ?", .app(app), .time(now)
    ) { Int($0.integer(0)) } ?? 0
  }
}

extension WriteTransaction {
  /// Notes that a push is spread over minutes from its acceptance to an end.
  public func insertSteadyPush(
    id: MessageID, app: AppID, minutes: Int64, endsAt: Timestamp
  ) throws(StorageError) {
    try database.run(
      "INSERT INTO steady_push (msg_id, app_id, minutes, ends_at) VALUES (?, ?, ?, ?)", .message(id),
      .app(app), .integer(minutes), .time(endsAt))
  }

  /// A push is not spread any more, because it was taken back.
  public func endSteadyPush(id: MessageID) throws(StorageError) {
    try database.run("DELETE FROM steady_push WHERE msg_id = ?", .message(id))
  }

  /// Forgets the pushes that are all released.
  public func sweepSteadyPushes(endedBy now: Timestamp) throws(StorageError) {
    try database.run("DELETE FROM steady_push WHERE ends_at <= ?", .time(now))
  }
}
