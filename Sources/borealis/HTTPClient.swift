import CLinux
import Glibc
import PushHTTP
import PushNet
import PushOps

/// Sends one request and waits for the answer.
enum HTTPClient {
  static func send(
    _ request: HTTPRequest, to server: ServerURL, caFile: String?
  ) throws(Failure) -> HTTPResponse {
    let connection = try ClientConnection(server, caFile: caFile)
    var bytes = Array("\(request.method) \(request.target) HTTP/1.1\r\nHost: \(server.host)\r\n".utf8)
    for field in request.headers.fields { bytes += "\(field.name): \(field.value)\r\n".utf8 }
    bytes += "Content-Length: \(request.body.count)\r\nConnection: close\r\n\r\n".utf8
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
  private let descriptor: Int32
  private let tls: TLSSession?
  private let deadline = cl_monotonic_ns() + patience

  init(_ server: ServerURL, caFile: String?) throws(Failure) {
    name = server.host
    descriptor = cl_connect(server.address.host, server.address.port)
    guard descriptor >= 0 else {
      throw .failed("cannot connect to \(name): \(SystemCalls.reason(-descriptor))")
    }
    do throws(TLSError) {
      tls =
        server.isSecure
        ? try TLSSession(
          context: try TLSContext.client(caFile: caFile), fd: descriptor, peerName: server.address.host)
        : nil
    } catch {
      throw .failed(error.description)
    }
    try wait(for: POLLOUT)
    let error = cl_socket_error(descriptor)
    guard error == 0 else { throw .failed("cannot connect to \(name): \(SystemCalls.reason(error))") }
    try handshake()
  }

  deinit { _ = cl_close(descriptor) }

  func write(_ bytes: [UInt8]) throws(Failure) {
    var sent = 0
    while sent < bytes.count {
      sent += try transfer {
        if let tls { return bytes.withUnsafeBytes { tls.write(.init(rebasing: $0[sent...])) } }
        return switch Socket.send(descriptor, bytes, from: sent) {
        case .sent(let count): .bytes(count)
        case .wouldBlock: .wantWrite
        case .failed(let error): .failed(SystemCalls.reason(error))
        }
      }
    }
  }

  /// What comes next; empty at the end.
  func read() throws(Failure) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    let count = try transfer {
      if let tls { return buffer.withUnsafeMutableBytes { tls.read(into: $0) } }
      let count = cl_read(descriptor, &buffer, buffer.count)
      if count == -Int(EAGAIN) || count == -Int(EINTR) { return .wantRead }
      if count == 0 { return .closed }
      return count < 0 ? .failed(SystemCalls.reason(Int32(-count))) : .bytes(count)
    }
    return Array(buffer[..<count])
  }

  private func handshake() throws(Failure) {
    guard let tls else { return }
    while true {
      switch tls.handshake() {
      case .done: return
      case .wantRead: try wait(for: POLLIN)
      case .wantWrite: try wait(for: POLLOUT)
      case .failed(let reason): throw .failed("no TLS with \(name): \(reason)")
      }
    }
  }

  /// Repeats an attempt until it transfers bytes, 0 at the end of the connection.
  private func transfer(_ attempt: () -> TLSSession.Transfer) throws(Failure) -> Int {
    while true {
      switch attempt() {
      case .bytes(let count): return count
      case .closed: return 0
      case .wantRead: try wait(for: POLLIN)
      case .wantWrite: try wait(for: POLLOUT)
      case .failed(let reason): throw .failed("lost the connection to \(name): \(reason)")
      }
    }
  }

  private func wait(for event: Int32) throws(Failure) {
    let now = cl_monotonic_ns()
    let left = deadline > now ? (deadline - now) / 1_000_000 : 0
    var poll = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    guard Glibc.poll(&poll, 1, Int32(left)) > 0 else {
      throw .failed("\(name) does not answer")
    }
  }
}
