import BorealisBase
import Model

extension Gateway {
  /// The API of a route, which decides its error codes, its rate limit and who may call it.
  package enum API: Sendable, CaseIterable {
    /// Pushes.
    case push
    /// Devices, aliases and tags.
    case device
    /// Schedules.
    case schedule
    /// Reports.
    case report
    /// Files of names.
    case file
    /// For developers' accounts, not for apps.
    case admin
    /// Needs no app, and has no rate limit.
    case open

    /// Whether it is for the servers of apps, whose calls an app's log of requests has.
    var isForAppServers: Bool { self != .open && self != .admin }

    /// The errors of requests that fail before the route's own rules apply.
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

  /// The API of a route, and the right that a call of an app needs.
  struct Access: Sendable {
    let api: API
    let right: APIRight?

    private init(_ api: API, _ right: APIRight?) { (self.api, self.right) = (api, right) }

    static let push = Access(.push, .push)
    static let schedule = Access(.schedule, .push)
    static let file = Access(.file, .push)
    static let device = Access(.device, .devices)
    static let report = Access(.report, .reports)
    /// What became of pushes, with the codes and in the budget of the push API.
    static let pushReport = Access(.push, .reports)
    /// The app's settings, with the codes and in the budget of the push API.
    static let settings = Access(.push, .settings)
    /// The same of the device API.
    static let deviceSettings = Access(.device, .settings)
    static let admin = Access(.admin, nil)
    static let open = Access(.open, nil)
  }

  /// Who may call a route.
  enum Callers: Sendable {
    case app
    case group
    case both
  }

  /// How large the body of a request may be.
  enum BodySize: Sendable {
    case small
    case ordinary
    case batch
    case file
  }

  /// A method on a path, and its handler.
  struct Route: Sendable {
    typealias Handler = @Sendable (Gateway, GatewayCall) -> Void

    let api: API
    /// The right that a call of an app needs; nil for routes that no app calls.
    let right: APIRight?
    let method: String
    /// The path; segments in braces are captures.
    let pattern: String
    let callers: Callers
    let body: BodySize
    /// Who may call an open route, as far as the header shows; nil for anybody.
    let admits: (@Sendable (Gateway, GatewayCall) -> CallerStatus<APIError>)?
    /// Whether devices in web pages call it, of other sites too.
    let isForPages: Bool
    let handle: Handler

    init(
      _ access: Access, _ method: String, _ pattern: String, by callers: Callers = .app,
      body: BodySize? = nil,
      admits: (@Sendable (Gateway, GatewayCall) -> CallerStatus<APIError>)? = nil,
      isForPages: Bool = false, _ handle: @escaping Handler
    ) {
      (api, right) = (access.api, access.right)
      self.method = method
      self.pattern = pattern
      self.callers = callers
      self.body = body ?? (access.api == .open ? .small : .ordinary)
      self.admits = admits
      self.isForPages = isForPages
      self.handle = handle
    }
  }

  /// All routes; Docs/api/openapi.json describes each.
  static let routes: [Route] = controllers.flatMap { $0.routes }

  private static let controllers: [any GatewayController.Type] = [
    HealthController.self, PushController.self, ForecastController.self, BatchPushController.self,
    FileController.self,
    AppGroupPushController.self, PushPlanController.self, TestDeviceController.self,
    PushReportController.self,
    WhyController.self, MessageReportController.self, UserReportController.self, DeviceReceiptController.self,
    VendorReceiptController.self,
    DeviceTokenController.self, DeviceFactController.self,
    DeviceController.self, ScheduleController.self, AdminController.self, CertificateController.self,
    ImageController.self, DeviceKeyController.self, PersonController.self, APIKeyController.self,
    SealingController.self, CapController.self, QuietHoursController.self, SegmentController.self,
    TemplateController.self,
    TemplatePushController.self, ABTestController.self, CanaryController.self,
    CallbackController.self,
  ]

  /// The API of each path's first two segments.
  private static let apis: [[String]: API] = {
    var apis: [[String]: API] = [:]
    for route in routes {
      for pattern in [route.pattern, beijingPattern(route.pattern)].compactMap({ $0 }) {
        let start = pattern.split(separator: "/").prefix(2).map(String.init)
        if apis[start] == nil { apis[start] = route.api }
      }
    }
    return apis
  }()

  /// The API that an unknown path would belong to.
  static func api(of path: [String]) -> API { apis[Array(path.prefix(2))] ?? .push }

  /// The path in JPush's Beijing zone; nil if it is the same there.
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
    case .small: openBytes
    case .ordinary: bodyBytes
    case .batch: batchBytes
    // Room for the form around the file.
    case .file: fileBytes + 16 << 10
    }
  }
}
