import BorealisBase
import Model

/// A run of an A/B test.
package struct ABTestRunRow: Sendable, Equatable {
  /// How far a run has come. The raw values are stored in the database.
  package enum State: Int64, CaseIterable, Sendable {
    case running = 0
    /// The winner was sent to the rest.
    case sent = 1
    /// There is a winner, and nobody was left to get it.
    case nobodyLeft = 2
    /// All contents were recalled.
    case noWinner = 3
    /// It was stopped before a winner was chosen.
    case stopped = 4
    /// The winner could not be sent.
    case failed = 5
  }

  /// The push of a content.
  package struct Push: Sendable, Equatable {
    /// The place of the content, from 1 on; 0 for the winner's push.
    package let place: Int
    package let id: MessageID
    /// Who had it and who had tapped it when the winner was chosen; nil before.
    package var delivered, tapped: Int?

    /// Before a winner is chosen.
    package init(place: Int, id: MessageID) { (self.place, self.id) = (place, id) }
  }

  /// Row number; 0 for one that is not stored yet.
  package var id: Int64 = 0
  package let test: Int64
  package let app: AppID
  /// The push object and the test as they were at the start, as JSON; empty in lists.
  package var body: [UInt8]
  /// Who gets the winner, in the router's encoding; empty in lists, and once the run is over.
  package var rest: [UInt8]
  /// How many they were at the start.
  package let restCount: Int
  /// Who started it.
  package let sender: PushSender
  package let startedAt: Timestamp
  /// The number of the next look at the figures.
  package var look = 1
  /// When that is; nil once the run is over.
  package var lookAt: Timestamp?
  package var end: ABTestRunEnd?
  /// In the order of their places.
  package var pushes: [Push] = []

  /// A run that starts.
  package init(
    test: Int64, app: AppID, body: [UInt8], rest: (set: [UInt8], count: Int), sender: PushSender,
    at start: Timestamp
  ) {
    (self.test, self.app, self.body) = (test, app, body)
    (self.rest, restCount) = (rest.set, rest.count)
    (self.sender, startedAt) = (sender, start)
  }
}

/// How a run of an A/B test has ended.
package struct ABTestRunEnd: Sendable, Equatable {
  package let state: ABTestRunRow.State
  package let at: Timestamp
  /// The place of the content that won, from 1 on; nil for none.
  package var winner: Int?
  /// Why the winner could not be sent.
  package var message: String?

  /// Puts one together.
  package init(_ state: ABTestRunRow.State, at: Timestamp, winner: Int? = nil, message: String? = nil) {
    (self.state, self.at, self.winner, self.message) = (state, at, winner, message)
  }
}

/// Runs of A/B tests.
package struct ABTestRunRepository<Access>: Repository {
  let database: Database
}

extension ABTestRunRepository {
  /// Whether a test of an app runs.
  package func isOpen(test: Int64, app: AppID) throws(StorageError) -> Bool {
    try database.first(
      "SELECT 1 FROM abtest_run WHERE test_id = ? AND app_id = ? AND look_at IS NOT NULL", .integer(test),
      .app(app)
    ) { _ in true } == true
  }

  /// Runs whose next look has come, those that wait longest first, at most `limit` of them after a place.
  package func due(
    at now: Timestamp, after place: DuePlace? = nil, limit: Int, in rows: AppRows
  ) throws(StorageError) -> [(id: Int64, app: AppID, place: DuePlace)] {
    let start = place ?? DuePlace(at: Timestamp(milliseconds: .min), id: 0)
    return try database.statement(
      """
      SELECT id, app_id, look_at FROM abtest_run
      WHERE look_at IS NOT NULL AND look_at <= ? AND (look_at, id) > (?, ?) AND {own abtest_run.app_id}
      ORDER BY look_at, id LIMIT ?
      """, in: rows
    ).all([.time(now), .time(start.at), .integer(start.id), .integer(limit)]) { row in
      let id = row.integer("id")
      return (id, row.app("app_id"), DuePlace(at: row.time("look_at"), id: id))
    }
  }

  /// A run of an app that is not over, with all that is stored of it; nil if there is none of the number.
  package func open(_ id: Int64, app: AppID) throws(StorageError) -> ABTestRunRow? {
    let found = try database.first(
      """
      SELECT id, test_id, app_id, body, rest, rest_count, sender_kind, sender_number, started_at, look, look_at,
        state, winner, ended_at, message
      FROM abtest_run WHERE id = ? AND app_id = ? AND look_at IS NOT NULL
      """, .integer(id), .app(app)
    ) { Self.run($0, body: $0.blob("body"), rest: $0.blob("rest")) }
    guard var run = found else { return nil }
    run.body = try database.opened(run.body, of: app, .abTestRun)
    run.pushes = try pushes(of: id)
    return run
  }

  /// The runs of a test of an app, the newest first.
  package func list(test: Int64, app: AppID, limit: Int) throws(StorageError) -> [ABTestRunRow] {
    var runs = try database.all(
      """
      SELECT id, test_id, app_id, rest_count, sender_kind, sender_number, started_at, look, look_at, state,
        winner, ended_at, message
      FROM abtest_run WHERE test_id = ? AND app_id = ? ORDER BY id DESC LIMIT ?
      """, .integer(test), .app(app), .integer(limit)
    ) { Self.run($0) }
    for place in runs.indices { runs[place].pushes = try pushes(of: runs[place].id) }
    return runs
  }

  /// The numbers of an app's tests that run.
  package func openTests(app: AppID) throws(StorageError) -> [Int64] {
    try database.all(
      "SELECT test_id FROM abtest_run WHERE app_id = ? AND look_at IS NOT NULL", .app(app)
    ) { $0.integer("test_id") }
  }

  private func pushes(of run: Int64) throws(StorageError) -> [ABTestRunRow.Push] {
    try database.all(
      "SELECT place, msg_id, delivered, tapped FROM abtest_push WHERE run_id = ? ORDER BY place",
      .integer(run)
    ) { row in
      var push = ABTestRunRow.Push(place: row.count("place"), id: row.message("msg_id"))
      push.delivered = row.optionalInteger("delivered").map { Int($0) }
      push.tapped = row.optionalInteger("tapped").map { Int($0) }
      return push
    }
  }

  private static func run(_ row: Row, body: [UInt8] = [], rest: [UInt8] = []) -> ABTestRunRow {
    var run = ABTestRunRow(
      test: row.integer("test_id"), app: row.app("app_id"), body: body,
      rest: (rest, row.count("rest_count")), sender: PushSender(row), at: row.time("started_at"))
    (run.id, run.look) = (row.integer("id"), row.count("look"))
    run.lookAt = row.optionalTime("look_at")
    if let at = row.optionalTime("ended_at"), let state = ABTestRunRow.State(rawValue: row.integer("state")) {
      run.end = ABTestRunEnd(
        state, at: at, winner: row.optionalInteger("winner").map { Int($0) },
        message: row.optionalText("message"))
    }
    return run
  }
}

extension ABTestRunRepository<Writing> {
  /// Adds a run with its pushes. `.constraint` if the test runs.
  package func insert(_ run: ABTestRunRow) throws(StorageError) {
    let body = try database.stored(run.body, of: run.app, .abTestRun)
    let sender: Int64 = run.sender.number ?? 0
    let id = try database.insert(
      """
      INSERT INTO abtest_run (test_id, app_id, body, rest, rest_count, sender_kind, sender_number, started_at,
        look, look_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
      """, .integer(run.test), .app(run.app), .blob(body), .blob(run.rest), .integer(run.restCount),
      .integer(run.sender.kind.rawValue), .integer(sender), .time(run.startedAt),
      .integer(run.look), .optional(run.lookAt?.milliseconds))
    for push in run.pushes { try add(push, to: id) }
  }

  private func add(_ push: ABTestRunRow.Push, to run: Int64) throws(StorageError) {
    try database.run(
      "INSERT INTO abtest_push (run_id, place, msg_id) VALUES (?, ?, ?)", .integer(run),
      .integer(push.place), .message(push.id))
  }

  /// Moves a run on to its next look.
  package func wait(_ id: Int64, look: Int, at: Timestamp) throws(StorageError) {
    try database.run(
      "UPDATE abtest_run SET look = ?, look_at = ? WHERE id = ? AND look_at IS NOT NULL", .integer(look),
      .time(at), .integer(id))
  }

  /// Ends a run; `push` is the winner's.
  package func finish(_ id: Int64, _ end: ABTestRunEnd, push: MessageID? = nil) throws(StorageError) {
    try database.run(
      """
      UPDATE abtest_run SET state = ?, winner = ?, ended_at = ?, message = ?, look_at = NULL, rest = ?
      WHERE id = ? AND look_at IS NOT NULL
      """, .integer(end.state.rawValue), .optional(end.winner), .time(end.at), .optional(end.message),
      .blob([]), .integer(id))
    if let push { try add(ABTestRunRow.Push(place: 0, id: push), to: id) }
  }

  /// Notes what a winner was chosen by.
  package func note(
    delivered: Int, tapped: Int, ofPush place: Int, in run: Int64
  ) throws(StorageError) {
    try database.run(
      "UPDATE abtest_push SET delivered = ?, tapped = ? WHERE run_id = ? AND place = ?", .integer(delivered),
      .integer(tapped), .integer(run), .integer(place))
  }

  /// Stops the run of a test of an app; false if it does not run.
  package func stop(test: Int64, app: AppID, at now: Timestamp) throws(StorageError) -> Bool {
    try database.run(
      """
      UPDATE abtest_run SET state = 4, ended_at = ?, look_at = NULL, rest = ?
      WHERE test_id = ? AND app_id = ? AND look_at IS NOT NULL
      """, .time(now), .blob([]), .integer(test), .app(app))
    return database.changes > 0
  }

  /// Deletes up to `limit` runs that were over before a moment; returns how many went.
  package func sweep(before moment: Timestamp, limit: Int, in rows: AppRows) throws(StorageError) -> Int {
    try database.run(
      """
      DELETE FROM abtest_run WHERE id IN (
        SELECT id FROM abtest_run WHERE ended_at IS NOT NULL AND ended_at < ? AND {own abtest_run.app_id}
        ORDER BY ended_at, id LIMIT ?)
      """, in: rows, .time(moment), .integer(limit))
    return database.changes
  }
}
