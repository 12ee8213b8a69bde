import BorealisBase
import HTTP

/// The answers that a node gives for itself, whichever node is the home: its health and its metrics.
package struct NodePages: Sendable {
  private let metrics: Metrics
  private let obstacle: @Sendable () -> String?
  private let ready: @Sendable () -> String

  /// `obstacle` returns why the node cannot serve, nil if it can, and `ready` what it says then.
  package init(
    metrics: Metrics, obstacle: @escaping @Sendable () -> String?,
    ready: @escaping @Sendable () -> String = { "ready" }
  ) {
    self.metrics = metrics
    self.obstacle = obstacle
    self.ready = ready
  }

  /// Whether a target is one of these, with a query or without.
  package static func serves(_ target: String) -> Bool {
    switch target.prefix(while: { $0 != "?" }) {
    case "/healthz", "/readyz", "/metrics": true
    default: false
    }
  }

  /// The answer for one of these.
  package func answer(to request: HTTPRequest) -> HTTPResponse {
    let path = request.target.prefix { $0 != "?" }
    let methods = path == "/metrics" ? ["GET", "HEAD"] : ["GET", "HEAD", "OPTIONS"]
    guard methods.contains(request.method) else {
      return HTTPResponse(status: 405, headers: ["Allow": methods.joined(separator: ", ")])
    }
    switch path {
    case "/healthz": return Self.text(200, "ok\n")
    case "/metrics":
      return Self.text(200, metrics.render(), type: "text/plain; version=0.0.4; charset=utf-8")
    default:
      let obstacle = obstacle()
      return Self.text(obstacle == nil ? 200 : 503, (obstacle ?? ready()) + "\n")
    }
  }

  private static func text(
    _ status: Int, _ text: String, type: String = "text/plain; charset=utf-8"
  ) -> HTTPResponse {
    HTTPResponse(status: status, headers: ["Content-Type": type], body: Array(text.utf8))
  }
}
