import BorealisBase
import Core

/// The handlers of one feature, each an entry of `routes`. A controller is made for each call.
protocol GetuiController: Sendable {
  /// The routes of the feature; Docs/api/openapi.json describes each.
  static var routes: [GetuiAPI.Route] { get }
  /// The API, which all features share.
  var api: GetuiAPI { get }
  init(api: GetuiAPI)
}

extension GetuiController {
  /// Makes a route for a method on a path below `/v2/{appId}`. Its calls count in the app's budget for
  /// `budget`.
  static func route(
    _ budget: Gateway.API, _ method: String, _ path: String, body: GetuiAPI.BodySize = .ordinary,
    _ handle: @escaping @Sendable (Self, GetuiCall, App) -> Void
  ) -> GetuiAPI.Route {
    GetuiAPI.Route(budget, method, "/v2/{appId}" + path, body: body) { api, call in
      guard let app = call.app else { return call.fail(.tokenInvalid) }
      handle(Self(api: api), call, app)
    }
  }

  /// Makes a route that needs no token.
  static func openRoute(
    _ method: String, _ path: String, _ handle: @escaping @Sendable (Self, GetuiCall) -> Void
  ) -> GetuiAPI.Route {
    GetuiAPI.Route(.open, method, "/v2/{appId}" + path, body: .small) { handle(Self(api: $0), $1) }
  }

  var router: Router { api.router }

  /// Runs the work of a call that pushes. An error that it throws is the answer, and counts as a refused
  /// push.
  func attemptPush(_ call: GetuiCall, _ work: () throws(GetuiError) -> Void) {
    do throws(GetuiError) { try work() } catch {
      api.gateway.notePush(isAccepted: false)
      call.fail(error)
    }
  }
}
