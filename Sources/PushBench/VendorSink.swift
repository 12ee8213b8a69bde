import CLinux
import PushBase
import PushHTTP
import PushHTTPServer
import PushNet
import Synchronization

/// The services of vendors, on a loop of their own: they take every notification at once, or not. Over plain HTTP, so that all that
/// sends to them has the same protocol.
final class VendorSink: Sendable {
  /// How they answer notifications.
  enum Pace: UInt8, Sendable {
    /// At once.
    case open
    /// Not before the pace is another one.
    case held
    /// With 429.
    case throttled
  }

  /// What tokens of devices begin with.
  static let token = "bench-token-"
  private static let marker = Array(token.utf8)

  let port: UInt16
  var url: String { "http://127.0.0.1:\(port)" }
  private let handle: LoopHandle
  private let pace = Atomic<UInt8>(Pace.open.rawValue)
  private let taken = Atomic<Int>(0)
  private let came = Atomic<Int>(0)
  private let held = Mutex<[(exchange: HTTPExchange, answer: HTTPResponse, count: Int)]>([])

  /// Listens on a port that the system chooses, until `stop`.
  init() throws(BenchError) {
    let listener = try BenchError.check(cl_listen("127.0.0.1", 0, 256, 0), "listen")
    port = UInt16(try BenchError.check(cl_local_port(listener), "getsockname"))
    do throws(SystemError) {
      handle = try LoopHandle(index: 0)
      try handle.start { [self] loop throws(SystemError) in
        let server = HTTPServer(loop: loop) { [self] in answer($0, $1) }
        try loop.listen(listener) { server.accept($0) }
      } failed: { _ in
        _ = cl_close(listener)
      }
    } catch {
      throw .system(call: error.call, number: error.number)
    }
  }

  /// Notifications taken so far.
  var count: Int { taken.load(ordering: .relaxed) }

  /// Requests that came so far, whatever the answer.
  var requests: Int { came.load(ordering: .relaxed) }

  /// Sets the pace; what was held is answered, if it is another one.
  func set(_ pace: Pace) {
    self.pace.store(pace.rawValue, ordering: .relaxed)
    guard pace != .held else { return }
    let all = held.withLock { held in
      defer { held = [] }
      return held
    }
    for (exchange, answer, count) in all {
      taken.add(count, ordering: .relaxed)
      exchange.respond(answer)
    }
  }

  /// Ends the loop, soon.
  func stop() {
    set(.open)
    handle.post { $0.stop() }
  }

  private func answer(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    guard !request.target.hasSuffix("token") else {
      return exchange.respond(
        Self.json(#"{"access_token":"bench","expires_in":3600,"token_type":"Bearer"}"#))
    }
    came.add(1, ordering: .relaxed)
    let isHuawei = request.target.hasPrefix("/huawei/")
    let count = isHuawei ? Self.tokens(in: request.body) : 1
    let answer =
      isHuawei
      ? Self.json(#"{"code":"80000000","msg":"Success","requestId":"1"}"#)
      : request.target.hasPrefix("/v1/")
        ? Self.json(#"{"name":"projects/bench/messages/1"}"#) : HTTPResponse(status: 201)
    switch Pace(rawValue: pace.load(ordering: .relaxed)) {
    case .held: held.withLock { $0.append((exchange, answer, count)) }
    case .throttled:
      var refusal = Self.json(#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}"#, status: 429)
      refusal.headers.append("Retry-After", "1")
      exchange.respond(refusal)
    default:
      taken.add(count, ordering: .relaxed)
      exchange.respond(answer)
    }
  }

  private static func json(_ text: String, status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: status, headers: ["Content-Type": "application/json"], body: Array(text.utf8))
  }

  /// Tokens in a body, whose members have none of the marker's text.
  private static func tokens(in body: [UInt8]) -> Int {
    var count = 0
    var index = body.startIndex
    while let start = body[index...].firstIndex(of: marker[0]) {
      guard body[start...].starts(with: marker) else {
        index = start + 1
        continue
      }
      count += 1
      index = start + marker.count
    }
    return count
  }
}
