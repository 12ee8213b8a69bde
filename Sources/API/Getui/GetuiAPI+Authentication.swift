import BorealisBase
import Core
import HTTP

/// Authenticates calls in the order of Getui's checks: token, app and address, budget of calls, and then the
/// body.
extension GetuiAPI {
  /// Returns what memory alone tells about the caller, without waiting for the database.
  func status(of call: GetuiCall) -> CallerStatus<GetuiError> {
    guard let token = call.request.headers["token"], let key = Self.key(of: call) else {
      return .refused(.tokenInvalid)
    }
    guard let app = router.apps.loaded(key), let isValid = tokens.checkAtOnce(token, of: app) else {
      return .unknown
    }
    guard isValid else { return .refused(.tokenInvalid) }
    return obstacle(to: call, of: app).map { .refused($0) } ?? .known
  }

  /// Checks the token, whether the app may make the call, and its budget; then starts the route's handler.
  func authenticate(_ call: GetuiCall, _ route: Route) {
    guard let token = call.request.headers["token"] else { return call.fail(.tokenInvalid) }
    findApp(of: call) { [self] app in
      if let isValid = tokens.checkAtOnce(token, of: app) {
        return isValid ? begin(call, route, of: app) : call.fail(.tokenInvalid)
      }
      tokens.check(token, of: app) { [self] result in
        switch result {
        case .failure: call.fail(.busy)
        case .success(false): call.fail(.tokenInvalid)
        case .success(true): begin(call, route, of: app)
        }
      }
    }
  }

  private func begin(_ call: GetuiCall, _ route: Route, of app: App) {
    var call = call
    call.app = app
    if let obstacle = obstacle(to: call, of: app) { return call.fail(obstacle) }
    guard gateway.consumeCall(route.budget, of: app) else { return call.fail(.callsLimited) }
    call.mayCall = true
    if let fault = call.bodyFault { return call.fail(fault) }
    route.handle(self, call)
  }

  /// Finds the app that the path names; answers the call if there is none.
  func findApp(of call: GetuiCall, _ found: @escaping @Sendable (App) -> Void) {
    guard let key = Self.key(of: call) else { return call.fail(.tokenInvalid) }
    router.apps.find(key) { result in
      switch result {
      case .failure: call.fail(.busy)
      case .success(nil): call.fail(.tokenInvalid)
      case .success(let app?): found(app)
      }
    }
  }

  /// Returns the reason why an app may not make a call; nil if it may.
  func obstacle(to call: GetuiCall, of app: App) -> GetuiError? {
    if app.isDisabled { return .appRefused }
    let address = gateway.caller(of: call.request, peer: call.reply.peer)
    return app.allows(address) ? nil : .addressRefused
  }

  /// Getui's `appId` is the app's key.
  private static func key(of call: GetuiCall) -> AppKey? { call.captures["appId"].flatMap { AppKey($0) } }
}
