import BorealisBase
import BorealisProtocol
import CLinux
import Glibc
import PushTesting
import Testing

/// How a server ends, and what is there after the next start.
@Suite struct LifeTests {
  let folder = TemporaryFolder()
  var data: String { folder.path + "/data" }

  @Test func `A push arrives, online and kept`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    let identity = try TestDevice.register(server.device, app: app.key, install: "one")
    let kept = try server.push("kept", to: identity, as: app)
    #expect(kept.status == 200)
    let device = try TestDevice.login(server.device, app: app.key, identity)
    let first = try device.arrival()
    #expect(first.isOffline && first.id == kept.document?["msg_id"]?.string)
    let live = try server.push("live", to: identity, as: app)
    let second = try device.arrival()
    #expect(!second.isOffline && second.id == live.document?["msg_id"]?.string)
  }

  @Test(arguments: [SIGTERM, SIGKILL])
  func `What was accepted before the end is there after the next start`(signal: Int32) throws {
    let first = try TestServer(data: data)
    let app = try first.makeApp()
    let identity = try TestDevice.register(first.device, app: app.key, install: "one")
    let ids = try (0..<20).map { try first.push("\($0)", to: identity, as: app).document?["msg_id"]?.string }
    let device = try TestDevice.login(first.device, app: app.key, identity)
    for id in ids { #expect(try device.arrival().id == id) }
    first.program.signal(signal)
    #expect(try first.program.end().status == (signal == SIGKILL ? 137 : 0))
    #expect(try RunningProgram.run(["check", "--data", data]).status == 0)

    let second = try TestServer(data: data)
    let again = try TestDevice.login(second.device, app: app.key, identity)
    for id in ids {
      let arrival = try again.arrival()
      #expect(arrival.id == id && arrival.isOffline)
    }
  }

  @Test func `Acknowledged pushes are not sent again after an orderly end`() throws {
    let first = try TestServer(data: data)
    let app = try first.makeApp()
    let identity = try TestDevice.register(first.device, app: app.key, install: "one")
    let device = try TestDevice.login(first.device, app: app.key, identity)
    _ = try first.push("seen", to: identity, as: app)
    try device.acknowledge(try device.arrival())
    // The answer comes after the acknowledgement was taken.
    try device.send(.ping)
    guard case .pong = try device.next() else { throw TestDevice.Unexpected() }
    first.program.signal(SIGTERM)
    #expect(try first.program.end().status == 0)

    let second = try TestServer(data: data)
    let again = try TestDevice.login(second.device, app: app.key, identity)
    let next = try second.push("next", to: identity, as: app)
    #expect(try again.arrival().id == next.document?["msg_id"]?.string)
  }

  @Test func `Acknowledgements that come after GO_AWAY 1 are not lost`() throws {
    let first = try TestServer(data: data)
    let app = try first.makeApp()
    let identity = try TestDevice.register(first.device, app: app.key, install: "one")
    let device = try TestDevice.login(first.device, app: app.key, identity)
    _ = try first.push("seen", to: identity, as: app)
    let arrival = try device.arrival()
    first.program.signal(SIGTERM)
    guard case .goAway(.drain, _, _) = try device.next() else { throw TestDevice.Unexpected() }
    try device.acknowledge(arrival)
    #expect(try device.isClosed())
    #expect(try first.program.end().status == 0)

    let second = try TestServer(data: data)
    let again = try TestDevice.login(second.device, app: app.key, identity)
    let next = try second.push("next", to: identity, as: app)
    #expect(try again.arrival().id == next.document?["msg_id"]?.string)
  }

  /// More than the kernel reports at a time are in time for their logins, and are held up by the server
  /// alone.
  @Test func `While the server is stopped nobody is late`() throws {
    let server = try TestServer(data: data, ["--loops", "1"])
    let app = try server.makeApp()
    let key = try #require(AppKey(hex: Array(app.key.utf8)))
    let devices = try (0..<300).map { _ in try TestDevice(server.device) }
    server.program.signal(SIGSTOP)
    for (number, device) in devices.enumerated() {
      let request = RegisterRequest(
        appKey: key, platform: .android, fingerprint: Array("\(number)".utf8), appVersion: "1")
      try device.send(.register(request))
    }
    // The time that a login may take is what has to go by.
    usleep(7_000_000)
    server.program.signal(SIGCONT)
    for device in devices {
      guard case .registerOK = try device.next() else { throw TestDevice.Unexpected() }
    }
  }

  @Test func `SIGTERM sends devices away, finishes the request that is under way and takes nothing new`()
    throws
  {
    // With one loop, an answer shows that what came before on other connections was seen.
    let server = try TestServer(data: data, ["--loops", "1"])
    let app = try server.makeApp()
    let identity = try TestDevice.register(server.device, app: app.key, install: "one")
    let device = try TestDevice.login(server.device, app: app.key, identity)
    let request = HTTPCall.request("GET", "/healthz")
    let busy = try TestSocket(server.http)
    try busy.send(Array(request[..<10]))
    let idle = try TestSocket(server.http)
    #expect(try server.call("GET", "/readyz").status == 200)
    server.program.signal(SIGTERM)
    guard case .goAway(let reason, let retryAfter, _) = try device.next() else {
      throw TestDevice.Unexpected()
    }
    #expect(reason == .drain && (0...1000).contains(retryAfter))
    #expect(try device.isClosed())
    #expect(try idle.receive().isEmpty)
    #expect(throws: TestSocket.Failure.self) { _ = try TestSocket(server.http) }
    #expect(throws: TestSocket.Failure.self) { _ = try TestSocket(server.device) }
    try busy.send(Array(request[10...]))
    let answer = try HTTPCall(answerOn: busy)
    #expect(answer.status == 200)
    #expect(answer.head.lowercased().contains("\r\nconnection: close"))
    let ending = try server.program.end()
    #expect(ending.status == 0)
    #expect(!ending.errors.contains("took too long to finish"))
    #expect(TemporaryFolder.read(data + "/borealis.sqlite-wal").isEmpty)
  }

  @Test func `A peer that never finishes is cut off`() throws {
    let server = try TestServer(data: data, ["--drain-seconds", "1", "--loops", "1"])
    let busy = try TestSocket(server.http)
    try busy.send(Array("GET /healthz".utf8))
    #expect(try server.call("GET", "/readyz").status == 200)
    server.program.signal(SIGTERM)
    let ending = try server.program.end()
    #expect(ending.status == 0)
    #expect(ending.errors.contains("took too long to finish"))
  }

  @Test func `During the delay of a drain readyz says so, and a second signal ends at once`() throws {
    let server = try TestServer(data: data, ["--drain-delay", "10m"])
    server.program.signal(SIGTERM)
    while try server.call("GET", "/readyz").status != 503 {}
    #expect(try server.call("GET", "/healthz").status == 200)
    server.program.signal(SIGTERM)
    #expect(try server.program.end().status.number == 128 + SIGTERM)
  }

  @Test(.onSQLite) func `A backup made while pushes arrive is sound`() throws {
    let server = try TestServer(data: data)
    let app = try server.makeApp()
    let identity = try TestDevice.register(server.device, app: app.key, install: "one")
    let before = try server.push("before", to: identity, as: app).document?["msg_id"]?.string
    let restored = folder.path + "/restored"
    mkdir(restored, 0o700)
    let backup = try RunningProgram(["backup", restored + "/borealis.sqlite", "--data", data])
    for number in 0..<50 { #expect(try server.push("\(number)", to: identity, as: app).status == 200) }
    #expect(try backup.end().status == 0)
    #expect(try RunningProgram.run(["check", "--data", restored]).status == 0)
    let second = try TestServer(data: restored)
    let device = try TestDevice.login(second.device, app: app.key, identity)
    #expect(try device.arrival().id == before)
  }
}
