import BorealisBase
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Core

/// Pushes that APNs refuses, under the strategy that then uses the direct connection.
@Suite struct ServiceRefusalTests {
  private let world: TestWorld
  private let phone: TestDevice

  init() async throws {
    world = try await TestWorld()
    world.router.add(SilentAPNs())
    phone = try await world.register(token: [1], platform: .ios)
  }

  private func push(_ parts: PushParts, _ strategy: Strategy = .vendorThenOwn) async throws -> MessageID {
    try await world.accept(AcceptRequest(to: .devices([phone.id]), try .test(parts), strategy: strategy))
      .get()
      .id
  }

  private func refuse(_ id: MessageID) async throws {
    world.router.deliveries.withdraw(id, in: world.app, from: .apns, for: [phone.number]) { _ in }
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
    _ = world.channel.drain()
    try await refuse(ids[3])
    try await refuse(ids[1])
    #expect(world.pending(phone) == ids)
    #expect(
      world.channel.drain() == [.single(ids[3], phone.number, place), .single(ids[1], phone.number, place)])
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
    _ = world.router.deliveries.acknowledge([id], by: phone.number, in: world.app, from: place)
    #expect(world.pending(phone).isEmpty)
    try await refuse(id)
    #expect(world.pending(phone).isEmpty)
    #expect(world.channel.drain().isEmpty)
  }

  /// A push that goes on, because Apple refused it for some, knows who was lost to it before.
  @Test func whoWasLostStaysLost() async throws {
    let other = try await world.register(fingerprint: [8], token: [2], platform: .ios)
    let android = try await world.register(fingerprint: [9])
    let last = try await world.register()
    var request = AcceptRequest.test(to: [phone, other, android, last])
    request.push.content = try .test(.notification)
    request.push.options.strategy = .vendorThenOwn
    let id = try await world.accept(request).get().id
    world.router.deliveries.acknowledge([id], by: last.number, in: world.app)
    _ = try await world.register(fingerprint: [9])
    try await world.tick()
    #expect(try await world.storedPending() == [], "our part is over")
    world.router.deliveries.withdraw(id, in: world.app, from: .apns, for: [phone.number, other.number]) { _ in
    }
    try await world.barrier()
    #expect(try await world.storedPending() == [id])
    _ = try await world.register(fingerprint: [8], token: [3], platform: .ios)
    world.router.deliveries.acknowledge([id], by: phone.number, in: world.app)
    try await world.tick()
    let targets = try #require(try await world.targets(of: id))
    #expect(targets.delivered.members() == [phone.number, last.number].sorted())
    #expect(
      targets.failed.mapValues { $0.members() } == ["Replaced": [other.number, android.number].sorted()])
  }

  /// A restart knows what Apple brings of a push to several of whom only one waits for the rest over our
  /// connection.
  @Test func restartKnowsWhatAppleBrings() async throws {
    let other = try await world.register(token: [2], platform: .ios)
    _ = world.login(phone)
    let request = AcceptRequest(
      to: .devices([phone.id, other.id]), try .test([.notification, .message]), timeToLive: 0)
    let id = try await world.accept(request).get().id
    #expect(world.pending(phone) == [id] && world.pending(other) == [])
    try await world.restart(isOrderly: false)
    let contents = await awaitCallback { done in
      world.router.deliveries.contents(of: [id]) { done($0) }
    }
    let push = try #require(try contents.get().first).1
    #expect(push.goesElsewhere(for: phone.number) && push.goesElsewhere(for: other.number))
  }

  // MARK: Acknowledgements meanwhile

  /// A push by Apple to the phone, and to another by our connection.
  private func pushToBoth(android: TestDevice) async throws -> MessageID {
    var request = AcceptRequest.test(to: [phone, android], timeToLive: 1000)
    request.push.content = try .test(.notification)
    request.push.options.strategy = .vendorThenOwn
    return try await world.accept(request).get().id
  }

  /// Has something happen between the asking for a take-back and the job that stores it; tells whether it was
  /// stored.
  private func withdraw(
    _ id: MessageID, for numbers: [RegistrationNumber], whileWaiting event: () -> Void
  ) async throws -> Bool {
    let gate = Gate()
    let stored = Mutex<Bool?>(nil)
    gate.hold(world.store)
    world.router.deliveries.withdraw(id, in: world.app, from: .apns, for: numbers) { isStored in
      stored.withLock { $0 = isStored }
    }
    event()
    gate.open()
    try await world.barrier()
    let answer = stored.withLock { $0 }
    #expect(answer != nil)
    return answer == true
  }

  /// The last of the others acknowledges after the take-back was asked for and before memory knows of it: the
  /// end for the others is not the end for the phone.
  @Test(arguments: [false, true]) func lastAcknowledgementMeanwhile(isWithdrawnTwice: Bool) async throws {
    let android = try await world.register()
    let (router, app) = (world.router, world.app)
    let id = try await pushToBoth(android: android)
    #expect(
      try await withdraw(id, for: [phone.number]) {
        router.deliveries.acknowledge([id], by: android.number, in: app)
        if isWithdrawnTwice {
          router.deliveries.withdraw(id, in: app, from: .apns, for: [phone.number]) { _ in }
        }
      })
    try await world.tick()
    #expect(try await world.storedPending() == [id])
    var targets = try #require(try await world.targets(of: id))
    #expect(targets.acknowledged.members() == [android.number])
    #expect(targets.pending.members() == [phone.number])
    try await world.restart(isOrderly: false)
    #expect(world.pending(phone) == [id] && world.pending(android) == [])
    world.router.deliveries.acknowledge([id], by: phone.number, in: world.app)
    try await world.tick()
    targets = try #require(try await world.targets(of: id))
    #expect(targets.haveAll)
    #expect(try await world.storedPending() == [])
    #expect(try await world.outcome(of: id)?.status == .delivered)
  }

  /// A take-back that changes nothing lets the push end as it had by then.
  @Test(arguments: ["acknowledged", "replaced", "expired", "recalled"]) func endsAfterwards(
    by end: String
  ) async throws {
    let android = try await world.register(fingerprint: [7])
    let (router, app, clock) = (world.router, world.app, world.clock)
    let events = EventList()
    router.journal.add(events)
    let id = try await pushToBoth(android: android)
    // Apple takes it for the phone, so that all hangs on our connection.
    let answers = ChannelAnswers(
      id: id, channel: .apns, results: [.apns: [ChannelEnd.delivered: NumberSet([phone.number])]], news: [:],
      isFinal: true)
    router.deliveries.store(answers, of: app) { _ in }
    #expect(
      try await withdraw(id, for: [android.number]) {
        switch end {
        case "acknowledged": router.deliveries.acknowledge([id], by: android.number, in: app)
        case "replaced":
          router.registrations.register(
            in: app, platform: .android, fingerprint: [7], tokens: [], appVersion: "1"
          ) { _ in }
        case "expired":
          clock.advance(seconds: 2000)
          for _ in 0..<3 { router.tick() }
        default: router.deliveries.recall(id, in: app) { _ in }
        }
      })
    for _ in 0..<3 { try await world.tick() }
    #expect(world.pending(android).isEmpty)
    #expect(try await world.storedPending() == [])
    let targets = try #require(try await world.targets(of: id))
    let number = android.number
    #expect(targets.acknowledged.contains(number) == (end == "acknowledged"))
    #expect(targets.expired.contains(number) == (end == "expired"))
    #expect(targets.recalled.contains(number) == (end == "recalled"))
    #expect(targets.failed["Replaced"]?.contains(number) == (end == "replaced" ? true : nil))
    let told = events.drain().filter { $0.hasPrefix("delivered [\(number.rawValue)]") }
    #expect(told.count == (end == "acknowledged" ? 1 : 0))
  }

  /// The ledger has let the push go, and the database does not know it yet: nothing is stored before it does.
  @Test func endOnItsWayComesFirst() async throws {
    let android = try await world.register()
    let id = try await pushToBoth(android: android)
    let change = world.app.directory.acknowledge([id], by: android.number)
    #expect(change.ended.count == 1)
    #expect(try await withdraw(id, for: [phone.number]) {} == false)
    #expect(world.pending(phone).isEmpty)
    world.router.writeBehind.note(change, of: world.app, at: world.clock.now())
    #expect(try await withdraw(id, for: [phone.number]) {})
    try await world.tick()
    #expect(world.pending(phone) == [id])
    let targets = try #require(try await world.targets(of: id))
    #expect(targets.acknowledged.members() == [android.number])
    #expect(targets.pending.members() == [phone.number])
  }

  /// Whoever listens learns that nothing comes any more, also if our own part had ended before.
  @Test func recallAfterOurPartIsTold() async throws {
    let android = try await world.register()
    let events = EventList()
    world.router.journal.add(events)
    var request = AcceptRequest.test(to: [phone, android])
    request.push.content = try .test(.notification)
    let id = try await world.accept(request).get().id
    world.router.deliveries.acknowledge([id], by: android.number, in: world.app)
    try await world.tick()
    #expect(events.drain() == ["ended delivered"])
    _ = try await world.recall(id).get()
    #expect(events.drain() == ["refused [\(phone.number.rawValue)] TakenBack"])
    _ = try await world.recall(id).get()
    #expect(events.drain() == [])
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

  func stored(_ events: [DeliveryEvent], in transaction: WriteTransaction) throws(StorageError) {
    transaction.whenCommitted { [self] in note(events) }
  }

  private func note(_ stored: [DeliveryEvent]) {
    for event in stored {
      let text: String? =
        switch event.what {
        case .ended(let status, _): "ended \(status)"
        case .refused(let numbers, _, let reason): "refused \(numbers.map(\.rawValue)) \(reason)"
        case .delivered(let numbers, let channel), .proven(let numbers, let channel):
          "delivered \(numbers.map(\.rawValue)) \(channel)"
        case .shown, .tapped: "receipt"
        case .arrived, .denied, .confirmed: nil
        }
      if let text { events.withLock { $0.append(text) } }
    }
  }

  /// Those since the last call.
  func drain() -> [String] {
    events.withLock { events in
      defer { events = [] }
      return events
    }
  }
}
