import BorealisBase
import BorealisNet
import BorealisProtocol
import Core
import DeviceGateway
import Model
import PushTesting
import Testing

/// Who is silent, and who only was not read: the loop's clock is moved by hand.
@Suite struct PauseTests {
  /// More than the kernel reports at a time.
  private static let crowd = 600

  /// Devices with the shortest heartbeat: they are given up after 45 seconds.
  private static func devices(_ count: Int, of server: TestServer) throws -> [TestDevice] {
    try (0..<count).map { _ in
      let device = try TestDevice(port: server.port)
      try device.login(server.app.key, try device.register(server.app.key), heartbeat: 30)
      _ = try device.expectLogin()
      return device
    }
  }

  @Test func `After a stop nobody is cut off whose heartbeat waits to be read`() throws {
    let clock = ManualClock()
    let server = try TestServer(loops: 1, clock: clock)
    let devices = try Self.devices(Self.crowd, of: server)
    try server.whileStopped {
      for device in devices { try device.send(.ping) }
      clock.advance(seconds: 600)
    }
    for device in devices { #expect(try device.next() == .frame(.pong)) }
    server.pass(seconds: 10, on: clock)
    #expect(server.app.directory.onlineCount == Self.crowd)
  }

  /// Too short for a stop: what is readable is read all the same before the deadlines are looked at.
  @Test func `A crowd of heartbeats that came in time is read before the deadline is held against it`() throws
  {
    let clock = ManualClock()
    let server = try TestServer(loops: 1, clock: clock)
    let devices = try Self.devices(Self.crowd, of: server)
    server.pass(seconds: 45, on: clock)
    #expect(server.app.directory.onlineCount == Self.crowd)
    try server.whileStopped {
      for device in devices { try device.send(.ping) }
      clock.advance(milliseconds: 1999)
    }
    for device in devices { #expect(try device.next() == .frame(.pong)) }
    #expect(server.app.directory.onlineCount == Self.crowd)
  }

  /// However the moment of the last sign of life lies within its second.
  @Test(arguments: [1, 400, 999])
  func `Silence of less than one and a half intervals ends no session`(millisecond: Int) throws {
    let clock = ManualClock()
    let server = try TestServer(loops: 1, clock: clock)
    clock.advance(milliseconds: millisecond)
    let device = try #require(try Self.devices(1, of: server).first)
    try device.send(.ping)
    #expect(try device.next() == .frame(.pong))
    server.pass(seconds: 44, on: clock)
    clock.advance(milliseconds: 999)
    for _ in 0..<3 { server.onEachServer { _ in } }
    #expect(server.app.directory.onlineCount == 1)
    server.pass(seconds: 4, on: clock)
    #expect(try device.next() == .frame(.goAway(.heartbeatMissed, retryAfter: 0, host: "")))
  }

  @Test func `A device that leaves the heartbeat to the server gets ten minutes`() throws {
    let server = try TestServer(loops: 1)
    let device = try TestDevice(port: server.port)
    let identity = try device.register(server.app.key)
    for (wish, given) in [(0, 600), (1, 30), (700, 700), (60_000, 1800)] as [(UInt16, UInt16)] {
      let device = try TestDevice(port: server.port)
      try device.send(TestDevice.hello)
      _ = try device.next()
      try device.login(server.app.key, identity, heartbeat: wish)
      guard case .frame(.loginOK(given, _, _, _)) = try device.next() else {
        Issue.record("not \(given) for \(wish)")
        continue
      }
    }
  }

  // MARK: What waited

  /// Whoever asked for it has given up, and may have asked for something else elsewhere.
  @Test func `What was asked for before a stop is not carried out after it`() throws {
    let clock = ManualClock()
    let server = try TestServer(loops: 1, clock: clock)
    let session = try #require(try Self.devices(1, of: server).first)
    let newcomer = try TestDevice(port: server.port)
    try newcomer.send(TestDevice.hello)
    guard case .frame(.helloOK) = try newcomer.next() else { return #expect(Bool(false)) }
    let before = server.app.directory.registrationCount
    try server.whileStopped {
      try session.send(.operation(sequence: 7, .setAlias("old")))
      try newcomer.send(
        .register(
          RegisterRequest(
            appKey: server.app.key, platform: .android, fingerprint: [1], token: DeviceToken(.none, []),
            appVersion: "1.0")))
      clock.advance(seconds: 20)
    }
    guard case .frame(.result(sequence: 7, .serverError, _)) = try session.next() else {
      return #expect(Bool(false), "the operation was carried out")
    }
    guard case .frame(.error(.busy, .afterBackOff, _)) = try newcomer.next() else {
      return #expect(Bool(false), "the registration was carried out")
    }
    #expect(server.app.directory.registrationCount == before)
    #expect(server.app.directory.registrations(alias: "old").isEmpty)
    // What is asked for when everything that waited is read is carried out.
    for handle in server.handles { handle.waitUntilCaughtUp() }
    try session.send(.operation(sequence: 8, .setAlias("new")))
    guard case .frame(.result(sequence: 8, .ok, _)) = try session.next() else {
      return #expect(Bool(false), "nothing is carried out any more")
    }
  }

  /// Pushes wait in the mail of the loop.
  @Test func `What was recalled or has ended during a stop is not sent after it`() throws {
    let clock = ManualClock()
    let server = try TestServer(loops: 1, clock: clock)
    let device = try #require(try Self.devices(1, of: server).first)
    var wanted: [MessageID] = []
    try server.whileStopped {
      let recalled = try server.push("to all", to: .all)
      wanted.append(try server.push("wanted", to: .all))
      // As by another node, which has become the home meanwhile: nobody tells this loop.
      _ = server.app.directory.withdraw(recalled)
      clock.advance(seconds: 20)
    }
    server.pass(seconds: 3, on: clock)
    guard case .push(let push) = try device.next() else { return #expect(Bool(false)) }
    #expect([push.id] == wanted)
  }

  // MARK: Unfinished frames

  /// Bytes that trickle are signs of life of nobody.
  @Test func `A frame that does not end is given up, however its bytes trickle`() throws {
    let clock = ManualClock()
    let server = try TestServer(loops: 1, clock: clock)
    let device = try #require(try Self.devices(1, of: server).first)
    try device.write([0xfa, 0xff, 0x03, 0x33])
    for _ in 0..<14 {
      try? device.write([0])
      server.pass(seconds: 1, on: clock)
    }
    #expect(server.app.directory.onlineCount == 0)
    #expect(try device.next() == .frame(.goAway(.protocolError, retryAfter: 0, host: "")))
  }

  @Test func `A WebSocket message that does not end is given up, too`() throws {
    let clock = ManualClock()
    let server = try TestServer(loops: 1, clock: clock)
    let device = try TestDevice.overWebSocket(server)
    try device.login(server.app.key, try device.register(server.app.key), heartbeat: 30)
    _ = try device.expectLogin()
    // Each fragment holds a whole PING: no frame of the device is unfinished.
    try device.write(WebSocketUnwrapper.masked(0x02, [1, 1]))
    for _ in 0..<14 {
      try? device.write(WebSocketUnwrapper.masked(0x00, [1, 1]))
      server.pass(seconds: 1, on: clock)
    }
    #expect(server.app.directory.onlineCount == 0)
    var last = try device.next()
    while last == .frame(.pong) { last = try device.next() }
    #expect(last == .frame(.goAway(.protocolError, retryAfter: 0, host: "")))
  }

  @Test func `Frames that end in time may come in pieces for ever`() throws {
    let clock = ManualClock()
    let server = try TestServer(loops: 1, clock: clock)
    let device = try #require(try Self.devices(1, of: server).first)
    // Ever the end of one PING and the beginning of the next.
    try device.write([1])
    for _ in 0..<30 {
      try device.write([1, 1])
      #expect(try device.next() == .frame(.pong))
      server.pass(seconds: 1, on: clock)
    }
    #expect(server.app.directory.onlineCount == 1)
  }
}
