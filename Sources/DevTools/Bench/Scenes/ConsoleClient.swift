import CLinux
import Glibc

/// One browser: a connection that stays open, one request after the other. The socket is its own: the calling
/// thread waits for each answer, so that no loop's turn is in the time that is measured.
final class ConsoleClient {
  struct Answer {
    let status: Int
    /// From sending the request to the last byte of the answer, in nanoseconds.
    let duration: UInt64
    let text: String

    /// What the page's forms carry.
    var formToken: String? {
      text.firstRange(of: "name=\"form-token\" content=\"").map {
        String(text[$0.upperBound...].prefix { $0 != "\"" })
      }
    }
  }

  private let endpoint: Endpoint
  private let cookie: String
  private var descriptor: Int32

  init(_ endpoint: Endpoint, cookie: String) throws(BenchError) {
    self.endpoint = endpoint
    self.cookie = cookie
    descriptor = try endpoint.connect()
  }

  deinit { _ = cl_close(descriptor) }

  func get(_ target: String) throws(BenchError) -> Answer { try ask("GET", target, fields: "", "") }

  /// Sends a form, unless other fields say what it is.
  func post(_ target: String, _ body: String, fields: String? = nil) throws(BenchError) -> Answer {
    let form = "Content-Type: application/x-www-form-urlencoded\r\nAccept: application/json\r\n"
    return try ask("POST", target, fields: fields ?? form, body)
  }

  private func ask(
    _ method: String, _ target: String, fields: String, _ body: String
  ) throws(BenchError) -> Answer {
    let request = Array(
      """
      \(method) \(target) HTTP/1.1\r
      Host: 127.0.0.1\r
      Cookie: borealis_session=\(cookie)\r
      \(fields)Content-Length: \(body.utf8.count)\r
      \r
      \(body)
      """.utf8)
    let start = cl_monotonic_ns()
    try send(request)
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 256 * 1024)
    while true {
      if let reply = HTTPReply.scan(received.span, at: 0) {
        return Answer(
          status: reply.status, duration: cl_monotonic_ns() - start,
          text: String(decoding: received[reply.body], as: UTF8.self))
      }
      try wait(Int16(POLLIN))
      let count = cl_read(descriptor, &buffer, buffer.count)
      guard count > 0 else { throw .unexpected("\(method) \(target): the connection was closed") }
      received += buffer[..<count]
    }
  }

  private func send(_ bytes: [UInt8]) throws(BenchError) {
    var sent = 0
    while sent < bytes.count {
      try wait(Int16(POLLOUT))
      let count = bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress.map { $0 + sent }, $0.count - sent, 0)
      }
      guard count > 0 else { throw .system(call: "send", number: errno) }
      sent += count
    }
  }

  private func wait(_ events: Int16) throws(BenchError) {
    var ready = pollfd(fd: descriptor, events: events, revents: 0)
    guard poll(&ready, 1, 60_000) > 0 else { throw .timedOut("an answer of the console") }
  }
}
