import BorealisBase
import BorealisNet
import CLinux
import Glibc
import HTTP

/// Sends one request and waits for the answer.
enum HTTPClient {
  static func send(
    _ request: HTTPRequest, to server: ServerURL, caFile: String?
  ) throws(Failure) -> HTTPResponse {
    let connection = try ClientConnection(server, caFile: caFile)
    var bytes = Array("\(request.method) \(request.target) HTTP/1.1\r\nHost: \(server.host)\r\n".utf8)
    for field in request.headers.fields { bytes += "\(field.name): \(field.value)\r\n".utf8 }
    bytes += "Content-Length: \(request.body.count)\r\nConnection: close\r\n\r\n".utf8
    try connection.open()
    try connection.write(bytes + request.body)
    var parser = HTTPResponseParser()
    while true {
      let piece = try connection.read()
      let event = piece.isEmpty ? parser.finish() : parser.consume(piece.span).event
      switch event {
      case .response(let response, _): return response
      case .needMore where !piece.isEmpty: continue
      case .needMore: throw .failed("\(server.host) closed the connection without an answer")
      case .failure(let fault): throw .failed("\(server.host) does not answer in HTTP (\(fault))")
      }
    }
  }
}

/// A connection to a server, plain or with TLS, that waits for what it wants.
final class ClientConnection {
  private static let patience: UInt64 = 30_000_000_000

  private let name: String
  private var connection: Connection
  private var scratch: [UInt8] = []
  private let deadline = cl_monotonic_ns() + patience

  init(_ server: ServerURL, caFile: String?) throws(Failure) {
    name = server.host
    do throws(SystemError) {
      connection = try Connection(to: server.address.host, port: server.address.port)
    } catch {
      throw .failed("cannot connect to \(server.host): \(error)")
    }
    do throws(TLSError) {
      guard server.isSecure else { return }
      try connection.secure(with: try TLSContext.client(caFile: caFile), peerName: server.address.host)
    } catch {
      throw .failed(error.description)
    }
  }

  deinit { connection.close() }

  /// Waits until bytes may flow.
  func open() throws(Failure) {
    while true {
      try wait()
      switch connection.proceed() {
      case .inProgress: continue
      case .open: return
      case .unreachable(let error): throw .failed("cannot connect to \(name): \(error)")
      case .failed(let reason): throw .failed("no TLS with \(name): \(reason)")
      }
    }
  }

  func write(_ bytes: [UInt8]) throws(Failure) {
    connection.append(content: bytes)
    // Bytes that arrive in the meantime are read afterwards.
    connection.isPaused = true
    defer { connection.isPaused = false }
    while true {
      switch connection.flush(scratch: &scratch) {
      case .done: return
      case .blocked: try wait()
      case .failed(let reason): throw lost(reason)
      }
    }
  }

  /// What comes next; empty at the end.
  func read() throws(Failure) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    while true {
      switch connection.read(into: &buffer) {
      case .bytes(let count): return Array(buffer[..<count])
      case .nothing: try wait()
      case .ended: return []
      case .failed(let reason): throw lost(reason)
      }
    }
  }

  private func lost(_ reason: String) -> Failure { .failed("lost the connection to \(name): \(reason)") }

  /// Waits until the socket is ready for what the connection wants.
  private func wait() throws(Failure) {
    BlockingCall.assertAllowed()
    let now = cl_monotonic_ns()
    let left = deadline > now ? (deadline - now) / 1_000_000 : 0
    var poll = pollfd(
      fd: connection.descriptor, events: Int16(truncatingIfNeeded: connection.interest.rawValue), revents: 0)
    guard Glibc.poll(&poll, 1, Int32(left)) > 0 else {
      throw .failed("\(name) does not answer")
    }
  }
}
