import BorealisBase
import CLinux
import Glibc
import PushTesting
import Testing

@testable import BorealisNet

/// Connections that another process goes on with: here the same one, which has the socket a second time.
@Suite(.timeLimit(.minutes(3))) struct PassedConnectionTests {
  private let files: TLSTestFiles

  init() throws {
    signal(SIGPIPE, SIG_IGN)
    files = try TLSTestFiles()
  }

  /// What another process makes of a connection, whose former owner only closes its socket.
  private static func pass(_ connection: inout Connection, tls: TLSContext?) throws -> Connection {
    var writer = ByteWriter()
    let isWritten = connection.write(to: &writer)
    #expect(isWritten)
    let socket = dup(connection.descriptor)
    connection.cut()
    var reader = ByteReader(writer.bytes)
    let passed = try #require(Connection(passed: socket, tls: tls, from: &reader))
    #expect(reader.remaining == 0)
    return passed
  }

  /// A connection between two ends whose socket takes little at a time.
  private static func pair() throws -> (server: Int32, client: Int32) {
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, SocketKind.nonBlockingStream, 0, &pair) == 0 else {
      throw TLSTestFiles.Failed()
    }
    _ = cl_set_buffer_sizes(pair[0], 4096, 0)
    return (pair[0], pair[1])
  }

  // MARK: What waits to be sent

  private static func frames(_ random: inout SeededRandom) -> [SharedFrame] {
    (0..<Int.random(in: 1...12, using: &random)).map { place in
      let size = Int.random(in: 1...9000, using: &random)
      return SharedFrame((0..<size).map { UInt8(truncatingIfNeeded: $0 &+ place) }, isHeader: place % 3 == 1)
    } + [SharedFrame([7])]
  }

  @Test(arguments: 0..<40) func `What waits leaves as it would have left, and is truncated as it would`(
    seed: UInt64
  ) throws {
    var random = SeededRandom(seed: seed)
    var queue = OutboundQueue()
    let frames = Self.frames(&random)
    for frame in frames { queue.append(frame) }
    queue.append { $0 += [1, 2, 3] }
    var budget = Int.random(in: 0...30_000, using: &random)
    var left: [UInt8] = []
    func flush(_ queue: inout OutboundQueue, _ budget: inout Int, _ into: inout [UInt8]) {
      var scratch: [UInt8] = []
      _ = queue.flush(scratch: &scratch) { bytes, offset in
        let count = min(budget, bytes.count - offset)
        guard count > 0 else { return .wouldBlock }
        budget -= count
        into += bytes[offset..<offset + count]
        return .sent(count)
      }
    }
    flush(&queue, &budget, &left)
    var writer = ByteWriter()
    queue.write(to: &writer)
    var reader = ByteReader(writer.bytes)
    var passed = try #require(OutboundQueue(from: &reader))
    #expect(reader.remaining == 0 && passed.byteCount == queue.byteCount && passed.isEmpty == queue.isEmpty)
    var (truncated, other) = (passed, queue)
    truncated.truncate()
    other.truncate()
    #expect(truncated.byteCount == other.byteCount)
    var all = Int.max
    flush(&passed, &all, &left)
    #expect(left == frames.flatMap(\.bytes) + [1, 2, 3])
  }

  @Test func `What is not a queue is refused`() throws {
    var random = SeededRandom(seed: 3)
    var queue = OutboundQueue()
    for frame in Self.frames(&random) { queue.append(frame) }
    var writer = ByteWriter()
    queue.write(to: &writer)
    for count in 0..<min(writer.bytes.count, 4000) {
      var reader = ByteReader(Array(writer.bytes.prefix(count)))
      #expect(OutboundQueue(from: &reader) == nil, "\(count) bytes")
    }
    // A mark, what has left of the first piece, pieces; and of each a mark, its size and its bytes.
    let two: [UInt8] = [0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 2, 9, 9]
    var reader = ByteReader(two)
    let passed = try #require(OutboundQueue(from: &reader))
    #expect(passed.byteCount == 1 && reader.remaining == 0)
    func with(_ value: UInt8, at place: Int) -> [UInt8] {
      var bytes = two
      bytes[place] = value
      return bytes
    }
    // Unknown marks; all of the first piece has left; more pieces than there are, and than there may be.
    for bytes in [with(2, at: 0), with(2, at: 9), with(2, at: 4), with(2, at: 8), with(0xff, at: 5)] {
      var reader = ByteReader(bytes)
      #expect(OutboundQueue(from: &reader) == nil, "\(bytes)")
    }
    // Something has left of nothing; a piece without a byte is all there is.
    for bytes: [UInt8] in [
      [0, 0, 0, 0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0],
    ] {
      var reader = ByteReader(bytes)
      #expect(OutboundQueue(from: &reader) == nil, "\(bytes)")
    }
  }

  /// Versions that know the same `UpgradeOffer.form` write the same: who changes this raises it.
  @Test func `What waits is written as it always was`() throws {
    var queue = OutboundQueue()
    queue.append(SharedFrame([1, 2, 3]))
    var scratch: [UInt8] = []
    _ = queue.flush(scratch: &scratch) { $1 == 0 ? .sent(1) : .wouldBlock }
    queue.append(SharedFrame([4], isHeader: true))
    queue.append(SharedFrame([5, 6]))
    var writer = ByteWriter()
    queue.write(to: &writer)
    #expect(
      writer.bytes == [
        0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 3, 1, 2, 3, 1, 0, 0, 0, 1, 4, 0, 0, 0, 0, 2, 5, 6,
      ])
    let keys = try #require(
      [UInt8](0..<32).withUnsafeBytes { RecordKeys(.aes128, secret: $0, sequence: 258) })
    writer = ByteWriter()
    keys.write(to: &writer)
    #expect(writer.bytes == [0, 0, 0, 0, 0, 0, 0, 1, 2] + [UInt8](0..<32))
  }

  /// A part of a record has left: its rest has to leave, whatever becomes of the queue.
  @Test(arguments: [false, true]) func `A queue that is given up keeps what a record stands for`(
    isPassed: Bool
  ) throws {
    let context = try TLSContext.server(
      certificatePath: files.certificate, keyPath: files.key, releasesSessions: true)
    let (server, other) = try Self.pair()
    let client = try OpenSSLClient(other)
    var connection = try Connection(accepted: server, tls: context)
    for _ in 0..<10 where connection.stage != .open || !client.handshake() {
      _ = client.handshake()
      _ = connection.proceed()
    }
    var scratch: [UInt8] = []
    let frames = (0..<40).map { [UInt8](repeating: UInt8($0), count: 5000) }
    for frame in frames { connection.append(SharedFrame(frame)) }
    #expect(connection.flush(scratch: &scratch) == .blocked)
    if isPassed { connection = try Self.pass(&connection, tls: context) }
    #expect(connection.isBlocked)
    connection.truncateQueue()
    let last = [UInt8](repeating: 99, count: 5000)
    connection.append(SharedFrame(last))
    var came: [UInt8] = []
    for _ in 0..<10_000 where came.suffix(last.count) != last[...] {
      if case .failed(let reason) = connection.flush(scratch: &scratch) { Issue.record("\(reason)") }
      came += client.read() ?? []
    }
    // Whole frames, and fewer than there were.
    #expect(came.suffix(last.count) == last[...] && came.count % 5000 == 0)
    #expect(came.count < 41 * 5000 && came.dropLast(5000) == frames.flatMap(\.self).prefix(came.count - 5000))
    connection.close()
  }

  // MARK: Connections

  @Test func `A plain connection goes on in the middle of a frame`() throws {
    let (server, client) = try Self.pair()
    defer { close(client) }
    var connection = try Connection(accepted: server)
    var scratch: [UInt8] = []
    let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    for start in stride(from: 0, to: content.count, by: 10_000) {
      connection.append(SharedFrame(Array(content[start..<start + 10_000])))
    }
    var came: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 3000)
    while came.count < content.count {
      _ = connection.flush(scratch: &scratch)
      let count = cl_read(client, &buffer, buffer.count)
      if count > 0 { came += buffer[..<count] }
      if came.count % 7 < 3, came.count < content.count {
        connection = try Self.pass(&connection, tls: nil)
      }
    }
    #expect(came == content)
    connection.close()
  }

  /// With TLS every record counts: one that is sent twice, or under a number that was used, ends the
  /// connection.
  @Test(arguments: RecordSuite.allCases) func `TLS goes on, whatever is under way`(suite: RecordSuite) throws
  {
    let context = try TLSContext.server(
      certificatePath: files.certificate, keyPath: files.key, releasesSessions: true)
    let (server, other) = try Self.pair()
    let names = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"]
    let client = try OpenSSLClient(other, suites: names[Int(suite.rawValue)])
    var connection = try Connection(accepted: server, tls: context)
    for _ in 0..<10 where connection.stage != .open || !client.handshake() {
      _ = client.handshake()
      _ = connection.proceed()
    }
    #expect(connection.stage == .open && connection.tls?.isReleased == true)
    var random = SeededRandom(seed: UInt64(suite.rawValue))
    var (scratch, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 5000))
    for round in 0..<60 {
      if round % 7 == 3 { #expect(client.updateKeys(asking: round % 2 == 0)) }
      func message(_ most: Int) -> [UInt8] {
        (0..<Int.random(in: 1...most, using: &random)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ round) }
      }
      let (up, down) = (message(40_000), message(40_000))
      connection.append(SharedFrame(down))
      var sent = 0
      var (arrived, came) = ([UInt8](), [UInt8]())
      for step in 0..<100_000 where arrived.count < up.count || came.count < down.count {
        if sent < up.count { sent += client.write(up[sent..<min(up.count, sent + 3000)]) ?? 0 }
        if case .failed(let reason) = connection.flush(scratch: &scratch) { Issue.record("\(reason)") }
        if case .bytes(let count) = connection.read(into: &buffer) { arrived += buffer[..<count] }
        if step % 3 == round % 3 { connection = try Self.pass(&connection, tls: context) }
        came += client.read() ?? []
      }
      #expect(arrived == up && came == down, "round \(round)")
    }
    connection.close()
    #expect(client.read() == nil && client.isEnded)
  }

  @Test func `What is not a connection is refused`() throws {
    let context = try TLSContext.server(
      certificatePath: files.certificate, keyPath: files.key, releasesSessions: true)
    let (server, other) = try Self.pair()
    let client = try OpenSSLClient(other)
    var connection = try Connection(accepted: server, tls: context)
    var writer = ByteWriter()
    #expect(!connection.write(to: &writer) && writer.bytes.isEmpty)
    for _ in 0..<10 where connection.stage != .open || !client.handshake() {
      _ = client.handshake()
      _ = connection.proceed()
    }
    _ = client.write([1, 2, 3, 4])
    var buffer = [UInt8](repeating: 0, count: 2)
    #expect(connection.read(into: &buffer) == .bytes(2))
    connection.append(SharedFrame([UInt8](repeating: 5, count: 100)))
    #expect(connection.write(to: &writer))
    for count in 0..<writer.bytes.count {
      var reader = ByteReader(Array(writer.bytes.prefix(count)))
      #expect(Connection(passed: server, tls: context, from: &reader) == nil, "\(count) bytes")
    }
    var reader = ByteReader(writer.bytes)
    #expect(Connection(passed: server, tls: nil, from: &reader) == nil)
    // Whatever is in it, nothing traps, and what is taken is a connection.
    for place in writer.bytes.indices {
      for change in [1, 0x80, 0xff] as [UInt8] {
        var bytes = writer.bytes
        bytes[place] ^= change
        var reader = ByteReader(bytes)
        guard let passed = Connection(passed: server, tls: context, from: &reader) else { continue }
        #expect(passed.stage == .open)
      }
    }
    connection.close()
  }

  @Test func `OpenSSL's own sessions, and those that end, are not passed on`() throws {
    let context = try TLSContext.server(
      certificatePath: files.certificate, keyPath: files.key, releasesSessions: false)
    let (server, other) = try Self.pair()
    let client = try OpenSSLClient(other)
    var connection = try Connection(accepted: server, tls: context)
    for _ in 0..<10 where connection.stage != .open || !client.handshake() {
      _ = client.handshake()
      _ = connection.proceed()
    }
    var writer = ByteWriter()
    #expect(connection.stage == .open && !connection.write(to: &writer) && writer.bytes.isEmpty)
    connection.close()
    let (plain, end) = try Self.pair()
    connection = try Connection(accepted: plain)
    close(end)
    var buffer = [UInt8](repeating: 0, count: 10)
    #expect(connection.read(into: &buffer) == .ended)
    #expect(!connection.write(to: &writer) && writer.bytes.isEmpty)
    connection.close()
  }
}
