import PushBase
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

/// The HTTP APIs: JPush's push and device API, health and metrics. Safe to use from any thread; answers come through the
/// exchange, on whatever thread has them.
public final class Gateway: Sendable {
  let router: Router
  let limits: GatewayLimits
  let metrics: Metrics
  let time: any TimeSource
  let log: Log
  let isReady: @Sendable () -> Bool
  private let rates: [API: RateLimiter]
  let accepted: Counter
  let refused: Counter
  /// For requests whose parsing would hold up a loop.
  let background = BackgroundWork("gateway")
  let schedules: ScheduleRunner

  private let table: RouteTable<Route>

  /// Makes the gateway. `isReady` turns false while the server drains.
  public init(
    router: Router, limits: GatewayLimits = GatewayLimits(), metrics: Metrics, log: Log,
    time: any TimeSource = SystemTime(), isReady: @escaping @Sendable () -> Bool
  ) {
    self.router = router
    self.limits = limits
    self.metrics = metrics
    self.log = log
    self.time = time
    self.isReady = isReady
    rates = [
      .push: RateLimiter(perMinute: limits.pushCallsPerMinute),
      .device: RateLimiter(perMinute: limits.deviceCallsPerMinute),
      .schedule: RateLimiter(perMinute: limits.scheduleCallsPerMinute),
      .report: RateLimiter(perMinute: limits.reportCallsPerMinute),
    ]
    accepted = metrics.counter("borealis_pushes_accepted_total", "Pushes stored and answered with 200.")
    refused = metrics.counter("borealis_pushes_refused_total", "Push requests answered with an error.")
    schedules = ScheduleRunner(router: router, rules: limits.rules, metrics: metrics)
    var table = RouteTable<Route>()
    for route in Self.routes {
      table.add(route.method, route.pattern, route)
      if let other = Self.beijingPattern(route.pattern) { table.add(route.method, other, route) }
    }
    self.table = table
  }

  /// Work of once a second, by one thread at a time: fires the schedules that are due.
  public func tick() { schedules.run() }

  /// Serves one request.
  public func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    handle(request, GatewayReply(requestID: exchange.requestID) { exchange.respond($0) })
  }

  func handle(_ request: HTTPRequest, _ reply: GatewayReply) {
    let access = AccessLog(log, time)
    func refuse(_ status: Int, _ error: APIError, allow: [String] = []) {
      var response = HTTPResponse.json(status, error.json())
      if !allow.isEmpty { response.headers.append("Allow", allow.joined(separator: ", ")) }
      access.answered(request.method, "-", status, reply.requestID, nil)
      reply.send(response)
    }
    guard let target = HTTPTarget(request.target) else {
      refuse(400, .invalidValue("The path is malformed"))
      return
    }
    switch table.match(request.method, target.path) {
    case .notFound: refuse(404, .invalidValue("There is no such resource"))
    case .wrongMethod(let allowed):
      let methods = allowed.joined(separator: " or ")
      refuse(405, .onlyPost.saying("Only \(methods) is accepted here"), allow: allowed)
    case .found(let route, let captures):
      let call = GatewayCall(
        api: route.api, pattern: route.pattern, request: request, reply: reply, log: access, target: target,
        captures: captures, bodyBytes: limits.bytes(route.body))
      route.api == .open ? route.handle(self, call) : authenticate(call, route.handle)
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

  // MARK: Authentication and budget

  private func authenticate(_ call: GatewayCall, _ handle: @escaping Route.Handler) {
    let faults = call.api.faults
    guard let header = call.request.headers["authorization"] else {
      call.fail(faults.unauthorized)
      return
    }
    guard let (key, secret) = Self.credentials(header) else {
      call.fail(faults.authenticationFailed)
      return
    }
    router.findApp(key) { [self] found in
      guard case .success(let known) = found else {
        call.fail(faults.busy)
        return
      }
      guard let app = known, app.accepts(masterSecret: secret) else {
        call.fail(faults.authenticationFailed)
        return
      }
      guard !app.isDisabled else {
        call.fail(faults.disabled)
        return
      }
      var call = call
      call.app = app
      if let budget = rates[call.api]?.take(app.id, at: time.monotonic()) {
        call.budget = budget
        guard budget.isGranted else {
          call.fail(.rateExceeded)
          return
        }
      }
      guard call.request.body.count <= call.bodyBytes else {
        call.fail(faults.tooLarge("The body has more than \(call.bodyBytes) bytes"))
        return
      }
      handle(self, call)
    }
  }

  /// Reads `Basic base64(key:secret)` (RFC 7617).
  private static func credentials(_ header: String) -> (AppKey, [UInt8])? {
    let bytes = Array(header.utf8)
    guard bytes.count > 6, bytes.count < 200,
      String(decoding: bytes[..<6], as: UTF8.self).lowercased() == "basic "
    else { return nil }
    let coded = bytes[6...].drop { $0 == 32 }
    guard let plain = Base64.decode(coded), let colon = plain.firstIndex(of: 58),
      let key = AppKey(hex: plain[..<colon])
    else { return nil }
    return (key, Array(plain[(colon + 1)...]))
  }
}
