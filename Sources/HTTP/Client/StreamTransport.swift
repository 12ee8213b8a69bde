import BorealisBase
import BorealisNet

/// Sends requests over TLS to servers with HTTP/2: each server has a pool of few connections on one event
/// loop. What goes to a server without HTTP/2 is handed to libcurl. Safe to use from any thread.
final class StreamTransport: Sendable {
  typealias Options = HTTPTransport.Options
  typealias Completion = HTTPTransport.Completion

  /// A request that waits for its outcome.
  struct Job: Sendable {
    let request: OutgoingRequest
    let completion: Completion
    let began = SystemTime().monotonic()
    /// How often it was not sent, or refused before it was processed.
    var failures = 0

    /// Completes it.
    func end(_ answer: HTTPAnswer) {
      var answer = answer
      answer.milliseconds = Int64(clamping: (SystemTime().monotonic() &- began) / 1_000_000)
      completion(answer)
    }
  }

  private let inbox: RequestInbox<Job>
  private let curl: CurlTransport

  /// Starts the loop; nil if that, or TLS, is not possible.
  init?(_ options: Options, beside curl: CurlTransport, thread: String) {
    self.curl = curl
    do {
      let trust = options.authorities.map { TLSTrust.systemAnd(file: $0) } ?? .system
      let tls = try TLSContext.client(trust: trust, protocols: ["h2", "http/1.1"])
      let handle = try LoopHandle(index: 0)
      inbox = RequestInbox(mostRequests: options.mostRequests) { handle.wake() }
      try handle.start(
        name: thread,
        { [self] loop throws(SystemError) in
          // When processors are busy, requests that wait for an answer have priority over a queue to a
          // service.
          LoopHandle.yieldToOthers(5)
          let driver = HTTP2Driver(loop: loop)
          // After the driver: what follows from answers is sent in the same turn.
          _ = loop.add(StreamLoop(self, driver, loop, options, tls))
        },
        failed: { [self] _ in
          close()
          endRest()
        })
    } catch {
      return nil
    }
  }

  func send(_ request: OutgoingRequest, completion: @escaping Completion) {
    guard request.url.utf8.starts(with: StreamLoop.scheme.utf8) else {
      return passOn(request, completion)
    }
    if let refusal = inbox.add(Job(request: request, completion: completion)) { completion(refusal) }
  }

  func run(_ work: @escaping @Sendable () -> Void) { _ = inbox.run(work) }

  /// Has libcurl send a request; its answer comes on the loop's thread as all others.
  private func passOn(_ request: OutgoingRequest, _ completion: @escaping Completion) {
    curl.send(request) { [self] answer in
      if !inbox.run({ completion(answer) }) { completion(answer) }
    }
  }

  func close() { inbox.close() }

  // MARK: For the loop

  /// Does the work that came, and returns the new requests; nil if there are no more to come.
  func drainJobs() -> [Job]? { inbox.drain() }

  /// Completes the requests that came before the end and were not begun.
  func endRest() { for job in inbox.drainRest() { job.end(.closed) } }

  /// A request has its outcome, or somebody else has it.
  func release() { inbox.release() }

  /// Hands a request over that goes to a server without HTTP/2.
  func passOn(_ job: Job) {
    release()
    passOn(job.request, job.completion)
  }
}

/// The servers that a transport sends to, on its loop's thread.
final class StreamLoop: LoopDriver {
  /// What the addresses of requests over TLS begin with.
  static let scheme = "https://"
  /// Servers that are remembered; requests to more go to libcurl.
  private static let mostServers = 64
  /// Seconds without a request after which a server's connections are closed.
  static let idleSeconds: UInt64 = 300

  let transport: StreamTransport
  let driver: HTTP2Driver
  let options: HTTPTransport.Options
  let tls: TLSContext
  private unowned let loop: EventLoop
  /// By what URLs say between scheme and path.
  private var servers: [String: StreamServer] = [:]
  private var latest: (authority: ArraySlice<UInt8>, server: StreamServer)?
  private var isClosed = false

  init(
    _ transport: StreamTransport, _ driver: HTTP2Driver, _ loop: EventLoop, _ options: HTTPTransport.Options,
    _ tls: TLSContext
  ) {
    self.transport = transport
    self.driver = driver
    self.loop = loop
    self.options = options
    self.tls = tls
  }

  var now: UInt64 { loop.now }

  /// It has no sockets of its own.
  func ready(_ token: ConnectionToken, _ readiness: Readiness) {}

  func drainMail() { _ = startJobs() }

  func endTurn() -> Bool { startJobs() }

  /// Gives requests to their servers' pools; returns whether there were some.
  private func startJobs() -> Bool {
    guard !isClosed else { return false }
    guard let jobs = transport.drainJobs() else {
      end()
      return false
    }
    for job in jobs { start(job) }
    return !jobs.isEmpty
  }

  private func start(_ job: StreamTransport.Job) {
    let rest = Array(job.request.url.utf8).dropFirst(Self.scheme.utf8.count)
    let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
    guard let server = server(of: rest[..<end]) else { return transport.passOn(job) }
    server.add(job, path: Array(rest[end...]))
  }

  /// The server of an authority; mostly that of the request before. Nil if there are too many.
  private func server(of authority: ArraySlice<UInt8>) -> StreamServer? {
    if let latest, latest.authority == authority { return latest.server }
    let name = String(decoding: authority, as: UTF8.self)
    guard let server = servers[name] ?? makeServer(name) else { return nil }
    latest = (Array(authority)[...], server)
    return server
  }

  private func makeServer(_ name: String) -> StreamServer? {
    guard servers.count < Self.mostServers, let authority = URLAuthority(name) else { return nil }
    let server = StreamServer(authority, self)
    servers[name] = server
    return server
  }

  func tick() {
    for (name, server) in servers where server.tick() {
      servers[name] = nil
      latest = nil
    }
  }

  private func end() {
    isClosed = true
    for server in servers.values { server.close() }
    servers = [:]
    latest = nil
    transport.endRest()
    loop.stop()
  }
}
