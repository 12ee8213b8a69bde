import BorealisNet
import CLinux
import Glibc
import HTTP

/// A client that speaks HTTP over a blocking socket, plain or with TLS.
final class HTTPTestClient {
  private let descriptor: Int32
  private var tls: TLSSession?
  private var parser = HTTPResponseParser()
  private var unread: [UInt8] = []

  /// Connects from an address of this machine. `receiveBytes` bounds what the kernel takes for it without a
  /// reader.
  init(
    _ server: HTTPTestServer, from address: String = "127.0.0.1", receiveBytes: Int32 = 0,
    tls context: TLSContext? = nil
  ) throws {
    descriptor = try Self.connect(from: address, to: server.port, receiveBytes)
    try wait(Int16(POLLOUT))
    guard let context else { return }
    let session = try TLSSession(context: context, fd: descriptor, peerName: "localhost")
    while true {
      switch session.handshake() {
      case .done:
        tls = session
        return
      case .wantRead: try wait(Int16(POLLIN))
      case .wantWrite: try wait(Int16(POLLOUT))
      case .failed(let reason): throw Failed(reason: reason)
      }
    }
  }

  deinit { _ = cl_close(descriptor) }

  var port: UInt16 { UInt16(clamping: cl_local_port(descriptor)) }

  private static func connect(from address: String, to port: UInt16, _ receiveBytes: Int32) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    if receiveBytes > 0 { _ = cl_set_buffer_sizes(descriptor, 0, receiveBytes) }
    for (host, port, isOwn) in [(address, 0, true), ("127.0.0.1", port, false)] {
      var place = sockaddr_in()
      place.sin_family = sa_family_t(AF_INET)
      place.sin_port = port.bigEndian
      inet_pton(AF_INET, host, &place.sin_addr)
      let size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let status = withUnsafePointer(to: &place) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          isOwn ? bind(descriptor, $0, size) : Glibc.connect(descriptor, $0, size)
        }
      }
      guard status == 0 || errno == EINPROGRESS else { throw SystemError(call: "connect", number: errno) }
    }
    return descriptor
  }

  struct Failed: Error { let reason: String }

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws {
    var start = 0
    while start < bytes.count {
      let count = sendOnce(Array(bytes[start...]))
      if count == 0 { try wait(Int16(POLLOUT)) }
      guard count >= 0 else { throw SystemError(call: "send", number: EPIPE) }
      start += count
    }
  }

  /// Sends what the socket takes at once: 0 if it is full, below 0 if it is gone.
  func sendOnce(_ bytes: [UInt8]) -> Int {
    guard let tls else {
      let count = bytes.withUnsafeBytes { cl_send(descriptor, $0.baseAddress, $0.count) }
      return count == -Int(EAGAIN) ? 0 : count
    }
    switch bytes.withUnsafeBytes({ tls.write($0) }) {
    case .bytes(let count): return count
    case .wantRead, .wantWrite: return 0
    case .closed, .failed: return -1
    }
  }

  /// Ends the connection with a reset, as a peer that crashed does.
  func reset() {
    // Connecting to nothing is how Linux is told so.
    var nothing = sockaddr()
    Glibc.connect(descriptor, &nothing, socklen_t(MemoryLayout<sockaddr>.size))
  }

  func shutDownWriting() { _ = cl_shutdown_write(descriptor) }

  /// The next response; nil at the server's end.
  func response(headOnly: Bool = false) throws -> HTTPResponse? {
    parser.expectsHeadOnly = headOnly
    while true {
      let (count, event) = parser.consume(unread.span)
      unread.removeFirst(count)
      switch event {
      case .response(let response, _): return response
      case .failure(let fault): throw fault
      case .needMore:
        let more = try read()
        guard !more.isEmpty else { return nil }
        unread += more
      }
    }
  }

  /// Sends a request and gives the body of the answer.
  func get(_ target: String) throws -> String? {
    try send("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
    return try body()
  }

  /// The body of the next response as text.
  func body() throws -> String? { try response().map { String(decoding: $0.body, as: UTF8.self) } }

  /// All bytes up to the server's end, as text.
  func rest() throws -> String {
    var bytes = unread
    unread = []
    while true {
      let more = try read()
      guard !more.isEmpty else { return String(decoding: bytes, as: UTF8.self) }
      bytes += more
    }
  }

  /// Whether bytes or the server's end come within a time.
  func hears(withinMilliseconds limit: Int32) -> Bool {
    var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&wanted, 1, limit) == 1
  }

  /// The next bytes; none at the server's end.
  func read() throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      guard let count = try readOnce(&buffer) else {
        try wait(Int16(POLLIN))
        continue
      }
      return Array(buffer[..<count])
    }
  }

  private func readOnce(_ buffer: inout [UInt8]) throws -> Int? {
    guard let tls else { return try Socket.read(descriptor, into: &buffer) }
    switch buffer.withUnsafeMutableBytes({ tls.read(into: $0) }) {
    case .bytes(let count): return count
    case .wantRead, .wantWrite: return nil
    case .closed: return 0
    case .failed(let reason): throw Failed(reason: reason)
    }
  }

  private func wait(_ events: Int16) throws {
    var wanted = pollfd(fd: descriptor, events: events, revents: 0)
    guard poll(&wanted, 1, 20_000) == 1 else { throw SystemError(call: "poll", number: ETIMEDOUT) }
  }
}
