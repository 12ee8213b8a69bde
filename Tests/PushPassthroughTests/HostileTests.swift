import PushBase
import PushNet
import PushPassthrough
import PushRouter
import PushWire
import Testing

/// Peers that mean harm, or are broken, cost a bounded amount, and others are served as before.
@Suite struct HostileTests {
  @Test(
    arguments: [
      [0x00],  // an empty frame
      [0x81, 0x00],  // a length that is not minimal
      [0xff, 0xff, 0x7f],  // a giant length
      [0xff, 0xff, 0xff],  // a length that goes on
      [0x01, 0x01],  // PING before HELLO
      [0x01, 0x77],  // an unknown type
      [0x06, 0x10, 0x42, 0x52, 0x4c, 0x53, 0x01],  // HELLO that ends early
    ] as [[UInt8]])
  func brokenFirstBytes(_ bytes: [UInt8]) throws {
    let server = try TestServer(loops: 1)
    let device = try TestDevice(port: server.port)
    try device.write(bytes)
    guard case .frame(.error(.protocolError, .afterBackOff, _)) = try device.next() else {
      Issue.record("not refused")
      return
    }
    #expect(try device.next() == .end)
  }

  @Test(
    arguments: [
      [0x01, 0x01, 0x08, 0x10, 0x42, 0x52, 0x4c, 0x53, 0x01, 0x01, 0x00],  // a second HELLO
      [0x0a, 0x20, 0, 0, 0, 0, 0, 0, 0, 1, 0],  // ACK of nine bytes
      [0x01, 0x20],  // ACK of nothing
      [0x02, 0xa0, 0x00],  // a server's frame
    ] as [[UInt8]])
  func brokenFramesInASession(_ bytes: [UInt8]) throws {
    let server = try TestServer(loops: 1)
    let (device, _) = try server.device()
    try device.write(bytes)
    var last = try device.next()
    if last == .frame(.pong) { last = try device.next() }
    guard case .frame(.error(.protocolError, _, _)) = last else {
      Issue.record("not refused: \(last)")
      return
    }
    #expect(server.app.directory.onlineCount == 0)
  }

  @Test func tooManyStrangersOfOneNetwork() throws {
    let server = try TestServer(peers: PeerGuard(strangers: 3), loops: 1)
    let strangers = try (0..<3).map { _ in try TestDevice(port: server.port) }
    for stranger in strangers {
      try stranger.send(TestDevice.hello)
      _ = try stranger.next()
    }
    let fourth = try TestDevice(port: server.port)
    #expect(try fourth.next() == .end)
    let identity = try strangers[0].register2(server.app.key)
    try strangers[0].login(server.app.key, identity)
    _ = try strangers[0].expectLogin()
    // Logged in, it no longer counts.
    let next = try TestDevice(port: server.port)
    try next.send(TestDevice.hello)
    guard case .frame(.helloOK) = try next.next() else {
      Issue.record("still turned away")
      return
    }
  }

  @Test func tooManyRegistrationsOfOneNetwork() throws {
    let server = try TestServer(peers: PeerGuard(registrationsPerMinute: 2), loops: 1)
    // A minute may end between them.
    var refused = 0
    for _ in 0..<5 {
      let device = try TestDevice(port: server.port)
      try device.send(
        TestDevice.hello,
        .register(
          RegisterRequest(
            appKey: server.app.key, platform: .ios, fingerprint: SystemRandom.bytes(8), appVersion: "")))
      _ = try device.next()
      if case .frame(.error(.busy, .afterBackOff, _)) = try device.next() { refused += 1 }
    }
    #expect(refused >= 1)
    #expect(server.app.directory.registrationCount == 5 - refused)
  }

  @Test func peerThatAsksAndNeverReadsIsCutOff() throws {
    let server = try TestServer(loops: 1)
    let (device, _) = try server.device()
    let (other, _) = try server.device()
    var pings: [UInt8] = []
    for _ in 0..<10_000 { ClientFrame.ping.encode(into: &pings) }
    // The kernel buffers some megabytes of answers before the server's own queue begins to grow.
    var sent = 0
    while sent < 200 << 20 {
      let count = device.writeSome(pings)
      if count < 0 { break }
      sent += count
      if count == 0 { _ = try other.perform(.checkTag("a")) }
    }
    #expect(sent < 200 << 20)
    #expect(server.app.directory.onlineCount == 1)
    #expect(try other.perform(.checkTag("a")).0 == .ok)
  }

  @Test func unfinishedFramesAreBounded() throws {
    var limits = PassthroughLimits()
    limits.unfinishedBytes = 110_000
    let server = try TestServer(limits: limits, loops: 1)
    let devices = try (0..<4).map { _ in try server.device().0 }
    // Each begins a frame of 60,000 bytes and leaves out the end.
    for device in devices {
      try device.write([0xe0, 0xd4, 0x03, 0x33] + [UInt8](repeating: 0, count: 50_000))
    }
    // Which two are cut off depends on the order in which their bytes are read. Answers to another device pass the time.
    let other = try server.device().0
    for _ in 0..<100_000 where server.app.directory.onlineCount > 3 {
      try other.send(.ping)
      _ = try other.next()
    }
    #expect(server.app.directory.onlineCount == 3)
  }

  @Test func operationsAreLimited() throws {
    var limits = PassthroughLimits()
    limits.operationsPerTenSeconds = 5
    let server = try TestServer(limits: limits, loops: 1)
    let (device, _) = try server.device()
    let codes = try (0..<12).map { _ in try device.perform(.checkTag("a")).0 }
    #expect(codes.first == .ok)
    #expect(codes.contains(.tooFrequent))
  }
}

extension TestDevice {
  /// Registers on a connection that said HELLO already.
  func register2(_ app: AppKey) throws -> Identity {
    try send(
      .register(
        RegisterRequest(appKey: app, platform: .android, fingerprint: SystemRandom.bytes(8), appVersion: "")))
    guard case .frame(.registerOK(let id, let secret)) = try next() else {
      throw TestServer.Failed("not registered")
    }
    return Identity(id: id, secret: secret)
  }
}
