import BorealisBase
import BorealisCrypto
import CSQLite
import Core
import Model
import PushTesting
import Testing

@testable import Console
@testable import Storage

/// What is done for one device, one push or one page costs the database the same however many devices an app
/// has. The steps of SQLite's machine are counted, which no load of the computer changes.
@Suite struct GrowthTests {
  /// What may take more than twice the steps with a hundred times the devices, and how many at most.
  private static let bounds: [String: Int] = [:]

  @Test(.disabled(if: PostgresCluster.isChosen, "SQLite counts its steps"))
  func `No work grows with the devices of an app`() async throws {
    let few = try await Self.steps(devices: 2000)
    let many = try await Self.steps(devices: 200_000)
    #expect(few.count > 50)
    var used: Set<String> = []
    for (name, count) in few.sorted(by: { $0.key < $1.key }) {
      let grown = try #require(many[name])
      if let bound = Self.bounds[name] {
        used.insert(name)
        #expect(grown.sum <= bound, "\(name): \(grown.sum) steps")
      } else {
        // A row more or less is no growth.
        #expect(
          grown.sum <= 2 * count.sum + 40,
          "\(name): \(count.sum) steps, and \(grown.sum) with more devices:\n\(grown.since(count))")
      }
    }
    #expect(used.count == Self.bounds.count)
  }

  private static func steps(devices: Int) async throws -> [String: Steps] {
    // It sends mail, so that there is one reader; and time stands still, so that nothing is due meanwhile.
    let world = try ConsoleWorld(routerTime: ManualClock(), sendsMail: true)
    let owner = try await world.owner()
    let estate = try await Estate(world, account: .standard, owner: owner, email: "zoe@example.com")
    try await fill(estate.app.id, devices, in: world.store)
    world.router.tick()
    try await world.settle()
    #expect(estate.app.directory.registrationCount > devices)
    var work = CountedWork(world: world)
    try await work.device(in: estate.app)
    try await work.pushes(in: estate.app)
    for page in ConsoleRegistry.pages where page.method == "GET" {
      try await work.count("page \(page.pattern)") { _ = await owner.open(estate.path(of: page)) }
    }
    return work.steps
  }

  /// Adds imported devices, each with an alias of its own, a tag of a thousand, and a token.
  private static func fill(_ app: AppID, _ devices: Int, in store: Store) async throws {
    try await store.change { transaction throws(StorageError) in
      let database = transaction.database
      let first = try transaction.imports.firstNumber(app: app)?.rawValue ?? 0
      var numbers = ByteWriter(capacity: 4000)
      for number in 0..<1000 as Range<UInt32> { numbers.write(number) }
      try database.run(
        script: """
          INSERT INTO tag (app_id, number, name)
            WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
            SELECT \(app.rawValue), i, 'tag' || i FROM n;
          INSERT INTO registration (app_id, number, registration_id, secret_hash, platform, fingerprint, alias, tags,
              apns_environment, apns_token, created_at, last_seen_at)
            WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(devices - 1))
            SELECT \(app.rawValue), \(first) + i, randomblob(10), zeroblob(16), 1, randomblob(16), 'user' || i,
              substr(x'\(Hex.encode(numbers.bytes))', i % 1000 * 4 + 1, 4), 1, randomblob(32), 1790000000000, 1790000000000 FROM n;
          UPDATE app SET next_number = \(first) + \(devices) WHERE id = \(app.rawValue);
          INSERT INTO import_batch (app_id, first, count) VALUES (\(app.rawValue), \(first), \(devices));
          """)
    }
  }
}

/// Things that are done with an app, and the steps that each took.
private struct CountedWork {
  let world: ConsoleWorld
  private(set) var steps: [String: Steps] = [:]

  init(world: ConsoleWorld) { self.world = world }

  /// Does something twice, and counts the second time: the first may make what stays.
  mutating func count(_ name: String, _ body: () async throws -> Void) async throws {
    try await body()
    let before = try await total()
    try await body()
    steps[name] = try await total().since(before)
  }

  private func total() async throws -> Steps {
    try await world.settle()
    let written = try await world.store.change { transaction throws(StorageError) in
      transaction.database.steps
    }
    let read = try await world.store.look { transaction throws(StorageError) in transaction.database.steps }
    return Steps(ofStatements: read.ofStatements.merging(written.ofStatements) { $0 + $1 })
  }

  mutating func device(in app: App) async throws {
    let (router, world) = (world.router, world)
    try await count("register") {
      _ = try await router.newDevice(
        in: app, platform: .ios, fingerprint: SystemRandom.bytes(8), environment: .production,
        token: SystemRandom.bytes(32))
    }
    let device = try await router.newDevice(in: app, platform: .ios)
    try await count("log in") {
      _ = app.directory.login(
        device.id, secretHash: SHA256.digest128(device.secret), at: Location(loop: 0, slot: 1, generation: 1),
        isForeground: true, since: UInt32(clamping: ManualClock().now().seconds))
      router.tick()
    }
    let changes: [(String, () -> DeviceChange)] = [
      ("alias", { DeviceChange(alias: .set("alias \(SystemRandom.next())")) }),
      ("tags", { DeviceChange(tags: .edit(add: ["tag1", "new \(SystemRandom.next())"], remove: ["tag2"])) }),
      ("no tags", { DeviceChange(tags: .clean) }),
    ]
    for (name, change) in changes {
      try await count(name) {
        let wanted = change()
        _ = await awaitCallback { done in
          router.registrations.change(wanted, of: device.number, in: app) { done($0) }
        }
      }
    }
    try await count("import of a line") {
      let line = ImportedRegistration(
        registrationID: RegistrationID(high: SystemRandom.next(), low: 1), platform: .android,
        alias: "import \(SystemRandom.next())", tags: ["tag3"],
        tokens: [PushToken(.production, SystemRandom.bytes(32))])
      let new = RegistrationImport(into: app.id, adoption: .registrationID, at: ManualClock().now())
      _ = try await world.store.change { transaction throws(StorageError) in
        try new.add([line], in: transaction)
      }
      router.tick()
    }
    try await count("second") { router.tick() }
  }

  mutating func pushes(in app: App) async throws {
    let (router, world) = (world.router, world)
    let device = try await router.newDevice(in: app, platform: .android)
    let ids = [device.id.text]
    _ = await awaitCallback { done in
      router.registrations.change(
        DeviceChange(tags: .edit(add: ["a", "b"], remove: []), alias: .set("one")), of: device.number, in: app
      ) { done($0) }
    }
    let audiences: [(String, Audience)] = [
      ("a device", .filter(AudienceFilter(registrationIDs: ids))),
      ("an alias", .filter(AudienceFilter(aliases: ["one"]))),
      ("a tag", .filter(AudienceFilter(tags: ["tag7"]))),
      ("two tags", .filter(AudienceFilter(tagsAnd: ["a", "b"]))),
      ("all but a tag", .filter(AudienceFilter(tags: ["tag7", "a"], tagsNot: ["b"]))), ("all", .all),
    ]
    let content = PushContent(variants: [ContentVariant(platforms: .all, message: Array("{}".utf8))])
    var accepted: [String: [MessageID]] = [:]
    for (name, audience) in audiences {
      try await count("push to \(name)") {
        let request = PushRequest(platforms: .all, audience: audience, content: content)
        let id = try await router.acceptance.accept(AcceptRequest(request), for: app).get().id
        accepted[name, default: []].append(id)
      }
    }
    // Both times another one.
    for name in ["a device", "all"] {
      try await count("acknowledgement of a push to \(name)") {
        guard let push = accepted[name]?.last else { return }
        accepted[name]?.swapAt(0, 1)
        await world.acknowledge(push, by: device.number, in: app)
      }
    }
    try await count("recall of a push to all") {
      guard let push = accepted["all"]?.popLast() else { return }
      _ = await awaitCallback { done in
        router.deliveries.recall(push, in: app) { done($0.map(\.waiting)) }
      }
    }
    // It is 22:13 where the server is.
    let hours = QuietHours(from: 22 * 60, until: 8 * 60)
    _ = await awaitCallback { done in router.apps.setQuietHours(hours, of: app, noting: .test) { done($0) } }
    for (name, audience) in audiences where name == "a device" || name == "all" {
      try await count("push in quiet hours to \(name)") {
        let alert = PushContent(variants: [
          ContentVariant(platforms: .all, notification: Array(#"{"alert":"x"}"#.utf8))
        ])
        let request = PushRequest(platforms: .all, audience: audience, content: alert)
        _ = try await router.acceptance.accept(AcceptRequest(request), for: app).get()
      }
    }
    let json = #"{"platform":"all","audience":"all","message":{"msg_content":"x"}}"#
    let push = try ScheduledPush(stored: Array(json.utf8), rules: PushRules())
    try await count("schedule") {
      let later = ScheduleTrigger.single(FixedZone.china.local(ManualClock().now().adding(seconds: 86_400)))
      let request = ScheduleRequest(cid: nil, name: "n", trigger: later, push: push)
      _ = await awaitCallback { done in
        router.schedules.create(request, named: "uuid-\(SystemRandom.next())", in: app) { done($0) }
      }
    }
  }
}

/// Steps of SQLite's machine.
private struct Steps {
  /// By the text of the statement.
  var ofStatements: [String: Int] = [:]

  var sum: Int { ofStatements.values.reduce(0, +) }

  func since(_ earlier: Steps) -> Steps {
    let since = ofStatements.map { ($0, $1 - (earlier.ofStatements[$0] ?? 0)) }
    return Steps(ofStatements: Dictionary(uniqueKeysWithValues: since).filter { $0.value != 0 })
  }
}

extension Steps: CustomStringConvertible {
  var description: String {
    ofStatements.sorted { $1.value < $0.value }.prefix(10).map { "\($1): \($0)" }.joined(separator: "\n")
  }
}

extension Database {
  /// How many steps SQLite's machine has taken for the statements that the connection keeps.
  fileprivate var steps: Steps {
    var steps = Steps()
    var statement = sqlite3_next_stmt(sqlite?.handle, nil)
    while let current = statement {
      let text = sqlite3_sql(current).map { String(cString: $0) } ?? ""
      steps.ofStatements[text, default: 0] += Int(sqlite3_stmt_status(current, SQLITE_STMTSTATUS_VM_STEP, 0))
      statement = sqlite3_next_stmt(sqlite?.handle, current)
    }
    return steps
  }
}
