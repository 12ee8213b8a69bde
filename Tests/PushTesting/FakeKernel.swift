import Glibc
import Synchronization

/// One end of a stream in a kernel that does what a script says: short reads, a full socket, interrupted
/// calls, a reset. Whoever gets its descriptor takes it for a socket's: all of the product's calls on
/// connections come here, OpenSSL's among them.
package final class FakeSocket: Sendable {
  /// What happens to one call.
  package enum Step: Sendable {
    /// It moves so many bytes at most; for 0 it would have to wait.
    case upTo(Int)
    /// It fails with this errno.
    case fails(Int32)
  }

  fileprivate struct State {
    var reads: [Step] = []
    var sends: [Step] = []
    var incoming: [UInt8] = []
    var hasIncomingEnd = false
    var sent: [UInt8] = []
    var connectError: Int32 = 0
    var peer: FakeSocket?
    var sendCount = 0
    var isShut = false
    var isClosed = false
  }

  /// Real descriptors are far below.
  fileprivate static let first: Int32 = 1_000_000_000
  fileprivate static let all = Mutex<[Int32: FakeSocket]>([:])
  private static let next = Atomic<Int32>(first)

  /// What the product knows it by.
  package let descriptor: Int32
  fileprivate let state = Mutex(State())

  private init() { descriptor = Self.next.add(1, ordering: .relaxed).oldValue }

  /// A socket whose other end is the test.
  package static func make() -> FakeSocket {
    let socket = FakeSocket()
    all.withLock { $0[socket.descriptor] = socket }
    return socket
  }

  /// Two ends of one stream.
  package static func pair() -> (FakeSocket, FakeSocket) {
    let (one, other) = (make(), make())
    one.state.withLock { $0.peer = other }
    other.state.withLock { $0.peer = one }
    return (one, other)
  }

  // MARK: The script

  /// What happens to the next reads; those behind them get what has come.
  package func script(reads: [Step]) { state.withLock { $0.reads += reads } }

  /// What happens to the next sends; those behind them are taken whole.
  package func script(sends: [Step]) { state.withLock { $0.sends += sends } }

  /// From now on every call moves all that it can.
  package func unscript() {
    state.withLock { state in
      state.reads = []
      state.sends = []
    }
  }

  /// The peer sends something.
  package func receive(_ bytes: [UInt8]) { state.withLock { $0.incoming += bytes } }

  /// The peer sends nothing more.
  package func receiveEnd() { state.withLock { $0.hasIncomingEnd = true } }

  /// How a connect ends: with an errno, or 0 when it succeeds.
  package func connect(endsWith number: Int32) { state.withLock { $0.connectError = number } }

  // MARK: What was done

  /// What was sent to the test.
  package var sent: [UInt8] { state.withLock { $0.sent } }
  /// Calls that wanted to send.
  package var sendCount: Int { state.withLock { $0.sendCount } }
  /// Whether our side was shut.
  package var isShut: Bool { state.withLock { $0.isShut } }
  /// Whether it was closed.
  package var isClosed: Bool { state.withLock { $0.isClosed } }

  // MARK: The kernel

  fileprivate func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    state.withLock { state in
      var most = buffer.count
      if !state.reads.isEmpty {
        switch state.reads.removeFirst() {
        case .fails(let number): return -Int(number)
        case .upTo(let count): most = min(most, count)
        }
      }
      if state.incoming.isEmpty, state.hasIncomingEnd { return 0 }
      let count = min(most, state.incoming.count)
      guard count > 0 else { return -Int(EAGAIN) }
      buffer.copyBytes(from: state.incoming.prefix(count))
      state.incoming.removeFirst(count)
      return count
    }
  }

  fileprivate func send(_ bytes: UnsafeRawBufferPointer) -> Int {
    let (count, peer) = state.withLock { state -> (Int, FakeSocket?) in
      state.sendCount += 1
      if state.isShut { return (-Int(EPIPE), nil) }
      var count = bytes.count
      if !state.sends.isEmpty {
        switch state.sends.removeFirst() {
        case .fails(let number): return (-Int(number), nil)
        case .upTo(let most): count = min(count, most)
        }
      }
      if count == 0 { return (-Int(EAGAIN), nil) }
      if state.peer == nil { state.sent += bytes.prefix(count) }
      return (count, state.peer)
    }
    if count > 0 { peer?.receive(Array(bytes.prefix(count))) }
    return count
  }

  fileprivate func shut() {
    let peer = state.withLock { state in
      state.isShut = true
      return state.peer
    }
    peer?.receiveEnd()
  }

  fileprivate func close() {
    shut()
    state.withLock { state in
      state.isClosed = true
      state.peer = nil
    }
    _ = Self.all.withLock { $0.removeValue(forKey: descriptor) }
  }

  fileprivate var connectError: Int32 { state.withLock { $0.connectError } }
}

/// Nil for descriptors of the real kernel.
private func fake(_ descriptor: Int32) -> FakeSocket? {
  descriptor < FakeSocket.first ? nil : FakeSocket.all.withLock { $0[descriptor] }
}

private func result(_ value: Int) -> Int { value < 0 ? -Int(errno) : value }

// The functions below take the place of CLinux's in programs that this is linked into: tests.

@c(cl_read)
func read(descriptor: Int32, buffer: UnsafeMutableRawPointer?, count: Int) -> Int {
  guard descriptor >= FakeSocket.first else { return result(Glibc.read(descriptor, buffer, count)) }
  return fake(descriptor)?.read(UnsafeMutableRawBufferPointer(start: buffer, count: count)) ?? -Int(EBADF)
}

@c(cl_send)
func send(descriptor: Int32, bytes: UnsafeRawPointer?, count: Int) -> Int {
  guard descriptor >= FakeSocket.first else {
    return result(Glibc.send(descriptor, bytes, count, Int32(MSG_NOSIGNAL)))
  }
  return fake(descriptor)?.send(UnsafeRawBufferPointer(start: bytes, count: count)) ?? -Int(EBADF)
}

@c(cl_close)
func close(descriptor: Int32) -> Int32 {
  guard descriptor >= FakeSocket.first else { return Int32(result(Int(Glibc.close(descriptor)))) }
  guard let socket = fake(descriptor) else { return -EBADF }
  socket.close()
  return 0
}

@c(cl_shutdown_write)
func shutDownWriting(descriptor: Int32) -> Int32 {
  guard descriptor >= FakeSocket.first else {
    return Int32(result(Int(Glibc.shutdown(descriptor, Int32(SHUT_WR)))))
  }
  guard let socket = fake(descriptor) else { return -EBADF }
  socket.shut()
  return 0
}

@c(cl_socket_error)
func pendingError(descriptor: Int32) -> Int32 {
  if let socket = fake(descriptor) { return socket.connectError }
  var number: Int32 = 0
  var size = socklen_t(MemoryLayout<Int32>.size)
  return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &size) < 0 ? errno : number
}
