import BorealisBase
import Glibc
import PushTesting
import Testing

/// Several nodes on one database, each of which is the home of some apps and a gateway of the others.
@Suite(.serialized) struct SpreadTests {
  private func waitForHomes(_ world: ClusterWorld, _ apps: [TestServer.App], at name: String) throws {
    for app in apps {
      let isServed = try RunningProgram.eventually {
        try world.node(name).call("GET", "/v3/schedules", as: app).status == 200
      }
      #expect(isServed)
    }
  }

  /// Makes apps, and a device of each that is connected to the next node.
  private func residents(
    _ world: ClusterWorld, _ names: [String], apps count: Int
  ) throws -> [(app: TestServer.App, device: TestDevice, at: String)] {
    let apps = try (0..<count).map { try world.makeApp("app \($0)") }
    try waitForHomes(world, apps, at: names[0])
    return try apps.enumerated().map { index, app in
      let at = names[(index + 1) % names.count]
      let address = try world.node(at).device
      let identity = try TestDevice.register(address, app: app.key, install: "one")
      return (app, try TestDevice.login(address, app: app.key, identity), at)
    }
  }

  @Test func `Apps are divided among nodes, and any node serves all of them`() throws {
    let names = ["a", "b", "c"]
    let world = try ClusterWorld(names, arguments: ["--spread-apps"])
    let residents = try residents(world, names, apps: 6)
    #expect(try RunningProgram.eventually { try names.map { try world.apps(at: $0) } == [2, 2, 2] })
    for (index, resident) in residents.enumerated() {
      var ids: [String] = []
      for name in names { ids.append(try world.push("\(index) at \(name)", as: resident.app, at: name)) }
      #expect(try resident.device.arrivals(until: ids[2]) == ids)
      #expect(try RunningProgram.eventually { try world.delivered(ids[2], as: resident.app, at: "b") == 1 })
    }
    // Nobody's key is refused by who knows.
    let outsider = try world.node("b").call(
      "GET", "/v3/schedules", as: (key: "0123456789abcdef01234567", secret: "x"))
    #expect(outsider.status == 401)
  }

  @Test func `What a node that is killed was the home of goes on elsewhere, and nothing accepted is lost`()
    throws
  {
    let names = ["a", "b", "c"]
    let world = try ClusterWorld(names, arguments: ["--spread-apps"])
    let residents = try residents(world, names, apps: 6)
    // The home of the installation, and then another one.
    for killed in ["a", "b"] {
      var accepted: [[String]] = residents.map { _ in [] }
      for (index, resident) in residents.enumerated() {
        accepted[index].append(try world.push("before", as: resident.app, at: "c"))
      }
      try world.end(killed)
      for _ in 0..<10 {
        for (index, resident) in residents.enumerated() {
          let answer = try world.tryPush("x", as: resident.app, at: "c")
          if answer.status == 200, let id = answer.document?["msg_id"]?.string {
            accepted[index].append(id)
          } else {
            #expect([500, 503, 504].contains(answer.status), "\(answer.status) \(answer.body)")
          }
        }
      }
      try waitForHomes(world, residents.map(\.app), at: "c")
      for (index, resident) in residents.enumerated() where resident.at == "c" {
        let last = try world.push("last", as: resident.app, at: "c")
        let came = try resident.device.arrivals(until: last)
        #expect(Set(came).count == came.count)
        #expect(Set(accepted[index]).isSubset(of: came))
      }
      try world.start(killed, ["--spread-apps"])
    }
    // Those that came back get their share.
    #expect(
      try RunningProgram.eventually {
        let counts = try names.map { try world.apps(at: $0) }
        return counts.reduce(0, +) == 6 && counts.allSatisfy { $0 == 2 }
      })
  }

  @Test func `A node that is stopped hands its apps over without a failed call`() throws {
    let names = ["a", "b", "c"]
    let world = try ClusterWorld(names, arguments: ["--spread-apps"])
    let residents = try residents(world, names, apps: 3)
    let (c, apps) = (try world.node("c"), residents.map(\.app))
    let pusher = SpreadPusher(c, apps)
    #expect(RunningProgram.eventually { pusher.count > 20 })
    let ending = try world.end("a", SIGTERM)
    #expect(ending.status == 0)
    let count = pusher.count
    #expect(RunningProgram.eventually { pusher.count > count + 20 })
    let (ids, failures) = pusher.stop()
    #expect(failures == [], "\(ending.errors)")
    for (index, resident) in residents.enumerated() where resident.at != "a" {
      let last = try world.push("last", as: resident.app, at: "c")
      #expect(try resident.device.arrivals(until: last) == ids[index] + [last])
    }
  }
  /// Each try costs calls a moment, and no push.
  @Test func `An app that cannot be handed over is served on`() throws {
    let world = try ClusterWorld(["a"], arguments: ["--spread-apps"])
    let apps = try (0..<2).map { try world.makeApp("app \($0)") }
    try waitForHomes(world, apps, at: "a")
    try world.cluster.sql(
      """
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON home FOR EACH ROW WHEN (OLD.fence <> NEW.fence)
        EXECUTE FUNCTION refuse();
      """, in: world.database)
    let (a, b) = (try world.node("a"), try world.start("b", ["--spread-apps"]))
    let devices = try apps.map { app in
      let identity = try TestDevice.register(b.device, app: app.key, install: "one")
      return try TestDevice.login(b.device, app: app.key, identity)
    }
    let pusher = SpreadPusher(b, apps)
    let isTried = RunningProgram.eventually {
      a.program.errors.ranges(of: "app not handed over").count > 1
    }
    #expect(isTried)
    let count = pusher.count
    #expect(RunningProgram.eventually { pusher.count > count + 20 })
    let (ids, failures) = pusher.stop()
    #expect(failures == [])
    for (index, device) in devices.enumerated() {
      let last = try world.push("last", as: apps[index], at: "b")
      #expect(try device.arrivals(until: last) == ids[index] + [last])
    }
    #expect(try world.apps(at: "a") == 2)
  }
}
