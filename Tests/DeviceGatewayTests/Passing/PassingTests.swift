import BorealisBase
import BorealisNet
import BorealisProtocol
import Core
import Glibc
import Model
import PushTesting
import Synchronization
import Testing

@testable import DeviceGateway

/// Sessions that another process may go on with, or may still have.
@Suite struct PassingTests {
  private static func session(of server: DeviceServer) -> UInt32? {
    (0..<UInt32(server.connections.slab.capacity)).first {
      server.connections.slab[$0].core.phase != .vacant
    }
  }

  /// Has a server rest and write its sessions down; `work` is done before, on its loop.
  private static func pass(
    _ server: TestServer, after work: @escaping @Sendable (DeviceServer) -> Void = { _ in }
  ) -> [PassedDevice] {
    let passed = Mutex<[PassedDevice]>([])
    server.onEachServer { server in
      #expect((try? server.loop.rest()) != nil)
      work(server)
      let devices = server.passed()
      passed.withLock { $0 += devices }
    }
    return passed.withLock { $0 }
  }

  private static func goOn(_ server: TestServer) {
    server.onEachServer { server in
      server.goOn(under: server.connections.home) { _ in [] }
      server.loop.wakeUp(unreadSince: server.loop.sinceBoot)
    }
  }

  @Test func `Nothing is sent, and nobody is given up, while another process may have the sessions`() throws {
    let clock = ManualClock()
    let server = try TestServer(loops: 1, clock: clock)
    let (device, _) = try server.device()
    #expect(Self.pass(server).count == 1)
    try server.push("one", to: .all)
    // More than a heartbeat, at once.
    clock.advance(seconds: 2000)
    for _ in 0..<5 { server.onEachServer { _ in } }
    server.onEachServer { server in
      server.stoodStill()
      server.tick()
      guard let slot = Self.session(of: server) else { return #expect(Bool(false), "no session") }
      let core = server.connections.slab[slot].core
      #expect(core.phase == .loggedIn)
      #expect(server.connections.slab[slot].connection.queue.isEmpty)
    }
    Self.goOn(server)
    #expect(try device.pushes(1).map(\.content).first?.contains("one") == true)
    try device.ping()
  }

  @Test func `Mail that comes meanwhile is read when the sessions go on, though nothing else wakes the loop`()
    throws
  {
    let server = try TestServer(loops: 1)
    let (device, _) = try server.device()
    _ = Self.pass(server)
    server.onEachServer { server in
      guard let slot = Self.session(of: server) else { return #expect(Bool(false), "no session") }
      let location = server.connections.location(slot)
      server.mailbox.post(.endSession(location, .appDisabled))
      server.drainMail()
      #expect(server.connections.slab[slot].core.phase == .loggedIn)
      server.goOn(under: server.connections.home) { _ in [] }
      #expect(server.connections.slab[slot].core.phase == .closing)
      server.loop.wakeUp(unreadSince: server.loop.sinceBoot)
    }
    guard case .frame(.goAway(.appDisabled, _, _)) = try device.next() else {
      throw TestServer.Failed("no GO_AWAY")
    }
  }

  @Test func `Mail from before is part of what is passed on`() throws {
    let server = try TestServer(loops: 1)
    let (device, _) = try server.device()
    let passed = Self.pass(server) { server in
      guard let slot = Self.session(of: server) else { return }
      let result = HomeMessage.result(server.connections.location(slot), sequence: 7, .done)
      server.mailbox.post(result)
    }
    #expect(passed.count == 1)
    server.onEachServer { server in
      guard let slot = Self.session(of: server) else { return #expect(Bool(false), "no session") }
      #expect(!server.connections.slab[slot].connection.queue.isEmpty)
    }
    Self.goOn(server)
    guard case .frame(.result(7, .ok, _)) = try device.next() else { throw TestServer.Failed("no result") }
  }

  /// What waits for the device is sent by the process that goes on, and by no other.
  @Test func `A session that was taken over is frozen, whatever happens, until it goes on`() throws {
    let (former, next) = (try TestServer(loops: 1), try TestServer(loops: 1))
    let (device, _) = try former.device()
    let passed = Self.pass(former) { server in
      if let slot = Self.session(of: server) { server.connections.send(slot, .pong) }
    }
    #expect(passed.count == 1)
    next.onEachServer { server in
      #expect((try? server.loop.rest()) != nil)
      server.freeze()
      for device in passed {
        let own = PassedDevice(descriptor: dup(device.descriptor), session: device.session)
        #expect(server.adopt(own, tls: nil))
      }
      server.stoodStill()
      server.tick()
      #expect(!server.endTurn())
      guard let slot = Self.session(of: server) else { return #expect(Bool(false), "no session") }
      #expect(server.connections.slab[slot].core.phase == .loggedIn)
      #expect(server.connections.slab[slot].connection.queue.byteCount > 0)
    }
    Self.goOn(next)
    #expect(try device.next() == .frame(.pong))
    try device.ping()
  }

  @Test func `What is not a session is closed, and the others go on`() throws {
    let (former, next) = (try TestServer(loops: 1), try TestServer(loops: 1))
    let (device, _) = try former.device()
    let passed = Self.pass(former)
    var pair: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    let (unknown, end) = (pair[0], pair[1])
    defer { close(end) }
    next.onEachServer { server in
      #expect((try? server.loop.rest()) != nil)
      server.freeze()
      #expect(!server.adopt(PassedDevice(descriptor: unknown, session: [0, 1, 2]), tls: nil))
      for device in passed {
        let own = PassedDevice(descriptor: dup(device.descriptor), session: device.session)
        #expect(server.adopt(own, tls: nil))
      }
      #expect(server.connectionCount == 1)
    }
    var byte: UInt8 = 0
    #expect(read(end, &byte, 1) == 0)
    Self.goOn(next)
    try device.ping()
  }
}
