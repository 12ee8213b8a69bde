import BorealisBase
import BorealisNet
import CLinux
import Cluster
import Glibc
import Synchronization

/// A home on one connection that does exactly what a script says, byte by byte.
final class RawHome: Sendable {
  let address: NodeAddress
  private let heard = Mutex<[UInt8]>([])

  /// What came.
  var text: String { heard.withLock { String(decoding: $0, as: UTF8.self) } }

  /// The script gets the connection, a blocking socket, which is closed by a reset after it.
  init(_ script: @escaping @Sendable (RawHome, Int32) -> Void) throws {
    let listener = try SystemError.check(cl_listen("127.0.0.1", 0, 8, 0), "listen")
    address = NodeAddress(name: "raw", host: "127.0.0.1", port: UInt16(clamping: cl_local_port(listener)))
    try SystemThread.start("raw-home") { [self] in
      var wanted = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
      _ = poll(&wanted, 1, 30_000)
      let connection = accept(listener, nil, nil)
      // Nothing answers here any more.
      close(listener)
      guard connection >= 0 else { return }
      read(connection, until: "\r\n\r\n")
      send(connection, "HTTP/1.1 204 No Content\r\nborealis-node-answer: hello\r\n\r\n")
      heard.withLock { $0 = [] }
      script(self, connection)
      _ = cl_reset_on_close(connection)
      close(connection)
    }
  }

  /// Reads until a text has come, or at least so many bytes.
  func read(_ connection: Int32, until end: String? = nil, bytes: Int = .max) {
    var all: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: min(bytes, 4096))
    while all.count < bytes, end.map({ !String(decoding: all, as: UTF8.self).contains($0) }) ?? true {
      let count = recv(connection, &piece, piece.count, 0)
      guard count > 0 else { break }
      all += piece[..<count]
    }
    heard.withLock { $0 += all }
  }

  func send(_ connection: Int32, _ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }
}
