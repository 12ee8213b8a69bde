import BorealisBase
import CLinux
import Glibc
import Synchronization

/// An HTTP proxy that makes tunnels.
package final class ConnectProxy: Sendable {
  private struct State: Sendable {
    var requests: [String] = []
    var answer: String?
    var isClosed = false
  }

  /// Its port at 127.0.0.1.
  package let port: UInt16
  private let listener: Int32
  private let state = Mutex(State())

  /// Listens. With an answer it makes no tunnel, but gives that answer.
  package init(answering answer: String? = nil) throws {
    state.withLock { $0.answer = answer }
    listener = cl_listen("127.0.0.1", 0, 16, 0)
    port = UInt16(clamping: cl_local_port(listener))
    try SystemThread.start("proxy") { [self] in
      while !state.withLock({ $0.isClosed }) {
        var wait = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        guard poll(&wait, 1, 50) > 0 else { continue }
        let client = accept(listener, nil, nil)
        if client >= 0 { try? SystemThread.start("proxy") { [self] in serve(client) } }
      }
      Glibc.close(listener)
    }
  }

  /// What it was asked, each with all its fields.
  package var requests: [String] { state.withLock { $0.requests } }

  /// Gives an answer instead of tunnels from now on, and closes the connection; or makes tunnels, without
  /// one.
  package func answer(_ answer: String?) { state.withLock { $0.answer = answer } }

  /// Makes no more tunnels.
  package func close() { state.withLock { $0.isClosed = true } }

  private func serve(_ client: Int32) {
    defer { Glibc.close(client) }
    var head: [UInt8] = []
    var byte: UInt8 = 0
    while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
      guard read(client, &byte, 1) == 1 else { return }
      head.append(byte)
    }
    let text = String(decoding: head, as: UTF8.self)
    let answer = state.withLock {
      $0.requests.append(text)
      return $0.answer
    }
    let words = text.prefix { $0 != "\r\n" }.split(separator: " ")
    let target = words.dropFirst().first ?? ""
    guard answer == nil, words.count == 3, words[0] == "CONNECT", words[2].hasPrefix("HTTP/1."),
      text.contains("\r\nHost: \(target)\r\n"), let colon = target.lastIndex(of: ":"),
      let port = UInt16(target[target.index(after: colon)...])
    else { return write(answer ?? "HTTP/1.1 400 Bad Request\r\n\r\n", to: client) }
    let host = target[..<colon].filter { $0 != "[" && $0 != "]" }
    let server = cl_connect(host == "localhost" ? "127.0.0.1" : host, port)
    guard server >= 0 else { return write("HTTP/1.1 502 Bad Gateway\r\n\r\n", to: client) }
    defer { Glibc.close(server) }
    var wait = pollfd(fd: server, events: Int16(POLLOUT), revents: 0)
    guard poll(&wait, 1, 10_000) > 0, cl_socket_error(server) == 0 else {
      return write("HTTP/1.1 502 Bad Gateway\r\n\r\n", to: client)
    }
    write("HTTP/1.1 200 Connection established\r\n\r\n", to: client)
    pass(between: client, server)
  }

  private func pass(between client: Int32, _ server: Int32) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      var waits = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      guard poll(&waits, 2, 60_000) > 0 else { return }
      for (from, to) in [(0, 1), (1, 0)] where waits[from].revents != 0 {
        let count = read(waits[from].fd, &buffer, buffer.count)
        guard count > 0 else { return }
        var sent = 0
        while sent < count {
          let done = buffer[sent..<count].withUnsafeBytes { cl_send(waits[to].fd, $0.baseAddress, $0.count) }
          if done == -Int(EAGAIN) { usleep(1000) } else if done <= 0 { return } else { sent += done }
        }
      }
    }
  }

  private func write(_ text: String, to descriptor: Int32) {
    _ = Glibc.write(descriptor, text, text.utf8.count)
  }
}
