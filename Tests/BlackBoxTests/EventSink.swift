import BorealisBase
import CLinux
import Glibc

/// An app server that callbacks go to: takes one request a connection and answers 200.
final class EventSink {
  private let listener: Int32
  let url: String

  init() throws {
    listener = cl_listen("127.0.0.1", 0, 16, 0)
    guard listener >= 0 else { throw TestSocket.Failure(description: "cannot listen") }
    url = "http://127.0.0.1:\(cl_local_port(listener))/events"
  }

  deinit { close(listener) }

  /// The events of the next request.
  func events() throws -> [JSONValue] {
    var place = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
    guard poll(&place, 1, 60_000) > 0 else { throw TestSocket.Failure(description: "no callback came") }
    let socket = TestSocket(accepted: cl_accept(listener))
    var text = ""
    while true {
      let more = try socket.receive()
      text += String(decoding: more, as: UTF8.self)
      guard let head = text.firstRange(of: "\r\n\r\n") else {
        if more.isEmpty { throw TestSocket.Failure(description: "no request: \(text)") }
        continue
      }
      let body = text[head.upperBound...]
      let length = text[..<head.lowerBound].lowercased().split(separator: "content-length: ").last
      guard let count = length?.prefix(while: \.isNumber), body.utf8.count >= Int(count) ?? 0 else {
        continue
      }
      try socket.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8))
      return try parseJSON(Array(body.utf8)).array ?? []
    }
  }
}
