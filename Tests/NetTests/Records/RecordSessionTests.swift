import BorealisNet
import CLinux
import COpenSSL
import Glibc
import PushTesting
import Synchronization
import Testing

/// Servers' sessions that go on without OpenSSL, with OpenSSL as their client.
@Suite(.timeLimit(.minutes(2))) struct RecordSessionTests {
  private let files: TLSTestFiles

  init() throws {
    signal(SIGPIPE, SIG_IGN)
    files = try TLSTestFiles()
  }

  private func context(_ versions: TLSContext.Versions = .all) throws -> TLSContext {
    try .server(
      certificatePath: files.certificate, keyPath: files.key, versions: versions, releasesSessions: true)
  }

  /// A connection behind its handshake.
  private struct Pair {
    let server: TLSSession
    let client: OpenSSLClient
    let descriptors: [Int32]

    init(
      _ context: TLSContext, suites: String? = nil, groups: String? = nil, fragment: UInt8 = 0
    ) throws {
      var pair: [Int32] = [-1, -1]
      guard socketpair(AF_UNIX, SocketKind.nonBlockingStream, 0, &pair) == 0 else {
        throw TLSTestFiles.Failed()
      }
      descriptors = pair
      server = try TLSSession(context: context, fd: pair[0])
      client = try OpenSSLClient(pair[1], suites: suites, groups: groups, fragment: fragment)
      var (one, other) = (false, TLSSession.Progress.wantRead)
      for _ in 0..<10 where !one || other != .done {
        one = client.handshake()
        other = server.handshake()
      }
      #expect(one && other == .done && server.isReleased)
    }

    func read(_ capacity: Int = 50_000) -> ([UInt8], TLSSession.Transfer) {
      var buffer = [UInt8](repeating: 0, count: capacity)
      let transfer = buffer.withUnsafeMutableBytes { server.read(into: $0) }
      guard case .bytes(let count) = transfer else { return ([], transfer) }
      return (Array(buffer.prefix(count)), transfer)
    }

    func write(_ bytes: [UInt8]) -> TLSSession.Transfer { bytes.withUnsafeBytes { server.write($0) } }

    func end() { close(descriptors[0]) }
  }

  static let suites = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"]

  /// Rounds with messages of random sizes, in both directions at the same time, and new keys of both sides.
  @Test(arguments: suites, [0, 1, 4] as [UInt8])
  func `Bytes arrive as they were sent`(suite: String, fragment: UInt8) throws {
    let context = try context()
    var random = SeededRandom(seed: UInt64(fragment) + 7)
    let pair = try Pair(context, suites: suite, fragment: fragment)
    defer { pair.end() }
    for round in 0..<100 {
      if round % 5 == 1 { #expect(pair.client.updateKeys(asking: round % 2 == 0)) }
      func message() -> [UInt8] {
        let size = [Int.random(in: 1...40, using: &random), Int.random(in: 1...70_000, using: &random)]
        return (0..<size[round % 4 == 0 ? 1 : 0]).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ round) }
      }
      let (up, down) = (message(), message())
      var (sent, gone) = (0, 0)
      var (arrived, came) = ([UInt8](), [UInt8]())
      let capacity = Int.random(in: 1...40_000, using: &random)
      for _ in 0..<200_000 where arrived.count < up.count || came.count < down.count {
        if sent < up.count { sent += pair.client.write(up[sent...]) ?? 0 }
        if gone < down.count, case .bytes(let count) = pair.write(Array(down[gone...])) { gone += count }
        arrived += pair.read(capacity).0
        came += pair.client.read() ?? []
      }
      #expect(arrived == up && came == down, "round \(round)")
    }
    #expect(pair.server.pending == 0 && pair.read().1 == .wantRead)
  }

  /// As `TLSTests` has it for OpenSSL's object: the same is said of the same.
  @Test func `Buffers of any size, and what waits`() throws {
    let pair = try Pair(context())
    defer { pair.end() }
    #expect(pair.read(10).1 == .wantRead && pair.server.pending == 0)
    #expect(pair.server.write(UnsafeRawBufferPointer(start: nil, count: 0)) == .bytes(0))
    #expect(pair.client.write(Array(0..<32)[...]) == 32)
    #expect(pair.client.write([40]) == 1)
    #expect(pair.read(10).0 == Array(0..<10) && pair.server.pending == 22)
    #expect(pair.read(22).0 == Array(10..<32) && pair.server.pending == 1)
    #expect(pair.read(22).0 == [40] && pair.server.pending == 0)
    #expect(pair.read(10).1 == .wantRead)
    #expect(pair.server.version == "TLSv1.3" && !pair.server.isResumed)
    #expect(pair.server.applicationProtocol == nil && pair.server.peerCertificate == nil)
  }

  /// A record that comes byte by byte, and one that is cut anywhere.
  @Test func `Parts of a record wait for the rest`() throws {
    let pair = try Pair(context())
    defer { pair.end() }
    var relay: [Int32] = [-1, -1]
    #expect(socketpair(AF_UNIX, SocketKind.nonBlockingStream, 0, &relay) == 0)
    defer { for one in relay { close(one) } }
    // The client writes to another socket, from where its bytes are moved one by one.
    #expect(SSL_set_fd(pair.client.session, relay[0]) == 1)
    #expect(pair.client.write([1, 2, 3]) == 3)
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = recv(relay[1], &bytes, bytes.count, 0)
    #expect(count == 25)
    for place in 0..<count {
      #expect(pair.read().1 == .wantRead && pair.server.pending == 0)
      #expect(send(pair.client.descriptor, &bytes[place], 1, 0) == 1)
    }
    #expect(pair.read().0 == [1, 2, 3])
  }

  @Test func `The ends of a connection`() throws {
    let context = try context()
    let own = try Pair(context)
    #expect(own.client.write([1, 2]) == 2)
    own.client.shutdown()
    // The server may still write, and read what came before the end.
    #expect(own.read(1).0 == [1] && own.server.pending > 0)
    #expect(own.read(1).0 == [2] && own.server.pending > 0)
    #expect(own.read().1 == .closed && own.read().1 == .closed)
    #expect(own.write([3]) == .bytes(1) && own.client.read() == [3])
    own.server.shutdown()
    #expect(own.client.read() == nil && own.client.isEnded)
    own.end()
    // What the client has not read would make its end a reset.
    let cut = try Pair(context)
    #expect(cut.client.read() == nil)
    cut.client.closeSocket()
    #expect(cut.read().1 == .failed("the peer vanished"))
    #expect(cut.read().1 == .failed("the session failed before"))
    cut.server.shutdown()
    cut.end()
    let behind = try Pair(context)
    #expect(behind.client.read() == nil && behind.client.write([7]) == 1)
    behind.client.closeSocket()
    #expect(behind.read().0 == [7])
    #expect(behind.read().1 == .failed("the peer vanished"))
    behind.end()
  }

  /// Bytes that are no record are answered with an alert, which the client understands, and nothing that
  /// comes later is taken.
  @Test(
    arguments: [
      ([23, 3, 3, 0, 20] + [UInt8](repeating: 5, count: 20), "alert bad record mac"),
      ([22, 3, 3, 0, 5, 1, 0, 0, 1, 0], "alert unexpected message"),
      ([23, 3, 3, 0x41, 1], "alert record overflow"),
      ([71, 69, 84, 32, 47], "alert unexpected message"),
    ] as [([UInt8], String)])
  func `Strange bytes`(bytes: [UInt8], heard: String) throws {
    let pair = try Pair(context())
    defer { pair.end() }
    #expect(pair.client.write([9]) == 1)
    #expect(send(pair.client.descriptor, bytes, bytes.count, 0) == bytes.count)
    #expect(pair.read().0 == [9], "what came before counts")
    guard case .failed(let reason) = pair.read().1 else { return #expect(Bool(false), "it was taken") }
    #expect(reason.hasPrefix("the peer broke the protocol: "), "\(reason)")
    #expect(pair.client.read() == nil)
    #expect(pair.client.reason().contains(heard), "\(heard)")
    #expect(pair.write([1]) == .failed("the session failed before"))
  }

  /// The server has none of the client's first group, and asks for another hello (HelloRetryRequest).
  @Test func `A handshake with a second hello`() throws {
    let pair = try Pair(context(), groups: "P-521:X25519")
    defer { pair.end() }
    #expect(pair.client.write([1, 2]) == 2 && pair.read().0 == [1, 2])
    #expect(pair.write([3]) == .bytes(1) && pair.client.read() == [3])
  }

  @Test func `What comes behind the end means nothing`() throws {
    let pair = try Pair(context())
    defer { pair.end() }
    #expect(pair.client.write([7]) == 1)
    pair.client.shutdown()
    let strange = [UInt8](repeating: 9, count: 40)
    #expect(send(pair.client.descriptor, strange, strange.count, 0) == 40)
    #expect(pair.read().0 == [7])
    #expect(pair.read().1 == .closed && pair.read().1 == .closed)
    #expect(send(pair.client.descriptor, strange, strange.count, 0) == 40)
    #expect(pair.read().1 == .closed && pair.write([1]) == .bytes(1) && pair.client.read() == [1])
  }

  /// A peer that gave up with an alert hears nothing more (RFC 8446 section 6.2).
  @Test func `Nothing is sent behind a fatal alert`() throws {
    let pair = try Pair(context())
    defer { pair.end() }
    #expect(pair.client.read() == nil)
    let strange: [UInt8] = [23, 3, 3, 0, 20] + [UInt8](repeating: 5, count: 20)
    #expect(send(pair.descriptors[0], strange, strange.count, 0) == strange.count)
    #expect(pair.client.read() == nil && !pair.client.reason().isEmpty)
    #expect(pair.read().1 == .failed("the peer sent an alert: bad record mac"))
    pair.server.shutdown()
    #expect(pair.write([1]) == .failed("the session failed before"))
    var rest = [UInt8](repeating: 0, count: 100)
    #expect(recv(pair.client.descriptor, &rest, rest.count, 0) == -1)
  }

  /// Before a record that the socket has taken in part is gone, not even an alert may leave.
  @Test func `A fault while a record waits`() throws {
    let pair = try Pair(context())
    defer { pair.end() }
    var count = 0
    while case .bytes(let more) = pair.write([UInt8](repeating: 1, count: 16_384)) { count += more }
    let strange: [UInt8] = [22, 3, 3, 0, 1, 0]
    #expect(send(pair.client.descriptor, strange, strange.count, 0) == strange.count)
    guard case .failed = pair.read().1 else { return #expect(Bool(false), "it was taken") }
    var arrived = 0
    while let part = pair.client.read() { arrived += part.count }
    #expect(arrived == count && pair.client.reason() == "")
  }

  /// A socket that takes nothing for a while, or a few bytes: each record leaves whole, once.
  @Test func `A full socket`() throws {
    let pair = try Pair(context())
    defer { pair.end() }
    let message = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
    var (sent, arrived, isHeldUp) = (0, [UInt8](), 0)
    while arrived.count < message.count {
      while sent < message.count {
        // A new array each time: the bytes may move between attempts.
        let transfer = pair.write(Array(message[sent..<min(message.count, sent + 40_000)]))
        guard case .bytes(let count) = transfer else {
          #expect(transfer == .wantWrite)
          isHeldUp += 1
          break
        }
        #expect(count <= 16_384)
        sent += count
      }
      guard let part = pair.client.read() else { return #expect(Bool(false), "\(pair.client.reason())") }
      arrived += part
    }
    #expect(arrived == message && isHeldUp > 3)
  }

  /// A goodbye while a record waits would be read as a part of it.
  @Test func `The end does not cut into a record`() throws {
    let pair = try Pair(context())
    defer { pair.end() }
    var count = 0
    while case .bytes(let more) = pair.write([UInt8](repeating: 1, count: 16_384)) { count += more }
    pair.server.shutdown()
    var arrived = 0
    while let part = pair.client.read() {
      arrived += part.count
      #expect(part.allSatisfy { $0 == 1 })
    }
    #expect(arrived == count && !pair.client.isEnded)
  }

  /// Another version, an agreed protocol or certificates of clients stay with OpenSSL.
  @Test func `What stays with OpenSSL`() throws {
    let trust = try TLSContext.client(caFile: files.certificate)
    func pair(_ server: TLSContext, _ client: TLSContext) throws -> TLSPair {
      let pair = try TLSPair(server: server, client: client, peerName: "localhost")
      #expect(pair.handshake() == [.done, .done])
      #expect(pair.carry([1, 2], from: pair.client, to: pair.server) == [1, 2])
      #expect(pair.carry([3], from: pair.server, to: pair.client) == [3])
      #expect(!pair.client.isReleased)
      return pair
    }
    #expect(try pair(context(), trust).server.isReleased)
    let old = try TLSContext.client(caFile: files.certificate, versions: .only12)
    #expect(try !pair(context(), old).server.isReleased)
    let identity = TLSIdentity.files(certificatePath: files.certificate, keyPath: files.key)
    let speaking = try TLSContext.server(identity: identity, protocols: ["h2"], releasesSessions: true)
    let offering = try TLSContext.client(trust: .file(files.certificate), protocols: ["h2"])
    #expect(try pair(speaking, offering).server.applicationProtocol == "h2")
    #expect(try !pair(speaking, offering).server.isReleased)
    #expect(try pair(speaking, trust).server.isReleased)
    let asking = try TLSContext.server(
      identity: identity, clients: .optional(.file(files.certificate)), releasesSessions: true)
    #expect(try !pair(asking, trust).server.isReleased)
    #expect(try !pair(files.server(), trust).server.isReleased)
  }

  @Test func `Sessions are resumed`() throws {
    let (server, trust) = (try context(), try TLSContext.client(caFile: files.certificate))
    var session: [UInt8]?
    for round in 0..<3 {
      let pair = try TLSPair(server: server, client: trust, peerName: "localhost", resuming: session)
      #expect(pair.handshake() == [.done, .done] && pair.server.isReleased)
      #expect(pair.server.isResumed == (round > 0))
      #expect(pair.carry([1], from: pair.server, to: pair.client) == [1])
      session = pair.client.exportSession()
      pair.client.shutdown()
      #expect(pair.read(pair.server, 10).1 == .closed)
    }
  }

  /// An idle session costs a few hundred bytes, where OpenSSL's takes 14 KB.
  @Test func `Memory of an idle session`() throws {
    let contexts = (server: try context(), trust: try TLSContext.client(caFile: files.certificate))
    // Twice, so that what is made once is there.
    var perSession = 0
    for _ in 0..<2 {
      let before = cl_heap_bytes()
      let idle = Mutex(IdleSessions())
      // malloc counts as given out what a thread keeps for its next requests, which goes with the thread.
      JoinedThread.run { idle.withLock { $0.fill(200, contexts.server, contexts.trust) } }
      perSession = (Int(cl_heap_bytes()) - Int(before)) / 200
      idle.withLock { idle in
        #expect(idle.sessions.count == 200 && idle.sessions.allSatisfy { $0.isReleased })
        for socket in idle.sockets { close(socket) }
      }
    }
    #expect(perSession < 550, "\(perSession) bytes")
  }
}

/// A thread that is waited for until nothing of it is left.
private enum JoinedThread {
  private final class Body {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
  }

  static func run(_ body: @escaping @Sendable () -> Void) {
    let context = Unmanaged.passRetained(Body(body))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }, context.toOpaque())
    #expect(status == 0)
    pthread_join(thread, nil)
  }
}

/// Servers' sessions behind their handshakes, and both ends of their connections.
private struct IdleSessions {
  var (sessions, sockets): ([TLSSession], [Int32]) = ([], [])

  mutating func fill(_ count: Int, _ server: TLSContext, _ trust: TLSContext) {
    sessions.reserveCapacity(count)
    sockets.reserveCapacity(2 * count)
    do {
      for _ in 0..<count {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, SocketKind.nonBlockingStream, 0, &ends) == 0)
        sockets += ends
        let one = try TLSSession(context: server, fd: ends[0])
        let other = try TLSSession(context: trust, fd: ends[1], peerName: "localhost")
        for _ in 0..<4 { _ = (other.handshake(), one.handshake()) }
        var buffer = [UInt8](repeating: 0, count: 100)
        #expect([1].withUnsafeBytes { other.write($0) } == .bytes(8))
        #expect(buffer.withUnsafeMutableBytes { one.read(into: $0) } == .bytes(8))
        #expect([1].withUnsafeBytes { one.write($0) } == .bytes(8))
        sessions.append(one)
      }
    } catch {
      Issue.record(error)
    }
  }
}
