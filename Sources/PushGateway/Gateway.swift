import PushBase
import PushCallbacks
import PushDomain
import PushHTTP
import PushHTTPServer
import PushJSON
import PushRouter

/// Bounds of the HTTP APIs. The defaults suit an installation of one's own; JPush's free plan has 600 and 10.
public struct GatewayLimits: Sendable {
  /// Calls of the push API in a minute, for each app.
  public var pushCallsPerMinute = 6_000_000
  /// Calls of the device API in a minute, for each app.
  public var deviceCallsPerMinute = 600_000
  /// Calls of the schedule API in a minute, for each app.
  public var scheduleCallsPerMinute = 60_000
  /// Calls of the report API in a minute, for each app.
  public var reportCallsPerMinute = 600_000
  /// Calls of the file API in a minute, for each app.
  public var fileCallsPerMinute = 60_000
  /// Calls of the admin API in a minute, for each account.
  public var adminCallsPerMinute = 600
  /// Proxies whose `X-Forwarded-For` is believed.
  public var trustedProxies: [IPNetwork] = []
  /// Bytes of a request's body; the largest push object that makes sense stays well below.
  public var bodyBytes = 256 << 10
  /// Bytes of the body of a batch of single pushes.
  public var batchBytes = 4 << 20
  /// Bytes of a file of aliases or registration IDs.
  public var fileBytes = 10 << 20
  /// Rules of push objects and names.
  public var rules = PushRules()

  /// The defaults.
  public init() {}
}

/// The HTTP APIs: JPush's, our own beside them, health and metrics. Safe to use from any thread; answers come through the
/// exchange, on whatever thread has them.
public final class Gateway: Sendable {
  let router: Router
  let limits: GatewayLimits
  let metrics: Metrics
  let time: any TimeSource
  let log: Log
  let isReady: @Sendable () -> Bool
  let rates: [API: RateLimiter]
  /// Callbacks to app servers, nil where there are none.
  public let callbacks: CallbackService?
  /// Those of groups, whose numbers are not those of apps.
  let groupRates: [API: RateLimiter]
  let accepted: Counter
  let refused: Counter
  let groupPushes: Counter
  let storedFiles: Counter
  let storedValues: Counter
  /// For requests whose parsing would hold up a loop.
  let background = BackgroundWork("borealis.gateway", limit: 64)
  /// For certificates and their keys, which take a second of a core at worst; a few of each account may wait. Uploads over
  /// other ways belong here too.
  public let certificates = BackgroundWork("borealis.certificates", limit: 32, limitOfEach: 2)
  let schedules: ScheduleRunner
  let limited: Counter

  private let table: RouteTable<Route>

  /// Makes the gateway. `isReady` turns false while the server drains.
  public init(
    router: Router, callbacks: CallbackService? = nil, limits: GatewayLimits = GatewayLimits(),
    metrics: Metrics, log: Log,
    time: any TimeSource = SystemTime(), isReady: @escaping @Sendable () -> Bool
  ) {
    self.router = router
    self.callbacks = callbacks
    self.limits = limits
    self.metrics = metrics
    self.log = log
    self.time = time
    self.isReady = isReady
    rates = Dictionary(uniqueKeysWithValues: API.allCases.map { ($0, RateLimiter()) })
    groupRates = Dictionary(uniqueKeysWithValues: API.allCases.map { ($0, RateLimiter()) })
    accepted = metrics.counter("borealis_pushes_accepted_total", "Pushes stored and answered with 200.")
    refused = metrics.counter("borealis_pushes_refused_total", "Push requests answered with an error.")
    groupPushes = metrics.counter(
      "borealis_group_pushes_total",
      "Pushes to groups of apps stored; each is also a push of some of its apps.")
    storedFiles = metrics.counter(
      "borealis_files_stored_total", "Files of aliases or registration IDs stored.")
    storedValues = metrics.counter(
      "borealis_file_values_stored_total", "Values in the files that were stored.")
    schedules = ScheduleRunner(router: router, rules: limits.rules, metrics: metrics)
    limited = metrics.counter(
      "borealis_calls_limited_total", "Calls refused because their minute's are used up.")
    var table = RouteTable<Route>()
    for route in Self.routes {
      table.add(route.method, route.pattern, route)
      if let other = Self.beijingPattern(route.pattern) { table.add(route.method, other, route) }
    }
    self.table = table
  }

  /// Work of once a second, by one thread at a time: fires the schedules that are due.
  public func tick() { schedules.run() }

  /// The rules of push objects and names.
  public var pushRules: PushRules { limits.rules }

  /// Serves one request.
  public func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    let reply = GatewayReply(requestID: exchange.requestID, peer: exchange.peer) { exchange.respond($0) }
    handle(request, reply)
  }

  func handle(_ request: HTTPRequest, _ reply: GatewayReply) {
    switch arrival(of: request, reply) {
    case .refused(let response): reply.send(response)
    case .call(let call, let route):
      route.api == .open ? route.handle(self, call) : authenticate(call, route.handle)
    }
  }

  /// The answer to a request that can be told from its header, so that its body need not be read: there is no such call,
  /// or whoever calls may not. Nil if the body has to come.
  public func screen(_ head: HTTPRequest, requestID: String, peer: IPAddress?) -> HTTPResponse? {
    switch arrival(of: head, GatewayReply(requestID: requestID, peer: peer) { _ in }) {
    case .refused(let response): response
    case .call(let call, let route): route.api == .open ? nil : obstacle(to: call).map { call.refusal($0) }
    }
  }

  /// What a request turns out to be.
  private enum Arrival {
    case refused(HTTPResponse)
    case call(GatewayCall, Route)
  }

  private func arrival(of request: HTTPRequest, _ reply: GatewayReply) -> Arrival {
    let access = AccessLog(log, time)
    func refuse(_ status: Int, _ error: APIError, allow: [String] = []) -> Arrival {
      var response = HTTPResponse.json(status, error.json())
      if !allow.isEmpty { response.headers.append("Allow", allow.joined(separator: ", ")) }
      access.answered(request.method, "-", status, reply.requestID, nil)
      return .refused(response)
    }
    guard let target = HTTPTarget(request.target) else {
      return refuse(400, .invalidValue("The path is malformed"))
    }
    switch table.match(request.method, target.path) {
    case .notFound: return refuse(404, .invalidValue("There is no such resource"))
    case .wrongMethod(let allowed):
      let methods = allowed.joined(separator: " or ")
      let error: APIError = target.path.starts(with: ["v1", "app"]) ? .adminMethod : .onlyPost
      return refuse(405, error.saying("Only \(methods) is accepted here"), allow: allowed)
    case .found(let route, let captures):
      var call = GatewayCall(
        api: route.api, pattern: route.pattern, request: request, reply: reply, log: access, target: target,
        captures: captures, callers: route.callers, bodyBytes: limits.bytes(route.body))
      // For whoever turns out to be nobody; the numbers tell nothing about keys.
      call.budget = standardQuota(route.api).map { .untouched($0) }
      return .call(call, route)
    }
  }

  /// The answer to what is no proper request.
  public func refusal(_ fault: HTTPFault) -> HTTPResponse {
    let error: APIError =
      switch fault {
      case .bodyTooLarge: .tooLarge("The body is too large")
      case .timeout, .busy: .timeout
      default: .invalidValue("The request is malformed")
      }
    return .json(fault.status, error.json())
  }
}
