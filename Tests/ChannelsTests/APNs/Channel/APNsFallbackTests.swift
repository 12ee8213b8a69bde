import BorealisBase
import Core
import Model
import PushTesting
import Synchronization
import Testing

@testable import Channels
@testable import Storage

/// What Apple will not bring, under the strategy that wants our connection then.
@Suite(.timeLimit(.minutes(5))) struct APNsFallbackTests {
  private struct Stored: Equatable {
    var isWithApple: Bool
    var waitsHere: Bool
  }

  private static func makeContent() throws -> PushContent {
    let template = try #require(APNsTemplate(text: Array(#"{"aps":{"alert":"x"}}"#.utf8), holes: []))
    let apple = try #require(APNsNotification(type: .alert, priority: .immediate, payload: template))
    let variant = ContentVariant(platforms: .all, notification: Array("{}".utf8), message: [])
    return PushContent(variants: [variant], apple: [apple])
  }

  private static func stored(_ id: MessageID, in world: CredentialWorld) async throws -> Stored {
    try await awaitCallback { done in
      world.store.read { transaction throws(StorageError) in
        let rows = try transaction.deliveries.targets(of: id)
        return Stored(
          isWithApple: rows?.pendingChannels.contains(.apns) ?? false, waitsHere: rows?.isPending ?? false)
      } completion: {
        done($0)
      }
    }.get()
  }

  /// While the way over our connection cannot be stored, the push is not through with Apple either.
  @Test func `A fallback that could not be stored is tried again before the push ends`() async throws {
    let world = try CredentialWorld()
    _ = try await world.makeApp()
    let router = Router(store: world.store, scope: .all, time: world.clock, log: .silent)
    try router.load()
    let app = try #require(router.apps.all.first)
    router.add(IdleAPNs())
    let number = try await router.newDevice(
      in: app, platform: .ios, environment: .production, token: [1]
    ).number
    let request = AcceptRequest(
      PushRequest(
        platforms: .all, audience: .all, content: try Self.makeContent(),
        options: PushOptions(strategy: .vendorThenOwn)))
    let id = try await router.acceptance.accept(request, for: app).get().id
    #expect(try await Self.stored(id, in: world) == Stored(isWithApple: true, waitsHere: false))
    try await world.run(
      script: "CREATE TRIGGER fault BEFORE UPDATE ON push BEGIN SELECT RAISE(ABORT, 'on purpose'); END")
    let parts = APNsParts(
      store: world.store, router: router, credentials: world.makeCredentials(),
      metrics: APNsMetrics(Metrics()), time: world.clock, log: .silent)
    let queue = parts.queues.queue(of: app, parts).queue
    // Else these hold each other until the process ends.
    defer {
      router.unplug()
      _ = parts.queues.remove(app.id)
    }
    // There is no credential, so Apple will not bring it.
    queue.queue.credentialsAreSet()
    try await eventually { queue.queue.state.withLock { $0.failed[id] == [number] } }
    for _ in 0..<5 {
      world.clock.advance(seconds: 1)
      queue.tick()
      for _ in 0..<20 { try await world.written() }
      #expect(try await Self.stored(id, in: world) == Stored(isWithApple: true, waitsHere: false))
    }
    try await world.run(script: "DROP TRIGGER fault")
    var stored: Stored?
    while stored != Stored(isWithApple: false, waitsHere: true) {
      world.clock.advance(seconds: 1)
      queue.tick()
      try await world.written()
      stored = try await Self.stored(id, in: world)
    }
    let waiting = app.directory.pending(for: number, after: MessageID(0), at: 0, limit: 9).ids
    #expect(waiting == [id])
  }
}

extension CredentialWorld {
  fileprivate func run(script: String) async throws {
    try await store.change { transaction throws(StorageError) in try transaction.database.run(script: script)
    }
  }
}

/// Leaves all in the database.
private final class IdleAPNs: ServiceChannel {
  let info = ChannelInfo.apns
  func offers(_ content: PushContent, _ strategy: Strategy, in app: App) -> [ChannelOffer] {
    content.apnsOffers(strategy, .production)
  }
  func deliver(_ push: ChannelPush) {}
}
