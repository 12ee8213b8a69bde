import BorealisBase
import Core

/// The handlers of one feature, each an entry of `routes`. It lives as long as a call.
protocol GatewayController: Sendable {
  /// All routes; Docs/api/openapi.json describes each.
  static var routes: [Gateway.Route] { get }
  /// The services that all features share.
  var gateway: Gateway { get }
  init(gateway: Gateway)
}

extension GatewayController {
  /// A method on a path, and the handler that serves it.
  static func route(
    _ access: Gateway.Access, _ method: String, _ pattern: String, by callers: Gateway.Callers = .app,
    body: Gateway.BodySize? = nil, isForPages: Bool = false,
    _ handle: @escaping @Sendable (Self, GatewayCall) -> Void
  ) -> Gateway.Route {
    Gateway.Route(access, method, pattern, by: callers, body: body, isForPages: isForPages) {
      handle(Self(gateway: $0), $1)
    }
  }

  var router: Router { gateway.router }
  var limits: GatewayLimits { gateway.limits }
}
