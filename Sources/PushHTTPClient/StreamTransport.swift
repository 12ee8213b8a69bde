import PushBase
import PushHTTP2
import PushNet
import Synchronization

/// Sends requests over TLS to servers with HTTP/2: each server has a pool of few connections on one event loop. What goes to a
/// server without HTTP/2 is handed to libcurl. Safe to use from any thread.
final class StreamTransport: Sendable {
  typealias Options = HTTPTransport.Options
  typealias Completion = HTTPTransport.Completion

  private struct Inbox: Sendable {
    var jobs: [Job] = []
    var work: [@Sendable () -> Void] = []
    /// Requests without an outcome, also those that the loop has.
    var open = 0
    var isClosed = false
  }

  /// A request that waits for its outcome.
  struct Job: Sendable {
    let post: HTTPPost
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

  private let inbox = Mutex(Inbox())
  private let handle: LoopHandle
  private let mostRequests: Int
  private let curl: CurlTransport

  /// Starts the loop; nil if that, or TLS, is not possible.
  init?(_ options: Options, beside curl: CurlTransport, thread: String) {
    self.curl = curl
    mostRequests = options.mostRequests
    do {
      let trust = options.authorities.map { TLSTrust.systemAnd(file: $0) } ?? .system
      let tls = try TLSContext.client(trust: trust, protocols: ["h2", "http/1.1"])
      handle = try LoopHandle(index: 0)
      try handle.start(
        name: thread,
        { [self] loop throws(SystemError) in
          // When processors are busy, requests that wait for an answer have priority over a queue to a service.
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

  func send(_ post: HTTPPost, completion: @escaping Completion) {
    guard post.url.utf8.starts(with: StreamLoop.scheme.utf8) else {
      return passOn(post, completion)
    }
    let (isClosed, isTaken, isFirst) = inbox.withLock { inbox in
      guard !inbox.isClosed, inbox.open < mostRequests else { return (inbox.isClosed, false, false) }
      inbox.open += 1
      inbox.jobs.append(Job(post: post, completion: completion))
      return (false, true, inbox.jobs.count == 1)
    }
    guard isTaken else { return completion(isClosed ? .closed : .tooMany) }
    if isFirst { handle.wake() }
  }

  func run(_ work: @escaping @Sendable () -> Void) { _ = add(work) }

  /// False once it is closed.
  private func add(_ work: @escaping @Sendable () -> Void) -> Bool {
    let isFirst: Bool? = inbox.withLock { inbox in
      guard !inbox.isClosed else { return nil }
      inbox.work.append(work)
      return inbox.work.count == 1
    }
    if isFirst == true { handle.wake() }
    return isFirst != nil
  }

  /// Has libcurl send a request; its answer comes on the loop's thread as all others.
  private func passOn(_ post: HTTPPost, _ completion: @escaping Completion) {
    curl.send(post) { [self] answer in
      if !add({ completion(answer) }) { completion(answer) }
    }
  }

  func close() {
    inbox.withLock { $0.isClosed = true }
    handle.wake()
  }

  // MARK: For the loop

  /// Does the work that came, and returns the new requests; nil if there are no more to come.
  func takeJobs() -> [Job]? {
    let work = inbox.withLock { inbox in
      defer { inbox.work = [] }
      return inbox.work
    }
    for one in work { one() }
    return inbox.withLock { inbox in
      guard !inbox.isClosed else { return nil }
      defer { inbox.jobs = [] }
      return inbox.jobs
    }
  }

  /// Completes the requests that came before the end and were not begun.
  func endRest() {
    let (work, jobs) = inbox.withLock { inbox in
      defer { (inbox.work, inbox.jobs) = ([], []) }
      return (inbox.work, inbox.jobs)
    }
    for one in work { one() }
    for job in jobs { job.end(.closed) }
  }

  /// This many requests have their outcome, or somebody else has them.
  func release(_ count: Int = 1) { inbox.withLock { $0.open -= count } }

  /// Hands a request over that goes to a server without HTTP/2.
  func passOn(_ job: Job) {
    release()
    passOn(job.post, job.completion)
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

  func drainMail() { _ = takeJobs() }

  func endTurn() -> Bool { takeJobs() }

  /// Gives requests to their servers' pools; returns whether there were some.
  private func takeJobs() -> Bool {
    guard !isClosed else { return false }
    guard let jobs = transport.takeJobs() else {
      end()
      return false
    }
    for job in jobs { start(job) }
    return !jobs.isEmpty
  }

  private func start(_ job: StreamTransport.Job) {
    let rest = Array(job.post.url.utf8).dropFirst(Self.scheme.utf8.count)
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
