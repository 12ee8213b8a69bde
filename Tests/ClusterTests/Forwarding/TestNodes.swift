import BorealisBase
import BorealisNet
import CLinux
import Cluster
import Glibc
import HTTP
import Synchronization

/// A process that may be the home, as far as requests of other nodes go: it listens on loopback, with a loop
/// of its own.
final class TestHome: Sendable {
  typealias Answer = @Sendable (HTTPRequest, HTTPExchange, _ isSecure: Bool) -> Void

  /// What a handler was given.
  struct Call: Equatable {
    let request: HTTPRequest
    let requestID: String
    let peer: IPAddress?
    let isSecure: Bool
  }

  /// What the loop's thread uses, which must not keep the object itself.
  private final class State: Sendable {
    let isHome: Atomic<Bool>
    /// The apps that it is the home of; nil for all.
    let apps = Mutex<Set<AppKey>?>(nil)
    let hasInstallation = Atomic(true)
    let calls = Mutex<[Call]>([])
    let held = Mutex<[HTTPExchange]>([])
    let drains = Atomic(false)

    init(isHome: Bool) { self.isHome = Atomic(isHome) }

    func note(_ request: HTTPRequest, _ exchange: HTTPExchange, _ isSecure: Bool) {
      let call = Call(
        request: request, requestID: exchange.requestID, peer: exchange.peer, isSecure: isSecure)
      calls.withLock { $0.append(call) }
    }
  }

  let address: NodeAddress
  private let state: State
  private let handle: LoopHandle

  var isHome: Bool {
    get { state.isHome.load(ordering: .relaxed) }
    set { state.isHome.store(newValue, ordering: .relaxed) }
  }

  /// The apps that it is the home of; nil for all.
  var apps: Set<AppKey>? {
    get { state.apps.withLock { $0 } }
    set { state.apps.withLock { $0 = newValue } }
  }

  /// Whether it serves what names no app.
  var hasInstallation: Bool {
    get { state.hasInstallation.load(ordering: .relaxed) }
    set { state.hasInstallation.store(newValue, ordering: .relaxed) }
  }

  /// The app that a request names, for tests in a field of its own, or in the first line of its body.
  @Sendable static func app(of request: HTTPRequest) -> AppKey? {
    let line = request.body.prefix(100).prefix { $0 != 10 }
    return AppKey(request.headers["x-app"] ?? String(decoding: line, as: UTF8.self))
  }

  /// The requests that handlers got.
  var seen: [Call] { state.calls.withLock { $0 } }

  /// Listens on a port, if that is free. `nodes` are the names that may connect.
  init(
    _ name: String = "node-a", port: UInt16 = 0, tls: NodeTLS? = nil, nodes: [String] = ["front"],
    isHome: Bool = true, bodyBytes: Int = 1 << 20, answer: @escaping Answer = TestHome.echo
  ) throws {
    let listener = try SystemError.check(cl_listen("127.0.0.1", port, 64, 0), "listen")
    address = NodeAddress(
      name: name, host: "127.0.0.1", port: UInt16(try SystemError.check(cl_local_port(listener), "port")))
    let state = State(isHome: isHome)
    self.state = state
    handle = try LoopHandle(index: 0)
    try handle.start(
      { loop throws(SystemError) in
        var limits = HTTPServerLimits()
        limits.message = HTTPLimits(body: bodyBytes)
        var beginDrain: () -> Void = {}
        let node = NodeListener(
          loop: loop, tls: tls, limits: limits, peers: HTTPPeerLimit(connections: .max),
          memory: HTTPMemory(), nodes: { nodes },
          refusal: { fault, target in HTTPResponse(status: fault.status, body: Array("\(fault)".utf8)) },
          handlers: { request, named in
            guard state.isHome.load(ordering: .relaxed) else { return nil }
            let app = named ?? Self.app(of: request)
            guard app != nil || state.hasInstallation.load(ordering: .relaxed) else { return nil }
            if let app, let apps = state.apps.withLock({ $0 }), !apps.contains(app) { return nil }
            return RequestHandlers(
              handle: { request, exchange, isSecure in
                let isHeld = request.target == "/held"
                // First, so that who has seen it can have it answered.
                if isHeld { state.held.withLock { $0.append(exchange) } }
                state.note(request, exchange, isSecure)
                if request.target == "/drain" {
                  while !state.drains.load(ordering: .relaxed) { usleep(1000) }
                  beginDrain()
                }
                if !isHeld { answer(request, exchange, isSecure) }
              }, screen: Self.screen)
          })
        beginDrain = { [unowned node] in node.beginDrain {} }
        try loop.listen(listener) { node.accept($0) }
      }, failed: { _ in })
  }

  deinit {
    drain()
    kill()
  }

  /// Ends the standstill that a request for `/drain` begins, by closing all connections.
  func drain() { state.drains.store(true, ordering: .relaxed) }

  /// Ends at once: sockets are closed, whatever is under way on them.
  func kill() { handle.post { $0.stop() } }

  /// Answers the requests for `/held`.
  func answerHeld(_ text: String) {
    let held = state.held.withLock { held in
      defer { held = [] }
      return held
    }
    for exchange in held { exchange.respond(HTTPResponse(status: 200, body: Array(text.utf8))) }
  }

  /// Bodies need the right password, which decides at once.
  @Sendable
  static func screen(
    _ head: HTTPRequest, _ id: String, _ peer: IPAddress?, _ isSecure: Bool
  ) -> HTTPScreening {
    switch head.headers["authorization"] {
    case "right": .admitted(bodyBytes: 16 << 20, isKnown: true)
    case "small": .admitted(bodyBytes: 8 << 10, isKnown: false)
    case "unknown": .admitted(bodyBytes: 16 << 20, isKnown: false)
    default:
      .refused(HTTPResponse(status: 401, headers: ["WWW-Authenticate": "Basic"], body: Array("who?".utf8)))
    }
  }

  /// Answers with the method, the target and the length of the body, `/big?N` with N bytes; `/held` waits.
  static let echo: Answer = { request, exchange, _ in
    var response = HTTPResponse(status: 200, headers: ["X-From": "home"])
    if request.target.hasPrefix("/big?") {
      let size = Int(request.target.dropFirst(5)) ?? 0
      response.body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    } else {
      response.body = Array("\(request.method) \(request.target) \(request.body.count)".utf8)
    }
    response.isToKnownCaller = request.headers["authorization"] == "right"
    exchange.respond(response)
  }
}

/// A node that is not the home: takes requests on loopback and passes them on.
final class TestFront: Sendable {
  let port: UInt16
  let forwarder: RequestForwarder
  let metrics = Metrics()
  let serverMetrics = Metrics()
  private let handle: LoopHandle
  private let local = Local()
  /// How often it was looked up which app a request names.
  let lookups = Metrics().counter("lookups")

  /// The handler of this process itself.
  private final class Local: Sendable {
    let handler = Mutex<TestHome.Answer?>(nil)
  }

  init(
    tls: NodeTLS? = nil, proxies: [IPNetwork] = [], isSecure: Bool = false, bodyBytes: Int = 1 << 20,
    log: Log = .silent, _ change: (inout RequestForwarder.Options) -> Void = { _ in }
  ) throws {
    let listener = try SystemError.check(cl_listen("127.0.0.1", 0, 64, 0), "listen")
    port = UInt16(try SystemError.check(cl_local_port(listener), "port"))
    var options = RequestForwarder.Options()
    options.proxies = TrustedProxies(proxies)
    change(&options)
    let memory = HTTPMemory()
    forwarder = RequestForwarder(
      tls: tls, options: options,
      refusal: { fault, target in
        HTTPResponse(status: fault.status, body: Array("\(fault) \(target)".utf8))
      },
      app: { [lookups] request in
        lookups.add()
        return TestHome.app(of: request)
      }, memory: memory, metrics: metrics, log: log)
    handle = try LoopHandle(index: 0)
    let counts = HTTPServerMetrics(in: serverMetrics)
    try handle.start(
      { [forwarder, local] loop throws(SystemError) in
        let forwarding = forwarder.add(to: loop) {
          local.handler.withLock { $0 }.map { RequestHandlers(handle: $0, screen: TestHome.screen) }
        }
        var limits = HTTPServerLimits()
        limits.message = HTTPLimits(body: bodyBytes)
        let server = HTTPServer(
          loop: loop, limits: limits, memory: memory, metrics: counts,
          refusal: { HTTPResponse(status: $0.status, body: Array("\($0)".utf8)) }
        ) { request, exchange in
          forwarding.handle(request, exchange, isSecure: isSecure)
        }
        server.inquire = { head, id, peer, inquiry in
          forwarding.screen(head, requestID: id, peer: peer, isSecure: isSecure, inquiry)
        }
        server.screen = { TestHome.screen($0, $1, $2, isSecure) }
        try loop.listen(listener) { server.accept($0) }
      }, failed: { _ in })
  }

  deinit { handle.post { $0.stop() } }

  /// This process is the home now.
  func serve(_ handler: @escaping TestHome.Answer) {
    local.handler.withLock { $0 = handler }
    forwarder.wake()
  }

  /// The value of a metric, by its name and labels as they stand in a scrape.
  func metric(_ name: String) -> Int? {
    for line in metrics.render().split(separator: "\n") where line.hasPrefix(name + " ") {
      return Int(line.dropFirst(name.count + 1))
    }
    return nil
  }

  func requests(_ outcome: String) -> Int? {
    metric("borealis_forward_requests_total{outcome=\"\(outcome)\"}")
  }

  var waiting: Int? { metric("borealis_forward_waiting_requests") }
}

/// Polls until something holds, for as long as a slow machine may need.
func eventually(_ holds: () -> Bool) -> Bool {
  for _ in 0..<20_000 {
    if holds() { return true }
    usleep(1000)
  }
  return false
}
