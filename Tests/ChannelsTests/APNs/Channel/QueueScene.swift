import BorealisBase
import BorealisCrypto
import Core
import HTTP
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Channels

/// Passes to a queue what a router tells the way to Apple.
private final class QueueDelivery: ServiceChannel {
  let info = ChannelInfo.apns
  let parts: APNsParts

  init(_ parts: APNsParts) { self.parts = parts }

  private func queue(_ app: App) -> ChannelQueue { parts.queues.queue(of: app, parts).queue.queue }

  func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] {
    content.apnsOffers(strategy, [.production, .sandbox])
  }
  func deliver(_ push: ChannelPush) { queue(push.app).deliver(push) }
  func tokensChanged(of numbers: [RegistrationNumber], in app: App) {
    queue(app).tokensChanged(of: numbers)
  }
  func reached(_ number: RegistrationNumber, in app: App) { queue(app).reached(number) }
  func hold(_ id: MessageID, of app: App, by holder: PushHolder) -> ChannelHold {
    queue(app).hold(id, by: holder)
  }
  func resume(_ id: MessageID, of app: App, by holder: PushHolder) { queue(app).resume(id, by: holder) }
  func withdraw(_ id: MessageID, of app: App, _ status: OutcomeStatus, at now: Timestamp) -> Int {
    queue(app).withdraw(id)
  }
}

/// An app with a queue to both of Apple's services and no connections: the test plays Apple, in a time that
/// it makes.
final class QueueScene {
  let world: CredentialWorld
  let router: Router
  let app: App
  let queue: APNsQueue
  let parts: APNsParts
  private var successors: [APNsQueue] = []
  private(set) var dispatchers: [APNsEnvironment: APNsDispatcher] = [:]

  init(tracer: (ManualClock) throws -> Tracer? = { _ in nil }) async throws {
    world = try CredentialWorld()
    let id = try await world.makeApp()
    _ = try await world.add(
      try CredentialWorld.upload(ES256Key.generate(), environments: [.production, .sandbox]), to: id)
    let credentials = world.makeCredentials()
    try await credentials.refreshed()
    var options = RouterOptions()
    options.tracer = try tracer(world.clock)
    router = Router(store: world.store, scope: .all, options: options, time: world.clock, log: .silent)
    try router.load()
    app = try #require(router.apps.all.first)
    parts = APNsParts(
      store: world.store, router: router, credentials: credentials, metrics: APNsMetrics(Metrics()),
      time: world.clock, log: .silent)
    router.add(QueueDelivery(parts))
    queue = parts.queues.queue(of: app, parts).queue
    for environment in [APNsEnvironment.production, .sandbox] {
      guard case .use(let credential) = credentials.selection(app: id, environment: environment),
        case .token(let mint) = credential.authentication
      else { throw CredentialWorld.Missing() }
      let dispatcher = APNsDispatcher(environment: environment, mint: mint, parts: parts)
      dispatcher.add(queue)
      dispatchers[environment] = dispatcher
      queue.set(APNsQueue.Target(dispatcher, credential), isStopped: false, for: environment)
    }
    queue.queue.credentialsAreSet()
  }

  deinit {
    // Else these hold each other until the process ends.
    router.unplug()
    _ = parts.queues.remove(app.id)
    for queue in [queue] + successors {
      for environment in dispatchers.keys { queue.set(nil, isStopped: true, for: environment) }
    }
  }

  /// The queue of a process that takes up what this one has left, as after `kill -9`.
  func successor() -> APNsQueue {
    let next = APNsQueue(app: app, parts: parts)
    successors.append(next)
    for environment in dispatchers.keys {
      next.set(queue.target(for: environment), isStopped: false, for: environment)
    }
    next.queue.credentialsAreSet()
    return next
  }

  /// Another credential takes the place of that for production.
  func replaceCredential() throws {
    let old = try #require(queue.target(for: .production))
    let new = APNsCredential(
      id: APNsCredentialID(old.credential.id.rawValue + 1000), app: app.id, environment: .production,
      topic: "another", authentication: old.credential.authentication, expiresAt: nil)
    queue.set(APNsQueue.Target(old.dispatcher, new), isStopped: false, for: .production)
  }

  // MARK: Devices and pushes

  func register(
    _ token: UInt8, _ environment: APNsEnvironment = .production, fingerprint: String = ""
  ) async throws -> RegistrationNumber {
    try await router.newDevice(
      in: app, platform: .ios, fingerprint: Array(fingerprint.utf8), environment: environment, token: [token]
    ).number
  }

  func setToken(_ token: UInt8, as slot: APNsTokenSlot = .device, of number: RegistrationNumber) async throws
  {
    try await awaitCallback { done in
      router.registrations.setTokens([PushToken(slot, .production, [token])], of: number, in: app) {
        done($0)
      }
    }.get()
  }

  /// Pushes to all; with a call besides if asked for.
  func push(
    _ json: String = #"{"ios":{"alert":"x"}}"#, options: String = "{}", to audience: String = #""all""#
  ) async throws -> MessageID {
    let text =
      #"{"platform":"all","audience":\#(audience),"notification":\#(json),"options":\#(options)}"#
    let object = try PushRequest.parse(
      try parseJSON(Array(text.utf8)), rules: PushRules(renderers: [APNsContentRenderer()]))
    return try await router.acceptance.accept(AcceptRequest(object), for: app).get().id
  }

  func targets(of push: MessageID) async throws -> PushTargets? {
    let now = world.clock.now()
    return try await awaitCallback { done in
      world.store.read { transaction throws(StorageError) in
        try transaction.deliveries.targets(of: push).flatMap { PushTargets($0, at: now) }
      } completion: {
        done($0)
      }
    }.get()
  }

  func token(of number: RegistrationNumber) async throws -> [UInt8]? {
    let id = app.id
    return try await world.store.change { transaction throws(StorageError) in
      try transaction.tokens.find(app: id, of: [number], as: APNsTokenSlot.device.slot).first?.token
    }
  }

  // MARK: Apple

  /// Lets a second go by, as the server does.
  func second() async throws {
    world.clock.advance(seconds: 1)
    for dispatcher in dispatchers.values { dispatcher.tick() }
    queue.tick()
    try await settle()
  }

  /// Waits until the queue has nothing more to read.
  func settle() async throws {
    for _ in 0..<3 {
      try await world.written()
      try await eventually {
        queue.queue.state.withLock {
          !$0.retries.hasDue && !$0.isReadingAgain && !$0.isFetchingFew && !$0.isFetchingMany && !$0.isArming
            && $0.arming.isEmpty && $0.few.isEmpty && $0.many.isEmpty && !$0.isLoading
        }
      }
    }
  }

  /// What would leave now.
  func popRequests(_ environment: APNsEnvironment = .production, upTo count: Int = 100) async throws
    -> [APNsRequest]
  {
    var requests: [APNsRequest] = []
    // What is read or noted before it leaves comes with a later call.
    for _ in 0..<4 {
      try await settle()
      requests += dispatchers[environment]?.popRequests(upTo: count - requests.count, areScarce: false) ?? []
    }
    return requests
  }

  func answer(_ request: APNsRequest, _ result: APNsResult, _ environment: APNsEnvironment = .production) {
    dispatchers[environment]?.answered([APNsResultEntry(tag: request.tag, result: result)])
  }

  func answer(
    _ request: APNsRequest, _ status: Int, _ reason: String? = nil, retryAfter: Int64? = nil,
    _ environment: APNsEnvironment = .production
  ) {
    answer(
      request, .answered(APNsAnswer(status: status, reason: reason, retryAfter: retryAfter)), environment)
  }
}
