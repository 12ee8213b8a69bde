import BorealisBase
import BorealisCrypto
import BorealisNet
import CLinux
import HTTP
import Synchronization

/// The services of vendors, on a loop of their own: they take every notification at once, or not. Over HTTP/2
/// with TLS, as the real ones.
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

  let port: UInt16
  /// The certificate to trust, in PEM form.
  let certificate: String
  var url: String { "https://127.0.0.1:\(port)" }
  private let handle: LoopHandle
  private let pace = Atomic<UInt8>(Pace.open.rawValue)
  private let taken = Atomic<Int>(0)
  private let came = Atomic<Int>(0)

  /// Listens on a port that the system chooses, until `stop`.
  init() throws(BenchError) {
    let tls: TLSContext
    do {
      let made = try SelfSignedCertificate.make(
        commonName: "localhost", dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"], days: 2)
      certificate = made.certificatePEM
      tls = try TLSContext.server(
        identity: .pem(certificates: Array(made.certificatePEM.utf8), key: Array(made.keyPEM.utf8)),
        protocols: ["h2"])
    } catch {
      throw .unexpected("\(error)")
    }
    let listener = try BenchError.check(cl_listen("127.0.0.1", 0, 256, 0), "listen")
    port = UInt16(try BenchError.check(cl_local_port(listener), "getsockname"))
    do throws(SystemError) {
      handle = try LoopHandle(index: 0)
      try handle.start { [self] loop throws(SystemError) in
        var options = HTTP2ServerOptions()
        options.bodyBytes = 1 << 20
        let server = HTTP2Server(loop: loop, tls: tls, options: options, handler: Handler(self))
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

  /// Sets the pace; what was held is answered with the next request, if it is another one.
  func set(_ pace: Pace) { self.pace.store(pace.rawValue, ordering: .relaxed) }

  /// Ends the loop, soon.
  func stop() {
    set(.open)
    handle.post { $0.stop() }
  }

  /// Answers the requests, on the loop.
  private final class Handler: HTTP2ServerHandler {
    private let sink: VendorSink
    private var held: [(connection: HTTP2ServerConnection, stream: Int32, answer: HTTP2Answer, count: Int)] =
      []

    init(_ sink: VendorSink) { self.sink = sink }

    func request(_ request: HTTP2Request, on connection: HTTP2ServerConnection) {
      let path = request.headers.first(":path") ?? []
      guard !path.suffix(5).elementsEqual("token".utf8) else {
        return connection.answer(
          request.streamID,
          VendorSink.json(#"{"access_token":"bench","expires_in":3600,"token_type":"Bearer"}"#))
      }
      sink.came.add(1, ordering: .relaxed)
      let isHuawei = path.starts(with: "/huawei/".utf8)
      let count = isHuawei ? VendorSink.tokens(in: request.body) : 1
      let answer =
        isHuawei
        ? VendorSink.json(#"{"code":"80000000","msg":"Success","requestId":"1"}"#)
        : path.starts(with: "/v1/".utf8)
          ? VendorSink.json(#"{"name":"projects/bench/messages/1"}"#) : HTTP2Answer(status: 201)
      let pace = Pace(rawValue: sink.pace.load(ordering: .relaxed))
      if pace != .held {
        for (connection, stream, answer, count) in held { accept(stream, answer, count, connection) }
        held = []
      }
      switch pace {
      case .held: held.append((connection, request.streamID, answer, count))
      case .throttled:
        var refusal = VendorSink.json(#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}"#, status: 429)
        refusal.headers.append("retry-after", text: "1")
        connection.answer(request.streamID, refusal)
      default: accept(request.streamID, answer, count, connection)
      }
    }

    private func accept(
      _ stream: Int32, _ answer: HTTP2Answer, _ count: Int, _ connection: HTTP2ServerConnection
    ) {
      sink.taken.add(count, ordering: .relaxed)
      connection.answer(stream, answer)
    }
  }

  private static func json(_ text: String, status: Int = 200) -> HTTP2Answer {
    var headers = HTTP2Headers()
    headers.append("content-type", text: "application/json")
    return HTTP2Answer(status: status, headers: headers, body: Array(text.utf8))
  }

  /// Tokens in a body, whose members have none of the marker's text.
  private static func tokens(in body: [UInt8]) -> Int {
    let marker = Array(token.utf8)
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
