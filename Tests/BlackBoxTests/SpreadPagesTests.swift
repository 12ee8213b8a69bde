import BorealisBase
import BorealisProtocol
import PushTesting
import Testing

/// What people and devices do about apps that have their homes on different nodes, at any node.
@Suite(.serialized) struct SpreadPagesTests {
  private let names = ["a", "b", "c"]

  /// Three nodes, each the home of one app.
  private func spread() throws -> (world: ClusterWorld, apps: [TestServer.App]) {
    let world = try ClusterWorld(names, arguments: ["--spread-apps"])
    let apps = try (0..<3).map { try world.makeApp("app \($0)") }
    let isSpread = try RunningProgram.eventually { try names.map { try world.apps(at: $0) } == [1, 1, 1] }
    #expect(isSpread)
    return (world, apps)
  }

  private func command(_ world: ClusterWorld, _ arguments: [String]) throws -> JSONValue? {
    let ending = try RunningProgram.run(
      arguments + ["--data", world.folder.path + "/commands"], environment: world.environment)
    #expect(ending.status == 0)
    return ending.documents.first ?? nil
  }

  @Test func `A push to a group reaches devices of all its apps, wherever these began`() throws {
    let (world, apps) = try spread()
    let devices = try apps.enumerated().map { index, app in
      let address = try world.node(names[index]).device
      let identity = try TestDevice.register(address, app: app.key, install: "one")
      return try TestDevice.login(address, app: app.key, identity)
    }
    let group = try command(
      world, ["group", "create", "all", "--app", apps.map(\.key).joined(separator: ",")])
    let login = (
      key: "group-\(group?["group_key"]?.string ?? "")", secret: group?["group_master_secret"]?.string ?? ""
    )
    let body: JSONValue = ["platform": "all", "audience": "all", "message": ["msg_content": "to all"]]
    // The apps of the group come together first; until then there is no other answer than "not now".
    var ids: [[String?]] = []
    for name in names {
      let isAccepted = try RunningProgram.eventually {
        let call = try world.node(name).call("POST", "/v3/grouppush", as: login, body: body)
        guard call.status == 200 else {
          #expect(call.status == 503 && call.head.lowercased().contains("\r\nretry-after: "), "\(call.body)")
          return false
        }
        ids.append(apps.map { call.document?[$0.key]?["msg_id"]?.string })
        return true
      }
      #expect(isAccepted)
    }
    for (index, device) in devices.enumerated() {
      for push in ids {
        let arrival = try device.arrival()
        #expect(arrival.id == push[index])
        try device.acknowledge(arrival)
      }
    }
    #expect(try names.map { try world.apps(at: $0) }.sorted() == [0, 0, 3])
    let outsider = try world.node("b").call(
      "POST", "/v3/grouppush", as: (key: login.key, secret: "x"), body: body)
    #expect(outsider.status == 401)
  }

  @Test func `Apps of a plan that share its speed come together, and no call is refused`() throws {
    let (world, apps) = try spread()
    _ = try command(world, ["plan", "set", "shared", "--speed", "1000", "--shared-speed", "yes"])
    for app in apps[1...] { _ = try command(world, ["app", "plan", app.key, "shared"]) }
    var failures: [String] = []
    let areTogether = try RunningProgram.eventually {
      for (app, name) in zip(apps, names) {
        let call = try world.node(name).call("GET", "/v3/push/cid", as: app)
        if call.status != 200 { failures.append("\(call.status) \(call.body)") }
      }
      return try names.map { try world.apps(at: $0) }.sorted() == [0, 1, 2]
    }
    #expect(areTogether && failures == [])
  }

  @Test func `Pages of every app are there at every node, and changes count wherever the app is`() throws {
    let (world, apps) = try spread()
    let visitor = try SpreadVisitor(world, linkAt: "a", through: "b")
    for app in apps {
      _ = try TestDevice.register(try world.node("c").device, app: app.key, install: "one")
    }
    for name in names {
      for (index, app) in apps.enumerated() {
        let page = try visitor.get("/console/apps/\(app.key)", at: name)
        #expect(page.status == 200 && page.body.contains("<h1>app \(index)</h1>"))
      }
      // Pages about several apps know how those stand that have other homes.
      let isKnown = try RunningProgram.eventually {
        let page = try visitor.get("/console/", at: name).body
        return page.ranges(of: "Devices: 1, online: 0").count == 3
      }
      #expect(isKnown)
      let page = try visitor.get("/console/operator", at: name)
      #expect(page.body.contains(#"data-label="Devices">3</td>"#))
    }
    // Another name, by a node that may not be the app's home.
    for (index, app) in apps.enumerated() {
      let (one, other) = (names[index], names[(index + 1) % 3])
      let path = "/console/apps/\(app.key)/settings"
      #expect(try visitor.post("\(path)/rename", at: one, [("name", "New \(index)")]).status == 303)
      #expect(try visitor.get(path, at: other).body.contains("New \(index)"))
    }
    // Another plan for all apps, and an account that is turned off and on.
    _ = try command(world, ["plan", "set", "tiny", "--report-calls", "1"])
    let changed = try visitor.post(
      "/console/operator/accounts/1/plan", at: "c", [("plan-1", "tiny"), ("all-1", "1")])
    #expect(changed.status == 303)
    for (app, name) in zip(apps, names) {
      let isLimited = try RunningProgram.eventually {
        try world.node(name).call("GET", "/v3/received?msg_ids=1", as: app).status == 429
      }
      #expect(isLimited)
    }
    for (action, status) in [("off", 403), ("on", 200)] {
      #expect(try visitor.post("/console/operator/accounts/1/\(action)", at: "b").status == 303)
      for (app, name) in zip(apps, names) {
        let isSeen = try RunningProgram.eventually {
          try world.node(name).call("GET", "/v3/push/cid", as: app).status == status
        }
        #expect(isSeen)
      }
    }
    // An app is made and deleted by any node.
    let made = try visitor.post("/console/accounts/1/apps/new", at: "c", [("name", "made by c")])
    #expect(made.status == 200 && made.body.contains("made by c"))
    for app in apps {
      let path = "/console/apps/\(app.key)"
      let title = try visitor.get(path, at: "b").body
      let name = try #require((0..<3).first { title.contains("<h1>New \($0)</h1>") })
      let deleted = try visitor.post("\(path)/settings/delete", at: "b", [("confirmation", "New \(name)")])
      #expect(deleted.status == 303)
      #expect(try world.node("a").call("GET", "/v3/schedules", as: app).status == 401)
    }
  }

  @Test func `Receipts of devices are taken at any node`() throws {
    let (world, apps) = try spread()
    for app in apps {
      let address = try world.node("a").device
      let identity = try TestDevice.register(address, app: app.key, install: "one")
      for name in names {
        let push = try world.node("b").call(
          "POST", "/v3/push", as: app,
          body: ["platform": "all", "audience": "all", "notification": ["alert": "Hello"]])
        let id = try #require(push.document?["msg_id"]?.string, "\(push.body)")
        let receipt = try world.node(name).call(
          "POST", "/v1/receipts",
          body: [
            "app_key": .string(app.key), "registration_id": .string(identity.id.text),
            "secret": .string(Hex.encode(identity.secret.bytes)), "shown": [.string(id)],
          ])
        #expect(receipt.status == 200, "\(receipt.body)")
        let isShown = try RunningProgram.eventually {
          try world.node(name).call("GET", "/v1/pushes/\(id)", as: app).document?["shown"] == 1
        }
        #expect(isShown)
      }
      // So many that the body is asked about before it is read, and the app is named in the body alone.
      let shown = (0..<256).map { JSONValue.string("\(Int64.max - Int64($0))") }
      for name in names {
        let many = try world.node(name).call(
          "POST", "/v1/receipts",
          body: [
            "app_key": .string(app.key), "registration_id": .string(identity.id.text),
            "secret": .string(Hex.encode(identity.secret.bytes)), "shown": .array(shown),
          ])
        #expect(many.status == 200, "\(many.body)")
      }
      let wrong = try world.node("c").call(
        "POST", "/v1/receipts",
        body: [
          "app_key": .string(app.key), "registration_id": .string(identity.id.text),
          "secret": .string(String(repeating: "0", count: 32)), "shown": ["1"],
        ])
      #expect(wrong.status == 401)
    }
  }

  /// Addresses as makers were told them before they had the app's key: with nothing but the code.
  @Test func `Receipts of makers are taken at any node, also at old addresses`() throws {
    let (world, apps) = try spread()
    let file = world.folder.file("huawei.json")
    let fields: JSONValue = [
      "app_id": "1001", "secret": "secret", "receipt_user": "borealis",
      "receipt_secret": .string(Base64.encode(Array("receipt secret".utf8))),
    ]
    try TemporaryFolder.write(JSONWriter.serialize(fields), to: file)
    func status(_ path: String, at name: String) throws -> Int {
      try world.node(name).call("POST", path, body: ["statuses": []]).status
    }
    let unknown = "/v1/vendor-receipts/huawei/AAAAAAAAAAAAAAAAAAAAAA"
    for name in names { #expect(try status(unknown, at: name) == 404) }
    for app in apps {
      let set = try command(
        world,
        [
          "app", "channel", "set", app.key, "huawei", "--fields", file,
          "--secret-key-file", world.folder.path + "/secret-key",
        ])
      let path = try #require(set?["receipts"]?.string)
      let old = path.replacing("\(app.key)-", with: "")
      #expect(old != path)
      for name in names {
        // Whoever has the address asks for the signature. What nobody had a moment ago is looked for again a
        // little later.
        for path in [path, old] {
          #expect(try RunningProgram.eventually { try status(path, at: name) == 401 }, "\(path) at \(name)")
        }
      }
      // A code of another channel, and of another app.
      #expect(try status(old.replacing("huawei", with: "honor"), at: "b") == 404)
      let other = apps.first { $0.key != app.key }?.key ?? ""
      #expect(try status(path.replacing(app.key, with: other), at: "c") == 404)
    }
    for name in names { #expect(try status(unknown, at: name) == 404) }
  }

  @Test func `Operators see which node is the home of how many apps`() throws {
    let (world, _) = try spread()
    let visitor = try SpreadVisitor(world, linkAt: "a", through: "c")
    let arguments = ["--data", world.folder.path + "/commands"]
    let list = try RunningProgram.run(["node", "list"] + arguments, environment: world.environment)
    let nodes = list.documents.compactMap { $0 }
    #expect(nodes.map { $0["name"]?.string } == ["a", "b", "c"])
    #expect(nodes.allSatisfy { $0["role"] == "home" && $0["apps"] == 1 && $0["alive"] == true })
    #expect(nodes.map { $0["installation"] } == [true, false, false])
    let status = try RunningProgram.run(["node", "status"] + arguments, environment: world.environment)
    #expect(status.status == 0)
    #expect(
      status.documents.first??["home"] == "a" && status.documents.first??["apps_without_home"] == 0)
    for name in names {
      let metrics = try world.node(name).call("GET", "/metrics").body
      #expect(metrics.contains("\nborealis_node_apps 1.0\n"))
      #expect(metrics.contains("\nborealis_node_is_home \(name == "a" ? 1 : 0).0\n"))
      let ready = try world.node(name).call("GET", "/readyz").body
      #expect(ready.contains("installation at \(name == "a" ? "this node" : "a")"))
      let page = try visitor.get("/console/operator", at: name).body
      #expect(page.ranges(of: "Home of apps: 1").count == 3)
      #expect(page.ranges(of: "Home of apps: 1, and of the installation").count == 1)
    }
  }
}
