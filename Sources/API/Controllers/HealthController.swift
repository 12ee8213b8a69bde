import BorealisBase

/// Routes without credentials: health, metrics, and the description of the APIs.
struct HealthController: GatewayController {
  let gateway: Gateway

  static let routes: [Gateway.Route] =
    // HAProxy asks with OPTIONS unless told otherwise.
    ["GET", "OPTIONS"].flatMap { method in
      [
        route(.open, method, "/healthz") { _, call in call.answer(200, text: "ok\n") },
        route(.open, method, "/readyz") { controller, call in
          let obstacle = controller.gateway.obstacle()
          call.answer(obstacle == nil ? 200 : 503, text: (obstacle ?? "ready") + "\n")
        },
      ]
    } + [
      route(.open, "GET", "/metrics") { controller, call in
        call.answer(
          200, text: controller.gateway.metrics.render(), type: "text/plain; version=0.0.4; charset=utf-8")
      },
      route(.open, "GET", "/openapi.json") { _, call in
        call.answer(document: APIDescription.bytes, type: "application/json")
      },
    ]
}

/// The description of the APIs in OpenAPI's form.
package enum APIDescription {
  /// The document as JSON.
  package static let bytes = Array(embeddedDocument.utf8)
}
