import BorealisBase
import BorealisNet
import BorealisProtocol
import Core
import Synchronization
import Testing

@testable import DeviceGateway

/// What a frame costs that comes in pieces. Nothing here depends on time: it is counted how often bytes move.
@Suite struct UnfinishedFrameTests {
  /// A frame of the largest kind without its end. Its type is unknown, so that the last byte ends the
  /// session.
  private static let start: [UInt8] = [0xfa, 0xff, 0x03, 0x33] + [UInt8](repeating: 0, count: 65_528)

  /// The one session that is logged in.
  private static func slot(of server: DeviceServer) -> UInt32? {
    (0..<UInt32(server.connections.slab.capacity)).first {
      server.connections.slab[$0].core.phase == .loggedIn
    }
  }

  private static func address(_ bytes: [UInt8]) -> UInt {
    bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
  }

  /// What a test saw on the loop.
  private struct Seen: Sendable {
    var kept = 0
    var counted = 0
    var capacity = 0
    /// How often the unfinished frame moved to other memory. A copy for each piece would be one for each.
    var moves = 0
    var inputMoved = false
    var phase = DeviceSession.Phase.vacant
  }

  /// Gives a session all bytes but the last, in pieces of one, then the last.
  private static func feed(
    _ server: TestServer, _ give: @escaping @Sendable (DeviceServer, UInt32, UInt8) -> Void
  ) -> Seen {
    let seen = Mutex(Seen())
    server.onEachServer { server in
      guard let slot = slot(of: server) else { return }
      var last: UInt = 0
      var found = Seen()
      for byte in start {
        give(server, slot, byte)
        let now = address(server.partial(of: slot))
        if now != last { found.moves += 1 }
        last = now
      }
      found.kept = server.partial(of: slot).count
      found.capacity = server.partial(of: slot).capacity
      found.counted = server.connections.unfinished.cost
      give(server, slot, 0)
      found.phase = server.connections.slab[slot].core.phase
      if server.connections.unfinished.cost != 0 || !server.partial(of: slot).isEmpty { found.kept = -1 }
      seen.withLock { $0 = found }
    }
    return seen.withLock { $0 }
  }

  private static func expectLinear(_ seen: Seen) {
    #expect(seen.kept == start.count)
    // What is counted is what the memory is, not what has come.
    #expect(seen.counted > seen.capacity && seen.counted < seen.capacity + 256)
    #expect(seen.capacity >= start.count)
    // Memory that doubles from 32 bytes to 64 KiB moves eleven times.
    #expect(seen.moves <= 24, "\(seen.moves)")
    // It was taken as one frame.
    #expect(seen.phase == .closing)
  }

  @Test func `A frame in pieces of one byte is not copied for each, over TCP`() throws {
    let server = try TestServer(loops: 1)
    let (device, _) = try server.device()
    Self.expectLinear(
      Self.feed(server) { server, slot, byte in
        var piece = [byte]
        server.intake.receive(&piece, 1, slot)
      })
    #expect(try device.next() == .frame(.goAway(.protocolError, retryAfter: 0, host: "")))
  }

  @Test func `A frame in fragments of one byte is not copied for each, over WebSocket`() throws {
    let server = try TestServer(loops: 1)
    let device = try TestDevice.overWebSocket(server)
    try device.login(server.app.key, try device.register(server.app.key))
    _ = try device.expectLogin()
    let isFirst = Mutex(true)
    Self.expectLinear(
      Self.feed(server) { server, slot, byte in
        let opcode: UInt8 = isFirst.withLock { isFirst in
          defer { isFirst = false }
          return isFirst ? 0x02 : 0x00
        }
        var fragment: [UInt8] = [opcode, 0x81, 0, 0, 0, 0, byte]
        server.intake.receive(&fragment, fragment.count, slot)
      })
  }

  /// 64 KiB of fragments is what one read may hold.
  @Test func `Many fragments in one read are unmasked where they lie`() throws {
    let server = try TestServer(loops: 1)
    let device = try TestDevice.overWebSocket(server)
    try device.login(server.app.key, try device.register(server.app.key))
    _ = try device.expectLogin()
    let seen = Mutex(Seen())
    server.onEachServer { server in
      guard let slot = Self.slot(of: server) else { return }
      var found = Seen()
      var input = Self.start.prefix(9362).enumerated().flatMap { index, byte -> [UInt8] in
        [index == 0 ? 0x02 : 0x00, 0x81, 0, 0, 0, 0, byte]
      }
      let before = Self.address(input)
      server.intake.receive(&input, input.count, slot)
      found.inputMoved = Self.address(input) != before
      found.kept = server.partial(of: slot).count
      seen.withLock { $0 = found }
    }
    let found = seen.withLock { $0 }
    #expect(found.kept == 9362 && !found.inputMoved)
  }

  /// The usual way: nothing is kept of whole frames, and of a beginning behind them only that.
  @Test func `Whole frames in one read leave no memory behind`() throws {
    let server = try TestServer(loops: 1)
    let (device, _) = try server.device()
    let capacities = Mutex<[Int]>([])
    server.onEachServer { server in
      guard let slot = Self.slot(of: server) else { return }
      var bytes: [UInt8] = []
      for _ in 0..<100 { ClientFrame.ping.encode(into: &bytes) }
      server.intake.receive(&bytes, bytes.count, slot)
      let whole = server.partial(of: slot).capacity
      server.intake.receive(&bytes, bytes.count - 1, slot)
      let rest = server.partial(of: slot).count
      var end = [bytes[bytes.count - 1]]
      server.intake.receive(&end, 1, slot)
      capacities.withLock {
        $0 = [whole, rest, server.partial(of: slot).capacity, server.connections.unfinished.cost]
      }
    }
    #expect(capacities.withLock { $0 } == [0, 1, 0, 0])
    for _ in 0..<200 { #expect(try device.next() == .frame(.pong)) }
  }

  @Test func `Frames in pieces are taken as they were sent`() throws {
    let server = try TestServer(loops: 1)
    let (plain, _) = try server.device()
    let web = try TestDevice.overWebSocket(server)
    try web.login(server.app.key, try web.register(server.app.key))
    _ = try web.expectLogin()
    var frames: [UInt8] = []
    ClientFrame.encodeAcknowledge((0..<512).map { MessageID($0) }, into: &frames)
    ClientFrame.ping.encode(into: &frames)
    for byte in frames { try plain.write([byte]) }
    var fragments: [UInt8] = []
    for (index, byte) in frames.enumerated() {
      let opcode: UInt8 = (index == 0 ? 0x02 : 0x00) | (index == frames.count - 1 ? 0x80 : 0)
      fragments += WebSocketUnwrapper.masked(opcode, [byte])
    }
    try web.write(fragments)
    for device in [plain, web] { #expect(try device.next() == .frame(.pong)) }
    // The turn that answered has ended, and with it the counting.
    server.onEachServer { _ in }
    #expect(server.metrics.render().contains("borealis_device_acknowledgements_total 1024\n"))
  }

  /// A unauthenticated is owed short answers alone, however much it asks for and does not read.
  @Test(arguments: [false, true])
  func `Before the login little may be queued`(isLoggedIn: Bool) throws {
    let server = try TestServer(loops: 1)
    let device = try TestDevice.overWebSocket(server)
    let identity = try device.register(server.app.key)
    if isLoggedIn {
      try device.login(server.app.key, identity)
      _ = try device.expectLogin()
    }
    let queued = Mutex(-1)
    server.onEachServer { server in
      let slots = (0..<UInt32(server.connections.slab.capacity)).filter {
        server.connections.slab[$0].core.phase != .vacant
      }
      guard let slot = slots.first else { return }
      var most = 0
      // All in one turn, in which nothing leaves.
      for _ in 0..<300 where server.connections.slab[slot].core.phase != .closing {
        var ping = WebSocketUnwrapper.masked(0x89, [UInt8](repeating: 1, count: 125))
        server.intake.receive(&ping, ping.count, slot)
        most = max(most, server.connections.slab[slot].connection.queue.cost)
      }
      queued.withLock { $0 = most }
    }
    let most = queued.withLock { $0 }
    #expect(isLoggedIn ? most == 300 * (127 + 64) : (4096...4300).contains(most), "\(most)")
    if isLoggedIn {
      try device.write(WebSocketUnwrapper.masked(0x88, [3, 0xe8]))
    }
    while try device.next() != .end {}
    #expect(device.pongs.count == (isLoggedIn ? 300 : 0))
  }
}

extension DeviceServer {
  /// What is held of a session's unfinished frame.
  fileprivate func partial(of slot: UInt32) -> [UInt8] { connections.slab[slot].core.extras?.partial ?? [] }
}
