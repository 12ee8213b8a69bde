import BorealisCrypto
import BorealisNet
import CLinux
import Glibc
import HTTP
import PushTesting
import Synchronization
import Testing

/// A server over TLS on a loop of its own, gone with the object.
final class StreamServer: Sendable {
  /// Answers a request; the number counts requests from 1 on.
  typealias Answer = @Sendable (HTTP2Request, HTTP2ServerConnection, Int) -> Void

  let port: UInt16
  let connections = Mutex(0)
  let requests = Mutex<[HTTP2Request]>([])
  /// Requests that came with HTTP/1.1.
  let oldRequests = Mutex(0)
  private let certificate: String
  private let folder = TemporaryFolder()
  private let handle: LoopHandle

  /// Without an answer it speaks HTTP/1.1 only, and says 201.
  init(
    _ answer: Answer? = { request, connection, _ in
      connection.answer(request.streamID, HTTP2Answer(status: 200))
    }
  ) throws {
    signal(SIGPIPE, SIG_IGN)
    let made = try SelfSignedCertificate.make(
      commonName: "localhost", dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"], days: 2)
    certificate = made.certificatePEM
    let listener = try SystemError.check(cl_listen("127.0.0.1", 0, 64, 0), "listen")
    port = UInt16(try SystemError.check(cl_local_port(listener), "getsockname"))
    handle = try LoopHandle(index: 0)
    let tls = try TLSContext.server(
      identity: .pem(certificates: Array(made.certificatePEM.utf8), key: Array(made.keyPEM.utf8)),
      protocols: [answer == nil ? "http/1.1" : "h2"])
    try TemporaryFolder.write(certificate, to: folder.file("ca.pem"))
    try handle.start(
      { [weak self] loop throws(SystemError) in
        guard let answer else {
          let server = HTTPServer(loop: loop, tls: tls) { [weak self] _, exchange in
            self?.oldRequests.withLock { $0 += 1 }
            exchange.respond(.init(status: 201))
          }
          try loop.listen(listener) { [unowned server] in server.accept($0) }
          return
        }
        let server = HTTP2Server(loop: loop, tls: tls, handler: Handler(self, answer))
        try loop.listen(listener) { [unowned server] in server.accept($0) }
      }, failed: { _ in })
  }

  deinit { handle.post { $0.stop() } }

  func url(_ path: String = "/send") -> String { "https://localhost:\(port)\(path)" }

  /// A client that trusts it.
  func client(_ change: (inout HTTPTransport.Options) -> Void = { _ in }) throws -> HTTPTransport {
    var options = HTTPTransport.Options()
    options.authorities = folder.file("ca.pem")
    change(&options)
    return try #require(HTTPTransport(options, thread: "test"))
  }

  private final class Handler: HTTP2ServerHandler {
    weak var owner: StreamServer?
    let answer: Answer
    var count = 0

    init(_ owner: StreamServer?, _ answer: @escaping Answer) {
      self.owner = owner
      self.answer = answer
    }

    func opened(_ connection: HTTP2ServerConnection) { owner?.connections.withLock { $0 += 1 } }

    func request(_ request: HTTP2Request, on connection: HTTP2ServerConnection) {
      owner?.requests.withLock { $0.append(request) }
      count += 1
      answer(request, connection, count)
    }
  }
}
