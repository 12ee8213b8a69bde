import BorealisNet
import CLinux
import Glibc
import HTTP

/// A client that speaks HTTP over a blocking socket.
final class TestClient {
  private let descriptor: Int32
  private var parser = HTTPResponseParser()
  private var unread: [UInt8] = []

  init(_ port: UInt16) throws {
    descriptor = try SystemError.check(cl_connect("127.0.0.1", port), "connect")
    try wait(Int16(POLLOUT))
  }

  deinit { _ = cl_close(descriptor) }

  convenience init(_ front: TestFront) throws {
    try self.init(front.port)
  }

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws {
    var start = 0
    while start < bytes.count {
      switch Socket.send(descriptor, bytes, from: start) {
      case .sent(let count): start += count
      case .wouldBlock: try wait(Int16(POLLOUT))
      case .failed(let number): throw SystemError(call: "send", number: number)
      }
    }
  }

  /// Ends the connection with a reset, as a client that was killed does with an answer unread.
  func reset() { _ = cl_reset_on_close(descriptor) }

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

  /// Sends a request with a body and gives the answer.
  func call(
    _ method: String, _ target: String, _ fields: String = "", body: [UInt8] = []
  ) throws -> HTTPResponse? {
    let length = body.isEmpty ? "" : "Content-Length: \(body.count)\r\n"
    try send(Array("\(method) \(target) HTTP/1.1\r\nHost: h\r\n\(fields)\(length)\r\n".utf8) + body)
    return try response(headOnly: method == "HEAD")
  }

  func get(_ target: String, _ fields: String = "") throws -> HTTPResponse? {
    try call("GET", target, fields)
  }

  /// The next bytes as they are; none at the server's end.
  func read() throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      if let count = try Socket.read(descriptor, into: &buffer) { return Array(buffer[..<count]) }
      try wait(Int16(POLLIN))
    }
  }

  private func wait(_ events: Int16) throws {
    var wanted = pollfd(fd: descriptor, events: events, revents: 0)
    guard poll(&wanted, 1, 30_000) == 1 else { throw SystemError(call: "poll", number: ETIMEDOUT) }
  }
}

extension HTTPResponse {
  var text: String { String(decoding: body, as: UTF8.self) }
}
