import BorealisBase
import Model
import PushTesting
import Synchronization
import Testing

@testable import API
@testable import Core
@testable import Storage

/// Two homes of some apps each on one database.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HomesTests {
  let cluster: PostgresCluster
  let name: String

  init() throws {
    cluster = try .shared()
    name = try cluster.make()
  }

  private var location: Store.Location { .postgres(url: cluster.url(of: name)) }

  // MARK: Who has touched what

  /// Has the database note which connection changes rows of which app. A row that does not say whose it is
  /// belongs to its push, its schedule or its batch; if that is gone, the ID says by its slot who gave it.
  private func watch() throws {
    try cluster.sql(
      """
      CREATE TABLE touched (who text, name text, what text, app bigint, id bigint);
      CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE r jsonb := to_jsonb(coalesce(NEW, OLD)); app bigint;
      BEGIN
        app := coalesce((r->>'app_id')::bigint,
          CASE WHEN TG_TABLE_NAME = 'app' THEN (r->>'id')::bigint END,
          (SELECT app_id FROM push WHERE msg_id = (r->>'msg_id')::bigint),
          (SELECT app_id FROM schedule WHERE id = (r->>'schedule_id')::bigint),
          (SELECT app_id FROM callback_batch WHERE id = (r->>'batch_id')::bigint));
        INSERT INTO touched VALUES (current_setting('application_name'), TG_TABLE_NAME, TG_OP, app, (r->>'msg_id')::bigint);
        RETURN NULL;
      END $$;
      DO $$ DECLARE t record; BEGIN
        FOR t IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
          AND relname NOT IN ('touched', 'fence', 'commit_mark', 'home', 'account', 'schema_migration')
        LOOP EXECUTE format('CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION note()', t.relname);
        END LOOP;
      END $$;
      """, in: name)
  }

  /// The rows that a home has changed, by kind, and those that were not its own.
  private func touched(
    by home: HomeWorld, having apps: [App]
  ) throws -> (kinds: Set<String>, foreign: [[String]]) {
    let who = "borealis/\(home.own.home)"
    let kinds = try cluster.sql(
      "SELECT DISTINCT name || ' ' || what FROM touched WHERE who = '\(who)'", in: name)
    let own = apps.map { "\($0.id.rawValue)" }.joined(separator: ", ")
    let foreign = try cluster.sql(
      """
      SELECT DISTINCT name, what, coalesce(app::text, '-'), coalesce(id::text, '-') FROM touched
      WHERE who = '\(who)' AND NOT CASE WHEN app IS NOT NULL THEN app IN (\(own))
        ELSE id IS NOT NULL AND id & 127 = \(home.own.slot.rawValue) END
      """, in: name)
    return (Set(kinds.map { $0[0] }), foreign)
  }

  /// What must have happened for the test to show anything.
  private static let needed: Set<String> = [
    "push INSERT", "push DELETE", "pending INSERT", "pending DELETE", "outcome INSERT", "outcome DELETE",
    "delivered INSERT", "receipt INSERT", "receipt DELETE", "push_callback INSERT", "push_callback DELETE",
    "cid INSERT", "cid DELETE", "schedule INSERT", "schedule UPDATE", "schedule_run INSERT",
    "push_sender INSERT",
    "callback_batch INSERT", "callback_batch UPDATE", "callback_batch DELETE", "callback_attempt INSERT",
    "callback_attempt DELETE", "statistics INSERT", "statistics UPDATE", "counted_push INSERT",
    "counted_push UPDATE",
    "activity INSERT", "registration INSERT", "registration UPDATE", "newcomers INSERT", "tag INSERT",
  ]

  @Test func `Two homes never touch each other's rows, and never give the same ID`() async throws {
    let receiver = try TestReceiver()
    defer { receiver.close() }
    let one = try HomeWorld(location, slot: 1, hasInstallation: true)
    let two = try HomeWorld(location, slot: 2)
    defer {
      one.close()
      two.close()
    }
    try watch()
    let homes = [one, two]
    let residents = try await withThrowingTaskGroup(of: (Int, [HomeWorld.Resident]).self) { group in
      for (index, home) in homes.enumerated() {
        group.addTask {
          var residents: [HomeWorld.Resident] = []
          for _ in 0..<2 { residents.append(try await home.makeApp(devices: 4, notifying: receiver)) }
          for second in 1...125 {
            for resident in residents where second < 45 || second > 120 {
              try await home.live(resident, second: second)
            }
            try await home.tick()
          }
          for _ in 0..<2 { try await home.tick() }
          return (index, residents)
        }
      }
      return try await group.reduce(into: [[HomeWorld.Resident]](repeating: [], count: 2)) { $0[$1.0] = $1.1 }
    }
    for (home, residents) in zip(homes, residents) {
      let (kinds, foreign) = try touched(by: home, having: residents.map(\.app))
      #expect(foreign == [])
      #expect(Self.needed.subtracting(kinds).sorted() == [])
      let ids = home.accepted.withLock { Array($0.values.joined()) }
      #expect(ids.count > 200 && ids.allSatisfy { $0.rawValue & 127 == UInt64(home.own.slot.rawValue) })
      for resident in residents {
        let own = home.accepted.withLock { $0[resident.app.id] ?? [] }
        #expect(own == own.sorted())
        // Schedules push, too.
        let pushes = try await home.picture(of: resident.app, [], pushes: []).statistics.reduce(0) {
          $0 + $1.pushes
        }
        let fired = try cluster.sql(
          """
          SELECT count(*) FROM touched WHERE name = 'push_sender' AND what = 'INSERT' AND app = \(resident.app.id.rawValue)
          """, in: name)
        #expect(pushes == own.count + (Int(fired[0][0]) ?? 0) && Int(fired[0][0]) ?? 0 > 2)
      }
    }
    // Each app is another home's for the other one.
    for (home, others) in zip(homes, residents.reversed()) {
      for resident in others {
        guard case .failure(.unavailable) = await home.find(resident.app.key) else {
          Issue.record("an app of another home is found")
          continue
        }
      }
    }
    let events = receiver.requests.count
    #expect(events > 50)
  }

  // MARK: Moving an app

  @Test func `An app that moves is the same at its next home, and when it comes back`() async throws {
    let receiver = try TestReceiver()
    defer { receiver.close() }
    let one = try HomeWorld(location, slot: 1, hasInstallation: true)
    let two = try HomeWorld(location, slot: 2)
    defer {
      one.close()
      two.close()
    }
    let staying = try await one.makeApp(devices: 2, notifying: receiver)
    let moving = try await one.makeApp(devices: 5, notifying: receiver)
    for second in 1...12 {
      for resident in [staying, moving] { try await one.live(resident, second: second) }
      try await one.tick()
      two.clock.advance(seconds: 1)
    }
    try await one.makeSchedule(in: moving, after: 30)
    let last = try await one.push(in: moving)
    let ids = one.accepted.withLock { $0[moving.app.id] ?? [] }
    // What no tick has stored yet: the hand-over does.
    for device in moving.devices.prefix(3) {
      one.router.deliveries.acknowledge(ids.suffix(4), by: device.number, in: moving.app)
    }
    try watch()

    let key = moving.app.key
    let early = try two.router.load(moving.app.id)
    #expect(early?.id == nil)
    #expect(one.router.handOver(key, to: (node: 2, home: two.own.home)) == 3)
    // Its memory is as it was.
    let before = try await one.picture(of: moving.app, moving.devices, pushes: ids)
    #expect(before.pending.map { $0.contains(last) } == [false, false, false, true, true])
    #expect(before.reports[ids.count - 1].contains("[0, 1, 2] [3, 4]"))
    guard case .failure(.unavailable) = await one.find(key), case .failure(.unavailable) = await two.find(key)
    else {
      Issue.record("an app is found that nobody has loaded")
      return
    }
    let there = try #require(try two.router.load(moving.app.id))
    #expect(try await two.find(key).get() === there)
    #expect(try await two.picture(of: there, moving.devices, pushes: ids) == before)

    // What still comes at the old home is refused, or has no effect.
    try cluster.sql("TRUNCATE touched", in: name)
    #expect(await refuses(one, moving))
    one.router.deliveries.acknowledge([last], by: moving.devices[0].number, in: moving.app)
    one.router.deliveries.note([(last, true)], by: moving.devices[0].number, in: moving.app)
    for second in 1...4 {
      try await one.live(staying, second: second)
      try await one.tick()
    }
    let (_, foreign) = try touched(by: one, having: [staying.app])
    #expect(foreign == [])
    #expect(try await two.picture(of: there, moving.devices, pushes: ids) == before)

    // It goes on at the new one, whose clock is behind.
    two.clock.setWall(minutes: -1)
    let moved = HomeWorld.Resident(app: there, devices: moving.devices)
    let next = try await two.push(in: moved)
    #expect(next > last && next.rawValue & 127 == 2)
    two.clock.setWall(minutes: 1)
    for second in 20..<60 {
      try await two.live(moved, second: second)
      try await two.tick()
      try await one.tick()
    }
    let fired = try cluster.sql(
      "SELECT who, count(*) FROM touched WHERE name = 'schedule_run' AND app = \(there.id.rawValue) AND what = 'INSERT' GROUP BY 1",
      in: name)
    #expect(fired.map { $0[0] } == ["borealis/\(two.own.home)"])

    // And back, where something else may be remembered of it.
    two.clock.advance(seconds: 4)
    for _ in 0..<2 {
      two.router.tick()
      try await two.settle()
    }
    let all = ids + two.accepted.withLock { $0[there.id] ?? [] }
    let then = try await two.picture(of: there, moving.devices, pushes: all)
    #expect(two.router.handOver(key, to: (node: 1, home: one.own.home)) == 4)
    let back = try #require(try one.router.load(moving.app.id))
    #expect(back !== moving.app)
    #expect(try await one.picture(of: back, moving.devices, pushes: all) == then)
    let again = try await one.push(in: HomeWorld.Resident(app: back, devices: moving.devices))
    #expect(again > all[all.count - 1] && again.rawValue & 127 == 1)
  }

  private func refuses(_ home: HomeWorld, _ resident: HomeWorld.Resident) async -> Bool {
    do {
      _ = try await home.push(in: resident)
      return false
    } catch { return (error as? APIError) == .timeout }
  }

  @Test func `An app stays where it is if the next home is gone`() async throws {
    let receiver = try TestReceiver()
    defer { receiver.close() }
    let one = try HomeWorld(location, slot: 1)
    let two = try HomeWorld(location, slot: 2)
    defer { one.close() }
    let resident = try await one.makeApp(devices: 2, notifying: receiver)
    two.close()
    #expect(one.router.handOver(resident.app.key, to: (node: 2, home: two.own.home)) == nil)
    let id = try await one.push(in: resident)
    try await one.tick()
    let picture = try await one.picture(of: resident.app, resident.devices, pushes: [id])
    #expect(picture.pending == [[id], [id]] && picture.statistics.map(\.pushes) == [1])
  }

  @Test func `Nothing happens by itself in an app before its devices can be known`() async throws {
    let receiver = try TestReceiver()
    defer { receiver.close() }
    let one = try HomeWorld(location, slot: 1)
    let two = try HomeWorld(location, slot: 2)
    defer {
      one.close()
      two.close()
    }
    let resident = try await one.makeApp(devices: 2, notifying: receiver)
    let id = try await one.push(in: resident, timeToLive: 3)
    try await one.makeSchedule(in: resident, after: 3)
    try await one.tick()
    two.own.unsettle(resident.app.id)
    #expect(one.router.handOver(resident.app.key, to: (node: 2, home: two.own.home)) == 2)
    let app = try #require(try two.router.load(resident.app.id))
    /// The app's pushes, and what is noted of the end of the first one.
    func happened() async throws -> (pushes: Int, ends: Int) {
      let picture = try await two.picture(of: app, resident.devices, pushes: [])
      let ends = try cluster.sql("SELECT 1 FROM outcome WHERE msg_id = \(id.rawValue)", in: name)
      return (picture.statistics.reduce(0) { $0 + $1.pushes }, ends.count)
    }
    for _ in 0..<6 { try await two.tick() }
    #expect(try await happened() == (1, 0))
    two.own.settle(resident.app.id)
    for _ in 0..<2 { try await two.tick() }
    let (pushes, ends) = try await happened()
    #expect(pushes == 2 && ends > 0)
  }

  @Test func `A router is told of the same home as its database`() throws {
    let own = AssignedApps(node: 1, slot: .first)
    var options = Store.Options()
    options.home = own
    let store = try Store.open(location, readers: 1, log: .silent, options: options)
    defer { store.close() }
    let other = AssignedApps(node: 1, slot: .first)
    for scope in [HomeScope.all, .assigned(other)] {
      let router = Router(store: store, scope: scope, log: .silent)
      #expect(throws: StorageError.self) { try router.load() }
    }
    try Router(store: store, scope: .assigned(own), log: .silent).load()
  }

  /// The whole start of a home that comes in the place of a dead one: its apps, and nothing of others.
  @Test func `A home that starts takes over what is given to it`() async throws {
    let receiver = try TestReceiver()
    defer { receiver.close() }
    let one = try HomeWorld(location, slot: 1)
    let two = try HomeWorld(location, slot: 2, hasInstallation: true)
    defer { two.close() }
    let lost = try await one.makeApp(devices: 3, notifying: receiver)
    let other = try await two.makeApp(devices: 2, notifying: receiver)
    for second in 1...5 {
      try await one.live(lost, second: second)
      try await one.tick()
      two.clock.advance(seconds: 1)
    }
    let ids = one.accepted.withLock { $0[lost.app.id] ?? [] }
    let before = try await one.picture(of: lost.app, lost.devices, pushes: ids)
    // As when it is taken for dead: what it does not know yet cannot be stored any more.
    try await two.store.change { t throws(StorageError) in try t.homes.removeFence(of: one.own.home) }
    _ = try? await one.push(in: lost)
    let epoch = try await two.store.change { t throws(StorageError) in
      try t.homes.assign(lost.app.id, to: two.own)
    }
    #expect(epoch == 3)
    let there = try #require(try two.router.load(lost.app.id))
    #expect(try await two.picture(of: there, lost.devices, pushes: ids) == before)
    one.close()
    #expect(two.own.all == [.installation, lost.app.id, other.app.id])
  }
}
