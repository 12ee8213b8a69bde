import BorealisBase
import BorealisCrypto
import Core
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Channels

/// A queue and its dispatcher without connections, in a time that the test makes.
@Suite(.timeLimit(.minutes(5))) struct APNsDispatcherTests {
  private static let devices = 50
  private static let push = MessageID(7)

  /// An app with a push to some devices that Apple has to bring; all of them are ready to be sent.
  private func makeQueue(
    _ world: CredentialWorld
  ) async throws -> (queue: APNsQueue, dispatcher: APNsDispatcher, parts: APNsParts) {
    let id = try await world.makeApp()
    _ = try await world.add(try CredentialWorld.upload(ES256Key.generate()), to: id)
    let credentials = world.makeCredentials()
    try await credentials.refreshed()
    guard case .use(let credential) = credentials.selection(app: id, environment: .production),
      case .token(let mint) = credential.authentication
    else { throw CredentialWorld.Missing() }
    let key = try await store(pushTo: id, in: world)
    let router = Router(store: world.store, scope: .all, time: world.clock, log: .silent)
    let app = try #require(
      try await awaitCallback { done in router.apps.find(key) { done($0) } }.get())
    let parts = APNsParts(
      store: world.store, router: router, credentials: credentials, metrics: APNsMetrics(Metrics()),
      time: world.clock, log: .silent)
    let queue = parts.queues.queue(of: app, parts).queue
    let dispatcher = APNsDispatcher(environment: .production, mint: mint, parts: parts)
    dispatcher.add(queue)
    queue.set(APNsQueue.Target(dispatcher, credential), isStopped: false, for: .production)
    queue.queue.credentialsAreSet()
    try await eventually {
      queue.queue.state.withLock { $0.ready[APNsEnvironment.production.service]?.count } == Self.devices
    }
    return (queue, dispatcher, parts)
  }

  /// Stores registrations with tokens and a push to them; gives the app's key.
  private func store(pushTo app: AppID, in world: CredentialWorld) async throws -> AppKey {
    let template = try #require(APNsTemplate(text: Array(#"{"aps":{"alert":"x"}}"#.utf8), holes: []))
    let notification = try #require(
      APNsNotification(type: .alert, priority: .immediate, payload: template))
    let content = PushContent(variants: [], apple: [notification]).encode()
    let now = world.clock.now()
    return try await world.store.change { transaction throws(StorageError) in
      var numbers: [RegistrationNumber] = []
      for index in 0..<UInt64(Self.devices) {
        let new = NewRegistration(
          registrationID: RegistrationID(high: index, low: 1), secretHash: [UInt8](repeating: 0, count: 16),
          platform: .ios, fingerprint: [], tokens: [PushToken(.production, [UInt8(index), 1])],
          appVersion: "")
        numbers.append(try transaction.registrations.register(app: app, new, at: now).number)
      }
      let targets = NumberSet(numbers).serialized()
      try transaction.pushes.insert(
        PushRow(
          id: Self.push, app: app, createdAt: now, expiresAt: now.adding(seconds: 86_400), sendno: 0,
          platforms: PlatformSet(.ios), target: nil, targets: targets, ownTargets: NumberSet().serialized(),
          legs: [LegTargetsRow(leg: .apns, targets: targets)], targetCount: UInt32(Self.devices),
          content: content))
      try transaction.channelQueue.insert(
        id: Self.push, app: app, channel: .apns, expiresAt: now.adding(seconds: 86_400))
      return try transaction.apps.all(in: .all).last?.key ?? AppKey(high: 0, low: 0)
    }
  }

  @Test func `A minute of 503: one request at a time asks, then all go out once`() async throws {
    let world = try CredentialWorld()
    let (queue, dispatcher, parts) = try await makeQueue(world)
    // Else these hold each other until the process ends.
    defer {
      queue.set(nil, isStopped: true, for: .production)
      _ = parts.queues.remove(queue.app.id)
    }
    /// A second goes by, in which the host answers whatever the pool would send; gives the devices that were
    /// asked for.
    func second(_ answer: APNsAnswer) async throws -> [UInt64] {
      world.clock.advance(seconds: 1)
      dispatcher.tick()
      queue.tick()
      // Tokens are read again before anything is tried again.
      try await eventually { queue.queue.state.withLock { !$0.retries.hasDue && !$0.isReadingAgain } }
      var asked: [UInt64] = []
      while dispatcher.problem == nil {
        let requests = dispatcher.popRequests(upTo: 128, areScarce: false)
        if requests.isEmpty { break }
        asked += requests.map(\.id.low)
        dispatcher.answered(requests.map { APNsResultEntry(tag: $0.tag, result: .answered(answer)) })
      }
      return asked
    }
    let busy = APNsAnswer(status: 503, reason: "ServiceUnavailable")
    #expect(try await second(busy).count == Self.devices)
    #expect(dispatcher.problem?.contains("503") == true)
    var probes = 0
    for _ in 0..<60 {
      let asked = try await second(busy)
      #expect(asked.count <= 1, "one request asks whether the host answers again")
      probes += asked.count
    }
    #expect((2...10).contains(probes), "less and less often: \(probes)")
    var delivered: [UInt64] = []
    for _ in 0..<200 where delivered.count < Self.devices {
      delivered += try await second(APNsAnswer(status: 200))
    }
    #expect(Set(delivered).count == Self.devices && delivered.count == Self.devices)
    #expect(dispatcher.problem == nil)
    try await world.written()
    let store = world.store
    var accepted: Int?
    while accepted != Self.devices {
      accepted = try await awaitCallback { done in
        store.read { transaction throws(StorageError) in
          try transaction.deliveries.targets(of: Self.push).flatMap {
            PushTargets($0, at: .init(milliseconds: 0))
          }?
          .accepted.count
        } completion: {
          done($0)
        }
      }.get()
    }
  }
}
