import BorealisBase
import BorealisCrypto
import Channels
import Core
import HTTP
import Model
import PushTesting
import Synchronization

@testable import API
@testable import Storage

/// Getui's API over a real router and database, without sockets.
final class GetuiWorld: Sendable {
  static let secret = "fedcba9876543210fedcba98"

  let api: GetuiAPI
  let router: Router
  let app: App
  let clock: ManualClock
  let keys: SealingKeys
  private let database: TestDatabase
  /// The same one, open beside it for servers that started again.
  private let reopened = Mutex<[TestDatabase]>([])
  var store: Store { database.store }

  init(limits: GatewayLimits = GatewayLimits(), routing: RouterOptions = RouterOptions()) async throws {
    let clock = ManualClock()
    let database = try TestDatabase(open: Self.open)
    let keys = try SealingKeys(text: SealingKeys.makeLine())
    let router = Router(store: database.store, scope: .all, options: routing, time: clock, log: .silent)
    var limits = limits
    limits.rules.renderers = [APNsContentRenderer()]
    let gateway = Gateway(
      router: router, limits: limits, metrics: Metrics(), log: .silent, time: clock
    ) { nil }
    (self.clock, self.database, self.keys, self.router) = (clock, database, keys, router)
    api = GetuiAPI(
      router: router, store: database.store, gateway: gateway, keys: GetuiKeys { keys }, log: .silent,
      time: clock)
    app = try await router.makeApp(in: database.store, secret: "0123456789abcdef01234567")
    try await setSecret(Self.secret)
  }

  /// What a server that starts again makes of the database: it knows no more than what is stored.
  func restarted(zone: any Zone = FixedZone.china) throws -> GetuiAPI {
    let database = try TestDatabase(in: database.folder, open: Self.open)
    reopened.withLock { $0.append(database) }
    var options = RouterOptions()
    options.zone = zone
    let router = Router(store: database.store, scope: .all, options: options, time: clock, log: .silent)
    try router.load()
    var limits = GatewayLimits()
    limits.rules.renderers = [APNsContentRenderer()]
    let gateway = Gateway(
      router: router, limits: limits, metrics: Metrics(), log: .silent, time: clock
    ) { nil }
    return GetuiAPI(
      router: router, store: database.store, gateway: gateway, keys: GetuiKeys { [keys] in keys },
      log: .silent, time: clock)
  }

  private static func open(_ location: Store.Location) throws -> Store {
    try Store.open(location, readers: 2, log: .silent)
  }

  /// Gives an app a master secret for this API.
  func setSecret(_ secret: String, of other: App? = nil) async throws {
    let app = (other ?? app).id
    let row = GetuiAccessRow(
      app: app, secret: GetuiSecret.seal(secret, app: app, with: keys), changedAt: clock.now())
    try await store.change { transaction throws(StorageError) in try transaction.getui.setAccess(row) }
  }

  // MARK: Requests

  /// Makes a request below `/v2/{appId}`. `goOn` is called when the API has begun with it.
  func call(
    _ method: String, _ path: String, _ body: String = "", token: String? = nil, of other: App? = nil,
    by api: GetuiAPI? = nil, from peer: IPAddress? = nil, headers: HTTPHeaders = HTTPHeaders(),
    then goOn: @escaping @Sendable () -> Void = {}
  ) async -> HTTPResponse {
    var headers = headers
    if let token { headers.append("token", token) }
    let request = HTTPRequest(
      method: method, target: "/v2/\((other ?? app).key.text)\(path)", headers: headers,
      body: Array(body.utf8))
    return await awaitCallback { done in
      (api ?? self.api).handle(
        request, GetuiReply(requestID: "request-7", peer: peer) { done($0) })
      goOn()
    }
  }

  /// The body of `POST /auth`.
  func authBody(
    secret: String = GetuiWorld.secret, skew: Int64 = 0, key: String? = nil, isNumber: Bool = false
  ) -> String {
    let (key, stamp) = (key ?? app.key.text, clock.now().milliseconds + skew)
    let sign = Hex.encode(SHA256.digest(Array("\(key)\(stamp)\(secret)".utf8)))
    let timestamp = isNumber ? "\(stamp)" : "\"\(stamp)\""
    return #"{"sign":"\#(sign)","timestamp":\#(timestamp),"appkey":"\#(key)"}"#
  }

  /// A token of the app.
  func token(by api: GetuiAPI? = nil) async -> String {
    await call("POST", "/auth", authBody(), by: api).json["data"]?["token"]?.string ?? ""
  }

  /// Makes a request with a token made for it.
  func ask(_ method: String, _ path: String, _ body: String = "") async -> HTTPResponse {
    await call(method, path, body, token: await token())
  }

  /// What waits for a device.
  func pending(_ id: RegistrationID) -> [MessageID] { PushTests.pending(id, self) }

  /// Fires what is due.
  func tick() async {
    api.gateway.tick()
    while api.gateway.schedules.isBusy {
      await awaitCallback { done in router.registrations.afterChanges { done(()) } }
    }
  }

  /// A push as it is stored.
  func stored(_ id: MessageID) async throws -> PushRow? {
    try await store.change { transaction throws(StorageError) in try transaction.pushes.find(id: id) }
  }

  /// Puts the app on a plan, and waits until the router has it.
  func setPlan(_ plan: PlanRow) async throws {
    let id = app.id
    try await store.change { transaction throws(StorageError) in
      try transaction.plans.set(plan)
      _ = try transaction.apps.setPlan(app: id, plan.name)
    }
    while app.plan != plan { router.tick() }
  }

  func register(platform: Platform = .android) async throws -> RegistrationID {
    try await router.newDevice(in: app, platform: platform).id
  }
}

extension HTTPResponse {
  /// The body, `null` if it is no JSON.
  var json: JSONValue { (try? parseJSON(body)) ?? .null }
  /// The answer's `code`.
  var code: Int { json["code"]?.int64.map { Int($0) } ?? -1 }
  /// The answer's `msg`.
  var message: String { json["msg"]?.string ?? "" }
}
