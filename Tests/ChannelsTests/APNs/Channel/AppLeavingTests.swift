import BorealisBase
import BorealisCrypto
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Channels
@testable import Core

/// Apps that leave this home, for another one or for good.
@Suite(.timeLimit(.minutes(5))) struct AppLeavingTests {
  /// Otherwise connections stay that send what another home sends too.
  @Test(arguments: [false, true])
  func `An app that leaves while its credentials are taken over has no connections left`(isDeleted: Bool)
    async throws
  {
    let world = try CredentialWorld()
    let router = Router(store: world.store, scope: .all, time: world.clock, log: .silent)
    var hosts = APNsHosts()
    hosts.production = .init("127.0.0.1", 9)
    let time = InterruptedClock(world.clock)
    let channel = APNsChannel(
      router: router, store: world.store, hosts: hosts,
      keys: .init(open: { [world] in
        world.keys.withLock { $0 }.map { .success($0) } ?? .failure(.init("the secret key file is missing"))
      }), metrics: Metrics(), time: time, log: .silent)
    let loop = try await ClientLoop()
    channel.add(loop.address)
    router.add(channel)
    let app = try await router.makeApp(in: world.store)
    defer {
      channel.forget(app)
      channel.close()
      router.unplug()
    }
    try await awaitCallback { done in channel.start { done($0) } }.get()
    let queue = try #require(channel.parts.queues.find(app.id))
    // Another process adds a key, which is read, and not in use yet.
    _ = try await world.add(try CredentialWorld.upload(ES256Key.generate()), to: app.id)
    try await channel.parts.credentials.refreshed()
    time.interruption.prepareBeside {
      _ = router.apps.table.unload(app.key)
      if isDeleted { channel.forget(app) } else { channel.release(app) }
    }
    channel.applyChanges()
    #expect(time.interruption.wait())
    #expect(queue.target(for: .production)?.credential.id == nil)
    #expect(channel.parts.queues.find(app.id) == nil)
  }
}

/// A clock that something happens on, when it is looked at.
private final class InterruptedClock: TimeSource {
  let interruption = Interruption()
  private let clock: ManualClock

  init(_ clock: ManualClock) { self.clock = clock }

  func now() -> Timestamp {
    interruption.occur()
    return clock.now()
  }

  func monotonic() -> UInt64 { clock.monotonic() }
}
