import BorealisBase
import Model

/// What an app calls Getui's API with.
package struct GetuiAccessRow: Sendable, Equatable {
  /// Whose it is.
  package let app: AppID
  /// The master secret, sealed.
  package var secret: [UInt8]
  /// When it was made.
  package let changedAt: Timestamp

  /// Puts a row together.
  package init(app: AppID, secret: [UInt8], changedAt: Timestamp) {
    (self.app, self.secret, self.changedAt) = (app, secret, changedAt)
  }
}

/// A task that is no push itself: a stored message, which is sent many times while it lasts, or a push for
/// later.
package struct GetuiTaskRow: Sendable, Equatable {
  /// Its number.
  package let id: MessageID
  /// Whose it is.
  package let app: AppID
  /// The name of the request that stored it.
  package let requestID: String
  /// The group that its pushes count under; empty for none.
  package let groupName: String
  /// When it was stored.
  package let createdAt: Timestamp
  /// Until when it can be sent; of a push for later, when it is due.
  package let expiresAt: Timestamp
  /// Whether it was stopped.
  package let isStopped: Bool
  /// Row number of the schedule that makes its push, which may be gone; nil for a stored message.
  package let scheduleID: Int64?
  /// A digest of the request; nil for tasks of versions that did not store it.
  package let digest: [UInt8]?
  /// The push object without its audience, JSON in UTF-8; empty for a push for later, whose schedule has it.
  package fileprivate(set) var body: [UInt8]

  /// Puts a row together.
  package init(
    id: MessageID, app: AppID, requestID: String, groupName: String, createdAt: Timestamp,
    expiresAt: Timestamp, isStopped: Bool = false, scheduleID: Int64? = nil, digest: [UInt8]? = nil,
    body: [UInt8]
  ) {
    (self.id, self.app, self.requestID, self.groupName) = (id, app, requestID, groupName)
    (self.createdAt, self.expiresAt, self.isStopped, self.body) = (createdAt, expiresAt, isStopped, body)
    (self.scheduleID, self.digest) = (scheduleID, digest)
  }

  /// Whether a request with a digest is the one that created it. Without a digest the answer is yes.
  package func isSame(as digest: RequestDigest?) -> Bool { digest?.matches(self.digest) ?? true }
}

/// How a push for later stands.
package struct GetuiTimedTaskRow: Sendable, Equatable {
  package let task: GetuiTaskRow
  /// The schedule that makes its push; nil if that was deleted.
  package let schedule: Schedule?
  /// What came of it: the error's code, 0 for none; nil while nothing did.
  package let outcome: Int?

  /// What is told of a schedule.
  package struct Schedule: Sendable, Equatable {
    /// Its public name.
    package let uuid: String
    /// When it is due, or was.
    package let dueAt: Timestamp
    /// The push object, JSON in UTF-8.
    package fileprivate(set) var push: [UInt8]
  }
}

/// Access, tokens and tasks of Getui's API.
package struct GetuiRepository<Access>: Repository {
  let database: Database
}

extension GetuiRepository {
  private static var selectGetuiTask: StaticString {
    """
    SELECT id, app_id, request_id, group_name, created_at, expires_at, stopped_at, schedule_id, digest, body
    FROM getui_task
    """
  }

  /// The access of an app, nil if it has none.
  package func access(app: AppID) throws(StorageError) -> GetuiAccessRow? {
    try database.first(
      "SELECT app_id, secret, changed_at FROM getui_access WHERE app_id = ?", .app(app), map: Self.access)
  }

  /// The access of all apps, by number.
  package func accesses() throws(StorageError) -> [GetuiAccessRow] {
    try database.all("SELECT app_id, secret, changed_at FROM getui_access ORDER BY app_id", map: Self.access)
  }

  private static func access(_ row: Row) -> GetuiAccessRow {
    GetuiAccessRow(app: row.app("app_id"), secret: row.blob("secret"), changedAt: row.time("changed_at"))
  }

  /// The pushes of an app's task in a range of IDs, the oldest first; none for any other push.
  package func pushes(
    ofTask task: MessageID, app: AppID, from first: MessageID = MessageID(0),
    below end: MessageID = MessageID(UInt64(Int64.max)), limit: Int
  ) throws(StorageError) -> [MessageID] {
    try database.all(
      """
      SELECT push_id FROM getui_push WHERE task_id = ? AND app_id = ? AND push_id >= ? AND push_id < ?
      ORDER BY push_id LIMIT ?
      """, .message(task), .app(app), .message(first), .message(end), .integer(limit)
    ) { $0.message() }
  }

  /// The pushes of an app's task below an ID, the newest first; none for any other push.
  package func latestPushes(
    ofTask task: MessageID, app: AppID, below end: MessageID, limit: Int
  ) throws(StorageError) -> [MessageID] {
    try database.all(
      """
      SELECT push_id FROM getui_push WHERE task_id = ? AND app_id = ? AND push_id < ?
      ORDER BY push_id DESC LIMIT ?
      """, .message(task), .app(app), .message(end), .integer(limit)
    ) { $0.message() }
  }

  /// The pushes of an app's task from an ID on that are not recalled and whose time to live ends in a range
  /// of moments, the oldest first.
  package func recallablePushes(
    ofTask task: MessageID, app: AppID, from first: MessageID, endingIn moments: ClosedRange<Timestamp>,
    limit: Int
  ) throws(StorageError) -> [MessageID] {
    try database.all(
      """
      SELECT push_id FROM getui_push JOIN push ON push.msg_id = push_id
        LEFT JOIN outcome ON outcome.msg_id = push_id
      WHERE task_id = ? AND getui_push.app_id = ? AND push_id >= ? AND push.expires_at >= ?
        AND push.expires_at <= ? AND outcome.taken_back_at IS NULL
      ORDER BY push_id LIMIT ?
      """, .message(task), .app(app), .message(first), .time(moments.lowerBound), .time(moments.upperBound),
      .integer(limit)
    ) { $0.message() }
  }

  /// The pushes of a group of an app's tasks in a range of IDs, the oldest first.
  package func pushes(
    ofGroup name: String, app: AppID, from first: MessageID, below end: MessageID, limit: Int
  ) throws(StorageError) -> [MessageID] {
    try database.all(
      """
      SELECT push_id FROM getui_push WHERE app_id = ? AND group_name = ? AND push_id >= ? AND push_id < ?
      ORDER BY push_id LIMIT ?
      """, .app(app), .text(name), .message(first), .message(end), .integer(limit)
    ) { $0.message() }
  }

  /// What Getui calls the task of an app's push, whichever API sent it; nil if the app has no such push.
  package func name(ofTaskWith push: MessageID, app: AppID) throws(StorageError) -> GetuiTaskID? {
    try database.first(
      """
      SELECT push.traits, getui_push.task_id FROM push
      LEFT JOIN getui_push ON getui_push.push_id = push.msg_id WHERE push.msg_id = ? AND push.app_id = ?
      """, .message(push), .app(app)
    ) { row in
      let traits = PushTraits(rawValue: row.integer("traits", as: UInt16.self))
      // Lists and single pushes name devices or aliases, and nothing else.
      let others = PushTraits.audiences.subtracting([.registrations, .aliases])
      let namesTargets = traits.isDisjoint(with: others)
      guard let task = row.optionalInteger("task_id") else {
        return GetuiTaskID(namesTargets ? .single : .app, push)
      }
      return GetuiTaskID(namesTargets ? .list : .app, MessageID(UInt64(truncatingIfNeeded: task)))
    }
  }

  /// The tokens of an app that were revoked and have not expired yet.
  package func revokedTokens(app: AppID, at now: Timestamp) throws(StorageError) -> [[UInt8]] {
    try database.all(
      "SELECT token FROM getui_revoked_token WHERE app_id = ? AND expires_at > ?", .app(app), .time(now)
    ) { $0.blob("token") }
  }
}

extension GetuiRepository {
  /// A stored message of an app, nil if it has none of that number.
  package func task(_ id: MessageID, app: AppID) throws(StorageError) -> GetuiTaskRow? {
    try opened(
      database.first(
        Self.selectGetuiTask, "WHERE app_id = ? AND id = ?", .app(app), .message(id), map: Self.task))
  }

  /// The stored message that a request made.
  package func task(requestID: String, app: AppID) throws(StorageError) -> GetuiTaskRow? {
    try opened(
      database.first(
        Self.selectGetuiTask, "WHERE app_id = ? AND request_id = ?", .app(app), .text(requestID),
        map: Self.task))
  }

  private func opened(_ row: GetuiTaskRow?) throws(StorageError) -> GetuiTaskRow? {
    guard var row else { return nil }
    row.body = try database.opened(row.body, of: row.app, .task)
    return row
  }

  private static func task(_ row: Row) -> GetuiTaskRow {
    GetuiTaskRow(
      id: row.message("id"), app: row.app("app_id"), requestID: row.text("request_id"),
      groupName: row.text("group_name"), createdAt: row.time("created_at"), expiresAt: row.time("expires_at"),
      isStopped: !row.isNull("stopped_at"), scheduleID: row.optionalInteger("schedule_id"),
      digest: row.optionalBlob("digest"), body: row.blob("body"))
  }

  /// A push for later of an app with what is known of it; nil if it has none of that number.
  package func timedTask(_ id: MessageID, app: AppID) throws(StorageError) -> GetuiTimedTaskRow? {
    guard let task = try task(id, app: app), let schedule = task.scheduleID else { return nil }
    var found = try database.first(
      "SELECT uuid, last_at, push_json FROM schedule WHERE id = ? AND app_id = ?", .integer(schedule),
      .app(app)
    ) {
      GetuiTimedTaskRow.Schedule(
        uuid: $0.text("uuid"), dueAt: $0.time("last_at"), push: $0.blob("push_json"))
    }
    if let push = found?.push { found?.push = try database.opened(push, of: app, .schedule) }
    // A time that it was moved from too late is no outcome of the time that it has now.
    let outcome = try database.first(
      """
      SELECT code FROM schedule_run WHERE schedule_id = ?1
        AND occurrence = (SELECT last_local FROM schedule WHERE id = ?1)
      ORDER BY msg_id DESC LIMIT 1
      """, .integer(schedule)
    ) { $0.count("code") }
    if outcome != nil { return GetuiTimedTaskRow(task: task, schedule: found, outcome: outcome) }
    // With its schedule goes what is known of its run; the push says enough.
    let isMade = try !pushes(ofTask: id, app: app, limit: 1).isEmpty
    return GetuiTimedTaskRow(task: task, schedule: found, outcome: isMade ? 0 : nil)
  }
}

extension GetuiRepository<Writing> {
  /// Stores a task.
  package func insertTask(_ row: GetuiTaskRow) throws(StorageError) {
    let body = try database.stored(row.body, of: row.app, .task)
    try database.run(
      """
      INSERT INTO getui_task (id, app_id, request_id, group_name, created_at, expires_at, schedule_id, digest,
        body)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, .message(row.id), .app(row.app), .text(row.requestID), .text(row.groupName), .time(row.createdAt),
      .time(row.expiresAt), .optional(row.scheduleID), .optional(row.digest), .blob(body))
  }

  /// Notes that the schedule of a push for later has another time; nothing if no task stands behind the
  /// schedule.
  package func moveTask(ofSchedule schedule: Int64, to moment: Timestamp) throws(StorageError) {
    try database.run(
      "UPDATE getui_task SET expires_at = ? WHERE schedule_id = ?", .time(moment), .integer(schedule))
  }

  /// Deletes the task that a schedule was made for, if nothing was sent.
  func deleteTask(ofSchedule schedule: Int64, app: AppID) throws(StorageError) {
    try database.run(
      """
      DELETE FROM getui_task WHERE app_id = ? AND schedule_id = ?
        AND NOT EXISTS (SELECT 1 FROM getui_push WHERE task_id = getui_task.id)
      """, .app(app), .integer(schedule))
  }

  /// Ends a task: it cannot be sent any more.
  package func stopTask(_ id: MessageID, app: AppID, at now: Timestamp) throws(StorageError) {
    try database.run(
      "UPDATE getui_task SET stopped_at = ? WHERE id = ? AND app_id = ? AND stopped_at IS NULL", .time(now),
      .message(id), .app(app))
  }

  /// Whether a stored message can still be sent.
  package func isOpen(_ task: MessageID, app: AppID, at now: Timestamp) throws(StorageError) -> Bool {
    try database.first(
      """
      SELECT 1 FROM getui_task
      WHERE id = ? AND app_id = ? AND schedule_id IS NULL AND stopped_at IS NULL AND expires_at > ?
      """, .message(task), .app(app), .time(now)
    ) { _ in true } ?? false
  }

  /// Records a push of a stored message, with the group of the message, or of a group alone; nothing if it
  /// has neither.
  package func insertPush(
    _ id: MessageID, app: AppID, task: MessageID?, groupName: String
  ) throws(StorageError) {
    if let task {
      try database.run(
        """
        INSERT INTO getui_push (push_id, app_id, task_id, group_name)
        SELECT ?, app_id, id, group_name FROM getui_task WHERE id = ? AND app_id = ?
        """, .message(id), .message(task), .app(app))
    } else if !groupName.isEmpty {
      try database.run(
        "INSERT INTO getui_push (push_id, app_id, group_name) VALUES (?, ?, ?)", .message(id), .app(app),
        .text(groupName))
    }
  }

  /// Records the push that a schedule has made, if a task stands behind the schedule.
  package func insertPush(_ id: MessageID, ofSchedule schedule: Int64) throws(StorageError) {
    try database.run(
      """
      INSERT INTO getui_push (push_id, app_id, task_id, group_name)
      SELECT ?, app_id, id, group_name FROM getui_task WHERE schedule_id = ?
      """, .message(id), .integer(schedule))
  }

  /// Deletes some of what is too old: messages and tokens that ended before a moment, and pushes below a
  /// number.
  package func sweep(
    endedBefore: Timestamp, pushesBelow: MessageID, limit: Int, in rows: AppRows
  ) throws(StorageError) {
    try database.run(
      """
      DELETE FROM getui_task WHERE id IN (
        SELECT id FROM getui_task WHERE expires_at < ? AND {own getui_task.app_id}
        ORDER BY expires_at LIMIT ?)
      """, in: rows, .time(endedBefore), .integer(limit))
    try database.run(
      """
      DELETE FROM getui_revoked_token WHERE (app_id, token) IN (
        SELECT app_id, token FROM getui_revoked_token
        WHERE expires_at < ? AND {own getui_revoked_token.app_id} ORDER BY expires_at LIMIT ?)
      """, in: rows, .time(endedBefore), .integer(limit))
    try database.run(
      """
      DELETE FROM getui_push WHERE push_id IN (
        SELECT push_id FROM getui_push WHERE push_id < ? AND {own getui_push.app_id}
        ORDER BY push_id LIMIT ?)
      """, in: rows, .message(pushesBelow), .integer(limit))
  }

  /// Sets an app's master secret, replacing the previous one.
  package func setAccess(_ row: GetuiAccessRow) throws(StorageError) {
    try database.run(
      """
      INSERT INTO getui_access (app_id, secret, changed_at) VALUES (?, ?, ?)
      ON CONFLICT (app_id) DO UPDATE SET secret = excluded.secret, changed_at = excluded.changed_at
      """, .app(row.app), .blob(row.secret), .time(row.changedAt))
  }

  /// Deletes an app's access; false if it has none.
  package func removeAccess(app: AppID) throws(StorageError) -> Bool {
    try database.run("DELETE FROM getui_access WHERE app_id = ?", .app(app))
    return database.changes > 0
  }

  /// Records that a token was revoked.
  package func revokeToken(_ token: [UInt8], app: AppID, expiresAt: Timestamp) throws(StorageError) {
    try database.run(
      """
      INSERT INTO getui_revoked_token (app_id, token, expires_at) VALUES (?, ?, ?)
      ON CONFLICT (app_id, token) DO NOTHING
      """, .app(app), .blob(token), .time(expiresAt))
  }
}
