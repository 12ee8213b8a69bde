import BorealisBase
import BorealisProtocol
import Glibc
import PushTesting
import Testing

/// A push with a canary on a real server that is killed between its parts: devices over sockets get it once,
/// the rest only after the decision.
@Suite struct CanaryTests {
  private static let devices = 40

  private let folder = TemporaryFolder()

  private func canary(_ id: String, _ server: TestServer, _ app: TestServer.App) throws -> JSONValue {
    let call = try server.call("GET", "/v1/pushes/\(id)/canary", as: app)
    return try #require(call.document, "\(call.body)")
  }

  private func walk(environment: [String: String] = [:]) throws {
    let data = folder.path + "/data"
    var server = try TestServer(data: data, environment: environment)
    func killServer() throws {
      server.program.signal(SIGKILL)
      _ = try server.program.end()
      server = try TestServer(data: data, environment: environment)
    }
    let app = try server.makeApp()
    let crowd = ABTestTests.Crowd(
      app,
      try (0..<Self.devices).map {
        try TestDevice.register(server.device, app: app.key, install: "device \($0)")
      })
    func push() throws -> String {
      let sent = try server.call(
        "POST", "/v3/push", as: app,
        body: [
          "platform": "all", "audience": "all", "notification": ["alert": "careful"],
          "options": ["canary": ["share": 25, "wait": 3600]],
        ])
      return try #require(sent.document?["msg_id"]?.string, "\(sent.body)")
    }
    let id = try push()

    // Before anybody has got anything.
    try killServer()
    let running = try canary(id, server, app)
    #expect(running["state"] == "waiting" && running["target"] == 10 && running["rest"] == 30, "\(running)")
    try crowd.read(from: server)
    let first = crowd.shown.indices.filter { crowd.shown[$0] == [id: "careful"] }
    #expect(first.count == 10 && crowd.shown.filter(\.isEmpty).count == 30)

    // Right after the decision, before the rest has got anything.
    let released = try server.call("POST", "/v1/pushes/\(id)/canary/release", as: app, body: [:])
    #expect(released.status == 200, "\(released.body)")
    try killServer()
    let ended = try canary(id, server, app)
    let rest = try #require(ended["rest_msg_id"]?.string, "\(ended)")
    #expect(ended["state"] == "released")
    try crowd.read(from: server)
    for (place, shown) in crowd.shown.enumerated() {
      #expect(shown == [(first.contains(place) ? id : rest): "careful"], "device \(place)")
    }

    // One that is stopped stays so.
    let second = try push()
    let stopped = try server.call("POST", "/v1/pushes/\(second)/canary/stop", as: app, body: [:])
    #expect(stopped.status == 200, "\(stopped.body)")
    try killServer()
    #expect(try canary(second, server, app)["state"] == "stopped")
    try crowd.read(from: server)
    #expect(crowd.shown.filter { $0[second] != nil }.count == 10)
  }

  @Test func `The rest gets it once, although the server is killed`() throws { try walk() }

  @Test func `The same on PostgreSQL`() throws {
    let cluster = try PostgresCluster()
    try walk(environment: ["BOREALIS_STORE": cluster.url(of: try cluster.makeEmpty())])
  }
}
