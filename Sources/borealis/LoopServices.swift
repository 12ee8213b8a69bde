import PushBase
import PushCallbacks
import PushConsole
import PushGateway
import PushGetui
import PushHTTP
import PushHTTPServer
import PushMail
import PushNet
import PushPassthrough
import PushRouter

/// What all loops share.
struct ServerParts: Sendable {
  let home: any AppHome
  let channel: PassthroughChannel
  let callbacks: CallbackService
  /// Nil unless a mail server is set up.
  let mailer: Mailer?
  let gateway: Gateway
  let getui: GetuiAPI
  let console: WebConsole
  let deviceUpgrades: DeviceUpgradeHandler
  let proxies: TrustedProxies
  let peers: PeerGuard
  let httpPeers: HTTPPeerLimit
  let httpMemory: HTTPMemory
  let metrics: ServerMetrics
  let deviceLimits: PassthroughLimits
  let httpLimits: HTTPServerLimits
  /// Nil unless a port speaks TLS.
  let certificates: Certificates?
  let time: any TimeSource
  let log: Log
}

/// A loop's listening sockets.
struct LoopSockets: Sendable {
  var http: Int32?
  var httpTLS: Int32?
  var device: Int32?
  var devicePlain: Int32?
}

/// The HTTP and device connections of one event loop, and the orders that both get.
final class LoopServices: LoopDriver {
  /// What the main thread may ask of a loop.
  enum Order: Sendable {
    /// Accepts no more connections, lets requests finish, and tells devices to reconnect within `spread` milliseconds,
    /// after at most `patience` milliseconds for their acknowledgements; calls `done` when no connection is left.
    case drain(spread: UInt32, patience: UInt64, done: @Sendable () -> Void)
  }

  private unowned let loop: EventLoop
  /// One for the plain port, one for TLS, if configured.
  private var httpServers: [HTTPServer] = []
  private let room = HTTPRoom()
  private let devices: DeviceServer
  private let metrics: ServerMetrics
  private let orders: Mailbox<Order>
  /// HTTP servers that still have connections while draining.
  private var busyServers = 0
  private var whenDrained: (@Sendable () -> Void)?
  private var reportedDevices = 0

  /// Adds everything to a loop, on its thread.
  init(
    loop: EventLoop, parts: ServerParts, sockets: LoopSockets, orders: Mailbox<Order>
  ) throws(SystemError) {
    self.loop = loop
    self.orders = orders
    metrics = parts.metrics
    let devices = DeviceServer(
      loop: loop, channel: parts.channel, home: parts.home, limits: parts.deviceLimits,
      peers: parts.peers, metrics: parts.metrics.devices, time: parts.time)
    self.devices = devices
    if let socket = sockets.devicePlain { try loop.listen(socket) { devices.accept($0) } }
    if let socket = sockets.http {
      let server = addHTTP(parts, isSecure: false)
      try loop.listen(socket) { server.accept($0) }
    }
    if let certificates = parts.certificates {
      // Asked each time, because a certificate may be renewed.
      if let socket = sockets.device {
        try loop.listen(socket) { devices.accept($0, tls: certificates.context) }
      }
      if let socket = sockets.httpTLS {
        let server = addHTTP(parts, isSecure: true)
        try loop.listen(socket) {
          server.tls = certificates.context
          server.accept($0)
        }
      }
    }
    // After the others, so that it sees at the end of a turn what they did in it.
    _ = loop.add(self)
  }

  private func addHTTP(_ parts: ServerParts, isSecure: Bool) -> HTTPServer {
    let (gateway, getui, console) = (parts.gateway, parts.getui, parts.console)
    let (devices, upgrades, log) = (self.devices, parts.deviceUpgrades, parts.log)
    let server = HTTPServer(
      loop: loop, limits: parts.httpLimits, peers: parts.httpPeers, memory: parts.httpMemory, room: room,
      metrics: parts.metrics.http,
      time: parts.time,
      refusal: { Gateway.refusal($0) },
      handler: { request, exchange in
        if WebConsole.serves(request.target) {
          console.handle(request, exchange, isSecure: isSecure)
        } else if GetuiAPI.serves(request.target) {
          getui.handle(request, exchange)
        } else {
          gateway.handle(request, exchange)
        }
      })
    server.client = { parts.proxies.client(of: $0, from: $1) }
    server.refusalPage = { WebConsole.refusal($0, of: $1) ?? GetuiAPI.refusal($0, of: $1) }
    server.unanswered = { reason, method, target, id in
      let route =
        console.route(method, target) ?? getui.route(method, target) ?? gateway.route(method, target)
        ?? "none"
      log.error(
        "request not answered",
        [
          "method": .text(method), "route": .text(route), "reason": .text(reason.rawValue),
          "request_id": .text(id),
        ])
    }
    server.upgrade = { upgrades.upgrade($0, from: $1, to: devices) }
    server.screen = { head, id, peer in
      if WebConsole.serves(head.target) {
        console.screen(head, peer: peer, isSecure: isSecure)
      } else if GetuiAPI.serves(head.target) {
        getui.screen(head, requestID: id, peer: peer)
      } else {
        gateway.screen(head, requestID: id, peer: peer)
      }
    }
    httpServers.append(server)
    return server
  }

  /// It has no sockets of its own.
  func ready(_ token: ConnectionToken, _ readiness: Readiness) {}

  func drainMail() {
    for case .drain(let spread, let patience, let done) in orders.drain() {
      loop.closeListeners()
      whenDrained = done
      busyServers = httpServers.count
      for server in httpServers { server.beginDrain { [unowned self] in busyServers -= 1 } }
      devices.drain(spread: spread, patience: patience)
    }
  }

  func tick() {
    let count = devices.connectionCount
    metrics.deviceConnections.add(Int64(count - reportedDevices))
    reportedDevices = count
  }

  func endTurn() -> Bool {
    guard busyServers == 0, devices.connectionCount == 0, let whenDrained else { return false }
    self.whenDrained = nil
    whenDrained()
    return false
  }
}
