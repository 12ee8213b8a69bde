import Glibc
import PushJSON
import PushTesting
import PushWire
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
    // A node of another authority is none.
    try world.makeCertificates(["c"], authority: "other")
    try world.startUnready("c", world.certificates("c"))
    let answer = try world.node("c").call("GET", "/v3/push/cid", as: app)
    #expect(answer.status == 503 && answer.head.lowercased().contains("retry-after"), "\(answer)")
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
