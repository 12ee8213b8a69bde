import BorealisBase
import Glibc
import PushTesting
import Testing

/// API keys and the log of requests, in the program.
@Suite struct APIKeyTests {
  let folder = TemporaryFolder()

  @Test func `A key works until it is revoked, also after a restart, and its calls are counted`() throws {
    let data = folder.path + "/data"
    var server = try TestServer(data: data)
    let app = try server.makeApp()
    _ = try TestDevice.register(server.device, app: app.key, install: "one")
    let made = try server.call(
      "POST", "/v1/api-keys", as: app,
      body: ["name": "stats", "rights": ["reports"], "networks": ["127.0.0.0/8"]])
    let key = (key: app.key, secret: try #require(made.document?["secret"]?.string))
    let id = try #require(made.document?["id"]?.int64)
    let push: JSONValue = ["platform": "all", "audience": "all", "notification": ["alert": "x"]]

    func stop(_ server: TestServer) throws {
      server.program.signal(SIGTERM)
      #expect(try server.program.end().status == 0)
    }
    func expectRights(_ server: TestServer) throws {
      let refused = try server.call("POST", "/v3/push", as: key, body: push)
      #expect(refused.status == 403 && refused.document?["error"]?["code"] == 2007, "\(refused.body)")
      #expect(refused.body.contains("this call needs: push"))
      #expect(try server.call("GET", "/v1/stats?hours=1", as: key).status != 401)
      #expect(try server.call("POST", "/v3/push", as: app, body: push).status == 200)
    }
    try expectRights(server)
    try stop(server)
    server = try TestServer(data: data)
    try expectRights(server)
    let listed = try server.call("GET", "/v1/api-keys", as: app).document?["keys"]?.array?.first
    #expect(listed?["id"]?.int64 == id && listed?["last_used_at"]?.string != nil)
    #expect(try server.call("DELETE", "/v1/api-keys/\(id)", as: app).status == 200)
    #expect(try server.call("GET", "/v1/stats?hours=1", as: key).status == 401)
    #expect(try server.call("GET", "/metrics").body.contains("\nborealis_request_log_dropped_total 0"))
    try stop(server)
    server = try TestServer(data: data, ["--request-log", "off"])
    #expect(try server.call("GET", "/v1/stats?hours=1", as: key).status == 401)
  }
}
