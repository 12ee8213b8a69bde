import BorealisCrypto
import BorealisNet
import CLinux
import Glibc
import HTTP
import Synchronization
import Testing

/// An HTTP/2 server in Apple's place on a loop and a port of its own, gone with the object.
final class FakeAPNs: Sendable {
  typealias Answer = @Sendable (HTTP2Request, HTTP2ServerConnection) -> Void

  let port: UInt16
  let certificate: [UInt8]
  /// Bodies of the requests that were accepted, that is answered or meant to have been.
  let accepted = Mutex<[[UInt8]]>([])
  let requests = Mutex<[HTTP2Request]>([])
  let notices = Mutex<[HTTP2Notice]>([])
  let opened = Mutex(0)
  private let handle: LoopHandle
  private let identity: TLSIdentity
  /// Used for the next connections.
  private let tls: Mutex<TLSContext>

  /// `began` runs at each new connection.
  init(
    name: String = "localhost", protocols: [String] = ["h2"], identity given: TLSIdentity? = nil,
    clients: TLSClientPolicy = .notAsked, options: HTTP2ServerOptions = .init(),
    began: @escaping @Sendable (HTTP2ServerConnection) -> Void = { _ in }, answer: @escaping Answer
  ) throws {
    signal(SIGPIPE, SIG_IGN)
    let made = try SelfSignedCertificate.make(commonName: name, dnsNames: [name], ipAddresses: [], days: 2)
    certificate = Array(made.certificatePEM.utf8)
    let listener = try SystemError.check(cl_listen("127.0.0.1", 0, 64, 0), "listen")
    port = UInt16(try SystemError.check(cl_local_port(listener), "getsockname"))
    handle = try LoopHandle(index: 0)
    identity = given ?? .pem(certificates: certificate, key: Array(made.keyPEM.utf8))
    let tls = try TLSContext.server(identity: identity, protocols: protocols, clients: clients)
    self.tls = Mutex(tls)
    try handle.start(
      { [weak self] loop throws(SystemError) in
        // The test may be over before the loop begins.
        guard let self else { return }
        let handler = Handler(owner: self, began: began, answer: answer)
        let server = HTTP2Server(loop: loop, tls: tls, options: options, handler: handler)
        try loop.listen(listener) { [unowned server, weak self] in
          if let self { server.tls = self.tls.withLock { $0 } }
          server.accept($0)
        }
      }, failed: { _ in })
  }

  /// Answers everything with 200, after a while.
  convenience init(
    name: String = "localhost", protocols: [String] = ["h2"], identity: TLSIdentity? = nil,
    clients: TLSClientPolicy = .notAsked, options: HTTP2ServerOptions = .init(),
    began: @escaping @Sendable (HTTP2ServerConnection) -> Void = { _ in }, afterMilliseconds delay: UInt64 = 0
  ) throws {
    try self.init(
      name: name, protocols: protocols, identity: identity, clients: clients, options: options, began: began
    ) { request, connection in
      connection.answer(request.streamID, HTTP2Answer(status: 200), afterMilliseconds: delay)
    }
  }

  deinit { handle.post { $0.stop() } }

  /// Has another opinion of clients from the next connection on.
  func accept(clients: TLSClientPolicy) throws {
    let next = try TLSContext.server(identity: identity, protocols: ["h2"], clients: clients)
    tls.withLock { $0 = next }
  }

  private final class Handler: HTTP2ServerHandler {
    weak var owner: FakeAPNs?
    let began: @Sendable (HTTP2ServerConnection) -> Void
    let answer: Answer

    init(
      owner: FakeAPNs, began: @escaping @Sendable (HTTP2ServerConnection) -> Void, answer: @escaping Answer
    ) {
      self.owner = owner
      self.began = began
      self.answer = answer
    }

    func opened(_ connection: HTTP2ServerConnection) {
      owner?.opened.withLock { $0 += 1 }
      began(connection)
    }

    func request(_ request: HTTP2Request, on connection: HTTP2ServerConnection) {
      owner?.requests.withLock { $0.append(request) }
      answer(request, connection)
    }

    func noticed(_ notice: HTTP2Notice, on connection: HTTP2ServerConnection) {
      owner?.notices.withLock { $0.append(notice) }
    }
  }

  /// Answers 200 and notes the request as accepted.
  func accept(_ request: HTTP2Request, _ connection: HTTP2ServerConnection, after milliseconds: UInt64 = 0) {
    accepted.withLock { $0.append(request.body) }
    connection.answer(request.streamID, HTTP2Answer(status: 200), afterMilliseconds: milliseconds)
  }

  /// Answers with a status and a reason.
  static func refuse(
    _ request: HTTP2Request, _ connection: HTTP2ServerConnection, _ status: Int, _ reason: String
  ) {
    connection.answer(
      request.streamID, HTTP2Answer(status: status, body: Array(#"{"reason":"\#(reason)"}"#.utf8)))
  }
}

/// The loop on which pools live in a test, gone with the object.
final class ClientLoop: Sendable {
  let address: APNsDriverAddress
  private let handle: LoopHandle

  init(resolver: NameResolver = .init()) async throws {
    signal(SIGPIPE, SIG_IGN)
    let handle = try LoopHandle(index: 1)
    self.handle = handle
    // Not through a continuation, in which ThreadSanitizer sees no order.
    let started = Mutex<Result<APNsDriverAddress, SystemError>?>(nil)
    try handle.start(
      { loop throws(SystemError) in
        let address = HTTP2Driver(loop: loop, resolver: resolver).address
        started.withLock { $0 = .success(address) }
      }, failed: { error in started.withLock { $0 = .failure(error) } })
    try await eventually { started.withLock { $0 != nil } }
    address = try #require(started.withLock { $0 }).get()
  }

  deinit { handle.post { $0.stop() } }
}
