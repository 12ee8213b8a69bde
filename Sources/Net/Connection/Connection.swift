import BorealisBase
import CLinux

/// One end of a stream: a non-blocking socket, TLS on it or none, what waits to be sent, and what the loop is
/// to report.
///
/// A value without a lock or an allocation of its own, so that a million of them fit into a slab; it belongs
/// to one loop's thread, and whoever holds it closes it once. It never blocks and speaks no protocol: its
/// owner calls it when the socket is ready, reads into a buffer that all connections share, queues what is to
/// be sent, and calls `settle` at the end.
///
/// What both directions wait for is its own business: with TLS a write may have to wait until the socket is
/// readable, and a read until it is writable.
package struct Connection {
  /// How far a connection is.
  package enum Stage: UInt8, Sendable {
    /// There is no socket: it was closed or never opened.
    case closed
    /// The kernel is connecting.
    case connecting
    /// TLS is being agreed on.
    case handshaking
    /// Bytes flow in both directions.
    case open
    /// Our side is shut; what comes is read as it is.
    case shut
  }

  /// The result of a step towards an open connection.
  package enum Progress: Equatable, Sendable {
    /// Continue when the socket is ready, or in the next turn if this turn's share of handshakes is used up.
    case inProgress
    /// Bytes may flow. The first ones may have come already.
    case open
    /// Nothing responds at the address.
    case unreachable(SystemError)
    /// TLS was not agreed on; the text says why, for the log.
    case failed(String)
  }

  /// The result of a read.
  package enum Reading: Equatable, Sendable {
    /// The number of bytes in the buffer, at least one.
    case bytes(Int)
    /// Nothing is there now.
    case nothing
    /// The peer sends nothing more.
    case ended
    /// The connection is lost; the text says why, for the log.
    case failed(String)
  }

  /// The result of sending.
  package enum Sending: Equatable, Sendable {
    /// Nothing is queued.
    case done
    /// The rest waits until the socket is ready.
    case blocked
    /// The connection is lost; the text says why, for the log.
    case failed(String)
  }

  /// The largest content of a TLS record (RFC 8446 section 5.1): behind one that is full there may be
  /// another.
  private static let record = 16 << 10

  /// The socket, -1 if there is none.
  package private(set) var descriptor: Int32 = -1
  /// How far it is.
  package private(set) var stage = Stage.closed
  /// Whether the owner wants no more bytes, so that the kernel does not report them.
  package var isPaused = false
  /// The peer sends nothing more, but it may still read.
  package private(set) var hasEnded = false
  /// Bytes, or the peer's end, wait inside TLS: `read` returns them, but the socket does not report them.
  package private(set) var hasUnread = false
  private var readsAhead = false
  private var isWatched = false
  private var watched: Bits = .init(.readable)
  private var readNeeds: Bits = .init(.readable)
  private var writeNeeds: Bits = .init([])
  /// The session on it, nil on a plain one.
  package private(set) var tls: TLSSession?
  /// What waits to be sent.
  package private(set) var queue = OutboundQueue()

  /// `Readiness` in a byte.
  private struct Bits: Equatable {
    private let rawValue: UInt8

    init(_ readiness: Readiness) { rawValue = UInt8(truncatingIfNeeded: readiness.rawValue) }

    var readiness: Readiness { Readiness(rawValue: UInt32(rawValue)) }
  }

  /// A closed one.
  package init() {}

  /// Takes an accepted socket over, with TLS if there is a context for it. If TLS cannot begin the socket
  /// stays the caller's.
  package init(accepted descriptor: Int32, tls context: TLSContext? = nil) throws(TLSError) {
    if let context { tls = try TLSSession(context: context, fd: descriptor) }
    self.descriptor = descriptor
    stage = tls == nil ? .open : .handshaking
  }

  /// Goes on with a connection of another process, whose socket this one has by now: reads what `write`
  /// wrote. `context` is for TLS, if it speaks that. Nil if the bytes are something else; the socket stays
  /// the caller's.
  package init?(passed descriptor: Int32, tls context: TLSContext?, from reader: inout ByteReader) {
    guard let isSecure = reader.read(UInt8.self), isSecure <= 1 else { return nil }
    if isSecure == 1 {
      guard let context, let session = TLSSession(context: context, fd: descriptor, from: &reader) else {
        return nil
      }
      tls = session
    }
    guard let queue = OutboundQueue(from: &reader), tls?.protectedContent ?? 0 <= queue.byteCount else {
      return nil
    }
    self.queue = queue
    self.descriptor = descriptor
    // The rest of a record has to leave before anything else, also of a queue that is given up.
    if tls?.protectedContent ?? 0 > 0 { writeNeeds = Bits(.writable) }
    hasUnread = tls.map { $0.pending > 0 } ?? false
    stage = .open
  }

  /// Whether another process can go on with it: it is open, and OpenSSL does not have its keys.
  package var isPassable: Bool { stage == .open && !isPaused && !hasEnded && tls?.isPassable ?? true }

  /// Writes what another process needs besides the socket. False, and nothing is written, if none can go on
  /// with it. What follows is not to be sent here, unless the reader is known to send nothing.
  package func write(to writer: inout ByteWriter) -> Bool {
    guard isPassable else { return false }
    writer.write(UInt8(tls == nil ? 0 : 1))
    _ = tls?.write(to: &writer)
    queue.write(to: &writer)
    return true
  }

  /// Takes over a socket whose connect has begun.
  package init(connecting descriptor: Int32) {
    self.descriptor = descriptor
    stage = .connecting
    readNeeds = Bits(.writable)
  }

  /// Starts to connect to a numeric address. Throws when the system refuses at once.
  package init(to address: String, port: UInt16) throws(SystemError) {
    self.init(connecting: try SystemError.check(cl_connect(address, port), "connect"))
  }

  /// Speaks TLS once it is connected, or from now on at the end of a proxy's tunnel. The name is what the
  /// peer's certificate must carry; a session is what `exportSession` of an earlier connection gave.
  package mutating func secure(
    with context: TLSContext, peerName: String?, resuming session: [UInt8]? = nil, inTunnel: Bool = false
  ) throws(TLSError) {
    precondition(
      stage == (inTunnel ? .open : .connecting) && tls == nil, "bytes may have been sent without TLS")
    tls = try TLSSession(context: context, fd: descriptor, peerName: peerName, resuming: session)
    if inTunnel { stage = .handshaking }
  }

  /// Lets TLS take as much as there is from the socket at once: fewer system calls for busy connections.
  package mutating func readAhead() {
    readsAhead = tls != nil
    tls?.readAhead()
  }

  // MARK: On the way

  /// Continues connecting, or the handshake, after the socket became ready.
  package mutating func proceed() -> Progress { proceed { $0.handshake() } }

  /// The same within the turn's share of handshakes: over it nothing is done, and the kernel reports the
  /// socket again.
  package mutating func proceed(within budget: inout HandshakeBudget) -> Progress {
    proceed { budget.step($0) }
  }

  private mutating func proceed(_ step: (TLSSession) -> TLSSession.Progress?) -> Progress {
    if stage == .connecting {
      let number = cl_socket_error(descriptor)
      guard number == 0 else { return .unreachable(SystemError(call: "connect", number: number)) }
      readNeeds = Bits(.readable)
      stage = tls == nil ? .open : .handshaking
    }
    guard stage == .handshaking, let tls else { return .open }
    switch step(tls) {
    case nil: return .inProgress
    case .done:
      readNeeds = Bits(.readable)
      stage = .open
      return .open
    case .wantRead: readNeeds = Bits(.readable)
    case .wantWrite: readNeeds = Bits(.writable)
    case .failed(let reason): return .failed(reason)
    }
    return .inProgress
  }

  // MARK: Reading

  /// Reads what has come, up to the size of the buffer: without TLS by one system call, with it until there
  /// is no whole record.
  package mutating func read(into buffer: inout [UInt8]) -> Reading {
    hasUnread = false
    guard let tls else { return readPlain(into: &buffer) }
    readNeeds = Bits(.readable)
    var count = 0
    while count < buffer.count {
      let transfer = buffer.withUnsafeMutableBytes { bytes in
        tls.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[count...]))
      }
      switch transfer {
      case .bytes(let got):
        count += got
        // To ask once more would nearly always be in vain. What came behind a smaller record is still in the
        // socket, or is pending.
        if got < Self.record, !readsAhead, tls.pending == 0 { return .bytes(count) }
      case .wantRead: return count > 0 ? .bytes(count) : .nothing
      case .wantWrite:
        readNeeds = Bits(.writable)
        return count > 0 ? .bytes(count) : .nothing
      case .closed: return end(.ended, behind: count)
      case .failed(let reason): return end(.failed(reason), behind: count)
      }
    }
    hasUnread = readsAhead || tls.pending > 0
    return .bytes(count)
  }

  private mutating func readPlain(into buffer: inout [UInt8]) -> Reading {
    do throws(SystemError) {
      guard let count = try Socket.read(descriptor, into: &buffer) else { return .nothing }
      return count > 0 ? .bytes(count) : end(.ended, behind: 0)
    } catch {
      return end(.failed(error.description), behind: 0)
    }
  }

  /// Bytes before the end are reported first.
  private mutating func end(_ end: Reading, behind count: Int) -> Reading {
    guard count == 0 else {
      hasUnread = true
      return .bytes(count)
    }
    hasEnded = true
    return end
  }

  // MARK: Sending

  /// Queues a frame for the next `flush`.
  package mutating func append(_ frame: SharedFrame) { queue.append(frame) }

  /// Queues what `write` appends to an array.
  package mutating func append<E: Error>(_ write: (inout [UInt8]) throws(E) -> Void) throws(E) {
    try queue.append(write)
  }

  /// Queues a content; a constant one costs no memory.
  package mutating func append(content: [UInt8], isConstant: Bool = false) {
    queue.append(content: content, isConstant: isConstant)
  }

  /// Whether the last attempt to send was held up and the socket has not become ready since.
  package var isBlocked: Bool { writeNeeds != Bits([]) }

  /// Sends queued bytes. Small pieces are merged in `scratch`.
  package mutating func flush(scratch: inout [UInt8]) -> Sending {
    guard !queue.isEmpty else {
      writeNeeds = Bits([])
      return .done
    }
    guard stage == .open else { return .blocked }
    writeNeeds = Bits([])
    let out = Way(descriptor: descriptor, tls: tls)
    var failure = SendFailure.none
    let outcome = queue.flush(scratch: &scratch) { out.send($0, from: $1, &failure) }
    if case .sent = outcome { return .done }
    return hold(failure)
  }

  /// Sends a frame immediately if the queue is empty, else queues it.
  package mutating func send(_ frame: SharedFrame) -> Sending {
    guard queue.isEmpty else {
      queue.append(frame)
      return .blocked
    }
    var failure = SendFailure.none
    switch Way(descriptor: descriptor, tls: tls).send(frame.bytes, from: 0, &failure) {
    case .sent(frame.bytes.count):
      writeNeeds = Bits([])
      return .done
    case .sent(let count):
      queue.append(frame, sent: count)
      // The rest leaves in the next turn.
      return hold(.needs(.writable))
    case .wouldBlock: queue.append(frame)
    case .failed: break
    }
    return hold(failure)
  }

  /// Gives up what waits, but for what has left in part: see `OutboundQueue.truncate`.
  package mutating func truncateQueue() {
    // OpenSSL may hold a record of what it was given last, which must leave as it is.
    queue.truncate(keeping: tls == nil || !isBlocked ? 0 : Self.record)
  }

  /// Drops the queue: the peer could not interpret anything sent from now on.
  package mutating func dropQueue() { queue = OutboundQueue() }

  /// Gives memory back that is kept for what is sent next.
  package mutating func releaseMemory() { queue.release() }

  /// What sending waits for.
  private enum SendFailure {
    case none
    case needs(Readiness)
    case lost(String)
  }

  private mutating func hold(_ failure: SendFailure) -> Sending {
    switch failure {
    case .none: return .done
    case .needs(let readiness):
      writeNeeds = Bits(readiness)
      return .blocked
    case .lost(let reason): return .failed(reason)
    }
  }

  /// Where bytes go.
  private struct Way {
    let descriptor: Int32
    let tls: TLSSession?

    func send(_ bytes: [UInt8], from offset: Int, _ failure: inout SendFailure) -> SendOutcome {
      guard let tls else {
        let outcome = Socket.send(descriptor, bytes, from: offset)
        if case .failed(let number) = outcome {
          failure = .lost(SystemError(call: "send", number: number).description)
        } else if outcome == .wouldBlock {
          failure = .needs(.writable)
        }
        return outcome
      }
      switch bytes.withUnsafeBytes({ tls.write(UnsafeRawBufferPointer(rebasing: $0[offset...])) }) {
      case .bytes(let count): return .sent(count)
      case .wantWrite: failure = .needs(.writable)
      case .wantRead: failure = .needs(.readable)
      case .closed: failure = .lost("the peer closed")
      case .failed(let reason): failure = .lost(reason)
      }
      return .wouldBlock
    }
  }

  // MARK: The loop

  /// What the socket must become before there is something to do.
  package var interest: Readiness {
    let reading: Readiness = isPaused || hasEnded ? [] : readNeeds.readiness
    return reading.union(writeNeeds.readiness)
  }

  /// Whether a report is one that sending has waited for.
  package func canSend(_ readiness: Readiness) -> Bool { !readiness.isDisjoint(with: writeNeeds.readiness) }

  /// Whether a report is one that reading has waited for. A broken socket can always be read: it says what is
  /// wrong.
  package func canRead(_ readiness: Readiness) -> Bool {
    !readiness.isDisjoint(with: readNeeds.readiness.union(.broken))
  }

  /// Starts to have the socket watched. False if the kernel refuses.
  package mutating func watch(_ token: ConnectionToken, on loop: EventLoop) -> Bool {
    watched = Bits(interest)
    isWatched = loop.watch(descriptor, token, interest)
    return isWatched
  }

  /// Tells the loop which events to report from now on, if that has changed; only the end for a connection
  /// that is ignored.
  package mutating func settle(_ token: ConnectionToken, on loop: EventLoop, isIgnored: Bool = false) {
    if let wanted = updateInterest(isIgnored: isIgnored) { loop.change(descriptor, token, wanted) }
  }

  /// Another driver of the same loop has it now.
  package mutating func move(to token: ConnectionToken, on loop: EventLoop) {
    watched = Bits(interest)
    loop.change(descriptor, token, interest)
  }

  /// The events to report from now on, nil if unchanged.
  package mutating func updateInterest(isIgnored: Bool = false) -> Readiness? {
    let wanted = isIgnored ? [] : interest
    guard Bits(wanted) != watched else { return nil }
    watched = Bits(wanted)
    return wanted
  }

  // MARK: The end

  /// Says that nothing more will be sent, and what waits is given up; what was sent still arrives, unless the
  /// socket is closed with something unread in it.
  package mutating func shutDown() {
    tls?.shutdown()
    tls = nil
    dropQueue()
    _ = cl_shutdown_write(descriptor)
    stage = .shut
    isPaused = false
    hasUnread = false
    readNeeds = Bits(.readable)
    writeNeeds = Bits([])
  }

  /// Closes the socket after a goodbye by TLS. The loop is the one that watches it, unless that is gone.
  package mutating func close(on loop: EventLoop? = nil) {
    tls?.shutdown()
    cut(on: loop)
  }

  /// Closes the socket without a goodbye. Closed already, nothing happens.
  package mutating func cut(on loop: EventLoop? = nil) {
    guard descriptor >= 0 else { return }
    if isWatched, let loop { loop.close(descriptor) } else { _ = cl_close(descriptor) }
    self = Connection()
  }

  /// Closes the socket with a reset: what was sent may be lost, and no port stays in use for a minute.
  package mutating func reset(on loop: EventLoop? = nil) {
    _ = cl_reset_on_close(descriptor)
    cut(on: loop)
  }
}
