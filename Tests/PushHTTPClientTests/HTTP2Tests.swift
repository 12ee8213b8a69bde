import CLinux
import Glibc
import PushBase
import PushCrypto
import PushHTTP2
import PushHTTPClient
import PushNet
import PushTesting
import Synchronization
import Testing

@Suite struct HTTP2Tests {
  /// Requests to a server with HTTP/2 share one connection, and all are under way at the same time.
  @Test func requestsShareAConnection() async throws {
    let folder = TemporaryFolder()
    let server = try Server()
    try TemporaryFolder.write(server.certificate, to: folder.file("ca.pem"))
    var options = HTTPTransport.Options()
    options.authorities = folder.file("ca.pem")
    options.connectionsPerHost = 2
    let transport = try #require(HTTPTransport(options, thread: "test"))
    defer { transport.close() }
    let url = "https://localhost:\(server.port)/send"
    let answers = await withTaskGroup(of: HTTPAnswer.self) { group in
      for _ in 0..<Server.together {
        group.addTask { await transport.send(HTTPPost(url: url, body: [1, 2])) }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.map(\.status) == Array(repeating: 200, count: Server.together))
    #expect(server.connections.withLock { $0 } == 1)
  }

  /// Answers when it has a number of requests, so that these must be under way together.
  private final class Server: Sendable {
    static let together = 20
    let port: UInt16
    let certificate: String
    let connections = Mutex(0)
    private let handle: LoopHandle

    init() throws {
      signal(SIGPIPE, SIG_IGN)
      let made = try SelfSignedCertificate.make(
        commonName: "localhost", dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"], days: 2)
      certificate = made.certificatePEM
      let listener = try SystemError.check(cl_listen("127.0.0.1", 0, 64, 0), "listen")
      port = UInt16(try SystemError.check(cl_local_port(listener), "getsockname"))
      handle = try LoopHandle(index: 0)
      let tls = try TLSContext.server(
        identity: .pem(certificates: Array(made.certificatePEM.utf8), key: Array(made.keyPEM.utf8)),
        protocols: ["h2"])
      try handle.start(
        { [unowned self] loop throws(SystemError) in
          let server = HTTP2Server(loop: loop, tls: tls, handler: Handler(self))
          try loop.listen(listener) { [unowned server] in server.accept($0) }
        }, failed: { _ in })
    }

    deinit { handle.post { $0.stop() } }

    private final class Handler: HTTP2ServerHandler {
      weak var owner: Server?
      var waiting: [(HTTP2ServerConnection, Int32)] = []

      init(_ owner: Server) { self.owner = owner }

      func opened(_ connection: HTTP2ServerConnection) { owner?.connections.withLock { $0 += 1 } }

      func request(_ request: HTTP2Request, on connection: HTTP2ServerConnection) {
        waiting.append((connection, request.streamID))
        guard waiting.count == Server.together else { return }
        for (connection, stream) in waiting { connection.answer(stream, HTTP2Answer(status: 200)) }
      }
    }
  }
}
