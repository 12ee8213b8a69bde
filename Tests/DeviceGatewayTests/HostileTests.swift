import BorealisBase
import BorealisProtocol
import Core
import Glibc
import Model
import PushTesting
import Testing

@testable import BorealisNet
@testable import DeviceGateway

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
    #expect(last == .frame(.goAway(.protocolError, retryAfter: 0, host: "")))
    #expect(server.app.directory.onlineCount == 0)
  }

  @Test func tooManyUnauthenticatedOfOneNetwork() throws {
    let server = try TestServer(peers: PeerGuard(unauthenticated: 3), loops: 1)
    let unauthenticated = try (0..<3).map { _ in try TestDevice(port: server.port) }
    for device in unauthenticated {
      try device.send(TestDevice.hello)
      _ = try device.next()
    }
    let fourth = try TestDevice(port: server.port)
    #expect(try fourth.next() == .end)
    let identity = try unauthenticated[0].register2(server.app.key)
    try unauthenticated[0].login(server.app.key, identity)
    _ = try unauthenticated[0].expectLogin()
    // Logged in, it no longer counts.
    let next = try TestDevice(port: server.port)
    try next.send(TestDevice.hello)
    guard case .frame(.helloOK) = try next.next() else {
      Issue.record("still turned away")
      return
    }
  }

  /// The loop bounds by their number how long a crowd keeps its tick waiting.
  @Test func `Connections that are turned away do not count as watched`() throws {
    let server = try TestServer(peers: PeerGuard(unauthenticated: 1), loops: 1)
    let unauthenticated = try TestDevice(port: server.port)
    try unauthenticated.send(TestDevice.hello)
    _ = try unauthenticated.next()
    for _ in 0..<5 { #expect(try TestDevice(port: server.port).next() == .end) }
    server.onEachServer { #expect($0.connectionCount == 1 && $0.connections.loop.watched == 1) }
  }

  /// When all connections are taken the oldest that had time for a login makes room; who is logged in stays.
  @Test func unauthenticatedMakeRoom() throws {
    var limits = PassthroughLimits()
    limits.connections = 3
    let server = try TestServer(limits: limits, loops: 1)
    let (device, _) = try server.device()
    let silent = try (0..<2).map { _ in try TestDevice(port: server.port) }
    for device in silent {
      try device.send(TestDevice.hello)
      _ = try device.next()
    }
    // Turned away until then, as a device that comes again and again.
    var next = try TestDevice(port: server.port)
    while !next.isGreeted() {
      usleep(20_000)
      next = try TestDevice(port: server.port)
    }
    // It had no login in time, but the end came before the word that says so.
    #expect(try silent[0].next() == .end)
    try device.send(.ping)
    #expect(try device.next() == .frame(.pong))
  }

  @Test func `A device before login that is told to leave makes room no later`() throws {
    var limits = PassthroughLimits()
    limits.connections = 1
    let clock = ManualClock()
    let server = try TestServer(limits: limits, loops: 1, clock: clock)
    let unauthenticated = try TestDevice(port: server.port)
    try unauthenticated.send(TestDevice.hello)
    _ = try unauthenticated.next()
    server.pass(seconds: 4, on: clock)
    server.onEachServer { server in
      guard
        let slot = (0..<UInt32(server.connections.slab.capacity)).first(where: {
          server.connections.slab[$0].marks.contains(.unauthenticated)
        })
      else {
        return
      }
      server.connections.finish(slot, .protocolError)
      #expect(server.admit(PeerNetwork(rawValue: 7)) && server.connectionCount == 0)
    }
  }

  @Test func `Nobody makes room for a network that has its share`() throws {
    var limits = PassthroughLimits()
    limits.connections = 1
    let clock = ManualClock()
    let server = try TestServer(limits: limits, peers: PeerGuard(unauthenticated: 1), loops: 1, clock: clock)
    let unauthenticated = try TestDevice(port: server.port)
    try unauthenticated.send(TestDevice.hello)
    _ = try unauthenticated.next()
    let (full, other) = (PeerNetwork(rawValue: 7), PeerNetwork(rawValue: 8))
    server.onEachServer { server in
      #expect(server.connections.peers.enter(full, at: server.connections.sharedSecond))
      #expect(!server.admit(other), "the other has had no time yet")
    }
    server.pass(seconds: 4, on: clock)
    server.onEachServer { server in
      #expect(!server.admit(full) && server.connectionCount == 1)
      #expect(server.admit(other) && server.connectionCount == 0, "the refusal before does not count")
    }
  }

  /// A flood of young silent connections takes all places: who comes from elsewhere gets one of theirs, the
  /// flood itself none.
  @Test func `A network with over twice as many as others makes room at once`() throws {
    var limits = PassthroughLimits()
    limits.connections = 4
    let clock = ManualClock()
    let server = try TestServer(limits: limits, loops: 1, clock: clock)
    let (device, _) = try server.device()
    let crowd = try (0..<3).map { _ in try TestDevice(port: server.port) }
    for one in crowd {
      try one.send(TestDevice.hello)
      _ = try one.next()
    }
    let flood = try TestDevice(port: server.port)
    #expect(try flood.next() == .end)
    server.onEachServer { server in
      #expect(server.connectionCount == 4)
      #expect(server.admit(PeerNetwork(rawValue: 7)) && server.connectionCount == 3)
    }
    // The oldest of them.
    #expect(try crowd[0].next() == .end)
    // Nothing came of it; another takes the place, and the two that are left of the crowd are not clearly
    // more than one.
    let (other, _) = try server.device()
    server.onEachServer { server in
      #expect(server.connectionCount == 4)
      #expect(!server.admit(PeerNetwork(rawValue: 8)) && server.connectionCount == 4)
    }
    for one in [device, other] {
      try one.send(.ping)
      #expect(try one.next() == .frame(.pong))
    }
  }

  @Test func `Devices of an unknown app take nothing of what a network may register`() throws {
    let server = try TestServer(peers: PeerGuard(registrationsPerMinute: 2), loops: 1)
    func register(_ app: AppKey) throws -> ServerFrame? {
      let device = try TestDevice(port: server.port)
      try device.send(
        TestDevice.hello,
        .register(
          RegisterRequest(appKey: app, platform: .ios, fingerprint: SystemRandom.bytes(8), appVersion: "")))
      _ = try device.next()
      guard case .frame(let frame) = try device.next() else { return nil }
      return frame
    }
    for _ in 0..<2 {
      guard case .error(.appKeyUnknown, .never, _) = try register(AppKey(high: 9, low: 9)) else {
        Issue.record("a registration for an unknown app")
        return
      }
    }
    for _ in 0..<2 {
      guard case .registerOK = try register(server.app.key) else {
        Issue.record("the unknown app's devices took the place")
        return
      }
    }
  }

  @Test func `What a registration took comes back also when its device did not wait for the refusal`() throws
  {
    let peers = PeerGuard(registrationsPerMinute: 10)
    let server = try TestServer(peers: peers, loops: 1, clock: ManualClock())
    let network = PeerNetwork(rawValue: 7)
    let gone = Location(loop: 0, slot: 99, generation: 99)
    server.onEachServer { server in
      let second = server.connections.sharedSecond
      for _ in 1..<10 { #expect(peers.mayRegister(network, at: second)) }
      for (result, isGivenBack) in [
        (RegisterResult.refused(.unknownApp), true), (.refused(.unavailable), true),
        (.registered(RegistrationID(high: 1, low: 1), secret: []), false),
      ] {
        #expect(peers.mayRegister(network, at: second))
        server.requests.registering[gone] = network
        server.handle(.registerResult(gone, result))
        // Another answer has nothing to give.
        server.handle(.registerResult(gone, .refused(.unknownApp)))
        #expect(peers.mayRegister(network, at: second) == isGivenBack)
        if isGivenBack { peers.returnRegistration(network, at: second) }
      }
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
      if count == 0 { try other.ping() }
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
    // Which two are cut off depends on the order in which their bytes are read. Answers to another device
    // pass the time.
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

extension TestDevice {
  /// Says hello; whether it gets an answer.
  fileprivate func isGreeted() -> Bool {
    guard (try? send(Self.hello)) != nil, case .frame(.helloOK) = try? next() else { return false }
    return true
  }
}
