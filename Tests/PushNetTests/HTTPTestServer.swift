import CLinux
import PushBase
import PushHTTP
import PushHTTPServer
import PushNet
import Synchronization

/// An HTTP server on a loop and a port of its own, gone with the object.
///
/// It answers by itself: `/drain` begins a drain, `/later` is answered from another thread, `/held` when `/release`
/// comes, with its number among those that were ever held, `/barred` with 403 before its body, `/twice` two times, `/big?N`
/// with N bytes, and everything else with the method, the target and the body. `/away` takes the connection away and gives
/// back what was read behind it; `/stay` refuses to.
final class HTTPTestServer: Sendable {
  let port: UInt16
  let metrics = Metrics()
  /// Ends when a drain is over.
  let drained: AsyncStream<Void>
  private let handle: LoopHandle
  private let held = Held()
  /// The other thread; not one of a pool that tests may occupy with waiting.
  private let helper: LoopHandle

  init(
    limits: HTTPServerLimits = .init(), peers: HTTPPeerLimit = .init(), largeBodies: LargeBodies = .init(),
    tls: TLSContext? = nil,
    time: any TimeSource = SystemTime()
  ) throws {
    let listener = try SystemError.check(cl_listen("127.0.0.1", 0, 64, 0), "listen")
    port = UInt16(try SystemError.check(cl_local_port(listener), "getsockname"))
    handle = try LoopHandle(index: 0)
    helper = try LoopHandle(index: 1)
    let helper = helper
    try helper.start({ _ in }, failed: { _ in })
    let counts = HTTPServerMetrics(in: metrics)
    let drainEnd: AsyncStream<Void>.Continuation
    (drained, drainEnd) = AsyncStream.makeStream()
    try handle.start(
      { [held] loop throws(SystemError) in
        var beginDrain: () -> Void = {}
        let server = HTTPServer(
          loop: loop, tls: tls, limits: limits, peers: peers, largeBodies: largeBodies, metrics: counts,
          time: time
        ) { request, exchange in
          if request.target == "/drain" { beginDrain() }
          Self.answer(request, exchange, held, helper)
        }
        server.upgrade = { request, _ in
          switch request.target {
          case "/away": .granted(HTTPResponse(status: 101, headers: ["Upgrade": "echo"]), take: Self.echo)
          case "/stay": .answered(HTTPResponse(status: 426, headers: ["Upgrade": "echo"]))
          default: nil
          }
        }
        // A proxy that is believed, as far as addresses go.
        server.client = { head, _ in head.headers["x-forwarded-for"].flatMap { IPAddress($0) } }
        server.screen = { head, id, _ in
          guard head.target == "/barred" else { return nil }
          return HTTPResponse(status: 403, body: Array("barred \(head.headers["host"] ?? "")".utf8))
        }
        beginDrain = { [unowned server] in server.beginDrain { drainEnd.finish() } }
        try loop.listen(listener) { [unowned server] in server.accept($0) }
      }, failed: { _ in drainEnd.finish() })
  }

  deinit {
    handle.post { $0.stop() }
    helper.post { $0.stop() }
  }

  /// Sends what is to be sent, then what was read, and closes.
  private static func echo(_ connection: MovingConnection) {
    let bytes = connection.unsent + connection.unread
    if let tls = connection.tls {
      _ = bytes.withUnsafeBytes { tls.write($0) }
      tls.shutdown()
    } else {
      _ = Socket.send(connection.descriptor, bytes)
    }
    _ = cl_close(connection.descriptor)
  }

  private final class Held: Sendable {
    let exchanges = Mutex<[HTTPExchange]>([])
  }

  private static func answer(
    _ request: HTTPRequest, _ exchange: HTTPExchange, _ held: Held, _ helper: LoopHandle
  ) {
    let text = "\(request.method) \(request.target) "
    let response = HTTPResponse(status: 200, body: Array(text.utf8) + request.body)
    switch request.target {
    case "/later": helper.post { _ in exchange.respond(response) }
    case "/held": held.exchanges.withLock { $0.append(exchange) }
    case "/release":
      for (number, exchange) in held.exchanges.withLock({ $0 }).enumerated() {
        exchange.respond(HTTPResponse(status: 200, body: Array("held \(number)".utf8)))
      }
      exchange.respond(response)
    case "/twice":
      exchange.respond(response)
      exchange.respond(HTTPResponse(status: 500))
    case let target where target.hasPrefix("/big?"):
      let size = Int(target.dropFirst(5)) ?? 0
      exchange.respond(HTTPResponse(status: 200, body: [UInt8](repeating: 120, count: size)))
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
