import BorealisBase
import BorealisCrypto
import BorealisProtocol
import CLinux

/// Registrations that are written straight into a database, as Migrations/0001_initial.sql lays it out: each
/// has an alias, and tags by what its number can be divided by.
struct Population {
  let count: Int
  /// How many apps have them: one each in turn.
  var apps = 1
  /// Whether they are iPhones with an APNs token, instead of Android devices.
  var haveTokens = false
  /// Distinguishes populations.
  var seed: UInt64 = 1
  /// All of them have the same.
  let secret = DeviceSecret(high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210)

  private static let tags = [("second", 2), ("third", 3), ("fifth", 5), ("seventh", 7), ("hundredth", 100)]

  /// The registration ID of a number: spread over the whole range, as random ones are.
  func id(_ number: Int) -> RegistrationID {
    RegistrationID(high: (UInt64(number) &+ seed) &* 0x9e37_79b9_7f4a_7c15, low: UInt16(number & 0xfff))
  }

  static func alias(_ number: Int) -> String { "user\(number)" }

  /// Which of the apps has a number.
  func app(of number: Int) -> Int { number % apps }

  /// The numbers that one of the apps has; there they are counted from 0.
  func numbers(of app: Int) -> [Int] { Array(stride(from: app, to: count, by: apps)) }

  /// Makes a data folder with the apps, each with its registrations.
  func makeApps(_ environment: BenchEnvironment, folder: String) throws(BenchError) -> [BorealisApp] {
    var made: [BorealisApp] = []
    for index in 0..<apps {
      made.append(try BorealisApp.create(environment, folder: folder))
      try write(made[index], index)
    }
    return made
  }

  /// Adds them, or those of one of the apps, to an app that has none, while no server runs.
  func write(_ app: BorealisApp, _ index: Int = 0) throws(BenchError) {
    let database = try BenchDatabase(app.database)
    // Only the bench reads this database, and only once.
    try database.execute("PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; BEGIN")
    guard let row = try database.prepare("SELECT id FROM app WHERE app_key = ?").run(.text(app.key.text))
    else {
      throw .unexpected("the database lacks the app")
    }
    let tag = try database.prepare("INSERT INTO tag (app_id, number, name) VALUES (?, ?, ?)")
    for (number, (name, _)) in Self.tags.enumerated() {
      try tag.run(.integer(row), .integer(number), .text(name))
    }
    let insert = try database.prepare(
      """
      INSERT INTO registration (app_id, number, registration_id, secret_hash, platform, fingerprint, alias, tags,
        created_at, last_seen_at, apns_environment, apns_token) VALUES (?, ?, ?, ?, ?, x'', ?, ?, ?, ?, ?, ?)
      """)
    let hash = Array(SHA256.digest(secret.bytes).prefix(16))
    let now = Int(cl_wall_ms())
    let numbers = numbers(of: index)
    for (place, number) in numbers.enumerated() {
      try insert.run(
        .integer(row), .integer(place), .bytes(stored(id(number))), .bytes(hash),
        .integer(haveTokens ? 1 : 2), .text(Self.alias(number)), tagList(number), .integer(now),
        .integer(now),
        .integer(haveTokens ? 1 : 0), haveTokens ? .bytes(token(number)) : .null)
    }
    try database.prepare("UPDATE app SET next_number = ? WHERE id = ?").run(
      .integer(numbers.count), .integer(row))
    try database.execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// The column `registration_id`: both halves of the ID.
  private func stored(_ id: RegistrationID) -> [UInt8] {
    var writer = ByteWriter(capacity: 10)
    writer.write(id.high)
    writer.write(id.low)
    return writer.bytes
  }

  /// The APNs token: 32 bytes.
  private func token(_ number: Int) -> [UInt8] { Array(SHA256.digest(stored(id(number)))) }

  /// The column `tags`.
  private func tagList(_ number: Int) -> BenchStatement.Value {
    var writer = ByteWriter()
    for (index, (_, divisor)) in Self.tags.enumerated() where number % divisor == 0 {
      writer.write(UInt32(index))
    }
    return writer.bytes.isEmpty ? .null : .bytes(writer.bytes)
  }
}
