import BorealisBase
import Core
import HTTP
import Model
import Storage

/// Limits of the HTTP APIs. The defaults suit a private installation; JPush's free plan has 600 and 10.
package struct GatewayLimits: Sendable {
  /// Calls of the push API in a minute, for each app.
  package var pushCallsPerMinute = 6_000_000
  /// Calls of the device API in a minute, for each app.
  package var deviceCallsPerMinute = 600_000
  /// Calls of the schedule API in a minute, for each app.
  package var scheduleCallsPerMinute = 60_000
  /// Calls of the report API in a minute, for each app.
  package var reportCallsPerMinute = 600_000
  /// Calls of the file API in a minute, for each app.
  package var fileCallsPerMinute = 60_000
  /// Calls of the admin API in a minute, for each account.
  package var adminCallsPerMinute = 600
  /// Proxies whose `X-Forwarded-For` is trusted.
  package var trustedProxies: [IPNetwork] = []
  /// Bytes of the body of a request that needs no credentials. 256 receipts fit.
  package var openBytes = 8 << 10
  /// Bytes of a request's body; sensible push objects are much smaller.
  package var bodyBytes = 256 << 10
  /// Bytes of the body of a batch of single pushes.
  package var batchBytes = 4 << 20
  /// Bytes of a file of aliases or registration IDs.
  package var fileBytes = 10 << 20
  /// Rules of push objects and names.
  package var rules = PushRules()

  /// The defaults.
  package init() {}
}

/// The HTTP APIs: JPush's, Borealis' own, health and metrics. Safe to use from any thread; answers go through
/// the exchange, on any thread.
package final class Gateway: Sendable {
  let router: Router
  let limits: GatewayLimits
  /// The metrics of the server, which `/metrics` serves.
  package let metrics: Metrics
  let time: any TimeSource
  let log: Log
  package let obstacle: @Sendable () -> String?
  private let allowsPage: @Sendable (_ origin: String, _ host: String?) -> Bool
  let rates: [API: RateLimiter]
  /// Callbacks to app servers, nil if there are none.
  package let callbacks: CallbackService?
  /// The limiters of groups, whose numbers are not those of apps.
  let groupRates: [API: RateLimiter]
  let accepted: Counter
  let refused: Counter
  let groupPushes: Counter
  let storedFiles: Counter
  let storedValues: Counter
  /// For requests whose parsing would block a loop; a few of each app may wait, so that none keeps out the
  /// others.
  let background = BackgroundWork("borealis.gateway", limit: 64, limitOfEach: 8)
  /// Batches of pushes, also those of APIs beside this one.
  package let batches = Turns<AppID>()
  /// For uploads of files: to check one takes up to some seconds, for which no other request should wait, nor
  /// an event loop.
  let uploads = BackgroundWork("borealis.uploads", limit: 64, limitOfEach: 8, niceness: 5)
  /// For certificates and their keys, which take up to a second of a core; a few of each account may wait.
  /// Uploads through other pages use it too.
  package let certificates = BackgroundWork("borealis.certificates", limit: 32, limitOfEach: 2)
  let schedules: ScheduleRunner
  let abTests: DueRunner<DueABTestRun>
  let canaries: DueRunner<DueCanary>
  let limited: Counter

  private let table: RouteTable<Route>

  /// Makes the gateway. `obstacle` returns why the server is not ready, nil if it is; `allowsPage` whether
  /// pages of an origin may be devices, which then read answers to their calls (CORS).
  package init(
    router: Router, callbacks: CallbackService? = nil, limits: GatewayLimits = GatewayLimits(),
    metrics: Metrics, log: Log,
    time: any TimeSource = SystemTime(),
    allowsPage: @escaping @Sendable (_ origin: String, _ host: String?) -> Bool = { _, _ in false },
    obstacle: @escaping @Sendable () -> String?
  ) {
    self.router = router
    self.callbacks = callbacks
    self.limits = limits
    self.metrics = metrics
    self.log = log
    self.time = time
    self.obstacle = obstacle
    self.allowsPage = allowsPage
    rates = Dictionary(uniqueKeysWithValues: API.allCases.map { ($0, RateLimiter()) })
    groupRates = Dictionary(uniqueKeysWithValues: API.allCases.map { ($0, RateLimiter()) })
    accepted = metrics.counter("borealis_pushes_accepted_total")
    refused = metrics.counter("borealis_pushes_refused_total")
    groupPushes = metrics.counter("borealis_group_pushes_total")
    storedFiles = metrics.counter("borealis_files_stored_total")
    storedValues = metrics.counter("borealis_file_values_stored_total")
    schedules = ScheduleRunner(router: router, rules: limits.rules, metrics: metrics, log: log)
    abTests = DueRunner(
      tests: router, rules: limits.rules, ended: metrics.counter("borealis_abtest_runs_ended_total"))
    canaries = DueRunner(
      canaries: router, rules: limits.rules, ended: metrics.counter("borealis_canaries_ended_total"))
    limited = metrics.counter("borealis_calls_limited_total")
    var table = RouteTable<Route>()
    for route in Self.routes {
      table.add(route.method, route.pattern, route)
      if let other = Self.beijingPattern(route.pattern) { table.add(route.method, other, route) }
    }
    self.table = table
  }

  /// Fires due schedules, chooses the winners of A/B tests, and decides whether pushes go on after their
  /// canaries. Call once a second, by one thread at a time.
  package func tick() {
    schedules.run()
    abTests.run()
    canaries.run()
  }

  /// Counts a push request that an API beside this one has answered.
  package func notePush(isAccepted: Bool) { isAccepted ? accepted.add() : refused.add() }

  /// The rules of push objects and names.
  package var pushRules: PushRules { limits.rules }
  /// Those for pushes of an app.
  package func pushRules(of app: App) -> PushRules { app.pushRules(limits.rules) }

  /// Bytes of the largest body that any request may have.
  package static func largestBody(_ limits: GatewayLimits) -> Int {
    routes.reduce(0) { max($0, limits.bytes($1.body)) }
  }

  /// As at JPush, the IDs start with the key of the app or the group.
  package static func isCID(_ cid: String, issuedTo key: AppKey) -> Bool { cid.hasPrefix(key.text + "-") }

  /// A random UUID (RFC 9562 version 4).
  package static func uuid() -> String {
    var bytes = SystemRandom.bytes(16)
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    let digits = Hex.encode(bytes).utf8.map { $0 }
    let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
    return parts.map { String(decoding: digits[$0], as: UTF8.self) }.joined(separator: "-")
  }

  /// Serves one request, or with `passOn` has another one served in its place by another home.
  package func handle(
    _ request: HTTPRequest, _ exchange: HTTPExchange, passOn: (@Sendable (HTTPRequest) -> Void)? = nil
  ) {
    handle(request, CallReply(exchange, passOn: passOn))
  }

  func handle(_ request: HTTPRequest, _ reply: CallReply) {
    switch arrival(of: request, reply) {
    case .refused(let response): reply.send(response)
    case .call(var call, let route):
      guard route.api == .open else {
        call.log.trace = router.tracer?.begin(request)
        return authenticate(call, route.handle)
      }
      call.bodyFault.map { call.fail($0) } ?? route.handle(self, call)
    }
  }

  /// Screens a request by its header, so that its body need not be read: an unknown route, a caller without
  /// access, or a body that is not accepted.
  package func screen(_ head: HTTPRequest, requestID: String, peer: IPAddress?) -> HTTPScreening {
    switch arrival(of: head, CallReply(requestID: requestID, peer: peer) { _ in }) {
    case .refused(let response): return .refused(response)
    case .call(let call, let route):
      return HTTPScreening(
        route.api == .open ? route.admits?(self, call) : status(of: call), bodyFault: call.bodyFault,
        bodyBytes: call.bodyBytes,
        refusal: { error in
          var call = noting(call)
          if route.api != .open { call.log.trace = router.tracer?.name(head) }
          return call.refusal(error)
        })
    }
  }

  private typealias Arrival = CallArrival<GatewayCall, Route>

  private func arrival(of request: HTTPRequest, _ reply: CallReply) -> Arrival {
    let access = AccessLog(log, time, router.requestLog)
    let address = caller(of: request, peer: reply.peer)
    func refuse(_ status: Int, _ error: APIError, in api: API = .push, allow: [String] = []) -> Arrival {
      var response = HTTPResponse.json(status, error.json())
      let caller = self.caller(of: request, from: address)
      if let budget = budget(of: caller, api) { response.headers.append(budget) }
      if !allow.isEmpty { response.headers.append("Allow", allow.joined(separator: ", ")) }
      access.answered(request.method, "-", status, reply.requestID, nil)
      if api.isForAppServers {
        let fault = AnswerFault(code: error.code, message: error.message)
        access.note(caller, request.method, "-", status, fault)
      }
      return .refused(response)
    }
    guard let target = HTTPTarget(request.target) else {
      return refuse(
        400, .invalidValue("The path is malformed: a % must be followed by two hexadecimal digits of UTF-8"))
    }
    switch table.match(request.method, target.path) {
    case .notFound:
      return refuse(
        404, .invalidValue("There is no such path: \(request.target.prefix { $0 != "?" }.prefix(100))"),
        in: Self.api(of: target.path))
    case .wrongMethod(let allowed):
      let methods = allowed.joined(separator: " or ")
      let error: APIError = target.path.starts(with: ["v1", "app"]) ? .adminMethod : .onlyPost
      let api = Self.api(of: target.path)
      return refuse(
        405, error.saying("Only \(methods) is accepted here, not \(request.method.prefix(20))"), in: api,
        allow: allowed)
    case .found(let route, let captures):
      var call = GatewayCall(
        api: route.api, pattern: route.pattern, request: request, reply: reply, log: access, target: target,
        captures: captures, callers: route.callers, bodyBytes: limits.bytes(route.body), right: route.right,
        address: address)
      // For unauthenticated callers; the numbers reveal nothing about keys.
      call.budget = standardQuota(route.api).map { .untouched($0) }
      if route.isForPages, let origin = request.headers["origin"],
        allowsPage(origin, request.headers["host"])
      {
        call.page = origin
      }
      return .call(call, route)
    }
  }

  /// The pattern of a request's route, for the log; nil if there is none.
  package func route(_ method: String, _ target: String) -> String? {
    guard let target = HTTPTarget(target), case .found(let route, _) = table.match(method, target.path) else {
      return nil
    }
    return route.pattern
  }

  /// The answer to a malformed request.
  package static func refusal(_ fault: HTTPFault) -> HTTPResponse {
    let error: APIError =
      switch fault {
      case .bodyTooLarge: .tooLarge("The body is too large")
      case .timeout, .busy, .unserved: .timeout
      case .unanswered: .unanswered
      default: .invalidValue("The request is malformed")
      }
    return .json(fault.status, error.json())
  }
}
