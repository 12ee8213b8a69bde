import PushBase
import PushDomain

extension Gateway {
  /// Which API a route belongs to: that decides its error codes, its budget and who may call it.
  enum API: Sendable, CaseIterable {
    case push
    case device
    case schedule
    case report
    case file
    /// For developers' accounts, not for apps.
    case admin
    /// Needs no app, and has no budget.
    case open

    /// What it answers when a request fails before its own rules come to bear.
    var faults: APIFaults {
      switch self {
      case .push, .file, .open: .push
      case .device: .device
      case .schedule: .schedule
      case .report: .report
      case .admin: .admin
      }
    }
  }

  /// Who may call a route.
  enum Callers: Sendable {
    case app
    case group
    case both
  }

  /// How large the body of a request may be.
  enum BodySize: Sendable {
    case ordinary
    case batch
    case file
  }

  /// A method on a path, and what serves it.
  struct Route: Sendable {
    typealias Handler = @Sendable (Gateway, GatewayCall) -> Void

    let api: API
    let method: String
    /// The path; segments in braces are captures.
    let pattern: String
    let callers: Callers
    let body: BodySize
    let handle: Handler

    init(
      _ api: API, _ method: String, _ pattern: String, by callers: Callers = .app, body: BodySize = .ordinary,
      _ handle: @escaping Handler
    ) {
      self.api = api
      self.method = method
      self.pattern = pattern
      self.callers = callers
      self.body = body
      self.handle = handle
    }
  }

  /// Everything that is served; Docs/api/openapi.json describes each.
  static let routes: [Route] =
    openRoutes + pushRoutes + batchRoutes + fileRoutes + groupRoutes + planRoutes + testDeviceRoutes
    + reportRoutes + whyRoutes + messageReportRoutes + userReportRoutes + deviceReceiptRoutes + deviceRoutes
    + scheduleRoutes + adminRoutes + certificateRoutes + imageRoutes + callbackRoutes

  private static let openRoutes: [Route] = [
    Route(.open, "GET", "/healthz") { _, call in call.answer(200, text: "ok\n") },
    Route(.open, "GET", "/readyz") { gateway, call in
      let isReady = gateway.isReady()
      call.answer(isReady ? 200 : 503, text: isReady ? "ready\n" : "draining\n")
    },
    Route(.open, "GET", "/metrics") { gateway, call in
      call.answer(200, text: gateway.metrics.render(), type: "text/plain; version=0.0.4; charset=utf-8")
    },
    Route(.open, "GET", "/openapi.json") { _, call in
      call.answer(200, text: embeddedDocument, type: "application/json")
    },
  ]

  private static let pushRoutes: [Route] = [
    Route(.push, "POST", "/v3/push") { $0.push($1, isReal: true) },
    Route(.push, "POST", "/v3/push/validate") { $0.push($1, isReal: false) },
    Route(.push, "GET", "/v3/push/cid", by: .both) { $0.issueCIDs($1) },
    Route(.push, "DELETE", "/v3/push/{msg_id}") { $0.recall($1) },
  ]

  private static let reportRoutes: [Route] = [
    Route(.push, "GET", "/v1/pushes/{msg_id}") { $0.showPush($1) },
    Route(.push, "GET", "/v1/apns") { $0.showAPNs($1) },
  ]

  private static let deviceRoutes: [Route] = [
    Route(.device, "GET", "/v3/devices/{rid}") { $0.showDevice($1) },
    Route(.device, "POST", "/v3/devices/{rid}") { $0.updateDevice($1) },
    Route(.device, "POST", "/v3/devices/status") { $0.showStatus($1) },
    Route(.device, "GET", "/v3/aliases/{alias}") { $0.showAlias($1) },
    Route(.device, "POST", "/v3/aliases/{alias}") { $0.updateAlias($1) },
    Route(.device, "DELETE", "/v3/aliases/{alias}") { $0.deleteAlias($1) },
    Route(.device, "GET", "/v3/tags") { $0.listTags($1) },
    Route(.device, "GET", "/v3/tags/{tag}/registration_ids/{rid}") { $0.checkTag($1) },
    Route(.device, "POST", "/v3/tags/{tag}") { $0.updateTag($1) },
    Route(.device, "DELETE", "/v3/tags/{tag}") { $0.deleteTag($1) },
  ]

  /// Bytes of the body on the paths where it may be larger than most, by path without the slashes at both ends.
  public static func largeBodies(_ limits: GatewayLimits) -> [String: Int] {
    var sizes: [String: Int] = [:]
    for route in routes where limits.bytes(route.body) > limits.bodyBytes {
      sizes[String(route.pattern.dropFirst())] = limits.bytes(route.body)
    }
    return sizes
  }

  /// The same path as clients for JPush's Beijing zone ask for it; nil if it is no other there.
  static func beijingPattern(_ pattern: String) -> String? {
    for (prefix, other) in [
      ("/v3/devices", "/v3/device"), ("/v3/aliases", "/v3/device/aliases"), ("/v3/tags", "/v3/device/tags"),
      ("/v3/schedules", "/v3/push/schedules"), ("/v3/received", "/v3/report/received"),
      ("/v3/status", "/v3/report/status"), ("/v3/messages", "/v3/report/messages"),
      ("/v3/users", "/v3/report/users"),
    ] where pattern == prefix || pattern.hasPrefix(prefix + "/") {
      return other + pattern.dropFirst(prefix.count)
    }
    return nil
  }
}

extension GatewayLimits {
  /// Bytes that a body may have.
  func bytes(_ size: Gateway.BodySize) -> Int {
    switch size {
    case .ordinary: bodyBytes
    case .batch: batchBytes
    // The form around the file needs some.
    case .file: fileBytes + 16 << 10
    }
  }
}
