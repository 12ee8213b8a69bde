import BorealisBase
import BorealisProtocol
import Dispatch
import Glibc
import PushTesting
import Synchronization
import Testing

/// Several nodes on one database, of which one is the home and the others are gateways.
@Suite(.serialized) struct ClusterTests {
  @Test func `A device on one gateway gets what is pushed at another`() throws {
    let world = try ClusterWorld(["a", "b", "c"])
    #expect(try world.home() == "a")
    #expect(try !world.isHome("b") && !world.isHome("c"))
    #expect(try world.node("b").call("GET", "/readyz").body.contains("gateway of a"))
    let app = try world.makeApp()
    let identity = try TestDevice.register(try world.node("b").device, app: app.key, install: "one")
    let device = try TestDevice.login(try world.node("b").device, app: app.key, identity)
    let first = try world.push("first", as: app, at: "c")
    let arrival = try device.arrival()
    #expect(arrival.id == first)
    try device.acknowledge(arrival)
    #expect(try RunningProgram.eventually { try world.delivered(first, as: app, at: "b") == 1 })

    // What the device says of itself is known everywhere.
    try device.send(.operation(sequence: 1, .setAlias("ann")))
    try device.send(.operation(sequence: 2, .addTags(["vip", "好"])))
    for sequence in [1, 2] as [UInt32] {
      guard case .result(sequence, .ok, _) = try device.next() else {
        Issue.record("no result of \(sequence)")
        return
      }
    }
    let toAlias = try world.push("alias", to: ["alias": ["ann"]], as: app, at: "c")
    let toTag = try world.push("tag", to: ["tag": ["好"]], as: app, at: "a")
    #expect(try device.arrivals(until: toTag) == [toAlias, toTag])
    // Until this is known everywhere, the next login would get them again.
    for id in [toAlias, toTag] {
      #expect(try RunningProgram.eventually { try world.delivered(id, as: app, at: "c") == 1 })
    }
    let named = try world.node("c").call("GET", "/v3/devices/\(identity.id.text)", as: app)
    #expect(named.document?["alias"]?.string == "ann", "\(named.body)")

    // A second login of the same registration, elsewhere, ends the first one.
    let again = try TestDevice.login(try world.node("c").device, app: app.key, identity)
    guard case .goAway = try device.next() else {
      Issue.record("the first connection stays")
      return
    }
    let last = try world.push("last", to: ["alias": ["ann"]], as: app, at: "b")
    #expect(try again.arrivals(until: last) == [last])

    // What waits for a device waits for it at all nodes.
    let other = try TestDevice.register(try world.node("a").device, app: app.key, install: "other")
    let kept = try world.push("kept", to: ["registration_id": [.string(other.id.text)]], as: app, at: "b")
    let late = try TestDevice.login(try world.node("c").device, app: app.key, other).arrival()
    #expect(late.id == kept && late.isOffline)
  }

  @Test
  func `Devices of other nodes stay when the home is killed, and nothing accepted is lost or shown twice`()
    throws
  {
    let world = try ClusterWorld(["a", "b", "c"])
    let app = try world.makeApp()
    let devices = try ["b", "c"].map { name in
      let address = try world.node(name).device
      return try TestDevice.login(
        address, app: app.key, try TestDevice.register(address, app: app.key, install: name))
    }
    var accepted = try [world.push("before", as: app, at: "b"), world.push("before", as: app, at: "c")]
    try world.end("a")
    var refused = 0
    for number in 0..<40 {
      let answer = try world.tryPush("\(number)", as: app, at: number % 2 == 0 ? "b" : "c")
      if answer.status == 200, let id = answer.document?["msg_id"]?.string {
        accepted.append(id)
      } else {
        refused += 1
        #expect([500, 503, 504].contains(answer.status), "\(answer.status) \(answer.body)")
      }
    }
    let home = try world.home()
    #expect(home == "b" || home == "c")
    accepted.append(try world.push("last", as: app, at: "b"))
    for device in devices {
      let came = try device.arrivals(until: try #require(accepted.last))
      #expect(Set(came).count == came.count)
      #expect(Set(accepted).isSubset(of: came), "\(Set(accepted).subtracting(came).count) are lost")
    }
    #expect(refused < 40)
    // The one that was killed comes back as a gateway.
    try world.start("a")
    #expect(try !world.isHome("a"))
    let id = try world.push("again", as: app, at: "a")
    for device in devices { #expect(try device.arrivals(until: id) == [id]) }
  }

  @Test func `A home that is stopped hands over without a failed call`() throws {
    let world = try ClusterWorld(["a", "b", "c"])
    let app = try world.makeApp()
    let address = try world.node("c").device
    let device = try TestDevice.login(
      address, app: app.key, try TestDevice.register(address, app: app.key, install: "one"))
    let own = try TestDevice.login(
      try world.node("a").device, app: app.key,
      try TestDevice.register(try world.node("a").device, app: app.key, install: "own"))
    let isOver = Mutex(false)
    let ids = Mutex<[String]>([])
    let failures = Mutex<[String]>([])
    let pushing = DispatchGroup()
    let (b, key) = (try world.node("b"), app)
    DispatchQueue.global().async(group: pushing) {
      while !isOver.withLock({ $0 }) {
        let answer = try? b.call(
          "POST", "/v3/push", as: key,
          body: ["platform": "all", "audience": "all", "message": ["msg_content": "x"]])
        if answer?.status == 200, let id = answer?.document?["msg_id"]?.string {
          ids.withLock { $0.append(id) }
        } else {
          failures.withLock { $0.append("\(answer?.status ?? 0) \(answer?.body ?? "")") }
        }
      }
    }
    #expect(RunningProgram.eventually { ids.withLock { $0.count > 20 } })
    let ending = try world.end("a", SIGTERM)
    #expect(ending.status == 0)
    let count = ids.withLock { $0.count }
    #expect(RunningProgram.eventually { ids.withLock { $0.count > count + 20 } })
    isOver.withLock { $0 = true }
    pushing.wait()
    #expect(failures.withLock { $0 } == [])
    let last = try world.push("last", as: app, at: "b")
    let came = try device.arrivals(until: last)
    #expect(came == ids.withLock { $0 } + [last])
    // The home's own device is sent away once there is a new home.
    var isSentAway = false
    while !isSentAway {
      switch try own.next() {
      case .goAway: isSentAway = true
      case .push: continue
      default: Issue.record("neither a push nor the end")
      }
    }
    #expect(ending.errors.contains("another node is the home"), "\(ending.errors)")
  }

  /// As libcurl does with each request, and so JPush's client for PHP.
  @Test func `A large request that offers HTTP 2 is passed on as any other`() throws {
    let world = try ClusterWorld(["a", "b"])
    let app = try world.makeApp()
    let identity = try TestDevice.register(try world.node("b").device, app: app.key, install: "one")
    var ids = (0..<500).map { JSONValue.string(RegistrationID(high: UInt64($0 + 1), low: 0).text) }
    ids.append(.string(identity.id.text))
    for name in ["a", "b"] {
      let answer = try world.node(name).call(
        "POST", "/v3/push", as: app,
        headers: [
          "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA",
        ],
        body: [
          "platform": "all", "audience": ["registration_id": .array(ids)], "message": ["msg_content": "one"],
        ])
      #expect(answer.status == 200, "\(name): \(answer.head) \(answer.body)")
    }
  }

  @Test func `The devices of a gateway that is killed go on elsewhere`() throws {
    let world = try ClusterWorld(["a", "b", "c"])
    let app = try world.makeApp()
    let identity = try TestDevice.register(try world.node("b").device, app: app.key, install: "one")
    _ = try TestDevice.login(try world.node("b").device, app: app.key, identity)
    try world.end("b")
    let first = try world.push("first", as: app, at: "c")
    let device = try TestDevice.login(try world.node("c").device, app: app.key, identity)
    #expect(try device.arrivals(until: first) == [first])
    let second = try world.push("second", as: app, at: "a")
    #expect(try device.arrivals(until: second) == [second])
    // A gateway that is stopped sends its devices away.
    #expect(try world.end("c", SIGTERM).status == 0)
    guard case .goAway = try device.next() else {
      Issue.record("it is not sent away")
      return
    }
    #expect(try world.home() == "a")
  }

  @Test(arguments: [[], ["--spread-apps"]])
  func `A home that stands still is replaced and ends when it goes on`(arguments: [String]) throws {
    let world = try ClusterWorld(["a", "b"], arguments: arguments)
    let app = try world.makeApp()
    let isThere = try RunningProgram.eventually { try arguments == [] || world.apps(at: "a") == 1 }
    #expect(isThere)
    let address = try world.node("b").device
    let device = try TestDevice.login(
      address, app: app.key, try TestDevice.register(address, app: app.key, install: "one"))
    let frozen = try world.node("a")
    frozen.program.signal(SIGSTOP)
    #expect(try RunningProgram.eventually { try world.isHome("b") })
    let id = try world.push("next", as: app, at: "b")
    #expect(try device.arrivals(until: id) == [id])
    // Calls that have come meanwhile were certainly not carried out: the new home gets them.
    let sockets = try (0..<5).map { _ in try TestSocket(frozen.http) }
    for (number, socket) in sockets.enumerated() {
      let push: JSONValue = [
        "platform": "all", "audience": "all", "message": ["msg_content": .string("waits \(number)")],
      ]
      try socket.send(
        HTTPCall.request(
          "POST", "/v3/push", login: app, headers: ["Connection: close"],
          String(decoding: JSONWriter.serialize(push), as: UTF8.self)))
    }
    frozen.program.signal(SIGCONT)
    var waited: Set<String> = []
    for socket in sockets {
      let answer = try HTTPCall(answerOn: socket)
      #expect(answer.status == 200, "\(answer)")
      waited.insert(answer.document?["msg_id"]?.string ?? "")
    }
    let last = try world.push("last", as: app, at: "b")
    #expect(try Set(device.arrivals(until: last)) == waited.union([last]))
    let ending = try frozen.program.end()
    #expect(ending.status == 1, "\(ending.errors)")
    #expect(ending.errors.contains("another node is the home"))
  }

  @Test func `A gateway that was taken for dead tries to join again until the database lets it`() throws {
    let world = try ClusterWorld(["a", "b"])
    let app = try world.makeApp()
    let gateway = try world.node("b")
    let device = try TestDevice.login(
      gateway.device, app: app.key, try TestDevice.register(gateway.device, app: app.key, install: "one"))
    gateway.program.signal(SIGSTOP)
    let isGone = try RunningProgram.eventually {
      try world.cluster.sql("SELECT name FROM node", in: world.database) == [["a"]]
    }
    #expect(isGone)
    // The node can read who is there, and gets no place.
    try world.cluster.sql(
      """
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no place''; END';
      CREATE TRIGGER refuse BEFORE INSERT ON node FOR EACH ROW EXECUTE FUNCTION refuse()
      """, in: world.database)
    gateway.program.signal(SIGCONT)
    try gateway.program.wait(forError: "rejoining the cluster failed; retrying")
    #expect(try gateway.call("GET", "/readyz").body.contains("considered dead"))
    #expect(try gateway.call("GET", "/metrics").body.contains("\nborealis_ready 0.0\n"))
    try world.cluster.sql("DROP TRIGGER refuse ON node", in: world.database)
    try world.waitUntilReady("b")
    let id = try world.push("next", as: app, at: "b")
    #expect(try device.arrivals(until: id) == [id])
  }

  /// It would wait for the database for a minute.
  @Test func `A node that is about to become the home ends when it is told to`() throws {
    let world = try ClusterWorld(["a", "b"])
    let session = try PostgresSession(world.cluster, in: world.database)
    try session.sql("BEGIN; LOCK TABLE registration IN ACCESS EXCLUSIVE MODE")
    try world.end("a")
    let server = try world.node("b")
    try server.program.wait(forError: "becoming the home")
    server.program.signal(SIGTERM)
    let ending = try server.program.end(patience: 40)
    #expect(ending.status == 0)
    try session.sql("COMMIT")
    // Its place is free for the next one.
    try world.start("c")
    #expect(try RunningProgram.eventually { try world.isHome("c") })
  }

  @Test func `An installation that cannot be handed over stays until the node has ended`() throws {
    let world = try ClusterWorld(["a", "b"], arguments: ["--spread-apps"])
    func hasInstallation(_ name: String) throws -> Bool {
      try RunningProgram.eventually {
        try world.node(name).call("GET", "/readyz").body.contains("installation at this node")
      }
    }
    #expect(try hasInstallation("a"))
    // Once the other node was given an app, it is known to be able to take more.
    for name in ["one", "two"] { _ = try world.makeApp(name) }
    let isKnown = try RunningProgram.eventually { try ["a", "b"].map { try world.apps(at: $0) } == [1, 1] }
    #expect(isKnown)
    let session = try PostgresSession(world.cluster, in: world.database)
    try session.sql(
      """
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON home FOR EACH ROW EXECUTE FUNCTION refuse()
      """)
    let ending = try world.end("a", SIGTERM)
    #expect(ending.status == 0)
    #expect(ending.errors.contains("installation-wide services not handed over"))
    try session.sql("DROP TRIGGER refuse ON home")
    #expect(try hasInstallation("b"))
  }

  @Test func `Nodes that do not know the schema say once why they do not become the home`() throws {
    let world = try ClusterWorld(["a", "b", "c"])
    try world.cluster.sql(
      "INSERT INTO schema_migration VALUES (999, 'later', 'x', 0)", in: world.database)
    try world.end("a")
    let reason = "this node did not become the home"
    for name in ["b", "c"] {
      let server = try world.node(name)
      try server.program.wait(forError: "a newer version of Borealis wrote it")
      // Meanwhile it has tried some times, and so has the other one.
      let isHomeless = try RunningProgram.eventually {
        try server.call("GET", "/readyz").body.contains("no node is the home")
      }
      #expect(isHomeless)
      let lines = server.program.errors.split(separator: "\n").filter { $0.contains(reason) }
      // When it started, it may have tried while the other one was faster.
      #expect(lines.count { $0.contains("newer version") } == 1, "\(lines)")
      #expect(lines.count <= 2, "\(lines)")
    }
    try world.cluster.sql("DELETE FROM schema_migration WHERE version = 999", in: world.database)
    _ = try world.home()
  }

  @Test func `Wrong settings are said in one line`() throws {
    let world = try ClusterWorld(["a"])
    func refusal(_ arguments: [String], store: Bool = true) throws -> (ExitStatus, String) {
      let ending = try RunningProgram.run(
        [
          "serve", "--data", world.folder.path + "/other", "--http", "127.0.0.1:0", "--device-plain",
          "127.0.0.1:0",
        ] + arguments, environment: store ? world.environment : [:])
      let lines = ending.errors.split(separator: "\n").filter { $0.hasPrefix("borealis: ") }
      #expect(lines.count == 1, "\(ending.errors)")
      return (ending.status, ending.errors)
    }
    let node = world.arguments("b")
    let bus = ["--bus", "nats://\(world.bus.address)"]
    for (arguments, text) in [
      (bus, "--bus needs --node"), (["--node", "127.0.0.1:0"], "give --bus"),
      (["--bus", "http://x", "--node", "127.0.0.1:0"], "--bus: expected a URL"),
      (bus + ["--node", "192.0.2.1:9000"], "only addresses of this machine"),
      (bus + ["--node", "0.0.0.0:9000"], "--node: other nodes cannot reach"),
      (bus + ["--node", "127.0.0.1:0", "--cluster", "A B"], "--cluster: expected"),
      (bus + ["--node", "127.0.0.1:0", "--node-ca", "x"], "belong together"),
      (node + ["--cluster", "staging"], "--cluster: the database belongs to the cluster borealis"),
      (world.arguments("a"), "is called a, too"),
    ] as [([String], String)] {
      let (status, errors) = try refusal(arguments)
      #expect(errors.contains(text), "\(arguments): \(errors)")
      #expect(status == 2, "\(arguments)")
    }
    #expect(try refusal(bus + ["--node", "127.0.0.1:0"], store: false).1.contains("give --store"))
    let away = try refusal(
      ["--bus", "nats://ann:sesame@127.0.0.1:1"] + node.dropFirst(2))
    #expect(away.0 == 1 && away.1.contains("cannot reach the bus at 127.0.0.1:1"), "\(away.1)")
    #expect(!away.1.contains("sesame"))
    // None of them has left a node behind.
    #expect(try world.cluster.sql("SELECT name FROM node", in: world.database) == [["a"]])
    #expect(try world.node("a").call("GET", "/readyz").status == 200)
  }
}
