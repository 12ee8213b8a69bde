import BorealisBase
import BorealisNet
import CLinux
import Dispatch
import HTTP
import PushTesting
import Synchronization

/// An HTTP server on a loop and a port of its own, gone with the object.
///
/// It answers by itself: `/drain` begins a drain, `/later` is answered from another thread, `/held` when
/// `/release` comes, with its number among those that were ever held, `/barred` with 403 before its body,
/// `/twice` two times, `/never` and `/forgotten` not at all, `/async` by a function that may wait, `/big?N`
/// with N bytes, `/static` with a document, `/known` as to somebody known, and everything else with the
/// method, the target and the body. `/away` takes the connection away and gives back what was read behind it;
/// `/stay` refuses to.
final class HTTPTestServer: Sendable {
  let port: UInt16
  let metrics = Metrics()
  /// Ends when a drain is over.
  let drained: AsyncStream<Void>
  let handle: LoopHandle
  private let held = Held()
  private let served = Served()

  /// The server, which belongs to its loop.
  private final class Served: Sendable {
    let server = Mutex<LoopBound?>(nil)
  }

  /// Carries the server to later work on its loop.
  private struct LoopBound: @unchecked Sendable {
    // Only read by work that runs on the loop that made it.
    let value: HTTPServer
  }

  /// What was not answered, and why.
  var unanswered: [String] { held.notes.withLock { $0 } }

  /// The other thread; not one of a pool that tests may occupy with waiting.
  private let helper: LoopHandle

  init(
    limits: HTTPServerLimits = .init(), peers: HTTPPeerLimit = .init(connections: .max),
    memory: HTTPMemory = .init(),
    tls: TLSContext? = nil,
    time: any TimeSource = SystemTime(), clock: ManualClock? = nil
  ) throws {
    let listener = try SystemError.check(cl_listen("127.0.0.1", 0, 64, 0), "listen")
    port = UInt16(try SystemError.check(cl_local_port(listener), "getsockname"))
    handle =
      try clock.map { clock throws(SystemError) in
        try LoopHandle(index: 0, clock: { clock.monotonic() })
      } ?? LoopHandle(index: 0)
    helper = try LoopHandle(index: 1)
    let helper = helper
    try helper.start({ _ in }, failed: { _ in })
    let counts = HTTPServerMetrics(in: metrics)
    let drainEnd: AsyncStream<Void>.Continuation
    (drained, drainEnd) = AsyncStream.makeStream()
    try handle.start(
      { [held, served] loop throws(SystemError) in
        var beginDrain: () -> Void = {}
        let server = HTTPServer(
          loop: loop, tls: tls, limits: limits, peers: peers, memory: memory, metrics: counts,
          time: time
        ) { request, exchange in
          if request.target == "/drain" { beginDrain() }
          Self.answer(request, exchange, held, helper)
        }
        server.upgrade = { request, _ in
          switch request.target {
          case "/away": .granted(HTTPResponse(status: 101, headers: ["Upgrade": "echo"]), adopt: Self.echo)
          case "/stay": .answered(HTTPResponse(status: 426, headers: ["Upgrade": "echo"]))
          default: nil
          }
        }
        server.unanswered = { [held] reason, method, target, _ in
          held.notes.withLock { $0.append("\(reason) \(method) \(target)") }
        }
        // A proxy that is believed, as far as addresses go.
        server.client = { head, _ in head.headers["x-forwarded-for"].flatMap { IPAddress($0) } }
        server.screen = { head, id, _ in
          guard head.target == "/barred" else {
            let limit = head.target.hasPrefix("/small") ? 8 : Int.max
            return .admitted(bodyBytes: limit, isKnown: head.headers["x-known"] != nil)
          }
          return .refused(HTTPResponse(status: 403, body: Array("barred \(head.headers["host"] ?? "")".utf8)))
        }
        let bound = LoopBound(value: server)
        served.server.withLock { $0 = bound }
        beginDrain = { [unowned server] in server.beginDrain { drainEnd.finish() } }
        try loop.listen(listener) { [unowned server] in server.accept($0) }
      }, failed: { _ in drainEnd.finish() })
  }

  /// Does something on the server's loop and waits for it.
  func onServer(_ work: @escaping @Sendable (HTTPServer) -> Void) {
    let done = DispatchSemaphore(value: 0)
    handle.post { [served] _ in
      if let server = served.server.withLock({ $0 }) { work(server.value) }
      done.signal()
    }
    done.wait()
  }

  /// Lets the loop stand still while something is done.
  func whileStopped(_ work: () throws -> Void) rethrows {
    let (stopped, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    handle.post { _ in
      stopped.signal()
      goOn.wait()
    }
    stopped.wait()
    defer { goOn.signal() }
    try work()
  }

  deinit {
    served.server.withLock { $0 = nil }
    handle.post { $0.stop() }
    helper.post { $0.stop() }
  }

  /// Sends what is to be sent, then what was read, and closes.
  private static func echo(_ moving: MovingConnection) {
    var (echo, scratch) = (moving.connection, [UInt8]())
    echo.append { $0 += moving.unread }
    _ = echo.flush(scratch: &scratch)
    echo.close()
  }

  /// What `/static` answers.
  static let document = [UInt8](repeating: 115, count: 1 << 20)

  private final class Held: Sendable {
    let exchanges = Mutex<[HTTPExchange]>([])
    let notes = Mutex<[String]>([])
    let never = Mutex<[HTTPExchange]>([])
  }

  private static func answer(
    _ request: HTTPRequest, _ exchange: HTTPExchange, _ held: Held, _ helper: LoopHandle
  ) {
    let text = "\(request.method) \(request.target) "
    var response = HTTPResponse(status: 200, body: Array(text.utf8) + request.body)
    response.isToKnownCaller = request.target == "/known"
    switch request.target {
    case "/later": helper.post { [response] _ in exchange.respond(response) }
    case "/held": held.exchanges.withLock { $0.append(exchange) }
    case "/release":
      for (number, exchange) in held.exchanges.withLock({ $0 }).enumerated() {
        exchange.respond(HTTPResponse(status: 200, body: Array("held \(number)".utf8)))
      }
      exchange.respond(response)
    case "/never": held.never.withLock { $0.append(exchange) }
    case "/forgotten": break
    case "/async": exchange.respond { [response] in response }
    case "/twice":
      exchange.respond(response)
      exchange.respond(HTTPResponse(status: 500))
    case let target where target.hasPrefix("/big?"):
      let size = Int(target.dropFirst(5)) ?? 0
      exchange.respond(HTTPResponse(status: 200, body: [UInt8](repeating: 120, count: size)))
    case "/length": exchange.respond(HTTPResponse(status: 200, body: Array(String(request.body.count).utf8)))
    case "/static":
      var response = HTTPResponse(status: 200, body: Self.document)
      response.isStatic = true
      exchange.respond(response)
    default: exchange.respond(response)
    }
  }

  /// The value of a metric, by its name and labels as they stand in a scrape.
  func metric(_ name: String) -> Int? {
    for line in metrics.render().split(separator: "\n") where line.hasPrefix(name + " ") {
      return Int(line.dropFirst(name.count + 1))
    }
    return nil
  }
}
