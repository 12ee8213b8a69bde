import BorealisBase
import Model

/// Erasures of people, and what they look through.
package struct ErasureRepository<Access>: Repository {
  let database: Database
}

extension ErasureRepository {
  private static var selectErasure: StaticString {
    "SELECT id, app_id, asked_at, step, position, names, done_at FROM erasure"
  }

  private static func row(_ row: Row) -> ErasureRow {
    ErasureRow(
      id: row.integer("id"), app: row.app("app_id"), askedAt: row.time("asked_at"),
      step: row.integer("step", as: UInt8.self), position: row.integer("position"),
      names: ErasedNames(row.optionalBlob("names") ?? []),
      doneAt: row.isNull("done_at") ? nil : row.time("done_at"))
  }

  /// The oldest erasure behind one that has not come to a step yet.
  package func next(
    after id: Int64, before step: UInt8, in rows: AppRows
  ) throws(StorageError) -> ErasureRow? {
    try database.statement(
      Self.selectErasure,
      "WHERE done_at IS NULL AND id > ? AND step < ? AND {own erasure.app_id} ORDER BY id LIMIT 1", in: rows
    ).all([.integer(id), .integer(step)], Self.row).first
  }

  /// The oldest erasures that have come to a step.
  package func all(at step: UInt8, limit: Int, in rows: AppRows) throws(StorageError) -> [ErasureRow] {
    try database.statement(
      Self.selectErasure,
      "WHERE done_at IS NULL AND step = ? AND {own erasure.app_id} ORDER BY id LIMIT ?", in: rows
    ).all([.integer(step), .integer(limit)], Self.row)
  }

  /// An erasure of an app; nil if it is unknown or forgotten.
  package func find(_ id: Int64, app: AppID) throws(StorageError) -> ErasureRow? {
    try database.first(
      Self.selectErasure, "WHERE id = ? AND app_id = ?", .integer(id), .app(app), map: Self.row)
  }

  /// How many erasures of an app are not done.
  package func openCount(app: AppID) throws(StorageError) -> Int {
    try database.first(
      "SELECT count(*) FROM erasure {sqlite INDEXED BY erasure_open} WHERE done_at IS NULL AND app_id = ?",
      .app(app)
    ) { $0.count() } ?? 0
  }

  /// The registrations of a person.
  package func registrations(
    of person: DataSubject, app: AppID, limit: Int
  ) throws(StorageError) -> [RegistrationNumber] {
    switch person {
    case .alias(let alias):
      return try database.all(
        "SELECT number FROM registration WHERE app_id = ? AND alias = ? ORDER BY number LIMIT ?", .app(app),
        .text(alias), .integer(limit)
      ) { $0.number() }
    case .registration(let id):
      return try database.all(
        "SELECT number FROM registration WHERE app_id = ? AND registration_id = ?", .app(app),
        .blob(id.stored)
      ) { $0.number() }
    }
  }

  // MARK: What is looked through

  /// The next pushes of an app, ascending.
  package func pushes(
    app: AppID, after id: MessageID, erasing count: Int, limit: Int, at now: Timestamp
  ) throws(StorageError) -> [ErasablePush] {
    // 56: the audience has tags, aliases or registration IDs; 0: pushes of versions that did not say.
    let rows = try database.all(
      """
      SELECT msg_id, created_at, expires_at, target,
        CASE WHEN target IS NULL AND target_count <= ?3 THEN targets END AS targets,
        CASE WHEN traits & 56 <> 0 OR traits & 511 = 0 THEN object END AS object
      FROM push {sqlite INDEXED BY push_app} WHERE app_id = ?1 AND msg_id > ?2 ORDER BY msg_id LIMIT ?4
      """, .app(app), .message(id), .integer(count), .integer(limit)
    ) {
      ErasablePush(
        id: $0.message("msg_id"), createdAt: $0.time("created_at"), isInTime: $0.time("expires_at") > now,
        target: $0.isNull("target") ? nil : $0.number("target"), targets: $0.optionalBlob("targets"),
        object: $0.optionalBlob("object"))
    }
    return try rows.map { row throws(StorageError) in
      let object = try row.object.map { object throws(StorageError) in
        try database.opened(object, of: app, .pushObject)
      }
      return ErasablePush(
        id: row.id, createdAt: row.createdAt, isInTime: row.isInTime, target: row.target,
        targets: row.targets, object: object)
    }
  }

  /// The pushes of the next schedules of an app.
  package func schedules(
    app: AppID, after id: Int64, limit: Int
  ) throws(StorageError) -> [ErasableText] {
    let rows = try database.all(
      """
      SELECT id, created_at, push_json AS text FROM schedule WHERE app_id = ? AND id > ? ORDER BY id LIMIT ?
      """, .app(app), .integer(id), .integer(limit), map: Self.text)
    return try rows.map { row throws(StorageError) in
      ErasableText(
        id: row.id, createdAt: row.createdAt, text: try database.opened(row.text, of: app, .schedule))
    }
  }

  /// Pieces that a file has at most: files have a million values of at most 255 bytes, and a piece about 256
  /// KiB.
  private static var pieces: Int64 { 4096 }

  /// The next piece of an app's files: its number among all of them, and its lines.
  package func piece(app: AppID, key: String, after place: Int64) throws(StorageError) -> ErasableText? {
    let (file, piece) = (place / Self.pieces, place % Self.pieces)
    let found = try database.first(
      """
      SELECT file.id AS file, file.created_at AS created_at, file_piece.number AS number
      FROM file JOIN file_piece ON file_piece.file = file.id
      WHERE file.owner = ?1 AND (file.id > ?2 OR file.id = ?2 AND file_piece.number > ?3)
      ORDER BY file.id, file_piece.number LIMIT 1
      """, .text(key), .integer(file), .integer(piece)
    ) { (file: $0.integer("file"), createdAt: $0.time("created_at"), number: $0.integer("number")) }
    guard let found, let lines = try transaction.files.piece(found.file, Int(found.number)) else {
      return nil
    }
    return ErasableText(
      id: found.file * Self.pieces + found.number, createdAt: found.createdAt, text: lines)
  }

  /// The bodies of the next callbacks of an app in a state.
  package func callbacks(
    app: AppID, _ state: CallbackState, after id: Int64, limit: Int
  ) throws(StorageError) -> [ErasableText] {
    let rows = try database.all(
      """
      SELECT id, created_at, body AS text FROM callback_batch {sqlite INDEXED BY callback_batch_list}
      WHERE app_id = ? AND state = ? AND id > ? ORDER BY id LIMIT ?
      """, .app(app), .integer(state.rawValue), .integer(id), .integer(limit), map: Self.text)
    return try rows.map { row throws(StorageError) in
      ErasableText(
        id: row.id, createdAt: row.createdAt, text: try database.opened(row.text, of: app, .callbackBody))
    }
  }

  private static func text(_ row: Row) -> ErasableText {
    ErasableText(id: row.integer("id"), createdAt: row.time("created_at"), text: row.blob("text"))
  }
}

extension ErasureRepository<Writing> {
  /// Registrations that one erasure deletes at most, and replaced ones of which it knows.
  private static var most: Int { 1000 }
  /// Milliseconds for which an erasure that is done can be asked about.
  private static var lifetime: Int64 { 30 * 86_400_000 }

  /// Begins to erase a person: deletes the registrations, and notes what else is looked for.
  package func begin(
    _ person: DataSubject, app: AppID, at now: Timestamp
  ) throws(StorageError) -> (id: Int64, gone: [ReplacedRegistration]) {
    var names = ErasedNames()
    var (gone, aliases): ([ReplacedRegistration], Set<ExactName>) = ([], [])
    switch person {
    case .alias(let alias): aliases = [ExactName(alias)]
    case .registration(let id): names.ids = [id.text]
    }
    for number in try registrations(of: person, app: app, limit: Self.most) {
      guard let row = try transaction.registrations.find(app: app, number: number) else { continue }
      if let alias = row.alias { aliases.insert(ExactName(alias)) }
      for (tag, name) in zip(row.tags, try transaction.tags.names(app: app, numbers: row.tags)) {
        names.tags[tag] = name
      }
      names.facts += (try transaction.facts.values(app: app, of: number) ?? []).map(\.number)
      names.ids += try transaction.registrations.formerIDs(app: app, of: [number]).map(\.value)
      guard let one = try transaction.registrations.remove(app: app, number: number, at: now) else {
        continue
      }
      gone.append(one)
      if case .alias = person { names.ids.append(one.registrationID.text) }
    }
    for alias in aliases where try transaction.registrations.count(app: app, alias: alias.text) == 0 {
      names.aliases.append(alias.text)
    }
    names.numbers = gone.map(\.number)
    try forgetReplaced(&names, app: app)
    try forgetDone(app: app, before: Timestamp(milliseconds: now.milliseconds - Self.lifetime))
    let id = try database.insert(
      "INSERT INTO erasure (app_id, asked_at, names) VALUES (?, ?, ?) RETURNING id", .app(app), .time(now),
      .blob(names.encoded))
    return (id, gone)
  }

  /// Forgets erasures that were done before a time: the oldest ones, more with each new one than are made.
  private func forgetDone(app: AppID, before time: Timestamp) throws(StorageError) {
    try database.run(
      """
      DELETE FROM erasure WHERE done_at < ?2 AND id IN (
        SELECT id FROM erasure WHERE app_id = ?1 ORDER BY id LIMIT 16)
      """, .app(app), .time(time))
  }

  /// Deletes what is known of registrations that were replaced by those with the names, and their own
  /// entries.
  private func forgetReplaced(_ names: inout ErasedNames, app: AppID) throws(StorageError) {
    var next = 0
    while next < names.ids.count, next < Self.most {
      let text = names.ids[next]
      next += 1
      try transaction.testDevices.remove(app: app, text)
      guard let id = RegistrationID(text) else { continue }
      let replaced = try database.all(
        "SELECT registration_id FROM gone_registration WHERE app_id = ? AND successor = ? LIMIT ?", .app(app),
        .blob(id.stored), .integer(Self.most)
      ) { RegistrationID(stored: $0.blob()).text }
      names.ids += replaced.filter { !names.ids.contains($0) }
      let number = try database.first(
        "DELETE FROM gone_registration WHERE app_id = ? AND registration_id = ? RETURNING number", .app(app),
        .blob(id.stored)
      ) { $0.number() }
      if let number, !names.numbers.contains(number) { names.numbers.append(number) }
    }
  }

  /// Notes how far an erasure has come.
  package func advance(_ id: Int64, to step: UInt8, _ position: Int64) throws(StorageError) {
    try database.run(
      "UPDATE erasure SET step = ?, position = ? WHERE id = ?", .integer(step), .integer(position),
      .integer(id))
  }

  /// Forgets what an erasure has looked for.
  package func forgetNames(of id: Int64) throws(StorageError) {
    try database.run("UPDATE erasure SET names = NULL WHERE id = ?", .integer(id))
  }

  /// Nothing is left.
  package func finish(_ id: Int64, at now: Timestamp) throws(StorageError) {
    try database.run("UPDATE erasure SET done_at = ? WHERE id = ?", .time(now), .integer(id))
  }

  // MARK: Names in other rows

  /// Deletes names of tags that no registration has; returns their numbers. A placeholder follows the
  /// highest, which tells the next number.
  package func removeTags(_ numbers: [UInt32], app: AppID) throws(StorageError) -> [UInt32] {
    let highest = try database.first(TagNames.highest, .app(app)) { $0.integer(as: UInt32.self) }
    if let highest, highest < .max, numbers.contains(highest) {
      try database.run(
        """
        INSERT INTO tag (app_id, number, name) VALUES (?, ?, ?) ON CONFLICT (app_id, name) DO NOTHING
        """, .app(app), .integer(highest + 1), .text("erased-\(highest)"))
    }
    return try transaction.tags.remove(app: app, numbers: numbers)
  }

  /// Deletes values of facts that no registration has; returns their numbers.
  package func removeFacts(_ numbers: [UInt32], app: AppID) throws(StorageError) -> [UInt32] {
    let unused = numbers.filter { !database.factWork.isGiven($0, in: app) }
    for number in unused {
      try database.run("DELETE FROM fact_value WHERE app_id = ? AND number = ?", .app(app), .integer(number))
    }
    return unused
  }

  /// Deletes pushes with all that is known of them, and stored messages of Getui's API that have ended and
  /// were for nobody else.
  package func deletePushes(_ ids: [MessageID], app: AppID, at now: Timestamp) throws(StorageError) {
    for id in ids {
      let channels = try database.all(
        "SELECT DISTINCT channel FROM channel_targets WHERE msg_id = ?", .message(id)
      ) { ChannelID(rawValue: $0.integer(as: UInt8.self)) }
      for channel in channels { _ = try transaction.channelQueue.finish(id: id, app: app, channel: channel) }
      try transaction.pushes.delete([id])
      try database.run("DELETE FROM callback_bulk WHERE msg_id = ? AND app_id = ?", .message(id), .app(app))
      let task = try database.first(
        "DELETE FROM getui_push WHERE push_id = ? AND app_id = ? RETURNING task_id", .message(id), .app(app)
      ) { $0.optionalInteger() }
      guard case .some(.some(let task)) = task else { continue }
      try database.run(
        """
        DELETE FROM getui_task WHERE id = ?1 AND app_id = ?2 AND (expires_at <= ?3 OR stopped_at IS NOT NULL)
          AND NOT EXISTS (SELECT 1 FROM getui_push WHERE task_id = ?1)
        """, .integer(task), .app(app), .time(now))
    }
  }

  /// Replaces a push object, with nil by none.
  package func setObject(_ object: [UInt8]?, of id: MessageID, app: AppID) throws(StorageError) {
    let stored = try object.map { object throws(StorageError) in
      try database.stored(object, of: app, .pushObject)
    }
    try database.run(
      "UPDATE push SET object = ? WHERE msg_id = ? AND app_id = ?", .optional(stored), .message(id),
      .app(app))
  }

  /// Replaces the push of a schedule; with nil the schedule is deleted, and the task of Getui's API that it
  /// was made for.
  package func setSchedulePush(_ push: [UInt8]?, of id: Int64, app: AppID) throws(StorageError) {
    guard let push else {
      try transaction.getui.deleteTask(ofSchedule: id, app: app)
      return try database.run("DELETE FROM schedule WHERE id = ? AND app_id = ?", .integer(id), .app(app))
    }
    try database.run(
      "UPDATE schedule SET push_json = ? WHERE id = ? AND app_id = ?",
      .blob(try database.stored(push, of: app, .schedule)), .integer(id), .app(app))
  }

  /// Replaces an A/B test; with nil it is deleted, with its runs.
  package func setABTest(_ body: [UInt8]?, of id: Int64, app: AppID) throws(StorageError) {
    guard let body else {
      try database.run(
        "UPDATE schedule SET abtest = NULL WHERE abtest = ? AND app_id = ?", .integer(id), .app(app))
      return try database.run("DELETE FROM abtest WHERE id = ? AND app_id = ?", .integer(id), .app(app))
    }
    try database.run(
      "UPDATE abtest SET body = ? WHERE id = ? AND app_id = ?",
      .blob(try database.stored(body, of: app, .abTest)), .integer(id), .app(app))
  }

  /// Replaces the lines of a piece of a file, of which `count` values are gone.
  package func setPiece(
    _ lines: [UInt8], at place: Int64, app: AppID, without count: Int
  ) throws(StorageError) {
    let (file, piece) = (place / Self.pieces, place % Self.pieces)
    try database.run(
      "UPDATE file_piece SET lines = ? WHERE file = ? AND number = ?",
      .blob(try database.stored(lines, of: app, .file)), .integer(file), .integer(piece))
    try database.run("UPDATE file SET count = count - ? WHERE id = ?", .integer(count), .integer(file))
  }

  /// Replaces the body of a callback, of which `count` events are left; without any it is deleted.
  package func setCallback(
    _ body: [UInt8], of id: Int64, app: AppID, events count: Int
  ) throws(StorageError) {
    guard count > 0 else {
      try database.run("DELETE FROM callback_attempt WHERE batch_id = ?", .integer(id))
      return try database.run(
        "DELETE FROM callback_batch WHERE id = ? AND app_id = ?", .integer(id), .app(app))
    }
    try database.run(
      "UPDATE callback_batch SET body = ?, events = ? WHERE id = ? AND app_id = ?",
      .blob(try database.stored(body, of: app, .callbackBody)), .integer(count), .integer(id), .app(app))
  }

  /// Removes names from the next entries of the audit log about an app; returns after which entry the next
  /// step goes on, nil at the end.
  package func clearAudit(
    _ names: [String], account: AccountID, app: AppID, after id: Int64, limit: Int
  ) throws(StorageError) -> Int64? {
    let rows = try database.all(
      """
      SELECT id, subject_app, target FROM audit {sqlite INDEXED BY audit_account}
      WHERE account_id = ? AND id > ? ORDER BY id LIMIT ?
      """, .integer(account.rawValue), .integer(id), .integer(limit)
    ) { (id: $0.integer("id"), app: $0.optionalInteger("subject_app"), target: $0.text("target")) }
    let erased = Set(names.map { ExactName($0) })
    for row in rows where row.app == Int64(app.rawValue) && erased.contains(ExactName(row.target)) {
      try database.run("UPDATE audit SET target = '' WHERE id = ?", .integer(row.id))
    }
    return rows.count < limit ? nil : rows.last?.id
  }
}
