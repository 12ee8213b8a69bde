import BorealisBase
import BorealisDevice
import BorealisNet
import BorealisProtocol
import CLinux
import Dispatch
import Glibc
import PushTesting

/// A server whose part a test plays, with real sockets and blocking calls, on a thread of its own.
final class TestServer: Sendable {
  struct Failed: Error {
    let reason: String
  }

  let port: UInt16
  private let listener: Int32
  private let tls: TLSContext?

  init(port: UInt16 = 0, tls: TLSContext? = nil) throws {
    listener = try SystemError.check(cl_listen("127.0.0.1", port, 128, 0), "listen")
    self.port = UInt16(try SystemError.check(cl_local_port(listener), "getsockname"))
    self.tls = tls
  }

  deinit { _ = cl_close(listener) }

  var address: ServerAddress { ServerAddress(host: "127.0.0.1", port: port) }

  /// Plays the server's part.
  @discardableResult
  func play<Value: Sendable>(_ part: @escaping @Sendable (TestServer) throws -> Value) async throws -> Value {
    try await awaitCallback { continuation in
      // A queue of its own: those of the system are as few as there are cores.
      DispatchQueue(label: "test-server").async { continuation(Result { try part(self) }) }
    }.get()
  }

  /// Waits for the next connection; for TLS, the handshake as well.
  func accept() throws -> TestPeer {
    try TestPeer.wait(listener, Int16(POLLIN))
    return try TestPeer(try SystemError.check(cl_accept(listener), "accept"), tls)
  }
}

/// A device as the server sees it.
final class TestPeer {
  private let descriptor: Int32
  private let session: TLSSession?
  var input: [UInt8] = []

  fileprivate init(_ descriptor: Int32, _ tls: TLSContext?) throws {
    self.descriptor = descriptor
    session = try tls.map { try TLSSession(context: $0, fd: descriptor) }
    guard let session else { return }
    while true {
      switch session.handshake() {
      case .done: return
      case .wantRead: try Self.wait(descriptor, Int16(POLLIN))
      case .wantWrite: try Self.wait(descriptor, Int16(POLLOUT))
      case .failed(let reason): throw TestServer.Failed(reason: reason)
      }
    }
  }

  /// The connection ends with the object.
  deinit {
    session?.shutdown()
    _ = cl_close(descriptor)
  }

  /// Whether TLS resumed an earlier session.
  var isResumed: Bool { session?.isResumed ?? false }

  static func wait(_ descriptor: Int32, _ events: Int16) throws {
    var wanted = pollfd(fd: descriptor, events: events, revents: 0)
    guard poll(&wanted, 1, 20_000) == 1 else { throw TestServer.Failed(reason: "nothing came") }
  }

  func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let rest = Array(bytes[sent...])
      let outcome: SendOutcome =
        if let session {
          if case .bytes(let count) = rest.withUnsafeBytes({ session.write($0) }) {
            .sent(count)
          } else {
            .wouldBlock
          }
        } else {
          Socket.send(descriptor, rest)
        }
      switch outcome {
      case .sent(let count): sent += count
      case .wouldBlock: try Self.wait(descriptor, Int16(POLLOUT))
      case .failed(let number): throw SystemError(call: "send", number: number)
      }
    }
  }

  /// Reads more; false at the end of the connection.
  func read() throws -> Bool {
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      if let session {
        switch buffer.withUnsafeMutableBytes({ session.read(into: $0) }) {
        case .bytes(let count):
          input += buffer[..<count]
          return true
        case .wantRead, .wantWrite: try Self.wait(descriptor, Int16(POLLIN))
        case .closed: return false
        case .failed(let reason): throw TestServer.Failed(reason: reason)
        }
      } else if let count = try Socket.read(descriptor, into: &buffer) {
        input += buffer[..<count]
        return count > 0
      } else {
        try Self.wait(descriptor, Int16(POLLIN))
      }
    }
  }
}
