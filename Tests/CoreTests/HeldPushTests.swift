import BorealisBase
import BorealisCrypto
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Core

/// Notes which pushes rest.
private final class RestingApple: FakeAPNs {
  struct State {
    var resting: [MessageID: Set<PushHolder>] = [:]
    var holders: Set<PushHolder> = []
  }

  let state = Mutex(State())

  func hold(_ id: MessageID, of app: App, by holder: PushHolder) -> ChannelHold {
    state.withLock {
      $0.resting[id, default: []].insert(holder)
      $0.holders.insert(holder)
    }
    return ChannelHold()
  }
  func resume(_ id: MessageID, of app: App, by holder: PushHolder) {
    state.withLock { state in
      state.resting[id]?.remove(holder)
      if state.resting[id]?.isEmpty == true { state.resting[id] = nil }
    }
  }
  func withdraw(_ id: MessageID, of app: App, _ status: OutcomeStatus, at now: Timestamp) -> Int {
    state.withLock { $0.resting[id] = nil }
    return 0
  }
}

/// A push that is not replaced after all goes on its way to Apple.
@Suite struct HeldPushTests {
  private let world: TestWorld
  private let apple = RestingApple()

  init() async throws {
    world = try await TestWorld()
    world.router.add(apple)
    _ = try await world.register()
  }

  private func expectGoesOn() {
    let state = apple.state.withLock { $0 }
    #expect(state.holders.count == 1, "it was held")
    #expect(state.resting.isEmpty)
  }

  @Test func `A schedule's push was not stored`() async throws {
    let old = try await world.push()
    let local = FixedZone.china.local(world.clock.now().adding(seconds: 10))
    _ = try await ScheduleTests.makeSchedule(.single(local), in: world)
    world.clock.advance(seconds: 10)
    let due = try #require(try await ScheduleTests.due(in: world).first)
    try await world.run(script: "ALTER TABLE schedule_run RENAME TO away")
    let router = world.router
    let end = await awaitCallback { done in
      router.acceptance.fire(due, .success(AcceptRequest.test(overrides: old).push)) {
        done($0)
      }
    }
    #expect(end == .postponed)
    expectGoesOn()
  }

  @Test func `A push to a group was not stored`() async throws {
    let old = try await world.push()
    let key = AppKey(high: SystemRandom.next(), low: 2)
    let member = world.app.key
    _ = try await world.store.change { transaction throws(StorageError) in
      let group = try transaction.appGroups.create(
        key: key, name: "group", secretHash: SHA256.digest([]), at: Timestamp(milliseconds: 0))
      _ = try transaction.appGroups.addApp(member, toGroup: group)
    }
    let router = world.router
    let found = await awaitCallback { done in
      router.groups.find(key) { done($0) }
    }
    let group = try #require(try found.get())
    try await world.run(script: "ALTER TABLE group_push RENAME TO away")
    let result = await awaitCallback { done in
      router.acceptance.accept(.test(overrides: old), for: group) { done($0) }
    }
    #expect(result == .failure(.internalError))
    expectGoesOn()
  }

  /// One recall fails, another of the same push succeeds: until that is known to the queue, nothing leaves.
  @Test func `Only its holder lets a push go`() async throws {
    let id = try await world.push()
    let (apple, router, app) = (apple, world.router, world.app)
    try await world.run(script: "ALTER TABLE audit RENAME TO away")
    let (go, done) = (Gate(), Gate())
    go.hold(world.store)
    let answers = Mutex<[Bool]>([])
    let note = AuditRow(
      at: world.clock.now(), account: nil, person: nil, who: "", action: "", target: "", address: "")
    for audit in [note, nil] {
      router.deliveries.recall(id, in: app, noting: audit) { result in
        let isResting = apple.state.withLock { $0.resting[id] != nil }
        answers.withLock { $0.append(isResting == ((try? result.get()) == nil)) }
        if audit == nil { done.open() }
      }
    }
    go.open()
    done.wait()
    #expect(
      answers.withLock { $0 } == [true, true], "it rests after the first, and is gone after the second")
    #expect(apple.state.withLock { $0.holders.count } == 2)
  }

  /// Whoever is told of what did not arrive learns of the end, also when nothing else is new with it.
  @Test func `The end is told once`() async throws {
    let ends = Ends()
    world.router.journal.add(ends)
    let phone = try await world.register(token: [1], platform: .ios)
    let request = AcceptRequest(to: .devices([phone.id]), try .test(.notification), strategy: .vendorOnly)
    let id = try await world.accept(request).get().id
    let over = ChannelAnswers(
      id: id, channel: .apns, results: [.apns: [ChannelEnd.withdrawn: NumberSet([phone.number])]], news: [:],
      isFinal: true)
    for _ in 0..<2 {
      world.router.deliveries.store(over, of: world.app) { _ in }
      try await world.barrier()
      #expect(ends.pushes.withLock { $0 } == [id])
    }
  }
}

private final class Ends: DeliveryObserver {
  let pushes = Mutex<[MessageID]>([])

  func stored(_ events: [DeliveryEvent], in transaction: WriteTransaction) throws(StorageError) {
    transaction.whenCommitted { [self] in note(events) }
  }

  private func note(_ events: [DeliveryEvent]) {
    for event in events {
      if case .ended = event.what { pushes.withLock { $0.append(event.push) } }
    }
  }
}
