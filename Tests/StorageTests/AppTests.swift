import BorealisBase
import Model
import PushTesting
import Testing

@testable import Storage

/// Accounts, plans, and the end of apps.
@Suite struct AppTests {
  let folder = TemporaryFolder()

  private func new(_ package: String? = nil, account: AccountID = .standard, plan: String? = nil) -> NewApp {
    NewApp(
      key: .random(), name: "test", secretHash: Array(repeating: 7, count: 32), account: account, plan: plan,
      androidPackage: package)
  }

  private func account(_ store: Store, plan: String = "unlimited") async throws -> AccountID {
    try await store.change { transaction throws(StorageError) in
      try transaction.accounts.create(
        key: .random(), name: "a", secretHash: Array(repeating: 3, count: 32), plan: plan, at: .start)
    }
  }

  /// An app has the plan that is named, else its account's; its account's state counts as its own.
  @Test func plans() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    #expect(
      try await store.look { t throws(StorageError) in try t.plans.all() }.map(\.name) == [
        "free", "paid", "unlimited",
      ])
    let account = try await account(store, plan: "free")
    let apps = [new(), new(account: account), new(account: account, plan: "paid")]
    for app in apps {
      _ = try await store.change { t throws(StorageError) in try t.apps.create(app, at: .start) }
    }
    var rows = try await store.look { t throws(StorageError) in try t.apps.all(in: .all) }
    #expect(rows.map(\.plan.name) == ["unlimited", "free", "paid"])
    #expect(rows.map(\.account) == [.standard, account, account])
    #expect(rows[0].plan == PlanRow(name: "unlimited"))
    #expect(rows[1].plan.broadcasts == 10 && rows[1].plan.sharesSpeed && rows[1].plan.pushCalls == 600)
    let changed = PlanRow(name: "free", pushCalls: 7)
    let app = rows[0].id
    _ = try await store.change { t throws(StorageError) in
      try t.plans.set(changed)
      _ = try t.apps.setPlan(app: app, "free")
      return try t.accounts.setDisabled(account: account, true)
    }
    rows = try await store.look { t throws(StorageError) in try t.apps.all(in: .all) }
    #expect(rows[0].plan == changed && rows[1].plan == changed)
    #expect(rows.map(\.isDisabled) == [false, true, true])
    await #expect(throws: StorageError.self) {
      try await store.change { t throws(StorageError) in try t.apps.setPlan(app: app, "none such") }
    }
  }

  /// An account has a package once; others, and the account itself once the app is deleted, may have it too.
  @Test func packages() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let other = try await account(store)
    let (first, second) = (new("com.example"), new("com.example"))
    let id = try await store.change { t throws(StorageError) in try t.apps.create(first, at: .start) }
    await #expect(throws: StorageError.self) {
      try await store.change { t throws(StorageError) in try t.apps.create(second, at: .start) }
    }
    let foreign = new("com.example", account: other)
    _ = try await store.change { t throws(StorageError) in try t.apps.create(foreign, at: .start) }
    func found(_ account: AccountID) async throws -> AppKey? {
      try await store.look { t throws(StorageError) in
        try t.apps.key(account: account, androidPackage: "com.example")
      }
    }
    #expect(try await found(.standard) == first.key)
    #expect(try await found(other) == foreign.key)
    #expect(try await store.change { t throws(StorageError) in try t.apps.delete(id, at: .start) })
    #expect(try await !store.change { t throws(StorageError) in try t.apps.delete(id, at: .start) })
    #expect(try await found(.standard) == nil)
    let later = try await store.change { t throws(StorageError) in try t.apps.create(second, at: .start) }
    #expect(later != id)
  }

  /// The secret before stays until it is retired.
  @Test func secrets() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let app = try await store.addApp()
    func hashes() async throws -> [[UInt8]?] {
      let row = try await store.look { t throws(StorageError) in try t.apps.all(in: .all) }.first
      return [row?.secretHash, row?.oldSecretHash]
    }
    let of = { (byte: UInt8) in [UInt8](repeating: byte, count: 32) }
    func rotate(_ byte: UInt8, _ rotation: SecretRotation) async throws -> Bool {
      try await store.change { t throws(StorageError) in
        try t.apps.rotateSecret(app: app, hash: [UInt8](repeating: byte, count: 32), rotation)
      }
    }
    func retire() async throws -> Bool {
      try await store.change { t throws(StorageError) in try t.apps.retireSecret(app: app) }
    }
    #expect(try await !rotate(8, .again))
    #expect(try await !retire())
    #expect(try await hashes() == [of(7), nil])
    #expect(try await rotate(8, .begin))
    #expect(try await hashes() == [of(8), of(7)])
    // The one that all servers have stays, however often another is asked for.
    #expect(try await !rotate(9, .begin))
    #expect(try await hashes() == [of(8), of(7)])
    #expect(try await rotate(9, .again))
    #expect(try await hashes() == [of(9), of(7)])
    #expect(try await rotate(10, .shift))
    #expect(try await hashes() == [of(10), of(9)])
    #expect(try await retire())
    #expect(try await !retire())
    #expect(try await hashes() == [of(10), nil])
    #expect(try await rotate(11, .begin))
    #expect(
      try await store.change { t throws(StorageError) in
        try t.apps.setSecret(app: app, hash: [UInt8](repeating: 12, count: 32))
      })
    #expect(try await hashes() == [of(12), nil])
  }

  /// Each day's broadcasts are counted up to the limit, which may change.
  @Test func broadcasts() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let (app, other) = (try await store.addApp(), try await store.addApp())
    func count(_ app: AppID, _ day: Int64, _ limit: Int) async throws -> Bool {
      try await store.change { t throws(StorageError) in
        try t.apps.countBroadcast(app: app, day: day, limit: limit)
      }
    }
    #expect(try await !count(app, 100, 0))
    for expected in [true, true, false, false] { #expect(try await count(app, 100, 2) == expected) }
    #expect(try await count(other, 100, 2))
    #expect(try await count(app, 100, 3))
    #expect(try await !count(app, 100, 1))
    #expect(try await count(app, 101, 1))
    #expect(try await !count(app, 101, 1))
    // The clock may go back over midnight, or may have been wrong.
    for (day, limit, expected) in [(100, 1, false), (100, 2, true), (101, 2, false)] as [(Int64, Int, Bool)] {
      #expect(try await count(app, day, limit) == expected)
    }
    func used(_ day: Int64) async throws -> Int {
      try await store.look { t throws(StorageError) in try t.apps.broadcasts(of: app, on: day) }
    }
    #expect(try await [used(99), used(100), used(101), used(102)] == [0, 2, 2, 0])
    for (day, expected) in [(99, true), (99, false), (101, true)] as [(Int64, Bool)] {
      #expect(try await count(app, day, 1) == expected)
    }
  }

  /// What a deleted app had goes in bounded steps, and nothing of others.
  @Test func purge() async throws {
    let store = try Store.testing(folder)
    defer { store.close() }
    let (app, other) = (try await store.addApp(registrations: 25), try await store.addApp(registrations: 3))
    _ = try await store.change { t throws(StorageError) in
      for (index, owner) in [app, other, app, app, other, app].enumerated() {
        try t.pushes.insert(.single(UInt64(index + 1), app: owner, target: 0))
        try t.deliveries.insertPending(
          id: MessageID(UInt64(index + 1)), app: owner, target: nil, expiresAt: .start)
      }
      for owner in [app, other] {
        _ = try t.tags.numbers(app: owner, names: ["a", "b"], making: TagRoom(limit: 100))
        try t.pushes.insertCID(app: owner, cid: "x", id: MessageID(1), sendno: 1, at: .start)
        try t.channelQueue.insert(
          id: MessageID(owner == app ? 1 : 2), app: owner, channel: .apns, expiresAt: .start)
        let credential = NewCredential(channel: ChannelID(rawValue: 9), subject: "s", name: "n", sealed: [1])
        try t.credentials.replace(app: owner, credential, at: .start)
        _ = try t.apps.countBroadcast(app: owner, day: 1, limit: 5)
        for period in [3, 5, 5_000] as [Int64] {
          try t.statistics.add(app: owner, hour: period, StatisticsRow())
          try t.statistics.countNewcomer(app: owner, .ios, hour: period)
          for unit in [ActivityUnit.hour, .day] {
            try t.activity.save(app: owner, unit, period, ActivityKind(.ios, isActive: true), targets: [1])
          }
        }
      }
      try t.deliveries.settle([Settlement(id: MessageID(3), status: .expired, at: .start)])
      _ = try t.apps.delete(app, at: .start)
    }
    #expect(
      try await store.look { t throws(StorageError) in try t.deletedApps.all(in: .all) }.map(\.id) == [app])
    await #expect(throws: StorageError.self) {
      try await store.change { t throws(StorageError) in
        try t.registrations.register(app: app, .some(), at: .start)
      }
    }
    var steps = 0
    var position: PurgePosition? = PurgePosition()
    while let from = position {
      position = try await store.change { t throws(StorageError) in
        try t.deletedApps.purge(of: app, limit: 10, from: from)
      }
      steps += 1
    }
    // 25 registrations, 2 tags, a request name, an open push to Apple, a credential, a count of broadcasts;
    // and 12 periods that are looked at, whosever rows are in them.
    #expect(steps == 5)
    var place = MessageID(0)
    var seen: [[UInt64]] = []
    while true {
      let found = try await store.look { [place] t throws(StorageError) in
        try t.pushes.ids(of: app, after: place, limit: 3)
      }
      guard let last = found.last else { break }
      seen.append(found.map(\.rawValue))
      place = last
      try await store.change { t throws(StorageError) in try t.pushes.delete(found) }
    }
    #expect(seen == [[1, 3, 4], [6]])
    try await store.change { t throws(StorageError) in try t.deletedApps.markPurged(app, at: .start) }
    #expect(try await store.look { t throws(StorageError) in try t.deletedApps.all(in: .all) }.isEmpty)
    let counts = try await store.look { t throws(StorageError) in
      [
        try t.registrations.count(app: app), try t.registrations.count(app: other),
        try t.tags.all(app: app).count,
        try t.tags.all(app: other).count,
      ]
    }
    #expect(counts == [0, 3, 0, 2])
    let credentials = try await store.look { t throws(StorageError) in
      let channel = ChannelID(rawValue: 9)
      return [
        try t.credentials.latest(of: app, for: channel) != nil,
        try t.credentials.latest(of: other, for: channel) != nil,
      ]
    }
    #expect(credentials == [false, true])
    for (owner, count) in [(app, 0), (other, 3)] {
      let periods = try await store.look { t throws(StorageError) in
        [
          try t.statistics.find(app: owner, hours: 0..<9_999).count,
          try t.statistics.newcomers(app: owner, hours: 0..<9_999).count,
          try t.activity.find(app: owner, .hour, 0..<5_001).count,
          try t.activity.find(app: owner, .day, 0..<5_001).count,
        ]
      }
      #expect(periods == Array(repeating: count, count: 4))
    }
    let kept = try await store.look { t throws(StorageError) in
      [
        try t.pushes.find(id: MessageID(2)) != nil, try t.pushes.find(id: MessageID(3)) != nil,
        try t.deliveries.outcome(of: MessageID(3)) != nil,
      ]
    }
    #expect(kept == [true, false, false])
    #expect(try await store.look { t throws(StorageError) in try t.apps.all(in: .all) }.map(\.id) == [other])
    store.close()
    #expect(try Store.check(folder.store()).problems == [])
  }

  /// A table that names an app or a push must be emptied when an app is deleted: whoever adds one adds it
  /// there too.
  @Test(.onSQLite) func purgeKnowsEveryTable() throws {
    let database = try Database(path: folder.database, mode: .create)
    try Migrator.migrate(database, to: embeddedMigrations, at: .start)
    let tables = try database.all(
      """
      SELECT DISTINCT schema.name FROM sqlite_schema AS schema, pragma_table_info(schema.name) AS field
      WHERE schema.type = 'table' AND field.name IN ('app_id', 'msg_id')
      """
    ) { $0.text() }
    let statements = Self.purges.map { "\($0)" } + PushDeletions.all.map { "\($0)" }
    // An app has a home until all else is gone; what a group was answered is the group's, and swept with its
    // pushes.
    for table in tables where !["home", "group_push_member"].contains(table) {
      #expect(statements.contains { $0.hasPrefix("DELETE FROM \(table) ") }, "\(table)")
    }
  }

  /// Each start asks for every app: none may look at what is counted already.
  @Test(.onSQLite) func uncountedPushesAreFoundByIndex() throws {
    let database = try Database(path: folder.database, mode: .create)
    try Migrator.migrate(database, to: embeddedMigrations, at: .start)
    let plan = try queryPlan(of: "\(UncountedPushes.sql)", in: folder.database)
    #expect(plan.contains { $0.hasPrefix("SEARCH push USING INDEX push_app (app_id=? AND msg_id>?)") })
  }

  private static let purges =
    [PurgeStatements.file] + PurgeStatements.byApp + PurgeStatements.callbacks
    + PeriodTable.allCases.map(\.deletion)

  /// Each step of a deletion holds the writer: none may look at what others have in a table that grows with
  /// use.
  @Test(.onSQLite) func purgeSearchesByIndex() throws {
    let database = try Database(path: folder.database, mode: .create)
    try Migrator.migrate(database, to: embeddedMigrations, at: .start)
    // A row for each import and for each event to many that is being told.
    let small = ["app_group_member", "import_batch", "callback_bulk"]
    for sql in Self.purges {
      for line in try queryPlan(of: "\(sql)", in: folder.database) {
        let isSmall = small.contains { line.hasPrefix("SCAN \($0)") }
        #expect(isSmall || !line.hasPrefix("SCAN") && !line.contains("TEMP B-TREE"), "\(sql): \(line)")
      }
    }
  }
}
