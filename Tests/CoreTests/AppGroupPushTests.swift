import BorealisBase
import BorealisCrypto
import Core
import Model
import PushTesting
import Storage
import Synchronization
import Testing

/// Pushes to the apps of a group.
@Suite struct AppGroupPushTests {
  private let world: TestWorld
  private let other: App
  private let group: AppGroup

  init() async throws {
    let world = try await TestWorld()
    other = try await world.addApp()
    let key = AppKey(high: SystemRandom.next(), low: 2)
    let members = [world.app.key, other.key]
    _ = try await world.store.change { transaction throws(StorageError) in
      let group = try transaction.appGroups.create(
        key: key, name: "group", secretHash: SHA256.digest([]), at: Timestamp(milliseconds: 0))
      for app in members { _ = try transaction.appGroups.addApp(app, toGroup: group) }
    }
    let found = await awaitCallback { done in
      world.router.groups.find(key) { done($0) }
    }
    group = try #require(try found.get())
    self.world = world
  }

  private func accept(_ request: AcceptRequest) async -> Result<AcceptedAppGroupPush, APIError> {
    await awaitCallback { done in
      world.router.acceptance.accept(request, for: group) { done($0) }
    }
  }

  /// What a client sees of refusals: when one is stored, what is known of it becomes a part of its message.
  private func refusals(_ push: AcceptedAppGroupPush) -> [String] {
    push.members.map { member in
      guard case .failure(let error) = member.result else { return "" }
      return "\(error.code) \(error.httpStatus) \(error.message)"
    }
  }

  /// A push to a group uses up what its apps' plans give.
  @Test func `Members are charged for it`() async throws {
    let device = try await world.register()
    _ = try await world.register(in: other)
    let (app, router) = (world.app, world.router)
    _ = try await world.store.change { t throws(StorageError) in
      try t.plans.set(PlanRow(name: "slow", speed: 1))
      return try t.apps.setPlan(app: app.id, "slow")
    }
    while app.plan.name != "slow" { try await world.tick() }
    let accepted = try await accept(.test()).get()
    #expect(accepted.members.count == 2)
    let isAccepted = Mutex(false)
    router.acceptance.accept(.test(), for: app) { _ in isAccepted.withLock { $0 = true } }
    try await world.tick()
    #expect(!isAccepted.withLock { $0 } && world.pending(device).count == 1)
    for _ in 0..<200 where !isAccepted.withLock({ $0 }) {
      world.clock.advance(seconds: 1)
      try await world.tick()
    }
    #expect(isAccepted.withLock { $0 } && world.pending(device).count == 2)
  }

  /// What fails only now is not what the name of the request stands for from then on.
  @Test func `A passing failure is everybody's and is not kept`() async throws {
    let device = try await world.register()
    var request = AcceptRequest.test(cid: "g1")
    request.push.audience = .testDevices(of: request.push.audience)
    try await world.run(script: "ALTER TABLE test_device RENAME TO away")
    #expect(await accept(request) == .failure(.timeout))
    try await world.run(script: "ALTER TABLE away RENAME TO test_device")
    let refused = try await accept(request).get()
    #expect(refused.members.map(\.result) == [.failure(.noTarget), .failure(.noTarget)])
    let again = try await accept(request).get()
    #expect(again.id == refused.id && again.sendno == refused.sendno)
    #expect(again.members.map(\.app) == refused.members.map(\.app))
    #expect(refusals(again) == refusals(refused))
    #expect(world.pending(device) == [])
  }
}
