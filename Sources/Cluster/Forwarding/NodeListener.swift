import BorealisBase
import BorealisNet
import HTTP

/// Takes the requests of other nodes on one loop. Made on the loop's thread, for the loop's whole life; every
/// call comes from there.
///
/// Each request is for this process alone: while it is not its home it answers 421 (RFC 9110 section
/// 15.5.20), which `RequestForwarder` understands as "not carried out". Nothing is passed on a second time,
/// so no request goes in a circle.
package final class NodeListener {
  private let server: HTTPServer
  private let tls: NodeTLS?

  /// Connections of nodes that a loop has.
  private static let connections = 4096

  /// `memory` and `peers` are those of the servers for clients, since requests count for their clients;
  /// `nodes` returns the names that the certificates of peers may carry; `handlers` is asked for each
  /// request, with the app that the peer says it names, and returns nil if this process is not its home.
  /// Without TLS it may be on a loopback address only.
  package init(
    loop: EventLoop, tls: NodeTLS?, limits: HTTPServerLimits, peers: HTTPPeerLimit, memory: HTTPMemory,
    time: any TimeSource = SystemTime(), nodes: @escaping @Sendable () -> [String],
    unanswered: ((HTTPUnanswered, _ method: String, _ target: String, _ requestID: String) -> Void)? = nil,
    refusal: @escaping @Sendable (HTTPFault, _ target: String) -> HTTPResponse,
    handlers: @escaping (HTTPRequest, _ app: AppKey?) -> RequestHandlers?
  ) {
    self.tls = tls
    server = HTTPServer(
      loop: loop, limits: Self.limits(limits), peers: peers, memory: memory, time: time,
      refusal: { refusal($0, "") },
      handler: { request, exchange in Self.serve(request, exchange, handlers) })
    server.peersActForOthers = true
    server.refusalPage = { refusal($0, $1) }
    server.unanswered = unanswered
    // Else a request that crosses the end of its connection might have been carried out.
    server.farewell = HomeAnswer.misdirected
    server.completeAnswer = { HomeAnswer.mark(&$0) }
    server.client = { request, _ in ForwardedRequest.client(of: request) }
    server.admits = { session in nodes().contains { session.isPeer(named: $0) } }
    server.screen = { head, id, _ in
      guard let forwarded = ForwardedRequest(received: head) else {
        return .refused(HTTPResponse(status: 400))
      }
      guard let handlers = handlers(forwarded.request, forwarded.app) else {
        return .refused(HomeAnswer.misdirected)
      }
      return handlers.screen(forwarded.request, id, forwarded.client, forwarded.isSecure)
    }
  }

  /// Takes over a connected, non-blocking socket.
  package func accept(_ descriptor: Int32) {
    // Asked each time, because certificates may be renewed.
    server.tls = tls?.server
    server.accept(descriptor)
  }

  /// Ends all connections when their requests are answered, and calls `whenEmpty` then. Other nodes should
  /// know another home first.
  package func beginDrain(whenEmpty: @escaping () -> Void) { server.beginDrain(whenEmpty: whenEmpty) }

  private static func serve(
    _ request: HTTPRequest, _ exchange: HTTPExchange, _ handlers: (HTTPRequest, AppKey?) -> RequestHandlers?
  ) {
    guard let forwarded = ForwardedRequest(received: request) else {
      return exchange.respond(HTTPResponse(status: 400))
    }
    guard forwarded.purpose != .hello else { return exchange.respond(HomeAnswer.greeting) }
    guard let handlers = handlers(forwarded.request, forwarded.app) else {
      return exchange.respond(HomeAnswer.misdirected)
    }
    guard forwarded.purpose == .serving else {
      let screening = handlers.screen(
        forwarded.request, exchange.requestID, forwarded.client, forwarded.isSecure)
      return exchange.respond(HomeAnswer.screened(screening))
    }
    handlers.handle(forwarded.request, exchange.passedOn(from: forwarded.client), forwarded.isSecure)
  }

  private static func limits(_ limits: HTTPServerLimits) -> HTTPServerLimits {
    var limits = limits
    limits.connections = connections
    limits.message = HTTPLimits(
      startLine: limits.message.startLine, header: ForwardLimits.header, fields: ForwardLimits.fields,
      body: limits.message.body)
    return limits
  }
}
