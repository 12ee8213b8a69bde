import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Serves Getui's REST API v2 with Getui's JSON and return codes, so that an app server only changes its base
/// URL. It converts requests and passes them to the same services as JPush's API. Safe to use from any
/// thread.
package final class GetuiAPI: Sendable {
  /// The limit for the body of a request.
  enum BodySize: Sendable {
    case small, ordinary, batch

    /// The limit in bytes. The server never reads bodies of 4 MB or more.
    var bytes: Int {
      switch self {
      case .small: 8 << 10
      case .ordinary: 256 << 10
      case .batch: 4 << 20 - 1
      }
    }
  }

  /// A method on a path, and its handler.
  struct Route: Sendable {
    typealias Handler = @Sendable (GetuiAPI, GetuiCall) -> Void

    /// The budget that its calls count in; `.open` for routes without a token.
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
  /// Limits the calls of `POST /auth`.
  let authCalls = RateLimiter()
  let tagRates = TagRates()
  /// Runs requests that would block an event loop. The queue has a limit for each app, so that one app cannot
  /// fill it.
  let background = BackgroundWork("borealis.getui", limit: 64, limitOfEach: 8)

  private let table: RouteTable<Route>

  static let routes: [Route] = controllers.flatMap { $0.routes }

  private static let controllers: [any GetuiController.Type] = [
    AuthController.self, SingleController.self, GetuiPushController.self, ListController.self,
    TaskController.self,
    AliasController.self, TagController.self, UserController.self, ReportController.self,
  ]

  /// Makes the API beside a gateway, whose budgets and rules it shares. `keys` opens the sealed master
  /// secrets.
  package init(
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

  /// Whether a request target belongs to this API.
  package static func serves(_ target: String) -> Bool { target.hasPrefix("/v2/") }

  /// The app that a request is about, by its path; nil if it is none of this API.
  package static func app(of request: HTTPRequest) -> AppKey? {
    guard serves(request.target) else { return nil }
    return AppKey(String(request.target.dropFirst(4).prefix { $0 != "/" && $0 != "?" }))
  }

  /// From now on nothing counts that was read of apps' access before.
  package func learnChanges() { tokens.learnChanges() }

  /// The largest body of all routes, in bytes.
  package static let largestBody = BodySize.batch.bytes

  /// Serves one request.
  package func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    handle(
      request, CallReply(exchange))
  }

  func handle(_ request: HTTPRequest, _ reply: CallReply) {
    switch arrival(of: request, reply) {
    case .refused(let response): reply.send(response)
    case .call(var call, let route):
      guard route.budget != .open else {
        return call.bodyFault.map { call.fail($0) } ?? route.handle(self, call)
      }
      call.log.trace = router.tracer?.begin(request)
      authenticate(call, route)
    }
  }

  /// Checks a request by its header, so that the server need not read the body of a request that fails.
  package func screen(_ head: HTTPRequest, requestID: String, peer: IPAddress?) -> HTTPScreening {
    switch arrival(of: head, CallReply(requestID: requestID, peer: peer) { _ in }) {
    case .refused(let response): return .refused(response)
    case .call(let call, let route):
      return HTTPScreening(
        route.budget == .open ? nil : status(of: call), bodyFault: call.bodyFault,
        bodyBytes: call.bodyBytes,
        refusal: { error in
          var call = call
          if route.budget != .open { call.log.trace = router.tracer?.name(head) }
          return call.refusal(error)
        })
    }
  }

  /// Returns the answer to a malformed request; nil for targets of other APIs.
  package static func refusal(_ fault: HTTPFault, of target: String) -> HTTPResponse? {
    guard Self.serves(target) else { return nil }
    let error: GetuiError =
      switch fault {
      case .bodyTooLarge: .overLimit("body", "the server reads less")
      case .targetTooLong: .overLimit("path", "the server reads less")
      case .headerTooLarge: .overLimit("header", "the server reads less")
      case .timeout, .busy, .unserved: .busy
      case .unanswered: .unanswered(at: target)
      default: .parameter("The request is malformed")
      }
    return .getui(error.httpStatus, error.json())
  }

  /// Returns the pattern of a request's route, for the log; nil if there is no such route.
  package func route(_ method: String, _ target: String) -> String? {
    guard let target = HTTPTarget(target), case .found(let route, _) = table.match(method, target.path) else {
      return nil
    }
    return route.pattern
  }

  private typealias Arrival = CallArrival<GetuiCall, Route>

  private func arrival(of request: HTTPRequest, _ reply: CallReply) -> Arrival {
    let access = AccessLog(log, time, router.requestLog)
    let address = gateway.caller(of: request, peer: reply.peer)
    func refuse(_ error: GetuiError, allow: [String] = []) -> Arrival {
      var response = HTTPResponse.getui(error.httpStatus, error.json())
      if !allow.isEmpty { response.headers.append("Allow", allow.joined(separator: ", ")) }
      access.answered(request.method, "-", error.httpStatus, reply.requestID, nil)
      let named = Self.app(of: request).flatMap { router.apps.loaded($0) }
      access.note(
        NotedCaller(app: named, isKnown: false, address: address), request.method, "-", error.httpStatus,
        AnswerFault(code: error.code, message: error.message))
      return .refused(response)
    }
    guard let target = HTTPTarget(request.target) else { return refuse(.parameter("The path is malformed")) }
    switch table.match(request.method, target.path) {
    case .notFound: return refuse(.notFound)
    case .wrongMethod(let allowed): return refuse(.wrongMethod(allowed), allow: allowed)
    case .found(let route, let captures):
      let call = GetuiCall(
        request: request, target: target, captures: captures, pattern: route.pattern, reply: reply,
        log: access, bodyBytes: route.body.bytes, address: address)
      return .call(call, route)
    }
  }
}
