import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Testing

@testable import API
@testable import Storage

/// `/v1/persons`: what is stored of a person, and its erasure.
@Suite struct PersonAPITests {
  /// A new device with an alias.
  private static func device(
    _ alias: String, tags: [String] = [], in world: GatewayWorld, _ app: App? = nil
  ) async throws -> RegistrationID {
    let id = try await world.register(in: app)
    let tags = tags.isEmpty ? "" : #","tags":{"add":["\#(tags.joined(separator: "\",\""))"]}"#
    let answer = await world.call(
      "POST", "/v3/devices/\(id.text)", #"{"alias":"\#(alias)"\#(tags)}"#, as: app)
    #expect(answer.status == 200)
    return id
  }

  private static func erase(_ query: String, in world: GatewayWorld, _ app: App? = nil) async throws -> Int64
  {
    let answer = await world.call("DELETE", "/v1/persons?\(query)", as: app)
    return try #require(answer.json?["erasure_id"]?.string.flatMap { Int64($0) })
  }

  /// Waits until nothing is left of what some erasures look for.
  private static func finish(_ ids: Int64..., in world: GatewayWorld, _ app: App? = nil) async throws {
    let app = (app ?? world.app).id
    for id in ids {
      var isDone = false
      for _ in 0..<5000 where !isDone {
        world.router.tick()
        isDone = try await world.store.look { transaction throws(StorageError) in
          try transaction.erasures.find(id, app: app)?.doneAt != nil
        }
      }
      try #require(isDone, "erasure \(id)")
    }
  }

  /// What the app's schedules are for.
  private static func audiences(in world: GatewayWorld) async -> [JSONValue?] {
    let answer = await world.call("GET", "/v3/schedules")
    return answer.json?["schedules"]?.array?.map { $0["push"]?["audience"] } ?? []
  }

  private static func schedule(_ audience: String, in world: GatewayWorld) async {
    let push = #"{"platform":"all","audience":\#(audience),"notification":{"alert":"x"}}"#
    _ = await world.makeSchedule(world.single(in: 86_400), push: push)
  }

  // MARK: Requests

  @Test(arguments: [
    "", "alias=", "alias=&registration_id=", "alias=a&registration_id=0123456789abcdef012",
    "registration_id=nobody", "alias=\(String(repeating: "a", count: 256))",
  ])
  func `A person is named by an alias or a registration ID`(query: String) async throws {
    let world = try await GatewayWorld()
    for method in ["GET", "DELETE"] {
      #expect(await world.call(method, "/v1/persons?\(query)").outcome == "400 7002", "\(method)")
    }
  }

  @Test func `Unusual requests`() async throws {
    let world = try await GatewayWorld()
    let id = try await Self.device("alice", in: world)
    for (path, outcome) in [
      ("?alias=alice&registration_id=", "200"), ("?alias=alice&before=", "200"), ("?alias=nobody", "200"),
      ("?registration_id=\(id.text)&before=1", "200"), ("?registration_id=\(id.text)&before=x", "400 7002"),
      ("?registration_id=\(id.text)&before=-1", "400 7002"), ("?alias=alice&before=1", "400 7002"),
      ("/erasures/1", "400 7002"), ("/erasures/x", "400 7002"),
      ("/erasures/99999999999999999999", "400 7002"),
    ] {
      #expect(await world.call("GET", "/v1/persons\(path)").outcome == outcome, "\(path)")
    }
    // Nobody needs to be there.
    let answer = await world.call("DELETE", "/v1/persons?alias=nobody")
    #expect(answer.status == 200 && answer.json?["registrations"]?.int64 == 0)
  }

  @Test func `Only the app's own secret will do`() async throws {
    let world = try await GatewayWorld()
    let other = try await world.addApp()
    let id = try await Self.device("alice", in: world)
    let erasure = try await Self.erase("alias=nobody", in: world)
    let wrong = GatewayWorld.basic(world.app.key.text, "wrong")
    for (method, path) in [
      ("GET", "?alias=alice"), ("DELETE", "?alias=alice"), ("GET", "/erasures/\(erasure)"),
    ] {
      for authorization in [nil, wrong] {
        let answer = await world.call(method, "/v1/persons\(path)", authorization: authorization)
        #expect(answer.status == 401, "\(method) \(path)")
      }
    }
    for query in ["alias=alice", "registration_id=\(id.text)"] {
      let shown = await world.call("GET", "/v1/persons?\(query)", as: other)
      #expect(shown.json?["registrations"] == [])
      let erased = await world.call("DELETE", "/v1/persons?\(query)", as: other)
      #expect(erased.json?["registrations"]?.int64 == 0)
    }
    #expect(await world.call("GET", "/v1/persons/erasures/\(erasure)", as: other).outcome == "400 7002")
    #expect(world.app.directory.find(id) != nil)
  }

  @Test func `What is stored is shown, pushes in pages`() async throws {
    let world = try await GatewayWorld()
    let id = try await Self.device("alice", tags: ["b", "a"], in: world)
    let second = try await Self.device("alice", in: world)
    var sent: [String] = []
    for number in 0..<60 {
      let push = await world.push(
        #""message":{"msg_content":"m\#(number)"}"#, to: #"{"registration_id":["\#(id.text)"]}"#)
      sent.append(try #require(push.messageID).text)
      world.clock.advance(seconds: 1)
    }
    let both = await world.call("GET", "/v1/persons?alias=alice").json?["registrations"]?.array ?? []
    #expect(both.map { $0["registration_id"]?.string } == [id.text, second.text])
    #expect(both.first?["tags"] == ["a", "b"] && both.first?["alias"] == "alice")
    #expect(both.last?["pushes"] == [] && both.last?["next"] == .null)

    var (found, contents, before, pages): ([String], [String?], String, Int) = ([], [], "", 0)
    repeat {
      let path = "/v1/persons?registration_id=\(id.text)&before=\(before)"
      let device = await world.call("GET", path).json?["registrations"]?.array?.first
      let pushes = device?["pushes"]?.array ?? []
      #expect(pushes.count <= 50 && pushes.allSatisfy { $0["push"]?["audience"] == nil })
      found += pushes.compactMap { $0["msg_id"]?.string }
      contents += pushes.map { $0["push"]?["message"]?["msg_content"]?.string }
      before = device?["next"]?.string ?? ""
      pages += 1
    } while !before.isEmpty && pages < 5
    #expect(pages == 2 && found == sent.reversed())
    #expect(contents == (0..<60).reversed().map { "m\($0)" })

    let exported = try await awaitCallback {
      world.router.erasures.export(of: .alias("alice"), in: world.app, reply: $0)
    }.get()
    #expect(exported.map { $0.pushes.count } == [60, 0] && exported.allSatisfy { $0.next == nil })
    #expect(exported.first?.pushes.map { $0.id.text } == found)
  }

  // MARK: Who else is there

  @Test func `Another app keeps the same alias`() async throws {
    let world = try await GatewayWorld()
    let other = try await world.addApp()
    let hers = try await Self.device("alice", in: world)
    let foreign = try await Self.device("alice", in: world, other)
    let push = await world.call(
      "POST", "/v3/push",
      #"{"platform":"all","audience":{"alias":["alice"]},"message":{"msg_content":"x"}}"#, as: other)
    let pushed = try #require(push.messageID)
    let id = try await Self.erase("alias=alice", in: world)
    try await Self.finish(id, in: world)
    #expect(world.app.directory.find(hers) == nil && other.directory.find(foreign) != nil)
    let shown = await world.call("GET", "/v1/persons?alias=alice", as: other).json?["registrations"]?.array
    #expect(shown?.first?["registration_id"]?.string == foreign.text)
    #expect(shown?.first?["pushes"]?.array?.map { $0["msg_id"]?.string } == [pushed.text])
  }

  @Test func `Two erasures of a person are both done`() async throws {
    let world = try await GatewayWorld()
    let device = try await Self.device("alice", in: world)
    let first = try await Self.erase("alias=alice", in: world)
    let second = try await Self.erase("alias=alice", in: world)
    let third = try await Self.erase("registration_id=\(device.text)", in: world)
    #expect(Set([first, second, third]).count == 3)
    try await Self.finish(first, second, third, in: world)
    let left = try await world.store.look { transaction throws(StorageError) in
      try transaction.database.first("SELECT count(*) FROM erasure WHERE names IS NOT NULL") { $0.count() }
    }
    #expect(left == 0)
  }

  /// The erasure is begun, and has not been gone on with: as after a crash.
  @Test func `Who registers again keeps what is newer than the erasure`() async throws {
    let world = try await GatewayWorld()
    let (app, old) = (world.app.id, try await Self.device("alice", tags: ["hers"], in: world))
    await Self.schedule(#"{"alias":["alice"]}"#, in: world)
    await Self.schedule(#"{"alias":["alice","bob"]}"#, in: world)
    await Self.schedule(#"{"tag":["hers"]}"#, in: world)
    let before = await world.push(to: #"{"alias":["alice"]}"#)
    let bygone = try #require(before.messageID)
    let now = world.clock.now()
    let begun = try await world.store.change { transaction throws(StorageError) in
      try transaction.erasures.begin(.alias("alice"), app: app, at: now)
    }
    #expect(begun.gone.map(\.registrationID) == [old])
    world.clock.advance(seconds: 1)
    let new = try await Self.device("alice", in: world)
    await Self.schedule(#"{"alias":["alice","carol"]}"#, in: world)
    let pushed = try #require(await world.push(to: #"{"alias":["alice"]}"#).messageID)
    try await Self.finish(begun.id, in: world)
    // Whoever gets the tag later is meant by a schedule.
    #expect(
      await Self.audiences(in: world) == [
        ["alias": ["bob"]], ["tag": ["hers"]], ["alias": ["alice", "carol"]],
      ])
    let objects = try await world.store.look { transaction throws(StorageError) in
      (try transaction.pushes.find(id: bygone), try transaction.pushes.object(of: pushed))
    }
    #expect(objects.0 == nil)
    #expect(objects.1.flatMap { try? parseJSON($0) }?["audience"] == ["alias": ["alice"]])
    #expect(world.app.directory.find(new) != nil)
  }

  @Test func `An erasure that fails holds up no other`() async throws {
    let world = try await GatewayWorld()
    let other = try await world.addApp()
    try await world.store.change { transaction throws(StorageError) in
      try transaction.database.run(
        """
        CREATE TRIGGER broken BEFORE UPDATE ON erasure
        WHEN OLD.app_id = (SELECT min(id) FROM app) BEGIN SELECT RAISE(ABORT, 'broken'); END
        """)
    }
    let failing = try await Self.erase("alias=alice", in: world)
    _ = try await Self.device("bob", in: world, other)
    for _ in 0..<2 {
      try await Self.finish(try await Self.erase("alias=bob", in: world, other), in: world, other)
    }
    let lines = world.routerLog.all.filter { $0.contains("cannot erase a person's data") }
    #expect(lines.count == 1, "what lasts is said once")
    try await world.store.change { transaction throws(StorageError) in
      try transaction.database.run("DROP TRIGGER broken")
    }
    try await Self.finish(failing, in: world)
  }

  @Test func `An app has a bounded number of open erasures`() async throws {
    let world = try await GatewayWorld()
    let app = world.app.id
    try await world.store.change { transaction throws(StorageError) in
      for number in 0..<Erasures.mostOpen {
        try transaction.database.run(
          "INSERT INTO erasure (id, app_id, asked_at, step) VALUES (?, ?, 0, 0)", .integer(number + 10),
          .app(app))
      }
    }
    _ = try await Self.device("alice", in: world)
    let refused = await world.call("DELETE", "/v1/persons?alias=alice")
    #expect(refused.outcome == "503 7030")
    #expect(await world.call("GET", "/v1/persons?alias=alice").json?["registrations"]?.array?.count == 1)
  }
}
