import CLinux
import Glibc
import PushBase
import Synchronization

/// An app server that takes every callback at once and counts the events in it, on a thread of its own.
final class CallbackSink: Sendable {
  private struct Connection {
    var unread: [UInt8] = []
  }

  private static let marker = Array("\"event_id\"".utf8)
  private static let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)

  let port: UInt16
  private let listener: Int32
  private let taken = Atomic<Int>(0)
  private let requests = Atomic<Int>(0)
  private let isStopped = Atomic<Bool>(false)

  /// Listens on a port that the system chooses, until `stop`.
  init() throws(BenchError) {
    listener = try BenchError.check(cl_listen("127.0.0.1", 0, 256, 0), "listen")
    port = UInt16(try BenchError.check(cl_local_port(listener), "getsockname"))
    do throws(SystemThread.Failure) {
      try SystemThread.start("callback-sink") { [self] in serve() }
    } catch {
      throw .system(call: "pthread_create", number: error.number)
    }
  }

  /// Events taken so far.
  var events: Int { taken.load(ordering: .relaxed) }

  /// Requests that brought them.
  var requestCount: Int { requests.load(ordering: .relaxed) }

  /// Ends the thread, soon.
  func stop() { isStopped.store(true, ordering: .relaxed) }

  private func serve() {
    let epoll = cl_epoll_create()
    guard epoll >= 0, cl_epoll_add(epoll, listener, UInt32(CL_IN), UInt64(listener)) >= 0 else { return }
    var connections: [Int32: Connection] = [:]
    var events = [cl_event](repeating: cl_event(), count: 64)
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while !isStopped.load(ordering: .relaxed) {
      let count = cl_epoll_wait(epoll, &events, 64, 100_000)
      for event in events.prefix(Int(max(0, count))) {
        let descriptor = Int32(truncatingIfNeeded: event.token)
        if descriptor == listener {
          while case let new = cl_accept(listener), new >= 0 {
            connections[new] = Connection()
            _ = cl_epoll_add(epoll, new, UInt32(CL_IN), UInt64(new))
          }
          continue
        }
        let count = cl_read(descriptor, &buffer, buffer.count)
        if count == -Int(EAGAIN) { continue }
        guard count > 0 else {
          connections[descriptor] = nil
          _ = cl_close(descriptor)
          continue
        }
        connections[descriptor]?.unread += buffer[..<count]
        while let request = connections[descriptor].flatMap({ Self.request($0.unread) }) {
          note(connections[descriptor]?.unread[request] ?? [])
          connections[descriptor]?.unread.removeFirst(request.upperBound)
          _ = cl_send(descriptor, Self.answer, Self.answer.count)
        }
      }
    }
    for descriptor in connections.keys { _ = cl_close(descriptor) }
    _ = cl_close(listener)
    _ = cl_close(epoll)
  }

  /// Where the body of the first request stands, once all of it is there.
  private static func request(_ bytes: [UInt8]) -> Range<Int>? {
    guard
      let end = (3..<max(3, bytes.count)).first(where: {
        bytes[($0 - 3)...$0].elementsEqual([13, 10, 13, 10])
      })
    else { return nil }
    let head = String(decoding: bytes[..<end], as: UTF8.self).lowercased()
    let line = head.split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
    let length = line.flatMap { Int($0.dropFirst("content-length:".count).drop { $0 == " " }) } ?? 0
    return end + 1 + length <= bytes.count ? end + 1..<end + 1 + length : nil
  }

  private func note(_ body: ArraySlice<UInt8>) {
    var count = 0
    var index = body.startIndex
    while let quote = body[index...].firstIndex(of: 34) {
      if body[quote...].starts(with: Self.marker) { count += 1 }
      index = quote + 1
    }
    taken.add(count, ordering: .relaxed)
    requests.add(1, ordering: .relaxed)
  }
}
