import PushBase
import PushDomain
import PushRouter
import PushStorage
import Testing

/// What Apple will not bring, under the strategy that wants our connection then.
@Suite struct TakeBackTests {
  private let world: TestWorld
  private let phone: TestDevice

  init() async throws {
    world = try await TestWorld()
    world.app.apnsEnvironments = .production
    phone = try await world.register(token: [1], platform: .ios)
  }

  private func push(_ parts: PushParts, _ strategy: Strategy = .vendorThenOwn) async throws -> MessageID {
    var terms = AudienceTerms()
    terms.registrationIDs = [phone.id]
    return try await world.accept(
      AcceptRequest(terms: terms, content: try .test(parts), strategy: strategy)
    ).get().id
  }

  private func refuse(_ id: MessageID) async throws {
    world.router.takeBackFromApple(id, in: world.app, for: [phone.number])
    try await world.barrier()
  }

  /// The list of a device stays in order, since a login sends it in one pass.
  @Test func waitsInItsPlace() async throws {
    let place = world.login(phone)
    var ids: [MessageID] = []
    for strategy in [Strategy.ownOnly, .vendorThenOwn, .ownOnly, .vendorThenOwn, .ownOnly] {
      ids.append(try await push([.notification, .message], strategy))
    }
    #expect(world.pending(phone) == [ids[0], ids[2], ids[4]])
    _ = world.channel.take()
    try await refuse(ids[3])
    try await refuse(ids[1])
    #expect(world.pending(phone) == ids)
    #expect(
      world.channel.take() == [.single(ids[3], phone.number, place), .single(ids[1], phone.number, place)])
    try await world.restart(isOrderly: true)
    #expect(world.pending(phone) == ids)
  }

  /// What is kept for a device that is away is not there twice, and what has come does not come again.
  @Test func changesNothingForThoseWhoHaveIt() async throws {
    let id = try await push([.notification, .message])
    #expect(world.pending(phone) == [id])
    try await refuse(id)
    #expect(world.pending(phone) == [id])
    let place = world.login(phone)
    _ = world.router.acknowledge([id], by: phone.number, in: world.app, from: place)
    #expect(world.pending(phone).isEmpty)
    try await refuse(id)
    #expect(world.pending(phone).isEmpty)
    #expect(world.channel.take().isEmpty)
  }

  /// A notification alone is kept only by Apple, so it waits here once Apple has refused it.
  @Test func notificationAloneWaitsAfterwards() async throws {
    let id = try await push(.notification)
    #expect(world.pending(phone).isEmpty)
    try await refuse(id)
    #expect(world.pending(phone) == [id])
    try await refuse(id)
    #expect(world.pending(phone) == [id])
  }
}
