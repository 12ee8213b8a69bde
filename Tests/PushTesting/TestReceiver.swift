import BorealisBase
import Glibc
import Synchronization

/// A server that is asked: answers each request as its script says, and keeps what it got. Every connection
/// has a thread.
package final class TestReceiver: Sendable {
  /// What to do with a request.
  package enum Act: Sendable {
    /// Answer with this.
    case answer(String)
    /// Close the connection in the middle of an answer.
    case breakOff
    /// Answer nothing until the receiver goes away.
    case hang

    /// An answer without a body, with more fields, each with its line end.
    package static func status(_ status: Int, _ fields: String = "") -> Act {
      .answer("HTTP/1.1 \(status) Test\r\n\(fields)Content-Length: 0\r\n\r\n")
    }
  }

  /// A request: its first line, its fields by small names, its body.
  package struct Request: Sendable {
    /// Method, path and version.
    package let line: String
    /// By names in small letters.
    package let fields: [String: String]
    /// The body.
    package let body: [UInt8]
  }

  private struct State: Sendable {
    var requests: [Request] = []
    var isClosed = false
    var connections: Set<Int32> = []
  }

  /// Where it listens, on 127.0.0.1.
  package let port: UInt16
  private let listener: Int32
  private let script: @Sendable (Int) -> Act
  private let state = Mutex(State())

  /// `script` is asked with the number of the request, from 1 on.
  package init(_ script: @escaping @Sendable (Int) -> Act = { _ in .status(200) }) throws {
    self.script = script
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) }
    }
    var length = size
    let named = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
    }
    guard bound == 0, listen(listener, 64) == 0, named == 0 else { throw Failure() }
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    try SystemThread.start("receiver") { [weak self] in
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0, let self else { break }
        _ = try? SystemThread.start("receiver") { self.serve(connection) }
      }
    }
  }

  /// It could not listen.
  package struct Failure: Error {}

  /// An address of it.
  package var url: String { "http://127.0.0.1:\(port)/hook" }

  /// What came so far.
  package var requests: [Request] { state.withLock { $0.requests } }

  /// Ends its connections.
  package func close() {
    shutdown(listener, Int32(SHUT_RDWR))
    state.withLock { state in
      state.isClosed = true
      for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
    }
  }

  private func serve(_ connection: Int32) {
    let isOpen = state.withLock { state in
      if !state.isClosed { state.connections.insert(connection) }
      return !state.isClosed
    }
    while isOpen, let request = Self.read(connection) {
      let number = state.withLock { state in
        state.requests.append(request)
        return state.requests.count
      }
      switch script(number) {
      case .answer(let text): Self.send(text, connection)
      case .breakOff:
        Self.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", connection)
        shutdown(connection, Int32(SHUT_RDWR))
      case .hang:
        var byte: UInt8 = 0
        _ = recv(connection, &byte, 1, 0)
      }
    }
    state.withLock { _ = $0.connections.remove(connection) }
    Glibc.close(connection)
  }

  private static func send(_ text: String, _ connection: Int32) {
    let bytes = Array(text.utf8)
    _ = Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  private static func read(_ connection: Int32) -> Request? {
    var bytes: [UInt8] = []
    var head: (line: String, fields: [String: String], end: Int)?
    while true {
      if head == nil, let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) {
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
          let parts = line.split(separator: ":", maxSplits: 1)
          fields[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        head = (String(lines.first ?? ""), fields, end.upperBound)
      }
      if let head, let count = Int(head.fields["content-length"] ?? "0"), bytes.count >= head.end + count {
        return Request(line: head.line, fields: head.fields, body: Array(bytes[head.end...]))
      }
      var piece = [UInt8](repeating: 0, count: 65_536)
      let count = recv(connection, &piece, piece.count, 0)
      guard count > 0 else { return nil }
      bytes += piece[..<count]
    }
  }
}
