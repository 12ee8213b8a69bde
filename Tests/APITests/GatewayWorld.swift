import BorealisBase
import BorealisCrypto
import Channels
import Core
import Glibc
import HTTP
import Model
import PushTesting
import Synchronization

@testable import API
@testable import Storage

/// The connection that the writer uses, for tests that take away what it needs while it has nothing to do:
/// its queue orders what both threads do.
final class WriterConnection: @unchecked Sendable {
  fileprivate(set) var database: Database?
}

/// The gateway over a real router and database, without sockets.
final class GatewayWorld: Sendable {
  static let secret = "0123456789abcdef01234567"

  let gateway: Gateway
  let router: Router
  let app: App
  let clock = ManualClock()
  let log = LogLines()
  let routerLog = LogLines()
  let metrics = Metrics()
  private let callbacks: CallbackService?
  let database: TestDatabase
  var store: Store { database.store }
  private let writer = WriterConnection()

  init(
    limits: GatewayLimits = GatewayLimits(), options: Store.Options = Store.Options(),
    routing: RouterOptions = RouterOptions()
  ) async throws {
    database = try TestDatabase { [writer] location in
      try Store.open(
        location, readers: 2, log: .silent, options: options, migrations: location.migrations
      ) {
        writer.database = $0
      }
    }
    let lines = log
    let log = Log(level: .debug) { lines.add($0) }
    let routerLines = routerLog
    router = Router(
      store: database.store, scope: .all, options: routing, time: clock,
      log: Log(level: .info) { routerLines.add($0) })
    let keys = try SealingKeys(text: SealingKeys.makeLine())
    callbacks = CallbackService(
      router: router, store: database.store,
      keys: CallbackKeys(read: { .success(keys) }, readOrMake: { _ in .success(keys) }), metrics: metrics,
      time: clock, log: .silent)
    var limits = limits
    limits.rules.renderers = [APNsContentRenderer()]
    gateway = Gateway(
      router: router, callbacks: callbacks, limits: limits, metrics: metrics, log: log, time: clock,
      allowsPage: { origin, _ in origin == "https://www.example.com" }
    ) { nil }
    app = try await router.makeApp(in: database.store, secret: Self.secret)
  }

  deinit { callbacks?.close() }

  func addApp() async throws -> App { try await router.makeApp(in: store, secret: Self.secret) }

  // MARK: Requests

  /// Makes a request of an app, by default with its secret. `goOn` is called when the gateway has begun with
  /// it.
  func call(
    _ method: String, _ target: String, _ body: String = "", as other: App? = nil,
    authorization: String? = "right", from peer: IPAddress? = nil, headers: HTTPHeaders = HTTPHeaders(),
    then goOn: @escaping @Sendable () -> Void = {}
  ) async -> HTTPResponse {
    var headers = headers
    if authorization == "right" {
      headers.append("authorization", Self.basic((other ?? app).key.text, Self.secret))
    } else if let authorization {
      headers.append("authorization", authorization)
    }
    let request = HTTPRequest(method: method, target: target, headers: headers, body: Array(body.utf8))
    return await awaitCallback { done in
      gateway.handle(request, CallReply(requestID: "request-7", peer: peer) { done($0) })
      goOn()
    }
  }

  /// What asks for members of Borealis' own.
  let extensions: HTTPHeaders = ["X-Borealis-Extensions": "1"]

  static func basic(_ user: String, _ password: String) -> String {
    "Basic " + Base64.encode(Array("\(user):\(password)".utf8))
  }

  /// A push to everyone, or to the audience.
  func push(_ members: String = #""notification":{"alert":"x"}"#, to audience: String = #""all""#) async
    -> HTTPResponse
  {
    await call("POST", "/v3/push", #"{"platform":"all","audience":\#(audience),\#(members)}"#)
  }

  // MARK: Devices

  func register(platform: Platform = .android, in other: App? = nil) async throws -> RegistrationID {
    try await router.newDevice(in: other ?? app, platform: platform).id
  }

  func registerMany(_ count: Int) async throws -> [RegistrationID] {
    var ids: [RegistrationID] = []
    for _ in 0..<count { ids.append(try await register()) }
    return ids
  }

  /// What waits for a device.
  func pending(_ id: RegistrationID, in other: App? = nil) -> [MessageID] {
    let directory = (other ?? app).directory
    guard let number = directory.find(id) else { return [] }
    return directory.pending(
      for: number, after: MessageID(0), at: UInt32(clamping: clock.now().seconds), limit: 1000
    ).ids
  }

  /// Writes what may be late, and waits until it is stored.
  func settle() async throws {
    router.tick()
    for _ in 0..<3 { _ = try await store.change { _ throws(StorageError) in 0 } }
  }

  /// Stores an event for the app's server.
  func storeEvent(_ eventID: String) async throws {
    let (id, now) = (app.id, clock.now())
    let body = CallbackEvent.body([CallbackEvent([], id: eventID, at: now)])
    try await store.change { transaction throws(StorageError) in
      try transaction.callbacks.insertBatch(
        app: id, to: nil, events: 1, body: body, at: now, until: now.adding(seconds: CallbackEvent.lifetime))
    }
  }

  // MARK: Faults

  /// Runs a pragma on the writer's connection, once the writer has nothing to do.
  func pragma(_ text: String) async throws {
    for _ in 0..<3 { _ = try? await store.change { _ throws(StorageError) in 0 } }
    try writer.database?.run(script: "PRAGMA \(text)")
  }

  func setDisabled(_ isDisabled: Bool) async throws {
    let id = app.id
    _ = try await store.change { transaction throws(StorageError) in
      try transaction.apps.setDisabled(app: id, isDisabled)
    }
    // The router looks for such changes now and then.
    while app.isDisabled != isDisabled { router.tick() }
  }

  /// Seals what is stored of an app from now on.
  func seal(_ app: App) async throws {
    _ = try await awaitCallback { done in
      router.apps.setSealing(true, of: app, noting: .test) { done($0) }
    }.get()
  }

  func closeStore() { store.close() }
}

extension HTTPResponse {
  /// The body as JSON.
  var json: JSONValue? { try? parseJSON(body) }

  /// The code of an answer that has exactly JPush's form of an error; nil for any other.
  var errorCode: Int? {
    guard headers["content-type"] == "application/json", let members = json?.object?.members,
      members.map(\.key) == ["error"], let error = members.first?.value.object,
      error.members.map(\.key).filter({ $0 != "illegal_rids" }) == ["code", "message"],
      let message = error["message"]?.string,
      !message.isEmpty, let code = error["code"]?.int64
    else { return nil }
    return Int(code)
  }

  /// Status and code in one text, `200` for a success.
  var outcome: String { status == 200 ? "200" : "\(status) \(errorCode.map { "\($0)" } ?? "malformed")" }

  var messageID: MessageID? { json?["msg_id"]?.string.flatMap { MessageID(decimal: Array($0.utf8)) } }
}
