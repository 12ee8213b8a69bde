import Glibc
import PushTesting
import Testing

@testable import BorealisNet

/// A connection on a kernel that does what a script says.
@Suite struct ConnectionTests {
  /// A connection and the buffers that a driver has for all of its.
  struct Rig {
    let socket: FakeSocket
    var connection: Connection
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var scratch: [UInt8] = []

    init(_ socket: FakeSocket = .make(), tls: TLSContext? = nil) throws {
      self.socket = socket
      connection = try Connection(accepted: socket.descriptor, tls: tls)
    }

    mutating func read() -> (reading: Connection.Reading, bytes: [UInt8]) {
      let reading = connection.read(into: &buffer)
      guard case .bytes(let count) = reading else { return (reading, []) }
      return (reading, Array(buffer.prefix(count)))
    }

    mutating func flush() -> Connection.Sending { connection.flush(scratch: &scratch) }
  }

  // MARK: Plain

  @Test func `Reads come in the pieces that the kernel gives`() throws {
    var rig = try Rig()
    rig.socket.receive([1, 2, 3, 4, 5])
    rig.socket.script(reads: [.upTo(2), .fails(EINTR), .upTo(0), .upTo(1)])
    #expect(rig.read().bytes == [1, 2])
    #expect(rig.read().reading == .nothing)
    #expect(rig.read().reading == .nothing)
    #expect(rig.read().bytes == [3])
    #expect(rig.read().bytes == [4, 5])
    #expect(rig.read().reading == .nothing)
    #expect(rig.connection.interest == .readable)
  }

  @Test func `The peer's end is told once, and the kernel is not asked again`() throws {
    var rig = try Rig()
    rig.socket.receive([7])
    rig.socket.receiveEnd()
    #expect(rig.read().bytes == [7])
    #expect(rig.read().reading == .ended)
    #expect(rig.connection.hasEnded && rig.connection.interest == [])
    // It may still read what we send.
    rig.connection.append(SharedFrame([8]))
    #expect(rig.flush() == .done)
    #expect(rig.socket.sent == [8])
  }

  @Test func `A reset is a failure with its reason`() throws {
    var rig = try Rig()
    rig.socket.script(reads: [.fails(ECONNRESET)])
    #expect(rig.read().reading == .failed("Connection reset by peer"))
    rig.socket.script(sends: [.fails(EPIPE)])
    rig.connection.append(SharedFrame([1]))
    #expect(rig.flush() == .failed("Broken pipe"))
  }

  @Test func `What a full socket leaves is sent when there is room`() throws {
    var rig = try Rig()
    rig.socket.script(sends: [.upTo(3), .upTo(0), .fails(EINTR)])
    for byte in UInt8(1)...4 { rig.connection.append(SharedFrame([byte, byte])) }
    #expect(rig.flush() == .blocked)
    #expect(rig.connection.isBlocked && rig.connection.interest == [.readable, .writable])
    #expect(rig.connection.canSend(.writable) && !rig.connection.canSend(.readable))
    #expect(rig.flush() == .blocked)
    #expect(rig.socket.sent == [1, 1, 2])
    #expect(rig.flush() == .done)
    #expect(rig.socket.sent == [1, 1, 2, 2, 3, 3, 4, 4])
    #expect(rig.connection.interest == .readable && rig.connection.queue.cost == 0)
  }

  @Test func `Small pieces leave in one call, a large content without a copy`() throws {
    var rig = try Rig()
    for byte in 0..<100 { rig.connection.append(SharedFrame([UInt8(byte)])) }
    #expect(rig.flush() == .done)
    #expect(rig.socket.sendCount == 1)
    let content = [UInt8](repeating: 5, count: 100_000)
    rig.connection.append { $0 += [1, 2, 3] }
    rig.connection.append(content: content, isConstant: true)
    #expect(rig.connection.queue.heldBytes < 1000)
    #expect(rig.flush() == .done)
    #expect(rig.socket.sent == (0..<100).map { UInt8($0) } + [1, 2, 3] + content)
    #expect(rig.socket.sendCount == 3)
  }

  @Test func `A frame that is sent at once waits only if it must`() throws {
    var rig = try Rig()
    rig.socket.script(sends: [.upTo(100), .upTo(1), .upTo(0)])
    #expect(rig.connection.send(SharedFrame([1, 2, 3])) == .done)
    #expect(rig.connection.send(SharedFrame([4, 5, 6])) == .blocked)
    // Behind what waits, without a call.
    #expect(rig.connection.send(SharedFrame([7])) == .blocked)
    #expect(rig.socket.sendCount == 2 && rig.connection.queue.byteCount == 3)
    #expect(rig.flush() == .blocked)
    #expect(rig.flush() == .done)
    #expect(rig.socket.sent == [1, 2, 3, 4, 5, 6, 7])
  }

  @Test func `Whoever pauses is not asked, but hears of room to send`() throws {
    var rig = try Rig()
    rig.connection.isPaused = true
    #expect(rig.connection.interest == [])
    rig.socket.script(sends: [.upTo(0)])
    #expect(rig.connection.send(SharedFrame([1])) == .blocked)
    #expect(rig.connection.updateInterest() == .writable)
    #expect(rig.connection.updateInterest() == nil)
  }

  @Test func `After our side is shut the rest of the peer's bytes can be dropped`() throws {
    var rig = try Rig()
    rig.connection.append(SharedFrame([1]))
    rig.connection.shutDown()
    #expect(rig.socket.isShut && rig.connection.queue.isEmpty)
    rig.socket.receive([1, 2, 3])
    #expect(rig.read().bytes == [1, 2, 3])
    rig.socket.receiveEnd()
    #expect(rig.read().reading == .ended)
    rig.connection.close()
    #expect(rig.socket.isClosed && rig.connection.stage == .closed)
    // Closed twice, nobody else's socket goes.
    rig.connection.close()
  }

  /// Whatever the kernel does to single calls, the bytes arrive whole and in order.
  @Test(arguments: 0..<20) func `Moods of the kernel change nothing`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var rig = try Rig()
    var expected: [UInt8] = []
    for number in 0..<300 {
      let bytes = [UInt8](repeating: UInt8(number & 255), count: Int.random(in: 1...3000, using: &random))
      expected += bytes
      rig.socket.script(sends: [random.step()])
      switch Int.random(in: 0..<4, using: &random) {
      case 0: _ = rig.connection.send(SharedFrame(bytes))
      case 1: rig.connection.append { $0 += bytes }
      case 2: rig.connection.append(content: bytes)
      default: rig.connection.append(SharedFrame(bytes))
      }
      if Bool.random(using: &random) { _ = rig.flush() }
    }
    for _ in 0..<1000 where rig.flush() != .done {}
    let isSame = rig.socket.sent == expected
    #expect(isSame)
  }

  // MARK: TLS

  @Test(arguments: 0..<10, [false, true])
  func `TLS over a kernel with moods carries the same bytes`(seed: UInt64, isReleased: Bool) throws {
    var random = SeededRandom(seed: seed)
    let files = try TLSTestFiles()
    let (here, there) = FakeSocket.pair()
    var server = try Rig(here, tls: files.server(releasesSessions: isReleased))
    var client = try Rig(there)
    client.connection = Connection(connecting: there.descriptor)
    try client.connection.secure(with: .client(caFile: files.certificate), peerName: "localhost")
    for _ in 0..<400 {
      here.script(reads: [random.step()])
      there.script(sends: [random.step()])
      _ = client.connection.proceed()
      _ = server.connection.proceed()
    }
    #expect(client.connection.stage == .open && server.connection.stage == .open)
    #expect(server.connection.tls?.isReleased == isReleased)

    var (expected, got): ([UInt8], [UInt8]) = ([], [])
    for number in 0..<200 {
      let bytes = [UInt8](repeating: UInt8(number), count: Int.random(in: 1...20_000, using: &random))
      expected += bytes
      here.script(sends: [random.step(), random.step()])
      there.script(reads: [random.step(), random.step()])
      if Bool.random(using: &random) {
        _ = server.connection.send(SharedFrame(bytes))
      } else {
        server.connection.append { $0 += bytes }
      }
      if Bool.random(using: &random) { _ = server.flush() }
      got += client.read().bytes
    }
    for _ in 0..<1000 {
      _ = server.flush()
      got += client.read().bytes
    }
    // Not compared in the expectation, which would look for the differences for hours.
    let isSame = got == expected
    #expect(isSame)
    here.unscript()
    there.unscript()
    server.connection.close()
    #expect(client.read().reading == .ended)
  }

  /// Both ends of a connection on which TLS was agreed on.
  private static func agreed(
    _ here: FakeSocket, _ there: FakeSocket, isReleased: Bool
  ) throws -> (server: Rig, client: Rig) {
    let files = try TLSTestFiles()
    var server = try Rig(here, tls: files.server(releasesSessions: isReleased))
    var client = try Rig(there)
    client.connection = Connection(connecting: there.descriptor)
    try client.connection.secure(with: .client(caFile: files.certificate), peerName: "localhost")
    for _ in 0..<10 {
      _ = client.connection.proceed()
      _ = server.connection.proceed()
    }
    return (server, client)
  }

  /// TLS holds a record of what it was given last: what it is given next must not be less.
  @Test(arguments: [false, true])
  func `A piece that grows while TLS waits breaks nothing`(isReleased: Bool) throws {
    let (here, there) = FakeSocket.pair()
    var (server, client) = try Self.agreed(here, there, isReleased: isReleased)
    server.connection.append(SharedFrame([1]))
    server.connection.append { $0 += [UInt8](repeating: 2, count: 10_000) }
    here.script(sends: [.upTo(0)])
    #expect(server.flush() == .blocked)
    server.connection.append { $0 += [UInt8](repeating: 2, count: 90_000) }
    #expect(server.flush() == .done)
    var count = 0
    while case .bytes(let got) = client.read().reading { count += got }
    #expect(count == 100_001)
  }

  @Test(arguments: [false, true])
  func `What comes with the end is told before it`(isReleased: Bool) throws {
    let (here, there) = FakeSocket.pair()
    var (server, client) = try Self.agreed(here, there, isReleased: isReleased)
    // A full record, the goodbye and the end are all there at the first look.
    let bytes = [UInt8](repeating: 9, count: 16 << 10)
    #expect(server.connection.send(SharedFrame(bytes)) == .done)
    server.connection.close()
    #expect(client.read().bytes.count == bytes.count)
    #expect(client.connection.hasUnread, "the socket does not tell of an end that TLS has read")
    #expect(client.read().reading == .ended)
  }

  @Test func `A peer that goes away within the handshake is a failure`() throws {
    let files = try TLSTestFiles()
    var rig = try Rig(tls: files.server())
    #expect(rig.connection.proceed() == .inProgress)
    rig.socket.script(reads: [.fails(EINTR), .fails(ECONNRESET)])
    #expect(rig.connection.proceed() == .inProgress)
    #expect(rig.connection.proceed() == .failed("Connection reset by peer"))
    // Nothing can be sent before TLS is agreed on.
    var other = try Rig(tls: files.server())
    other.connection.append(SharedFrame([1]))
    #expect(other.flush() == .blocked && other.socket.sendCount == 0)
  }

  @Test func `A turn's share of handshakes bounds the steps`() throws {
    let files = try TLSTestFiles()
    var rig = try Rig(tls: files.server())
    var budget = HandshakeBudget(steps: 1)
    #expect(rig.connection.proceed(within: &budget) == .inProgress)
    rig.socket.script(reads: [.fails(ECONNRESET)])
    #expect(rig.connection.proceed(within: &budget) == .inProgress, "over the share nothing is done")
    budget.renew()
    #expect(rig.connection.proceed(within: &budget) == .failed("Connection reset by peer"))
  }

  @Test func `A connection costs a slot of a slab and nothing else`() {
    #expect(MemoryLayout<Connection>.size <= 56)
  }
}

extension SeededRandom {
  /// What the kernel may do to a call without breaking the connection.
  fileprivate mutating func step() -> FakeSocket.Step {
    switch next() % 6 {
    case 0: .upTo(0)
    case 1: .fails(EINTR)
    case 2: .upTo(1 + Int(next() % 20))
    case 3: .upTo(1 + Int(next() % 5000))
    default: .upTo(.max)
    }
  }
}
