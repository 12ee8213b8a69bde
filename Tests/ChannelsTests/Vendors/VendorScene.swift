import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import PushTesting
import Storage
import Testing

@testable import Channels

/// A router with the channel of a scripted vendor, an app with a credential for it, and the vendor's server,
/// in a time that the test makes.
final class VendorScene {
  let clock = ManualClock()
  private(set) var app: App
  private(set) var router: Router
  private(set) var channel: VendorChannel<ScriptedVendor>
  private(set) var parts: VendorParts
  let moments = ScriptedVendor.Moments()
  private let database: TestDatabase
  private let server: TestReceiver
  private let transport: HTTPTransport
  private let credential: NewCredential
  private let vendor: ScriptedVendor
  private var secrets: [RegistrationID: [UInt8]] = [:]
  private let makeParts: (Router) -> VendorParts

  /// `script` says what the vendor answers to the requests that bring something to devices, from 1 on.
  init(
    services: [ServiceID] = [.only], mostTokens: Int = 1, fewestTokens: Int = 1, prepares: Bool = false,
    hasQuotas: Bool = false, site: String? = nil, log: Log = .silent, tracer: Tracer? = nil,
    _ script: @escaping @Sendable (Int) -> TestReceiver.Act
  ) async throws {
    database = try TestDatabase(readers: 1)
    let (store, clock) = (database.store, clock)
    // The first request is for a token of access.
    server = try TestReceiver { number in number == 1 ? .status(200) : script(number - 1) }
    var options = HTTPTransport.Options()
    options.allowsPlainHTTP = true
    transport = try #require(HTTPTransport(options, thread: "test"))
    let keys = try SealingKeys(text: SealingKeys.makeLine())
    var routing = RouterOptions()
    routing.tracer = tracer
    router = Router(store: store, scope: .all, options: routing, time: clock, log: .silent)
    try router.load()
    app = try await router.makeApp(in: store)
    let transport = transport
    makeParts = { router in
      VendorParts(
        router: router, store: store, transport: transport, keys: .init(open: { .success(keys) }),
        metrics: Metrics(), site: site, time: clock, log: log)
    }
    parts = makeParts(router)
    vendor = ScriptedVendor(
      url: server.url, services: services, mostTokens: mostTokens, fewestTokens: fewestTokens,
      prepares: prepares, hasQuotas: hasQuotas, moments: moments, clock: clock)
    channel = VendorChannel(vendor, parts)
    router.add(channel)
    let new = VendorUpload(subject: "s", name: "", secret: [1]).credential(
      for: app.id, of: ScriptedVendor.channel.id, sealedWith: keys)
    credential = new
    let (id, now) = (app.id, clock.now())
    _ = try await store.change { transaction throws(StorageError) in
      try transaction.credentials.replace(app: id, new, at: now)
    }
    try await awaitCallback { done in channel.start { done($0) } }.get()
  }

  func end() {
    channel.close()
    transport.close()
    server.close()
    router.unplug()
  }

  /// Removes the app's credential.
  func removeCredential() async throws {
    let id = app.id
    try await parts.store.change { transaction throws(StorageError) in
      for row in try transaction.credentials.all(app: id) {
        _ = try transaction.credentials.remove(app: id, id: row.id, at: row.createdAt)
      }
    }
    try await awaitCallback { done in channel.learnChanges { done($0) } }.get()
  }

  /// Sets another one, with other values as far as the channel knows.
  func setCredential() async throws {
    let (id, new, now) = (app.id, credential, clock.now())
    _ = try await parts.store.change { transaction throws(StorageError) in
      try transaction.credentials.replace(app: id, new, at: now)
    }
    try await awaitCallback { done in channel.learnChanges { done($0) } }.get()
  }

  /// Has another process take over what this one has left.
  func restart() async throws {
    channel.close()
    channel.finish()
    // Behind what that writes.
    _ = try await tokens()
    router.unplug()
    router = Router(store: parts.store, scope: .all, time: clock, log: .silent)
    try router.load()
    app = try #require(router.apps.all.first)
    parts = makeParts(router)
    channel = VendorChannel(vendor, parts)
    router.add(channel)
    try await awaitCallback { done in channel.start { done($0) } }.get()
  }

  /// How many devices have a token.
  func tokens() async throws -> Int {
    let id = app.id
    return try await parts.store.change { transaction throws(StorageError) in
      var count = 0
      try transaction.tokens.others(app: id) { _ in count += 1 }
      return count
    }
  }

  /// How many pushes have devices left.
  func openPushes() async throws -> Int {
    let id = app.id
    return try await parts.store.change { transaction throws(StorageError) in
      try transaction.channelQueue.open(
        of: ScriptedVendor.channel.id, app: id, after: MessageID(0), limit: 9, triedOnce: []
      ).count
    }
  }

  /// An Android device that is away and has a token.
  @discardableResult
  func device(_ token: String) async throws -> RegistrationID {
    let (id, secret, number) = try await router.newDevice(in: app, fingerprint: Array(token.utf8))
    let tokens = [PushToken(TokenSlot(ScriptedVendor.channel.id, kind: 1), .only, Array(token.utf8))]
    try await awaitCallback { done in
      router.registrations.setTokens(tokens, of: number, in: app) { done($0) }
    }.get()
    secrets[id] = secret
    return id
  }

  /// A device comes back over the direct connection.
  func connect(_ id: RegistrationID) {
    let login = DeviceLogin(
      app: app.key, registrationID: id, secretHash: SHA256.digest128(secrets[id] ?? []), isForeground: true,
      location: Location(loop: 0, slot: 1, generation: 1), askedAt: clock.monotonic())
    var answers: [HomeMessage] = []
    LocalHome(router).handle([.login(login)], answers: &answers)
  }

  /// How many pushes wait for a device at the direct connection.
  func waiting(for id: RegistrationID) -> Int {
    app.directory.find(id).map { app.directory.pendingCount(for: $0) } ?? 0
  }

  func push(
    to audience: String = #""all""#, _ parts: String = #""notification":{"android":{"alert":"x"}}"#,
    in other: App? = nil, trace: ActiveSpan? = nil
  ) async throws -> MessageID {
    let text = #"{"platform":"all","audience":\#(audience),\#(parts)}"#
    var request = AcceptRequest(try PushRequest.parse(try parseJSON(Array(text.utf8)), rules: PushRules()))
    request.trace = trace
    return try await router.acceptance.accept(request, for: other ?? app).get().id
  }

  /// What is said of the way of a push to a device: the first step that failed or waits, or else what the
  /// service says.
  func why(_ id: MessageID, _ device: RegistrationID) async throws -> WhyStep {
    let number = try #require(app.directory.find(device))
    let diagnosis = try await awaitCallback { done in
      router.diagnostics.diagnose(id, .there(number), in: app) { done($0) }
    }.get()
    let steps = try #require(diagnosis).steps
    let open = steps.first { [.failed, .waiting].contains($0.verdict) }
    return try #require(open ?? steps.first { $0.point == .channel })
  }

  func recall(_ id: MessageID, in other: App? = nil) async throws {
    _ = try await awaitCallback { done in
      router.deliveries.recall(id, in: other ?? app) { done($0) }
    }.get()
  }

  /// Lets seconds go by, as the server does.
  func pass(seconds: Int) {
    for _ in 0..<seconds {
      clock.advance(seconds: 1)
      channel.tick()
    }
  }

  /// Lets time go by at once.
  func jump(seconds: Int64) {
    clock.advance(seconds: seconds)
    channel.tick()
  }

  /// Waits until so many requests to devices were made, without any time on the test's clock.
  func requests(_ count: Int) async throws -> [Timestamp] {
    for _ in 0..<2000 where moments.list.count < count {
      channel.tick()
      try await Task.sleep(for: .milliseconds(10))
    }
    return moments.list
  }

  /// Waits until the vendor's answer has stopped the sending.
  func untilResting() async throws {
    for _ in 0..<2000 where problem == nil { try await Task.sleep(for: .milliseconds(10)) }
  }

  /// What stands in the way, as pages say it.
  var problem: String? { channel.status(of: app).first?.problem?.english }
  /// The services that get nothing until somebody acts.
  var stopped: ServiceSet { channel.status(of: app).first?.stopped ?? [] }
}
