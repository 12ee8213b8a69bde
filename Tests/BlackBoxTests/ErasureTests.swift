import BorealisBase
import BorealisProtocol
import Glibc
import PushTesting
import Testing

/// Erases a person at a real server, and looks for what is left in every byte of the data folder.
@Suite struct ErasureTests {
  /// A server, and two people with everything that a server may store of them.
  private struct World {
    let folder = TemporaryFolder()
    let data: String
    let server: TestServer
    let app: TestServer.App
    let alice: TestDevice.Identity
    let bob: TestDevice.Identity

    static let alias = "alice.7f3a91"
    /// Texts that are about Alice alone.
    static let texts = [
      alias, "only-alice-tag", "13800138042", "Model-Of-Alice-X", "token-of-alice-00112233445566778899",
      "to her alias", "to her device", "to her tag", "at her time", "named-alice-in-tests",
    ]

    init() throws {
      data = folder.path + "/data"
      app = try TestServer.makeApp(data: data)
      let callback = try RunningProgram.run([
        "app", "callback", "set", app.key, "--url", "http://127.0.0.1:1/", "--data", data,
      ])
      guard callback.status == 0 else { throw RunningProgram.Failure(description: callback.errors) }
      server = try TestServer(data: data, ["--callback-networks", "127.0.0.0/8"])
      alice = try TestDevice.register(server.device, app: app.key, install: "alices-installation-0001")
      bob = try TestDevice.register(server.device, app: app.key, install: "bobs-installation-000001")
    }

    /// Alice's registration ID as text and as it is stored, her installation, and the texts.
    var traces: [[UInt8]] {
      let id = alice.id
      let stored = (0..<8).map { UInt8(truncatingIfNeeded: id.high >> (56 - 8 * UInt64($0))) }
      return Self.texts.map { Array($0.utf8) } + [Array(id.text.utf8), stored, Array("alices-install".utf8)]
    }

    /// Which traces any file of the folder has, with the name of the file.
    func found() -> [String] {
      TemporaryFolder.files(data).flatMap { name -> [String] in
        let bytes = TemporaryFolder.bytes(name.hasPrefix("/") ? name : data + "/" + name)
        return traces.filter { bytes.firstRange(of: $0) != nil }
          .map { "\(name): \(String(decoding: $0, as: UTF8.self))" }
      }
    }

    @discardableResult
    func call(_ method: String, _ path: String, _ body: JSONValue? = nil) throws -> JSONValue? {
      let answer = try server.call(method, path, as: app, body: body)
      #expect(answer.status == 200, "\(method) \(path): \(answer.body)")
      return answer.document
    }

    /// The next push to a device, which is told of other things too.
    private static func nextPush(of device: TestDevice) throws -> TestDevice.Arrival {
      while true {
        if case .push(let arrival) = try device.event() { return arrival }
      }
    }

    /// Sends a push to an audience; its devices that are given get it and acknowledge it.
    func push(_ text: String, _ audience: JSONValue, to devices: [TestDevice] = []) throws {
      try call(
        "POST", "/v3/push",
        ["platform": "all", "audience": audience, "message": ["msg_content": .string(text)]])
      for device in devices {
        let arrival = try Self.nextPush(of: device)
        #expect(arrival.content["message"]?["msg_content"]?.string == text)
        try device.acknowledge(arrival)
      }
    }

    func fill() throws {
      try call("PUT", "/v1/facts/wanted", ["wanted": ["model"]])
      let token: JSONValue = [
        "app_key": .string(app.key), "registration_id": .string(alice.id.text),
        "secret": .string(Hex.encode(alice.secret.bytes)), "facts": ["model": "Model-Of-Alice-X"],
      ]
      #expect(try server.call("POST", "/v1/facts", body: token).status == 200)
      let told: JSONValue = [
        "app_key": .string(app.key), "registration_id": .string(alice.id.text),
        "secret": .string(Hex.encode(alice.secret.bytes)),
        "tokens": [["channel": "fcm", "token": "token-of-alice-00112233445566778899"]],
      ]
      #expect(try server.call("POST", "/v1/tokens", body: told).status == 200)
      try call(
        "POST", "/v3/devices/\(alice.id.text)",
        ["alias": .string(Self.alias), "tags": ["add": ["only-alice-tag", "all"]], "mobile": "13800138042"])
      try call("POST", "/v3/devices/\(bob.id.text)", ["alias": "bob", "tags": ["add": ["all"]]])
      try call(
        "POST", "/v3/test/model/add",
        ["registration_id": .string(alice.id.text), "device_name": "named-alice-in-tests"])
      let (hers, his) = (
        try TestDevice.login(server.device, app: app.key, alice),
        try TestDevice.login(server.device, app: app.key, bob)
      )
      try push("to her alias", ["alias": [.string(Self.alias)]], to: [hers])
      try push("to her device", ["registration_id": [.string(alice.id.text)]], to: [hers])
      try push("to her tag", ["tag": ["only-alice-tag"]], to: [hers])
      try push("to both", ["alias": [.string(Self.alias), "bob"]], to: [hers, his])
      try push("to all", ["tag": ["all"]], to: [hers, his])
      let nextMonth = FixedZone(secondsEast: 0).local(SystemTime().now().adding(seconds: 30 * 86_400)).text
      try call(
        "POST", "/v3/schedules",
        [
          "name": "later", "enabled": true, "trigger": ["single": ["time": .string(nextMonth)]],
          "push": [
            "platform": "all", "audience": ["alias": [.string(Self.alias)]],
            "message": ["msg_content": "at her time"],
          ],
        ])
      try upload([Self.alias, "bob"])
    }

    private func upload(_ aliases: [String]) throws {
      let body = """
        --line\r\nContent-Disposition: form-data; name="filename"; filename="aliases"\r\n\
        Content-Type: text/plain\r\n\r\n\(aliases.joined(separator: "\n"))\r\n--line--\r\n
        """
      let answer = try HTTPCall(
        "POST", "/v3/files/alias", at: server.http, login: app,
        headers: ["Content-Type: multipart/form-data; boundary=line"], body: body)
      #expect(answer.status == 200, "\(answer.body)")
    }

    /// Begins to erase Alice; returns the erasure's ID.
    func erase() throws -> String {
      let answer = try call("DELETE", "/v1/persons?alias=\(Self.alias)")
      return try #require(answer?["erasure_id"]?.string)
    }

    func expectDone(_ id: String, at server: TestServer) throws {
      let isDone = try RunningProgram.eventually {
        try server.call("GET", "/v1/persons/erasures/\(id)", as: app).document?["done_at"]?.int64 != nil
      }
      #expect(isDone)
    }
  }

  @Test func `Nothing of a person is left in any file, and others keep what is theirs`() throws {
    let world = try World()
    try world.fill()
    let before = try world.call("GET", "/v1/persons?alias=\(World.alias)")?["registrations"]?.array?.first
    #expect(before?["registration_id"]?.string == world.alice.id.text)
    #expect(before?["tags"] == ["all", "only-alice-tag"] && before?["mobile"] == "13800138042")
    #expect(before?["facts"] == ["model": "Model-Of-Alice-X"] && before?["pushes"]?.array?.count == 5)
    #expect(before?["tokens"]?.array?.first?["token"] == "token-of-alice-00112233445566778899")
    // Nobody learns of others by it.
    #expect(before?["pushes"]?.array?.contains { $0["push"]?["audience"] != nil } == false)
    #expect(!world.found().isEmpty)

    let id = try world.erase()
    try world.expectDone(id, at: world.server)
    #expect(world.found() == [])
    #expect(try world.call("GET", "/v1/persons?alias=\(World.alias)")?["registrations"] == [])
    #expect(try world.call("GET", "/v3/aliases/bob")?["registration_ids"] == [.string(world.bob.id.text)])
    let his = try world.call("GET", "/v1/persons?alias=bob")?["registrations"]?.array?.first
    let texts = his?["pushes"]?.array?.compactMap { $0["push"]?["message"]?["msg_content"]?.string }
    #expect(texts == ["to all", "to both"])

    // Once more is no mistake, and finds nobody.
    let again = try world.call("DELETE", "/v1/persons?registration_id=\(world.alice.id.text)")
    #expect(again?["registrations"] == 0)
    try world.expectDone(try #require(again?["erasure_id"]?.string), at: world.server)
    #expect(world.found() == [])
    world.server.program.signal(SIGTERM)
    #expect(try world.server.program.end().status == 0)
    #expect(world.found() == [])
  }

  @Test func `A server that is killed goes on with it`() throws {
    let world = try World()
    try world.fill()
    let id = try world.erase()
    world.server.program.signal(SIGKILL)
    _ = try world.server.program.end()
    let server = try TestServer(data: world.data, ["--callback-networks", "127.0.0.0/8"])
    try world.expectDone(id, at: server)
    #expect(world.found() == [])
    server.program.signal(SIGTERM)
    #expect(try server.program.end().status == 0)
    #expect(world.found() == [])
  }

  /// Which tables of a cluster's database have a text, also in bytes.
  private static func tables(with text: String, in world: ClusterWorld) throws -> [String] {
    let hex = Hex.encode(Array(text.utf8))
    return try world.cluster.sql(
      """
      SELECT tablename FROM (
        SELECT tablename, query_to_xml(format('SELECT t::text FROM %I t', tablename), true, true, '')::text AS rows
        FROM pg_tables WHERE schemaname = 'public') tables
      WHERE rows LIKE '%\(text)%' OR rows LIKE '%\(hex)%' ORDER BY tablename
      """, in: world.database
    ).compactMap(\.first)
  }

  @Test func `In a cluster any node begins it, and the app's next home goes on with it`() throws {
    let names = ["a", "b"]
    let world = try ClusterWorld(names, arguments: ["--spread-apps"])
    let app = try world.makeApp()
    for name in names {
      let isServed = try RunningProgram.eventually {
        try world.node(name).call("GET", "/v3/schedules", as: app).status == 200
      }
      try #require(isServed)
    }
    let home = try #require(try names.first { try world.apps(at: $0) == 1 })
    let other = try #require(names.first { $0 != home })
    for (erased, isKilled) in [("alice.7f3a91", false), ("carol.2b91c4", true)] {
      let address = try world.node(other).device
      let identity = try TestDevice.register(address, app: app.key, install: erased)
      let device = try TestDevice.login(address, app: app.key, identity)
      let bound = try world.node(other).call(
        "POST", "/v3/devices/\(identity.id.text)", as: app, body: ["alias": .string(erased)])
      #expect(bound.status == 200)
      for number in 0..<20 {
        let audience: JSONValue = ["alias": [.string(erased)]]
        let id = try world.push("\(erased) \(number)", to: audience, as: app, at: names[number % 2])
        if number == 19 { _ = try device.arrivals(until: id) }
      }
      #expect(try Self.tables(with: erased, in: world).contains("push"))
      let begun = try world.node(other).call("DELETE", "/v1/persons?alias=\(erased)", as: app)
      let id = try #require(begun.document?["erasure_id"]?.string, "\(begun.body)")
      #expect(begun.document?["registrations"] == 1)
      if isKilled { try world.end(home) }
      let isDone = try RunningProgram.eventually {
        let answer = try world.node(other).call("GET", "/v1/persons/erasures/\(id)", as: app)
        return answer.document?["done_at"]?.int64 != nil
      }
      try #require(isDone)
      #expect(try Self.tables(with: erased, in: world) == [])
    }
  }
}
