import API
import BorealisBase
import BorealisNet
import Cluster
import Console
import Core
import DeviceGateway
import Glibc
import HTTP

/// What all loops share.
struct ServerParts: Sendable {
  let channel: PassthroughChannel
  let deviceUpgrades: DeviceUpgradeHandler
  let proxies: TrustedProxies
  let unknownClients: UnknownClients
  /// Balancers that send the PROXY protocol to devices' ports.
  let deviceProxies: [IPNetwork]
  let peers: PeerGuard
  let httpPeers: HTTPPeerLimit
  let httpMemory: HTTPMemory
  let metrics: ServerMetrics
  /// Nil if nothing is traced.
  let tracer: Tracer?
  let deviceLimits: PassthroughLimits
  let httpLimits: HTTPServerLimits
  /// Nil unless a port speaks TLS.
  let certificates: Certificates?
  /// Nil unless a certificate authority issues the certificate.
  let renewal: CertificateRenewal?
  /// Nil for a process that is alone.
  let cluster: ClusterService?
  let time: any TimeSource
  let log: Log
}

/// A loop's listening sockets.
struct LoopSockets: Sendable {
  var http: Int32?
  var httpTLS: Int32?
  var device: Int32?
  var devicePlain: Int32?
  var node: Int32?
}

/// The HTTP and device connections of one event loop, and the orders that both get.
final class LoopServices: LoopDriver {
  /// What the main thread may ask of a loop.
  enum Order: Sendable {
    /// Serves requests with this from now on.
    case serve(HomeService, done: @Sendable () -> Void)
    /// Leaves requests to another node from now on.
    case leave(done: @Sendable () -> Void)
    /// Answers when the loop has seen all that it was told before.
    case reach(done: @Sendable () -> Void)
    /// Accepts no more connections, lets requests finish, and tells devices to reconnect within `spread`
    /// milliseconds, after at most `patience` milliseconds for their acknowledgements, to other nodes if
    /// there are; calls `done` when no connection is left.
    case drain(spread: UInt32, patience: UInt64, refuge: DeviceRefuge?, done: @Sendable () -> Void)
    /// Accepts no more connections, begins no more requests and lets the others finish, so that another
    /// process can take this one's place; answers when no request is under way.
    case hold(done: @Sendable () -> Void)
    /// Waits no more for requests that have not come as a whole, and for answers that are not read.
    case hurry
    /// Accepts connections and serves requests as before `hold`.
    case release
    /// Leaves all sockets alone from now on, as soon as no request is under way, or else at once; answers
    /// when that is so, with false if the system refuses.
    case rest(atOnce: Bool, done: @Sendable (Bool) -> Void)
    /// Gives what another process needs to go on with connections.
    case pass(done: @Sendable (PassedLoop) -> Void)
    /// Another process goes on with them: tells the devices of all others to reconnect within `spread`
    /// milliseconds; answers with their number.
    case dismiss(spread: UInt32, done: @Sendable (Int) -> Void)
    /// Serves requests and devices with this, once the loop looks at sockets again: makes sessions known to
    /// it.
    case goOn(HomeService, done: @Sendable () -> Void)
    /// Looks at sockets again, at which nobody has looked since a moment of the clock that counts suspension.
    case wakeUp(unreadSince: UInt64, done: @Sendable () -> Void)
  }

  private unowned let loop: EventLoop
  private let parts: ServerParts
  /// What serves requests; nil while this process is not the home.
  private var home: HomeService?
  /// Passes requests on that are not served here; nil for a process that is alone.
  private var forwarding: ForwardingLoop?
  private var nodes: NodeListener?
  /// One for the plain port, one for TLS, if configured.
  private var httpServers: [HTTPServer] = []
  private let room = HTTPRoom()
  private let devices: DeviceServer
  private let metrics: ServerMetrics
  private let orders: Mailbox<Order>
  /// HTTP servers that still have connections while draining.
  private var busyServers = 0
  private var whenDrained: (@Sendable () -> Void)?
  /// What is to be done when no request is under way.
  private var whenIdle: [() -> Void] = []
  /// Requests that come slowly, and answers that are read slowly, are not waited for.
  private var isImpatient = false
  private var reportedDevices = 0

  /// Adds everything to a loop, on its thread. `deviceHome` is the home of apps as the devices of this loop
  /// see it.
  init(
    loop: EventLoop, parts: ServerParts, sockets: LoopSockets, orders: Mailbox<Order>, home: HomeService?,
    deviceHome: any AppHome
  ) throws(SystemError) {
    self.loop = loop
    self.parts = parts
    self.orders = orders
    self.home = home
    metrics = parts.metrics
    let devices = DeviceServer(
      loop: loop, channel: parts.channel, home: deviceHome, limits: parts.deviceLimits,
      peers: parts.peers, metrics: parts.metrics.devices, time: parts.time,
      isCurrent: { [cluster = parts.cluster] in cluster?.isCurrent ?? true })
    self.devices = devices
    if let cluster = parts.cluster { addNodes(cluster) }
    if let socket = sockets.node, let nodes { try loop.listen(socket) { nodes.accept($0) } }
    let entrance = parts.deviceProxies.isEmpty ? nil : makeEntrance()
    if let socket = sockets.devicePlain {
      try loop.listen(socket) { descriptor in
        guard let entrance else { return devices.accept(descriptor) }
        entrance.accept(descriptor) { devices.accept($0, from: $1) }
      }
    }
    if let socket = sockets.http {
      let server = addHTTP(isSecure: false)
      try loop.listen(socket) { server.accept($0) }
    }
    if let certificates = parts.certificates {
      // Asked each time, because a certificate may be renewed.
      if let socket = sockets.device {
        try loop.listen(socket) { descriptor in
          guard let entrance else { return devices.accept(descriptor, tls: certificates.deviceContext) }
          entrance.accept(descriptor) { devices.accept($0, tls: certificates.deviceContext, from: $1) }
        }
      }
      if let socket = sockets.httpTLS {
        let server = addHTTP(isSecure: true)
        try loop.listen(socket) {
          server.tls = certificates.context
          server.accept($0)
        }
      }
    }
    // After the others, so that it sees at the end of a turn what they did in it.
    _ = loop.add(self)
  }

  /// Learns from balancers whose connections theirs are.
  private func makeEntrance() -> ProxyEntrance {
    ProxyEntrance(loop: loop, networks: parts.deviceProxies) { [failures = metrics.proxyFailures] in
      failures.add()
    }
  }

  /// Takes requests of other nodes, and passes those on that are not served here.
  private func addNodes(_ cluster: ClusterService) {
    let forwarding = cluster.forwarder.add(to: loop) { [unowned self] in handlers }
    self.forwarding = forwarding
    if loop.handle.index == 0 { _ = cluster.reach.add(to: loop) }
    nodes = NodeListener(
      loop: loop, tls: cluster.tls, limits: parts.httpLimits, peers: parts.httpPeers,
      memory: parts.httpMemory, time: parts.time, nodes: { cluster.names },
      unanswered: { [unowned self] in noteUnanswered($0, $1, $2, $3) },
      refusal: { ServedAPIs.refusal($0, of: $1) }, handlers: { forwarding.handlers(for: $0, naming: $1) })
  }

  /// What serves requests in this process, if it is the home and the others cannot have taken it for dead.
  private var active: HomeService? {
    guard let home, parts.cluster?.isAlive != false else { return nil }
    return home
  }

  private var handlers: RequestHandlers? {
    active.map { home in
      let forwarder = parts.cluster?.forwarder
      return RequestHandlers(
        handle: { request, exchange, isSecure in
          home.handle(request, exchange, isSecure: isSecure) {
            forwarder?.passOn($0, exchange, isSecure: isSecure)
          }
        },
        screen: { home.screen($0, requestID: $1, peer: $2, isSecure: $3) })
    }
  }

  private func addHTTP(isSecure: Bool) -> HTTPServer {
    let (parts, devices, upgrades) = (parts, devices, parts.deviceUpgrades)
    let server = HTTPServer(
      loop: loop, limits: parts.httpLimits, peers: parts.httpPeers, memory: parts.httpMemory, room: room,
      metrics: parts.metrics.http,
      time: parts.time,
      refusal: { Gateway.refusal($0) },
      handler: { [unowned self] request, exchange in
        if let answer = parts.renewal?.answer(to: request) {
          exchange.respond(answer)
        } else if let cluster = parts.cluster, NodePages.serves(request.target) {
          exchange.respond(cluster.pages.answer(to: request))
        } else if let forwarding {
          forwarding.handle(request, exchange, isSecure: isSecure)
        } else {
          home?.handle(request, exchange, isSecure: isSecure)
        }
      })
    server.client = { request, peer in
      let client = parts.proxies.client(of: request, from: peer)
      if client == nil, let peer { parts.unknownClients.note(request, from: peer) }
      return client
    }
    server.refusalPage = { ServedAPIs.refusal($0, of: $1) }
    server.unanswered = { [unowned self] in noteUnanswered($0, $1, $2, $3) }
    server.upgrade = { upgrades.upgrade($0, from: $1, to: devices) }
    server.screen = { [unowned self] head, id, peer in
      active?.screen(head, requestID: id, peer: peer, isSecure: isSecure)
        ?? .refused(ServedAPIs.refusal(.unserved, of: head.target))
    }
    // What is for this process `screen` gets.
    if let forwarding {
      server.inquire = { forwarding.screen($0, requestID: $1, peer: $2, isSecure: isSecure, $3) }
    }
    httpServers.append(server)
    return server
  }

  // MARK: Another process

  /// Takes over what another process has passed on, whose place this one takes. The loop leaves all sockets
  /// alone, and nothing is sent, until it is told to go on. Returns how many devices cannot be taken over.
  func adopt(_ passed: inout PassedLoop) throws(SystemError) -> Int {
    try loop.rest()
    devices.freeze()
    var rejected = 0
    while var device = passed.devices.popLast() {
      if !devices.adopt(device, tls: parts.certificates?.deviceContext) { rejected += 1 }
      device.session.wipe()
    }
    let plain = httpServers.first { $0.tls == nil }
    for socket in passed.requests {
      if let plain { plain.accept(socket) } else { loop.discard(socket) }
    }
    for server in httpServers { server.beginHold() }
    loop.holdListeners(true)
    return rejected
  }

  private func hold(_ done: @escaping @Sendable () -> Void) {
    loop.holdListeners(true)
    for server in httpServers { server.beginHold() }
    whenIdle.append(done)
  }

  private func release() {
    (whenIdle, isImpatient) = ([], false)
    for server in httpServers { server.endHold() }
    loop.holdListeners(false)
  }

  private func rest(atOnce: Bool, _ done: @escaping @Sendable (Bool) -> Void) {
    let work = { [unowned self] in
      devices.settle()
      done((try? loop.rest()) != nil)
    }
    if atOnce { work() } else { whenIdle.append(work) }
  }

  private func goOn(_ service: HomeService) {
    home = service
    devices.goOn(under: service.deviceHome) { service.deviceHome.resume($0) }
  }

  private func noteUnanswered(_ reason: HTTPUnanswered, _ method: String, _ target: String, _ id: String) {
    parts.log.error(
      "request not answered",
      [
        "method": .text(method), "route": .text(home?.route(method, target) ?? "none"),
        "reason": .text(reason.rawValue), "request_id": .text(id),
      ])
  }

  /// It has no sockets of its own.
  func ready(_ token: ConnectionToken, _ readiness: Readiness) {}

  func drainMail() {
    for order in orders.drain() {
      switch order {
      case .serve(let home, let done):
        self.home = home
        done()
      case .leave(let done):
        home = nil
        done()
      case .reach(let done): done()
      case .drain(let spread, let patience, let refuge, let done):
        loop.closeListeners()
        whenDrained = done
        busyServers = httpServers.count
        for server in httpServers { server.beginDrain { [unowned self] in busyServers -= 1 } }
        if let nodes {
          busyServers += 1
          nodes.beginDrain { [unowned self] in busyServers -= 1 }
        }
        devices.drain(spread: spread, patience: patience, to: refuge)
      case .hold(let done): hold(done)
      case .hurry: isImpatient = true
      case .release: release()
      case .rest(let atOnce, let done): rest(atOnce: atOnce, done)
      case .pass(let done):
        let sockets = httpServers.flatMap(\.idleSockets)
        done(PassedLoop(devices: devices.passed(), requests: sockets))
      case .dismiss(let spread, let done): done(devices.dismissOthers(spread: spread))
      case .goOn(let service, let done):
        goOn(service)
        done()
      case .wakeUp(let moment, let done):
        release()
        loop.wakeUp(unreadSince: moment)
        done()
      }
    }
  }

  func tick() {
    let count = devices.connectionCount
    metrics.deviceConnections.add(Int64(count - reportedDevices))
    reportedDevices = count
  }

  func endTurn() -> Bool {
    if !whenIdle.isEmpty, httpServers.allSatisfy({ $0.isIdle(despiteSlowPeers: isImpatient) }) {
      let work = whenIdle
      whenIdle = []
      for piece in work { piece() }
      // What they have queued leaves in the next turn.
      return true
    }
    guard busyServers == 0, devices.connectionCount == 0, let whenDrained else { return false }
    self.whenDrained = nil
    whenDrained()
    return false
  }
}
