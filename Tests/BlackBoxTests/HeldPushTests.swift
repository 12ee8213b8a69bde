import BorealisBase
import Glibc
import PushTesting
import Testing

/// Quiet hours, on a server that is killed. Hours end with a full minute, so that this takes up to 80
/// seconds.
@Suite struct HeldPushTests {
  private let folder = TemporaryFolder()

  private func server() throws -> TestServer {
    try TestServer(data: folder.path + "/data", ["--time-zone", "UTC"])
  }

  /// A time of day at UTC.
  private static func text(_ second: Int64) -> JSONValue {
    func digits(_ value: Int64) -> String { value < 10 ? "0\(value)" : String(value) }
    return .string("\(digits(second / 3600 % 24)):\(digits(second / 60 % 60))")
  }

  @Test func `A killed server sends what it held, once`() throws {
    var server = try server()
    let app = try server.makeApp()
    let identity = try TestDevice.register(server.device, app: app.key, install: "i")
    // The first full minute that is not too near.
    let now = SystemTime().now().seconds
    let end = (now + 40) / 60 * 60 + 60
    let hours = try server.call(
      "PUT", "/v1/quiet-hours", as: app, body: ["from": Self.text(now - 3600), "until": Self.text(end)])
    #expect(hours.status == 200, "\(hours.body)")
    let sent = try server.call(
      "POST", "/v3/push", as: app,
      body: ["platform": "all", "audience": "all", "notification": ["alert": "x"]])
    let id = try #require(sent.document?["msg_id"]?.string)
    func kill() throws {
      server.program.signal(SIGKILL)
      _ = try server.program.end()
      server = try self.server()
    }
    func status() throws -> JSONValue? { try server.call("GET", "/v1/pushes/\(id)", as: app).document }
    try kill()
    let held = try status()
    #expect(held?["held"] == 1 && held?["pending"] == 1, "\(String(describing: held))")
    do {
      let device = try TestDevice.login(server.device, app: app.key, identity)
      // A message does not wait, and comes alone.
      let message = try #require(server.push("m", to: identity, as: app).document?["msg_id"]?.string)
      #expect(try device.arrival().id == message)
    }
    while SystemTime().now().seconds < end { usleep(50_000) }
    for _ in 0..<4 {
      usleep(.random(in: 0...400_000))
      try kill()
    }
    #expect(try RunningProgram.eventually { try status()?["held"] == nil })
    do {
      let device = try TestDevice.login(server.device, app: app.key, identity)
      var arrival = try device.arrival()
      while arrival.id != id { arrival = try device.arrival() }
      try device.acknowledge(arrival)
      #expect(try RunningProgram.eventually { try status()?["delivered"] == 1 })
    }
    try kill()
    let again = try TestDevice.login(server.device, app: app.key, identity)
    // A push made behind it all marks the end.
    let last = try #require(server.push("last", to: identity, as: app).document?["msg_id"]?.string)
    var arrived: [String] = []
    while arrived.last != last { arrived.append(try again.arrival().id) }
    #expect(!arrived.contains(id))
  }
}
