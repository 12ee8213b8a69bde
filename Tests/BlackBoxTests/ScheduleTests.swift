import BorealisBase
import BorealisProtocol
import Glibc
import PushTesting
import Testing

/// Schedules on a server that runs, and on one that is killed while they fire.
@Suite struct ScheduleTests {
  private static let kills = 12
  private static let inRound = 8

  private let folder = TemporaryFolder()

  private func server() throws -> TestServer {
    try TestServer(data: folder.path + "/data", ["--time-zone", "America/New_York", "--schedules", "1000"])
  }

  /// A time by the clocks of New York, as the C library of the test's process cannot tell it: from the
  /// server's answers.
  private struct Clock {
    /// Seconds by which these clocks are ahead of UTC.
    let offset: Int64

    func text(in seconds: Int64, from now: Timestamp = SystemTime().now()) -> String {
      FixedZone(secondsEast: offset).local(now.adding(seconds: seconds)).text
    }
  }

  /// Five hours behind UTC in winter, four in summer: the server refuses a time that is over.
  private func clock(of server: TestServer, _ app: TestServer.App) throws -> Clock {
    let winter = Clock(offset: -5 * 3600)
    let answer = try schedule(at: winter.text(in: 60), server, app)
    guard answer.status == 200 else { return Clock(offset: -4 * 3600) }
    let id = answer.document?["schedule_id"]?.string ?? ""
    _ = try server.call("DELETE", "/v3/schedules/\(id)", as: app)
    return winter
  }

  private func schedule(at time: String, _ server: TestServer, _ app: TestServer.App) throws -> HTTPCall {
    try server.call(
      "POST", "/v3/schedules", as: app,
      body: [
        "name": "black_box", "enabled": true, "trigger": ["single": ["time": .string(time)]],
        "push": ["platform": "all", "audience": "all", "message": ["msg_content": .string(time)]],
      ])
  }

  private func messages(of id: String, _ server: TestServer, _ app: TestServer.App) throws -> [String] {
    let answer = try server.call("GET", "/v3/schedules/\(id)/msg_ids", as: app)
    return try (answer.document?["msgids"]?.array ?? []).map { element in
      let run = try parseJSON(Array((element.string ?? "").utf8))
      #expect(run["error"]?["code"] == 0)
      return run["msg_id"]?.string ?? ""
    }
  }

  @Test func `A schedule reaches the device at its time, in the zone of the server`() throws {
    let server = try server()
    let app = try server.makeApp()
    let identity = try TestDevice.register(server.device, app: app.key, install: "i")
    let device = try TestDevice.login(server.device, app: app.key, identity)
    let clock = try clock(of: server, app)
    let time = clock.text(in: 3)
    let made = try schedule(at: time, server, app)
    #expect(made.status == 200, "\(made.body)")
    let id = try #require(made.document?["schedule_id"]?.string)
    let arrival = try device.arrival()
    #expect(clock.text(in: 0) >= time)
    #expect(arrival.content["message"]?["msg_content"]?.string == time)
    #expect(try messages(of: id, server, app) == [arrival.id])
  }

  /// Two devices whose clocks show the same time an hour apart, of which one comes in some seconds, and a
  /// server that is killed at that moment: the one gets it once, and the other waits for its clocks.
  @Test func `A schedule comes when the device's own clocks show the time`() throws {
    var server = try server()
    let app = try server.makeApp()
    let wanted = try server.call("PUT", "/v1/facts/wanted", as: app, body: ["wanted": ["time_zone"]])
    #expect(wanted.status == 200, "\(wanted.body)")
    let identities = try ["Asia/Kathmandu", "Asia/Karachi"].map { zone in
      let identity = try TestDevice.register(server.device, app: app.key, install: zone)
      let body: JSONValue = [
        "app_key": .string(app.key), "registration_id": .string(identity.id.text),
        "secret": .string(Hex.encode(identity.secret.bytes)), "facts": ["time_zone": .string(zone)],
      ]
      let call = try server.call("POST", "/v1/facts", body: body)
      #expect(call.status == 200, "\(call.body)")
      return identity
    }
    // Nepal is 5:45 ahead of UTC all the year, Pakistan 5:00.
    let clock = Clock(offset: 20_700)
    let time = clock.text(in: 5)
    let made = try server.call(
      "POST", "/v3/schedules", as: app,
      body: [
        "name": "own_time", "enabled": true,
        "trigger": ["single": ["time": .string(time), "zone": "device"]],
        "push": ["platform": "all", "audience": "all", "message": ["msg_content": .string(time)]],
      ])
    #expect(made.status == 200, "\(made.body)")
    let id = try #require(made.document?["schedule_id"]?.string)
    while clock.text(in: 0) < time { usleep(50_000) }
    for _ in 0..<4 {
      usleep(.random(in: 0...400_000))
      server.program.signal(SIGKILL)
      _ = try server.program.end()
      server = try self.server()
    }
    #expect(try RunningProgram.eventually { try messages(of: id, server, app).count == 1 })
    let pushed = try messages(of: id, server, app)
    let nepal = try TestDevice.login(server.device, app: app.key, identities[0])
    let arrival = try Self.arrival(nepal)
    #expect(arrival.id == pushed.first && clock.text(in: 0) >= time)
    #expect(arrival.content["message"]?["msg_content"]?.string == time)
    // A push made behind it is the first that the other gets.
    let last = try #require(server.push("last", to: identities[1], as: app).document?["msg_id"]?.string)
    let pakistan = try TestDevice.login(server.device, app: app.key, identities[1])
    #expect(try Self.arrival(pakistan).id == last)
  }

  /// The next push, behind what the server says of facts.
  private static func arrival(_ device: TestDevice) throws -> TestDevice.Arrival {
    while true { if case .push(let arrival) = try device.event() { return arrival } }
  }

  /// Some schedules are due in each of some seconds, and the server is killed around these moments: nothing
  /// is pushed twice, and nothing is left out.
  @Test func `However often the server is killed, every schedule fires once`() throws {
    var server = try server()
    let app = try server.makeApp()
    let identity = try TestDevice.register(server.device, app: app.key, install: "i")
    let clock = try clock(of: server, app)
    let start = SystemTime().now()
    var made: [String] = []
    for round in 0..<Self.kills {
      for _ in 0..<Self.inRound {
        let answer = try schedule(at: clock.text(in: Int64(10 + round / 2), from: start), server, app)
        made.append(try #require(answer.document?["schedule_id"]?.string))
      }
    }
    while SystemTime().now() < start.adding(seconds: 9) { usleep(50_000) }
    for _ in 0..<Self.kills {
      // The moment of the kill is what is random here; nothing waits for this.
      usleep(.random(in: 50_000...900_000))
      server.program.signal(SIGKILL)
      _ = try server.program.end()
      server = try self.server()
    }
    #expect(
      try RunningProgram.eventually {
        try server.call("GET", "/v3/schedules", as: app).document?["total_count"] == 0
      })
    var expected: [String] = []
    for id in made {
      let messages = try messages(of: id, server, app)
      #expect(messages.count == 1, "\(id)")
      expected += messages
    }
    // A push made behind them all marks the end.
    let last = try #require(server.push("last", to: identity, as: app).document?["msg_id"]?.string)
    let device = try TestDevice.login(server.device, app: app.key, identity)
    var arrived: [String] = []
    while arrived.last != last { arrived.append(try device.arrival().id) }
    #expect(arrived.dropLast().sorted() == expected.sorted())
    #expect(Set(arrived).count == made.count + 1)
    server.program.signal(SIGTERM)
    #expect(try server.program.end().status == 0)
    #expect(try RunningProgram.run(["check", "--data", server.data]).status == 0)
  }
}
