import BorealisBase
import Core
import Model
import PushTesting
import Storage
import Testing

@Suite struct RecallTests {
  /// A recalled push waits for nobody, not even after a restart; the channel hears who the audience was.
  @Test(arguments: [1, 3, 100])
  func recall(count: Int) async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(count)
    let id = try await world.push()
    world.router.deliveries.acknowledge([id], by: devices[0].number, in: world.app)
    _ = world.channel.drain()
    #expect(await world.recall(id) == .success(count - 1))
    #expect(world.channel.drain() == [.recall(id, devices.map(\.number))])
    #expect(devices.allSatisfy { world.pending($0) == [] })
    #expect(await world.recall(id) == .success(0), "again is no error")
    try await world.tick()
    #expect(try await world.outcome(of: id)?.status == (count == 1 ? .delivered : .recalled))
    try await world.restart(isOrderly: false)
    #expect(devices.allSatisfy { world.pending($0) == [] })
  }

  /// Unknown pushes and those of another app cannot be recalled.
  @Test func foreignPush() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let id = try await world.push()
    let other = try await world.addApp()
    for (id, app) in [(id, other), (MessageID(7), world.app)] {
      guard case .failure(let error) = await world.recall(id, in: app) else {
        Issue.record("recalled \(id)")
        continue
      }
      #expect(error.code == 1003 && error.httpStatus == 400)
    }
    #expect(world.pending(device) == [id] && world.channel.drain().isEmpty)
    #expect(try await world.storedPending() == [id])
  }

  /// Overriding takes the undelivered rest of the old push back, in one commit with the new one, which says
  /// what it replaces, live and when it was kept.
  @Test func override() async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(2)
    let old = try await world.push()
    world.router.deliveries.acknowledge([old], by: devices[0].number, in: world.app)
    let new = try await world.push(overrides: old)
    #expect(world.pending(devices[0]) == [new] && world.pending(devices[1]) == [new])
    #expect(try await world.outcome(of: old)?.status == .overridden)
    for isOrderly in [true, false] {
      let contents = await awaitCallback { done in
        world.router.deliveries.contents(of: [new]) { done($0) }
      }
      #expect(try contents.get().map(\.1.content.overrides) == [old])
      try await world.restart(isOrderly: isOrderly)
    }
    #expect(try await world.storedPending() == [new])
  }

  /// Only a push of the same app, at most a day old and not overridden before can be overridden, delivered or
  /// not.
  @Test func overrideRules() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    let other = try await world.addApp()
    _ = try await world.register(in: other)
    let days = 5 * 86_400
    let foreign = try await world.accept(.test(timeToLive: days), in: other).get().id
    let old = try await world.push(timeToLive: days)
    let delivered = try await world.push()
    world.router.deliveries.acknowledge([delivered], by: device.number, in: world.app)
    let replaced = try await world.push()
    let replacement = try await world.push(overrides: replaced)
    world.router.deliveries.acknowledge([replacement], by: device.number, in: world.app)
    func refusal(_ id: MessageID) async -> Int? {
      var codes: [Int] = []
      for isReal in [false, true] {
        let request = AcceptRequest.test(overrides: id)
        let answer: Result<AcceptedPush, APIError> =
          if isReal { await world.accept(request) } else {
            await awaitCallback { done in
              world.router.acceptance.validate(request, for: world.app) { done($0) }
            }
          }
        if case .failure(let error) = answer { codes.append(error.code) }
      }
      return codes.count == 2 && codes[0] == codes[1] ? codes[0] : nil
    }
    #expect(await refusal(foreign) == 1003)
    #expect(await refusal(MessageID(77)) == 1003)
    #expect(await refusal(replaced) == 1003)
    world.clock.advance(seconds: 86_400)
    // Exactly a day is still young enough; what was delivered may be overridden as well, once.
    _ = try await world.push(overrides: delivered)
    #expect(await refusal(delivered) == 1003)
    world.clock.advance(seconds: 1)
    #expect(await refusal(old) == 1003)
    #expect(try await world.outcome(of: old) == nil && world.pending(device).contains(old))
    try await world.tick()
    #expect(try await world.outcome(of: delivered)?.status == .delivered)
    #expect(try await world.outcome(of: foreign) == nil)
  }
}
