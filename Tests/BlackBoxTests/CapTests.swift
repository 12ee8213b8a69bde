import BorealisBase
import Glibc
import PushTesting
import Testing

/// A limit for a device and day, on a server that is killed.
@Suite struct CapTests {
  private let folder = TemporaryFolder()

  @Test func `A killed server goes on counting where it was`() throws {
    var server = try TestServer(data: folder.path + "/data", [])
    let app = try server.makeApp()
    let identity = try TestDevice.register(server.device, app: app.key, install: "i")
    let set = try server.call("PUT", "/v1/caps", as: app, body: ["normal": 3, "marketing": 0])
    #expect(set.status == 200, "\(set.body)")
    func push() throws -> HTTPCall {
      try server.call(
        "POST", "/v3/push", as: app,
        body: ["platform": "all", "audience": "all", "notification": ["alert": "x"]])
    }
    for number in 0..<5 {
      let answer = try push()
      #expect(answer.status == (number < 3 ? 200 : 400), "\(number): \(answer.body)")
      server.program.signal(SIGKILL)
      _ = try server.program.end()
      server = try TestServer(data: folder.path + "/data", [])
    }
    let device = try TestDevice.login(server.device, app: app.key, identity)
    var arrived: Set<String> = []
    while arrived.count < 3 { arrived.insert(try device.arrival().id) }
    // A push made behind it all marks the end.
    let last = try #require(server.push("last", to: identity, as: app).document?["msg_id"]?.string)
    #expect(try device.arrival().id == last)
  }
}
