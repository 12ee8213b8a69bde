import PushBase
import PushDomain
import PushGateway
import PushHTTP
import PushHTTPServer
import PushRouter
import PushStorage

/// Getui's REST API v2, in its shapes and with its codes: an app server of Getui's switches by its base URL. What it asks for
/// is converted and goes the way that JPush's requests go. Safe to use from any thread.
public final class GetuiAPI: Sendable {
  /// How large the body of a request may be.
  enum BodySize: Sendable {
    case small, ordinary, batch

    /// Bytes. Bodies of 4 MB and up are never read.
    var bytes: Int {
      switch self {
      case .small: 8 << 10
      case .ordinary: 256 << 10
      case .batch: 4 << 20 - 1
      }
    }
  }

  /// A method on a path, and what serves it.
  struct Route: Sendable {
    typealias Handler = @Sendable (GetuiAPI, GetuiCall) -> Void

    /// Whose calls it counts among; `.open` for those without token.
    let budget: Gateway.API
    let method: String
    let pattern: String
    let body: BodySize
    let handle: Handler

    init(
      _ budget: Gateway.API, _ method: String, _ pattern: String, body: BodySize, _ handle: @escaping Handler
    ) {
      (self.budget, self.method, self.pattern, self.body) = (budget, method, pattern, body)
      self.handle = handle
    }
  }

  let router: Router
  let store: Store
  let gateway: Gateway
  let tokens: Tokens
  let time: any TimeSource
  let log: Log
  /// Calls of `POST /auth`.
  let authCalls = RateLimiter()
  let tagRates = TagRates()
  /// For requests whose parsing would hold up a loop; a few of each app may wait, so that none keeps out the others.
  let background = BackgroundWork("borealis.getui", limit: 64, limitOfEach: 8)

  private let table: RouteTable<Route>

  static let routes: [Route] = controllers.flatMap { $0.routes }

  private static let controllers: [any GetuiController.Type] = [
    AuthController.self, SingleController.self, PushController.self, ListController.self, TaskController.self,
    AliasController.self, TagController.self, UserController.self, ReportController.self,
  ]

  /// Makes the API beside a gateway, whose budgets and rules it shares. `keys` opens what is sealed.
  public init(
    router: Router, store: Store, gateway: Gateway, keys: GetuiKeys, log: Log,
    time: any TimeSource = SystemTime()
  ) {
    (self.router, self.store) = (router, store)
    self.gateway = gateway
    self.time = time
    self.log = log
    tokens = Tokens(store: store, keys: keys, time: time, log: log)
    var table = RouteTable<Route>()
    for route in Self.routes { table.add(route.method, route.pattern, route) }
    self.table = table
  }

  /// Whether a target belongs to this API.
  public static func serves(_ target: String) -> Bool { target.hasPrefix("/v2/") }

  /// Bytes of the largest body that any request may have.
  public static let largestBody = BodySize.batch.bytes

  /// Serves one request.
  public func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    handle(
      request, CallReply(exchange))
  }

  func handle(_ request: HTTPRequest, _ reply: CallReply) {
    switch arrival(of: request, reply) {
    case .refused(let response): reply.send(response)
    case .call(let call, let route):
      guard route.budget != .open else {
        return call.bodyFault.map { call.fail($0) } ?? route.handle(self, call)
      }
      authenticate(call, route)
    }
  }

  /// What can be told of a request from its header, so that its body need not be read.
  public func screen(_ head: HTTPRequest, requestID: String, peer: IPAddress?) -> HTTPScreening {
    switch arrival(of: head, CallReply(requestID: requestID, peer: peer) { _ in }) {
    case .refused(let response): return .refused(response)
    case .call(let call, let route):
      return HTTPScreening(
        route.budget == .open ? nil : status(of: call), bodyFault: call.bodyFault,
        bodyBytes: call.bodyBytes, refusal: call.refusal)
    }
  }

  /// The answer to what is no proper request; nil for targets of other APIs.
  public func refusal(_ fault: HTTPFault, of target: String) -> HTTPResponse? {
    guard Self.serves(target) else { return nil }
    let error: GetuiError =
      switch fault {
      case .bodyTooLarge: .overLimit("body")
      case .timeout, .busy: .busy
      default: .parameter("The request is malformed")
      }
    return .getui(error.httpStatus, error.json())
  }

  /// The pattern of the route that a request takes, for the log; nil if it takes none.
  public func route(_ method: String, _ target: String) -> String? {
    guard let target = HTTPTarget(target), case .found(let route, _) = table.match(method, target.path) else {
      return nil
    }
    return route.pattern
  }

  private typealias Arrival = CallArrival<GetuiCall, Route>

  private func arrival(of request: HTTPRequest, _ reply: CallReply) -> Arrival {
    let access = AccessLog(log, time)
    func refuse(_ error: GetuiError, allow: [String] = []) -> Arrival {
      var response = HTTPResponse.getui(error.httpStatus, error.json())
      if !allow.isEmpty { response.headers.append("Allow", allow.joined(separator: ", ")) }
      access.answered(request.method, "-", error.httpStatus, reply.requestID, nil)
      return .refused(response)
    }
    guard let target = HTTPTarget(request.target) else { return refuse(.parameter("The path is malformed")) }
    switch table.match(request.method, target.path) {
    case .notFound: return refuse(.notFound)
    case .wrongMethod(let allowed): return refuse(.wrongMethod(allowed), allow: allowed)
    case .found(let route, let captures):
      let call = GetuiCall(
        request: request, target: target, captures: captures, pattern: route.pattern, reply: reply,
        log: access, bodyBytes: route.body.bytes)
      return .call(call, route)
    }
  }
}
