import BorealisBase
import BorealisCrypto
import CLinux
import Model

/// The database of a used console: a million registrations, 100,000 pushes of the last thirty days,
/// statistics of ninety days, an audit log, and a logged-in user. Written directly into the tables of the
/// migrations.
struct ConsoleScene {
  static let registrations = 1_000_000
  static let pushes = 100_000
  private static let days = 30
  private static let countedDays = 90
  /// Other apps with statistics, whose rows are between those of this one.
  private static let otherApps = 100
  private static let entries = 20_000
  /// Steps of a latency histogram.
  private static let latencySteps = 46

  let population = Population(count: ConsoleScene.registrations)
  /// The cookie of the logged-in user.
  let cookie = Hex.encode(SystemRandom.bytes(32))

  /// A push that is one of a kind: its text is searched for.
  static let rare = "needle"

  func write(_ app: BorealisApp) throws(BenchError) {
    try population.write(app)
    let database = try BenchDatabase(app.database)
    try database.execute("PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; BEGIN")
    guard let row = try database.prepare("SELECT id FROM app WHERE app_key = ?").run(.text(app.key.text))
    else { throw .unexpected("the database lacks the app") }
    let now = Int(cl_wall_ms())
    try writePerson(database, now)
    try writePushes(database, app: row, now)
    try writeCounts(database, app: row, now)
    try database.execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
  }

  private func writePerson(_ database: BenchDatabase, _ now: Int) throws(BenchError) {
    try database.prepare(
      """
      INSERT INTO person (id, email, name, password, language, is_operator, created_at)
      VALUES (1, 'bench@example.com', 'Bench', '', 'en', 1, ?)
      """
    ).run(.integer(now))
    try database.execute("INSERT INTO membership (person_id, account_id, role) VALUES (1, 1, 4)")
    try database.prepare(
      """
      INSERT INTO console_session (token_hash, person_id, created_at, seen_at, address, agent)
      VALUES (?, 1, ?, ?, '127.0.0.1', 'bench')
      """
    ).run(.bytes(SHA256.digest(Array(cookie.utf8))), .integer(now), .integer(now))
    let entry = try database.prepare(
      """
      INSERT INTO audit (at, account_id, person_id, who, action, target, address)
      VALUES (?, 1, 1, 'Bench', 'push.send', ?, '127.0.0.1')
      """)
    for number in 0..<Self.entries { try entry.run(.integer(now - number * 1000), .text(String(number))) }
  }

  // MARK: Pushes

  /// Pushes to one device each: most delivered, some expired, few recalled, and the newest still under way.
  private func writePushes(_ database: BenchDatabase, app: Int, _ now: Int) throws(BenchError) {
    let push = try database.prepare(
      """
      INSERT INTO push (msg_id, app_id, created_at, expires_at, sendno, platforms, target, target_count, strategy,
        content, traits, object) VALUES (?, ?, ?, ?, 0, ?, ?, 1, 0, ?, ?, ?)
      """)
    let outcome = try database.prepare("INSERT INTO outcome (msg_id, status, at) VALUES (?, ?, ?)")
    let pending = try database.prepare(
      "INSERT INTO pending (msg_id, app_id, target, expires_at) VALUES (?, ?, ?, ?)")
    let sender = try database.prepare(
      "INSERT INTO push_sender (msg_id, app_id, kind, number) VALUES (?, ?, 4, 1)")
    let step = Self.days * 86_400_000 / Self.pushes
    for number in 0..<Self.pushes {
      let at = now - (Self.pushes - number) * step
      let id = Int(truncatingIfNeeded: MessageID(firstAt: Timestamp(milliseconds: Int64(at))).rawValue)
      let target = (number &* 7919) % Self.registrations
      let text = number == Self.pushes / 2 ? Self.rare : "Order \(number) is on its way"
      try push.run(
        .integer(id), .integer(app), .integer(at), .integer(at + 86_400_000),
        .integer(Int(PlatformSet.all.rawValue)), .integer(target), .bytes(Self.content(text)),
        .integer(1 | 16), .bytes(Self.object(text, target)))
      if number % 1000 == 0 { try sender.run(.integer(id), .integer(app)) }
      if now - at < 3_600_000 {
        try pending.run(.integer(id), .integer(app), .integer(target), .integer(at + 86_400_000))
      } else {
        let status = number % 2000 == 1 ? 3 : number % 10 == 0 ? 2 : 1
        try outcome.run(.integer(id), .integer(status), .integer(at + 50))
      }
    }
  }

  private static func content(_ text: String) -> [UInt8] {
    let notification = Array("{\"alert\":\"\(text)\",\"title\":\"Shop\"}".utf8)
    return PushContent(variants: [ContentVariant(platforms: .all, notification: notification)]).encode()
  }

  private static func object(_ text: String, _ target: Int) -> [UInt8] {
    Array(
      """
      {"platform":"all","audience":{"alias":["\(Population.alias(target))"]},"notification":{"android":\
      {"alert":"\(text)","title":"Shop"}}}
      """.utf8)
  }

  // MARK: Counts

  private func writeCounts(_ database: BenchDatabase, app: Int, _ now: Int) throws(BenchError) {
    let insert = try database.prepare(
      """
      INSERT INTO statistics (hour, app_id, pushes, targets, acknowledged, accepted, refused, shown, tapped, online,
        latencies) VALUES (?, ?, 140, 140, 120, '2=10', 1, 60, 9, ?, ?)
      """)
    var latencies = ByteWriter()
    for step in 0..<Self.latencySteps { latencies.write(UInt32(step < 20 ? step : 0)) }
    let hour = now / 3_600_000
    for past in 0..<Self.countedDays * 24 {
      for other in 0...Self.otherApps {
        try insert.run(
          .integer(hour + 8 - past), .integer(app + other), .integer(1000 + past % 24 * 40),
          .bytes(latencies.bytes))
      }
    }
    // The pushes are among these counts.
    try database.execute(
      "INSERT OR REPLACE INTO counted_push (app_id, through) SELECT app_id, max(msg_id) FROM push GROUP BY app_id"
    )
  }
}
