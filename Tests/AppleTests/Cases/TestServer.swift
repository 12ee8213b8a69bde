import BorealisBase
import BorealisDevice
import BorealisProtocol
import Foundation

/// A server whose part a test plays, with real sockets and blocking calls, on a thread of its own. The tests
/// of the device library use it here in place of one with our event loop's connections.
final class TestServer: Sendable {
  struct Failed: Error {
    let reason: String
  }

  let port: UInt16
  private let listener: Int32

  init(port: UInt16 = 0) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.listener = listener
    var one: Int32 = 1
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, 4)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        bind(listener, generic, size) == 0 && listen(listener, 128) == 0
          && getsockname(listener, generic, &size) == 0
      }
    }
    self.port = UInt16(bigEndian: address.sin_port)
    guard isListening else { throw Failed(reason: "listen: \(errno)") }
  }

  deinit { close(listener) }

  var address: ServerAddress { ServerAddress(host: "127.0.0.1", port: port) }

  /// Plays the server's part.
  @discardableResult
  func play<Value: Sendable>(_ part: @escaping @Sendable (TestServer) throws -> Value) async throws -> Value {
    try await awaitCallback { continuation in
      DispatchQueue(label: "test-server").async { continuation(Result { try part(self) }) }
    }.get()
  }

  /// Waits for the next connection.
  func accept() throws -> TestPeer {
    try TestPeer.wait(listener)
    return TestPeer(Glibc.accept(listener, nil, nil))
  }
}

/// A device as the server sees it.
final class TestPeer {
  private let descriptor: Int32
  var input: [UInt8] = []

  fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// The connection ends with the object.
  deinit { close(descriptor) }

  static func wait(_ descriptor: Int32) throws {
    var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&wanted, 1, 20_000) == 1 else { throw TestServer.Failed(reason: "nothing came") }
  }

  func send(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { throw TestServer.Failed(reason: "send: \(errno)") }
      rest = rest.dropFirst(sent)
    }
  }

  /// Reads more; false at the end of the connection.
  func read() throws -> Bool {
    try Self.wait(descriptor)
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count >= 0 else { throw TestServer.Failed(reason: "recv: \(errno)") }
    input += buffer[..<count]
    return count > 0
  }
}
