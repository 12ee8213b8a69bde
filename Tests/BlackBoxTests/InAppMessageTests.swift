import BorealisBase
import BorealisProtocol
import Glibc
import PushTesting
import Testing

/// An in-app message on a server that is killed.
@Suite struct InAppMessageTests {
  private let folder = TemporaryFolder()

  @Test func `It outlives a kill, is sent once and counts apart`() throws {
    var server = try TestServer(data: folder.path + "/data")
    func kill() throws {
      server.program.signal(SIGKILL)
      _ = try server.program.end()
      server = try TestServer(data: folder.path + "/data")
    }
    let app = try server.makeApp()
    let identity = try TestDevice.register(server.device, app: app.key, install: "i")
    let sent = try server.call(
      "POST", "/v3/push", as: app,
      body: [
        "platform": "all", "audience": "all", "notification": ["alert": "x"],
        "inapp_message": ["inapp_message": true],
      ])
    let id = try #require(sent.document?["msg_id"]?.string, "\(sent.body)")
    try kill()
    var device = try TestDevice.login(server.device, app: app.key, identity)
    let arrival = try device.arrival()
    #expect(
      arrival
        == TestDevice.Arrival(
          id: id, isOffline: true,
          content: ["notification": ["alert": "x"], "inapp_message": true]))
    try device.acknowledge(arrival)
    func report() throws -> JSONValue? {
      try server.call("GET", "/v1/pushes/\(id)", as: app).document
    }
    try device.report(.inAppShown, of: arrival)
    let shown: JSONValue = ["targets": 1, "delivered": 1, "shown": 1, "tapped": 0]
    #expect(try RunningProgram.eventually { try report()?["inapp"] == shown })
    try device.report(.inAppTapped, of: arrival)
    let expected: JSONValue = ["targets": 1, "delivered": 1, "shown": 1, "tapped": 1]
    #expect(try RunningProgram.eventually { try report()?["inapp"] == expected })
    try kill()
    #expect(try report()?["inapp"] == expected)
    #expect(try report()?["shown"] == 0 && report()?["delivered"] == 1)
    device = try TestDevice.login(server.device, app: app.key, identity)
    // A push made behind it marks the end.
    let last = try #require(server.push("last", to: identity, as: app).document?["msg_id"]?.string)
    #expect(try device.arrival().id == last)
    let detail = try server.call("GET", "/v3/messages/detail?msg_ids=\(id)", as: app).document
    let inApp = detail?.array?[0]["details"]?["inapp"]
    #expect(inApp?["display"] == 1 && inApp?["click"] == 1 && inApp?["sub_ios"] == .null)
  }
}
