import BorealisCrypto
import BorealisNet
import CLinux
import Glibc
import HTTP
import Synchronization

/// A certificate for localhost that is its own CA, and its key.
struct TestIdentity {
  let certificate: [UInt8]
  let key: [UInt8]
  var identity: TLSIdentity { .pem(certificates: certificate, key: key) }

  init(name: String = "localhost", usage: SelfSignedCertificate.Usage = .server) throws {
    let made = try SelfSignedCertificate.make(
      commonName: name, dnsNames: [name], ipAddresses: ["127.0.0.1"], days: 2, usage: usage)
    certificate = Array(made.certificatePEM.utf8)
    key = Array(made.keyPEM.utf8)
  }
}

/// An HTTP/2 server on a loop and a port of its own, gone with the object. What it is asked goes to a closure
/// on the loop's thread.
final class TestServer: Sendable {
  typealias Answer = @Sendable (HTTP2Request, HTTP2ServerConnection) -> Void

  let port: UInt16
  let identity: TestIdentity
  let notices = Mutex<[HTTP2Notice]>([])
  let ends = Mutex<[String]>([])
  private let handle: LoopHandle

  init(
    protocols: [String] = ["h2"], clients: TLSClientPolicy = .notAsked, options: HTTP2ServerOptions = .init(),
    answer: @escaping Answer
  ) throws {
    signal(SIGPIPE, SIG_IGN)
    identity = try TestIdentity()
    let listener = try SystemError.check(cl_listen("127.0.0.1", 0, 64, 0), "listen")
    port = UInt16(try SystemError.check(cl_local_port(listener), "getsockname"))
    handle = try LoopHandle(index: 0)
    let tls = try TLSContext.server(identity: identity.identity, protocols: protocols, clients: clients)
    try handle.start(
      { [unowned self] loop throws(SystemError) in
        let server = HTTP2Server(
          loop: loop, tls: tls, options: options, handler: Handler(owner: self, answer: answer))
        try loop.listen(listener) { [unowned server] in server.accept($0) }
      }, failed: { _ in })
  }

  deinit { handle.post { $0.stop() } }

  private final class Handler: HTTP2ServerHandler {
    weak var owner: TestServer?
    let answer: Answer

    init(owner: TestServer, answer: @escaping Answer) {
      self.owner = owner
      self.answer = answer
    }

    func request(_ request: HTTP2Request, on connection: HTTP2ServerConnection) {
      answer(request, connection)
    }
    func noticed(_ notice: HTTP2Notice, on connection: HTTP2ServerConnection) {
      owner?.notices.withLock { $0.append(notice) }
    }
    func closed(_ connection: HTTP2ServerConnection, reason: String) {
      owner?.ends.withLock { $0.append(reason) }
    }
  }
}

/// A client that waits in poll(2).
final class TestClient {
  struct Failed: Error {
    let reason: String
  }

  let session: HTTP2Session
  private let transport: HTTP2Transport
  private var buffer = [UInt8](repeating: 0, count: 16 << 10)
  private(set) var events: [HTTP2Event] = []

  init(
    _ server: TestServer, protocols: [String] = ["h2"], identity: TLSIdentity? = nil
  ) throws {
    var connection = try Connection(to: "127.0.0.1", port: server.port)
    let context = try TLSContext.client(
      trust: .pem(server.identity.certificate), identity: identity, protocols: protocols)
    try connection.secure(with: context, peerName: "localhost")
    session = try HTTP2Session(role: .client)
    transport = HTTP2Transport(connection: connection, session: session)
    var progress = Connection.Progress.inProgress
    while progress != .open {
      try wait()
      progress = transport.connection.proceed()
      if case .failed(let reason) = progress { throw Failed(reason: reason) }
    }
    try until { if case .settings = $0 { true } else { false } }
  }

  /// TLS on its connection.
  var tls: TLSSession? { transport.connection.tls }

  deinit { transport.connection.cut() }

  /// Sends what is queued and reads until an event comes for which the test is true; it stays in `events`.
  func until(_ test: (HTTP2Event) -> Bool) throws {
    while !events.contains(where: test) {
      if let reason = transport.flush() { throw Failed(reason: reason) }
      if events.contains(where: test) { return }
      try wait()
      let outcome = transport.receive(buffer: &buffer)
      var more: [HTTP2Event] = []
      session.drainEvents(into: &more)
      events += more
      if case .ended(let reason) = outcome, !events.contains(where: test) { throw Failed(reason: reason) }
    }
    _ = transport.flush()
  }

  /// Reads to the connection's end and returns the reason.
  func untilEnd() -> String {
    do {
      try until { _ in false }
    } catch let failure as Failed {
      return failure.reason
    } catch {
      return "\(error)"
    }
    return ""
  }

  /// Posts a body and waits until the stream is closed; the code of its end.
  func post(_ body: [UInt8], path: String = "/") throws -> HTTP2ErrorCode {
    let id = try session.submitRequest(requestHeaders(path: path), body: body, context: 0)
    var result = HTTP2ErrorCode.noError
    try until {
      guard case .closed(let stream, let code) = $0, stream.id == id else { return false }
      result = code
      return true
    }
    return result
  }

  /// The body that came, of all streams.
  var body: [UInt8] {
    events.flatMap { if case .data(_, let bytes) = $0 { bytes } else { [] as [UInt8] } }
  }

  private func wait() throws {
    let events = transport.connection.interest.contains(.writable) ? POLLOUT : POLLIN
    var wanted = pollfd(fd: transport.connection.descriptor, events: Int16(events), revents: 0)
    guard poll(&wanted, 1, 60_000) == 1 else { throw Failed(reason: "nothing came for a minute") }
  }
}
