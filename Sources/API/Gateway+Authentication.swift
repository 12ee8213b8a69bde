import BorealisBase
import Core
import HTTP
import Model
import Storage

extension Gateway {
  /// Authenticates and authorizes the caller, checks the rate limit, and then runs the route's handler.
  func authenticate(_ call: GatewayCall, _ handle: @escaping Route.Handler) {
    do throws(APIError) {
      let caller = try CallerCredentials(of: call)
      switch caller.kind(at: call.api) {
      case .app: authenticateApp(caller.key, caller.secret, call, handle)
      case .group: authenticateGroup(caller.key, caller.secret, call, handle)
      case .developer: authenticateDeveloper(caller.key, caller.secret, call, handle)
      }
    } catch {
      call.fail(error)
    }
  }

  /// What can be told at once of whoever makes a call. An app that is not in memory is known only to the
  /// database, and so are groups and developers.
  func status(of call: GatewayCall) -> CallerStatus<APIError> {
    do throws(APIError) {
      let caller = try CallerCredentials(of: call)
      guard caller.kind(at: call.api) == .app, let app = router.apps.loaded(caller.key)
      else { return .unknown }
      guard let credential = app.credential(caller.secret) else {
        return .refused(Self.wrongSecret(call))
      }
      return obstacle(to: call, of: app, credential.key).map { .refused($0) } ?? .known
    } catch {
      return .refused(error)
    }
  }

  /// The rate limit headers of a request that does not count as a call.
  func budget(of caller: NotedCaller, _ api: API) -> RateLimiter.Budget? {
    guard let standard = standardQuota(api) else { return nil }
    guard caller.isKnown, let app = caller.app, let limiter = rates[api], let quota = quota(api, app.plan)
    else { return .untouched(standard) }
    return limiter.look(app.id.rawValue, quota: quota, at: time.monotonic())
  }

  /// Who makes a request that is not a call, as far as memory knows.
  func caller(of request: HTTPRequest, from address: IPAddress?) -> NotedCaller {
    guard let header = request.headers["authorization"], let caller = CallerCredentials(header),
      !caller.isGroup, let app = router.apps.loaded(caller.key)
    else { return NotedCaller(app: nil, isKnown: false, address: address) }
    let credential = app.credential(caller.secret)
    let isExpired = credential?.key?.grant.isExpired(at: time.now()) ?? false
    return NotedCaller(
      app: app, isKnown: credential != nil && !isExpired, key: credential?.key, address: address)
  }

  /// The call with its caller, as far as memory knows, for the log of requests.
  func noting(_ call: GatewayCall) -> GatewayCall {
    var call = call
    let caller = caller(of: call.request, from: call.address)
    if caller.isKnown { (call.app, call.key) = (caller.app, caller.key) }
    return call
  }

  /// Why an authenticated app may not make a call.
  private func obstacle(to call: GatewayCall, of app: App, _ key: APIKey?) -> APIError? {
    if let key, key.grant.isExpired(at: time.now()) {
      return call.api.faults.authenticationFailed.saying("The API key has expired")
    }
    if app.isDisabled { return call.api.faults.disabled }
    guard app.allows(call.address), key?.grant.allows(call.address) ?? true else { return .addressRefused }
    guard let key, let right = call.right else { return nil }
    return key.grant.rights.contains(right)
      ? nil : .notPermitted("The API key lacks the right that this call needs: \(right.rawValue)")
  }

  private func authenticateApp(
    _ key: AppKey, _ secret: [UInt8], _ call: GatewayCall, _ handle: @escaping Route.Handler
  ) {
    router.apps.find(key) { [self] found in
      var credential: AppCredential?
      guard
        let app = verified(
          found, call,
          by: {
            credential = $0.credential(secret, at: time.now())
            return credential != nil
          })
      else { return }
      var call = call
      (call.app, call.key) = (app, credential?.key)
      if let obstacle = obstacle(to: call, of: app, call.key) {
        call.fail(obstacle)
        return
      }
      begin(call, for: app.id.rawValue, quota: quota(call.api, app.plan), handle)
    }
  }

  /// A group may call from addresses that all of its apps allow.
  private func authenticateGroup(
    _ key: AppKey, _ secret: [UInt8], _ call: GatewayCall, _ handle: @escaping Route.Handler
  ) {
    router.groups.find(key) { [self] found in
      guard let group = verified(found, call, by: { $0.accepts(masterSecret: secret) }) else { return }
      guard group.apps.allSatisfy({ $0.allows(call.address) }) else {
        call.fail(.addressRefused)
        return
      }
      var call = call
      call.group = group
      let number = UInt32(truncatingIfNeeded: group.id)
      begin(call, for: number, quota: standardQuota(call.api), handle)
    }
  }

  private func authenticateDeveloper(
    _ key: AppKey, _ secret: [UInt8], _ call: GatewayCall, _ handle: @escaping Route.Handler
  ) {
    router.apps.findAccount(key) { [self] found in
      guard let account = verified(found, call, by: { $0.accepts(secret: secret) }) else { return }
      guard !account.isDisabled else {
        call.fail(call.api.faults.disabled)
        return
      }
      var call = call
      call.account = account
      begin(call, for: account.id.rawValue, quota: standardQuota(.admin), handle)
    }
  }

  /// The owner of a key, if the secret is right; else answers the call.
  private func verified<Caller>(
    _ found: Result<Caller?, DeviceFailure>, _ call: GatewayCall, by accepts: (Caller) -> Bool
  ) -> Caller? {
    switch found {
    case .failure: call.fail(call.api.faults.busy)
    case .success(let known?) where accepts(known): return known
    case .success: call.fail(Self.wrongSecret(call))
    }
    return nil
  }

  /// Without saying which of the two is wrong.
  private static func wrongSecret(_ call: GatewayCall) -> APIError {
    call.api.faults.authenticationFailed.saying("The key is unknown or the secret is wrong")
  }

  /// Runs a call if its caller has one left in this minute.
  private func begin(_ call: GatewayCall, for caller: UInt32, quota: Int?, _ handle: Route.Handler) {
    var call = call
    if let limiter = (call.group == nil ? rates : groupRates)[call.api], let quota {
      let budget = limiter.consume(caller, quota: quota, at: time.monotonic())
      call.budget = budget
      guard budget.isGranted else {
        limited.add()
        call.fail(.rateExceeded)
        return
      }
    }
    call.mayCall = true
    if let fault = call.bodyFault {
      call.fail(fault)
      return
    }
    handle(self, call)
  }

  // MARK: Calls in a minute

  /// The calls per minute in the server's settings; nil for an API without a limit.
  func standardQuota(_ api: API) -> Int? {
    switch api {
    case .push: limits.pushCallsPerMinute
    case .device: limits.deviceCallsPerMinute
    case .schedule: limits.scheduleCallsPerMinute
    case .report: limits.reportCallsPerMinute
    case .file: limits.fileCallsPerMinute
    case .admin: limits.adminCallsPerMinute
    case .open: nil
    }
  }

  /// Counts additional pushes of one call, as far as the app has calls left in this minute.
  func consumePushes(_ count: Int, of app: App) -> (granted: Int, budget: RateLimiter.Budget)? {
    guard let limiter = rates[.push], let quota = quota(.push, app.plan) else { return nil }
    return limiter.consume(app.id.rawValue, upTo: count, quota: quota, at: time.monotonic())
  }

  /// Returns pushes that were counted and are not made.
  func giveBack(_ count: Int, to app: App) -> RateLimiter.Budget? {
    guard let limiter = rates[.push], let quota = quota(.push, app.plan) else { return nil }
    return limiter.giveBack(count, to: app.id.rawValue, quota: quota, at: time.monotonic())
  }

  /// Counts a push that was not requested with the app's key as one call; false if there is none left in this
  /// minute.
  package func consumePushCall(of app: App) -> Bool { consumePushes(1, of: app)?.granted != 0 }

  /// Counts a call of an app through another API; false if there is none left in this minute.
  package func consumeCall(_ api: API, of app: App) -> Bool {
    guard let limiter = rates[api], let quota = quota(api, app.plan) else { return true }
    return limiter.consume(app.id.rawValue, quota: quota, at: time.monotonic()).isGranted
  }

  func quota(_ api: API, _ plan: PlanRow) -> Int? {
    let own: Int? =
      switch api {
      case .push: plan.pushCalls
      case .device: plan.deviceCalls
      case .schedule: plan.scheduleCalls
      case .report: plan.reportCalls
      case .file: plan.fileCalls
      case .admin, .open: nil
      }
    return own ?? standardQuota(api)
  }

  // MARK: Where a call comes from

  /// The client's address of a request on a connection from `peer`; nil if a trusted proxy names none.
  package func caller(of request: HTTPRequest, peer: IPAddress?) -> IPAddress? {
    TrustedProxies(limits.trustedProxies).client(of: request, from: peer)
  }

  /// The app or the group of apps that a request is about, by its path, its body or its credentials; nil if
  /// it names none. That of a body is known only when this has come.
  package static func app(of request: HTTPRequest) -> AppKey? {
    if request.target.hasPrefix("/v1/"), let path = HTTPTarget(request.target)?.path, path.count > 1 {
      switch path[1] {
      case "app" where path.count > 2: return AppKey(path[2])
      case "vendor-receipts" where path.count > 3: return ReceiptCode(path[3]).app
      case "receipts", "tokens": return DeviceCredential.app(in: request.body)
      default: break
      }
    }
    return request.headers["authorization"].flatMap(CallerCredentials.init)?.key
  }
}
