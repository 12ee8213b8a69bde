import BorealisBase
import BorealisNet
import CLinux
import HTTP
import Synchronization

/// An app server that takes every callback at once and counts the events in it, on a loop of its own.
final class CallbackSink: Sendable {
  private static let marker = Array("\"event_id\"".utf8)

  let port: UInt16
  private let handle: LoopHandle
  private let taken = Atomic<Int>(0)
  private let requests = Atomic<Int>(0)

  /// Listens on a port that the system chooses, until `stop`.
  init() throws(BenchError) {
    let listener = try BenchError.check(cl_listen("127.0.0.1", 0, 256, 0), "listen")
    port = UInt16(try BenchError.check(cl_local_port(listener), "getsockname"))
    do throws(SystemError) {
      handle = try LoopHandle(index: 0)
      try handle.start { [self] loop throws(SystemError) in
        let server = HTTPServer(loop: loop) { [self] request, exchange in
          note(request.body)
          exchange.respond(HTTPResponse(status: 200))
        }
        try loop.listen(listener) { server.accept($0) }
      } failed: { _ in
        _ = cl_close(listener)
      }
    } catch {
      throw .system(call: error.call, number: error.number)
    }
  }

  /// Events taken so far.
  var events: Int { taken.load(ordering: .relaxed) }

  /// Requests that brought them.
  var requestCount: Int { requests.load(ordering: .relaxed) }

  /// Ends the loop, soon.
  func stop() { handle.post { $0.stop() } }

  private func note(_ body: [UInt8]) {
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
