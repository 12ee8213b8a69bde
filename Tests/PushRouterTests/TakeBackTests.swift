import PushBase
import PushDomain
import PushRouter
import PushStorage
import Synchronization
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
    world.router.takeBackFromApple(id, in: world.app, for: [phone.number]) { _ in }
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

  /// A push that goes on, because Apple refused it for some, knows who was lost to it before.
  @Test func whoWasLostStaysLost() async throws {
    let other = try await world.register(fingerprint: [8], token: [2], platform: .ios)
    let android = try await world.register(fingerprint: [9])
    let last = try await world.register()
    var request = AcceptRequest.test(to: [phone, other, android, last])
    request.content = try .test(.notification)
    request.strategy = .vendorThenOwn
    let id = try await world.accept(request).get().id
    world.router.acknowledge([id], by: last.number, in: world.app)
    _ = try await world.register(fingerprint: [9])
    try await world.tick()
    #expect(try await world.storedPending() == [], "our part is over")
    world.router.takeBackFromApple(id, in: world.app, for: [phone.number, other.number]) { _ in }
    try await world.barrier()
    #expect(try await world.storedPending() == [id])
    _ = try await world.register(fingerprint: [8], token: [3], platform: .ios)
    world.router.acknowledge([id], by: phone.number, in: world.app)
    try await world.tick()
    let targets = try #require(try await world.targets(of: id))
    #expect(targets.delivered.members() == [phone.number, last.number].sorted())
    #expect(
      targets.failed.mapValues { $0.members() } == ["Replaced": [other.number, android.number].sorted()])
  }

  /// Whoever listens learns that nothing comes any more, also if our own part had ended before.
  @Test func recallAfterOurPartIsTold() async throws {
    let android = try await world.register()
    let events = EventList()
    world.router.journal.add(events)
    var request = AcceptRequest.test(to: [phone, android])
    request.content = try .test(.notification)
    let id = try await world.accept(request).get().id
    world.router.acknowledge([id], by: android.number, in: world.app)
    try await world.tick()
    #expect(events.take() == ["ended delivered"])
    _ = try await world.recall(id).get()
    #expect(events.take() == ["refused [\(phone.number.rawValue)] TakenBack"])
    _ = try await world.recall(id).get()
    #expect(events.take() == [])
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

/// Notes what becomes of pushes.
private final class EventList: DeliveryObserver {
  private let events = Mutex<[String]>([])

  func stored(_ stored: [DeliveryEvent], in transaction: WriteTransaction) throws(StorageError) {
    for event in stored {
      let text =
        switch event.what {
        case .ended(let status, _): "ended \(status)"
        case .refused(let numbers, let reason): "refused \(numbers.map(\.rawValue)) \(reason)"
        case .delivered(let numbers, let channel): "delivered \(numbers.map(\.rawValue)) \(channel)"
        case .shown, .tapped: "receipt"
        }
      events.withLock { $0.append(text) }
    }
  }

  /// Those since the last call.
  func take() -> [String] {
    events.withLock { events in
      defer { events = [] }
      return events
    }
  }
}
