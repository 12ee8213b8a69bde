import BorealisBase
import BorealisCrypto
import Core
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Channels

@Suite(.timeLimit(.minutes(5))) struct SharedConnectionsTests {
  /// The ID of a key is what an upload says; only the key itself shows whose it is.
  @Test func `Two keys share no connections, whatever IDs they were uploaded with`() async throws {
    let world = try CredentialWorld()
    let router = Router(store: world.store, scope: .all, time: world.clock, log: .silent)
    var hosts = APNsHosts()
    hosts.production = .init("127.0.0.1", 9)
    let channel = APNsChannel(
      router: router, store: world.store, hosts: hosts,
      keys: .init(open: { [world] in
        world.keys.withLock { $0 }.map { .success($0) } ?? .failure(.init("the secret key file is missing"))
      }), metrics: Metrics(), time: world.clock, log: .silent)
    let loop = try await ClientLoop()
    channel.add(loop.address)
    router.add(channel)
    let (one, two) = (try await router.makeApp(in: world.store), try await router.makeApp(in: world.store))
    defer {
      for app in [one, two] { channel.forget(app) }
      channel.close()
      router.unplug()
    }
    _ = try await world.add(try CredentialWorld.upload(ES256Key.generate()), to: one.id)
    _ = try await world.add(try CredentialWorld.upload(ES256Key.generate()), to: two.id)
    try await awaitCallback { done in channel.start { done($0) } }.get()
    let first = try #require(channel.parts.queues.find(one.id)?.target(for: .production)?.dispatcher)
    let second = try #require(channel.parts.queues.find(two.id)?.target(for: .production)?.dispatcher)
    #expect(first !== second)
    // Replaced by another key under the same ID, for example since the file was the wrong one.
    _ = try await world.add(try CredentialWorld.upload(ES256Key.generate()), to: two.id)
    try await awaitCallback { done in channel.learnChanges { done($0) } }.get()
    let third = try #require(channel.parts.queues.find(two.id)?.target(for: .production)?.dispatcher)
    #expect(third !== second)
  }
}
