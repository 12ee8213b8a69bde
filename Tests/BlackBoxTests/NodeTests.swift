import BorealisBase
import BorealisProtocol
import Glibc
import PushTesting
import Testing

/// Nodes as operators see them, and requests between them over TLS.
@Suite(.serialized) struct NodeTests {
  private func run(_ command: [String], in world: ClusterWorld) throws -> Ending {
    try RunningProgram.run(
      command + ["--data", world.folder.path + "/commands"], environment: world.environment)
  }

  @Test func `Operators list nodes and let one end`() throws {
    let world = try ClusterWorld(["a", "b"])
    let list = try run(["node", "list"], in: world)
    #expect(list.status == 0, "\(list.errors)")
    let nodes = list.documents.compactMap { $0 }
    #expect(nodes.map { $0["name"]?.string } == ["a", "b"])
    #expect(nodes.map { $0["role"]?.string } == ["home", "gateway"])
    #expect(nodes.allSatisfy { $0["alive"]?.bool == true && $0["draining"]?.bool == false })
    let status = try run(["node", "status"], in: world)
    #expect(status.status == 0 && status.documents.first??["home"]?.string == "a", "\(status.errors)")

    let wrong = try run(["node", "drain", "c"], in: world)
    #expect(wrong.status == 1 && wrong.errors.contains("there is no node \"c\""))
    let drain = try run(["node", "drain", "a"], in: world)
    #expect(drain.status == 0, "\(drain.errors)")
    #expect(try world.waitForEnd("a").status == 0)
    #expect(try RunningProgram.eventually { try world.isHome("b") })
    let after = try run(["node", "list"], in: world).documents.compactMap { $0 }
    #expect(after.map { $0["name"]?.string } == ["b"])
  }

  @Test func `A file has no nodes`() throws {
    let folder = TemporaryFolder()
    let none = try RunningProgram.run(["node", "status", "--data", folder.path, "--store", "sqlite:x"])
    #expect(none.status == 2, "\(none.errors)")
  }

  /// Each request is answered by the home, as if it had come there.
  @Test func `Requests cross nodes over TLS with certificates on both sides`() throws {
    let world = try ClusterWorld()
    try world.makeCertificates(["a", "b"])
    for name in ["a", "b"] { try world.start(name, world.certificates(name)) }
    #expect(try world.home() == "a")
    let app = try world.makeApp()
    _ = try TestDevice.register(world.node("b").device, app: app.key, install: "phone")
    let id = try world.push("x", as: app, at: "b")
    let report = try world.node("b").call("GET", "/v1/pushes/\(id)", as: app, headers: ["X-Request-Id: mine"])
    #expect(report.status == 200 && report.head.lowercased().contains("x-request-id: mine"))
    // A large body of somebody without access is refused by its header.
    let socket = try TestSocket(try world.node("b").http)
    try socket.send(
      Array("POST /v3/push HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\nConnection: close\r\n\r\n".utf8))
    #expect(try HTTPCall(answerOn: socket).status == 401)
    // The console is there at every node.
    let page = try world.node("b").call("GET", "/console/login")
    #expect(page.status == 200 && page.body.contains("<form"))
    // A node whose certificate the others would refuse does not start.
    try world.makeCertificates(["c"], authority: "other")
    do {
      try world.startUnready("c", world.certificates("c"))
      Issue.record("it has started")
    } catch let failure as RunningProgram.Failure {
      #expect(failure.description.contains("other nodes would refuse this one"), "\(failure)")
    }
    // One that believes in another authority does, and serves nothing.
    try world.startUnready("c", world.certificates("c", authority: "other"))
    let answer = try world.node("c").call("GET", "/v3/push/cid", as: app)
    #expect(answer.status == 503 && answer.head.lowercased().contains("retry-after"), "\(answer)")
  }

  /// Whom nobody reaches cannot serve calls that come to other nodes.
  @Test func `A node that others do not reach gives its apps back and gets no more`() throws {
    let names = ["a", "b", "c"]
    let world = try ClusterWorld()
    try world.makeCertificates(names)
    try world.replaceAuthority(of: "c", by: "nodes")
    for name in names {
      let authority = name == "c" ? "own-c" : "nodes"
      try world.start(name, world.certificates(name, authority: authority) + ["--spread-apps"])
    }
    let apps = try (0..<6).map { try world.makeApp("app \($0)") }
    func expectAllServed(at nodes: [String]) throws {
      for app in apps {
        for name in nodes {
          let isServed = try RunningProgram.eventually {
            try world.node(name).call("GET", "/v3/schedules", as: app).status == 200
          }
          #expect(isServed)
        }
      }
    }
    #expect(try RunningProgram.eventually { try names.map { try world.apps(at: $0) } == [2, 2, 2] })
    try expectAllServed(at: names)

    // From now on it shows the certificate of another authority, and believes in that.
    try world.makeCertificates(["c"], authority: "other")
    try world.replaceAuthority(of: "c", by: "other")
    let server = try world.node("c")
    server.program.signal(SIGHUP)
    #expect(try RunningProgram.eventually { try world.apps(at: "a") + world.apps(at: "b") == 6 })
    try expectAllServed(at: ["a", "b"])
    // Nobody reaches it before it reaches nobody, as connections are made anew.
    // What it does not reach itself is in the database a moment after.
    var page = ""
    let isUnreached = try RunningProgram.eventually {
      let answer = try server.call("GET", "/readyz")
      page = answer.body
      return answer.status == 503 && page.contains("not reached by a, b; does not reach a, b")
    }
    #expect(isUnreached, "\(page)")
    #expect(page.contains("does not reach a at 127.0.0.1:"), "\(page)")
    let neighbour = try world.node("a").call("GET", "/readyz")
    #expect(neighbour.status == 200 && neighbour.body.contains("does not reach c"), "\(neighbour.body)")
    #expect(try server.call("GET", "/metrics").body.contains("\nborealis_node_may_be_home 0"))
    let list = try run(["node", "list"], in: world).documents.compactMap { $0 }
    #expect(list.map { $0["may_be_home"]?.bool } == [true, true, false])
    #expect(list.first?["unreached"] == ["c"])

    // It starts once more, and is not given any app.
    try world.end("c")
    let isListed = try RunningProgram.eventually {
      let last = try run(["node", "list"], in: world).documents.compactMap { $0 }.last
      return last?["name"]?.string == "c" && last?["last_seen_at"]?.string != nil
    }
    #expect(isListed)
    try world.startUnready("c", world.certificates("c", authority: "own-c") + ["--spread-apps"])
    try world.node("c").program.wait(forError: "this node is a gateway only, for now")
    try expectAllServed(at: ["a", "b"])
    #expect(try world.apps(at: "c") == -1)
  }

  /// Where a device is sent when its node ends.
  private func host(toldTo device: TestDevice) throws -> String {
    while true {
      guard case .goAway(let reason, _, let host) = try device.next() else { continue }
      #expect(reason == .drain)
      return host
    }
  }

  /// Devices of a node that ends are told of the others that have an address of their own.
  @Test func `Devices of a node that ends learn where to go`() throws {
    let world = try ClusterWorld()
    for name in ["a", "b", "c"] { try world.start(name, ["--device-address", "\(name).example.com:7443"]) }
    let app = try world.makeApp()
    func hosts(_ name: String, _ numbers: Range<Int>) throws -> Set<String> {
      let address = try world.node(name).device
      let devices = try numbers.map { number in
        try TestDevice.login(
          address, app: app.key, try TestDevice.register(address, app: app.key, install: "\(number)"))
      }
      #expect(try world.end(name, SIGTERM).status == 0)
      return try Set(devices.map { try host(toldTo: $0) })
    }
    // With 24 devices one of two names is left out once in eight million runs.
    #expect(try hosts("c", 0..<24) == ["a.example.com:7443", "b.example.com:7443"])
    #expect(try hosts("b", 24..<26) == ["a.example.com:7443"])
    // Devices reach the last one by a name of all nodes alone.
    try world.start("d")
    #expect(try hosts("a", 26..<28) == [""])
  }
}
