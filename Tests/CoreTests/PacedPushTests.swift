import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

@Suite struct PacedPushTests {
  // MARK: The function

  /// Every device has one moment, in order of its place, none before the start and none after the end.
  @Test(arguments: [(1, 2), (1, 60), (7, 1000), (3, 100_001), (1400, 7)] as [(Int64, Int)])
  func `Devices are released evenly`(minutes: Int64, count: Int) throws {
    let start = Timestamp(milliseconds: 1_790_000_000_000)
    let targets = NumberSet((0..<count).map { RegistrationNumber(UInt32($0 * 3 + 5)) })
    let pacing = PacingWindow(targets: targets, start: start, minutes: minutes)
    #expect(pacing.dueCount(at: start.adding(seconds: -1)) == 0)
    #expect(pacing.dueCount(at: start) == 1)
    #expect(pacing.bound(at: start.adding(seconds: minutes * 60)) == .max)
    var last = 0
    for second in 0...minutes * 60 {
      let now = start.adding(seconds: second)
      let released = pacing.dueCount(at: now)
      #expect(released >= last)
      // Within one device of the straight line.
      let line = Double(second) / Double(minutes * 60) * Double(count)
      #expect(abs(Double(released) - line) <= 1)
      let bound = pacing.bound(at: now)
      #expect(targets.members().count { UInt64($0.rawValue) < bound } == released)
      last = released
      if count > 10_000, second > 20 { break }
    }
    #expect(pacing.dueCount(at: pacing.end) == count)
  }

  @Test func `The member at a place, and those below a number`() {
    let set = NumberSet([3, 7, 100_000].map { RegistrationNumber($0) })
    #expect(set.member(at: 0) == RegistrationNumber(3))
    #expect(set.member(at: 2) == RegistrationNumber(100_000))
    #expect(set.member(at: 3) == nil)
    #expect(set.member(at: -1) == nil)
    #expect(NumberSet().member(at: 0) == nil)
    #expect(set.below(RegistrationNumber(7)).members() == [RegistrationNumber(3)])
    #expect(set.below(RegistrationNumber(0)).isEmpty && set.below(RegistrationNumber(.max)).count == 3)
    let one = NumberSet([RegistrationNumber(7)])
    #expect(one.below(RegistrationNumber(7)).isEmpty && one.below(RegistrationNumber(8)).count == 1)
    #expect(NumberSet().below(RegistrationNumber(8)).isEmpty)
  }

  // MARK: The router

  private static func request(minutes: Int64) throws -> AcceptRequest {
    var request = AcceptRequest.test(timeToLive: 600)
    request.push.options.bigPushDuration = Int(minutes)
    return request
  }

  private static func code(_ world: TestWorld, minutes: Int64) async throws -> Int? {
    if case .failure(let error) = await world.accept(try request(minutes: minutes)) {
      error.code
    } else {
      nil
    }
  }

  /// Who was given the push since the last look, ascending.
  private static func delivered(_ world: TestWorld, _ id: MessageID) -> [RegistrationNumber] {
    world.channel.drain().compactMap {
      if case .single(id, let number, _) = $0 { number } else { nil }
    }.sorted()
  }

  @Test func `Those who are online get it in turn, those who log in what is released`() async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(120)
    for device in devices.prefix(100) { _ = world.login(device) }
    _ = world.channel.drain()
    let id = try await world.accept(Self.request(minutes: 2)).get().id
    #expect(Self.delivered(world, id) == [])
    var got: [RegistrationNumber] = []
    for second in 0..<120 {
      try await world.tick()
      let now = Self.delivered(world, id)
      // One device a second; the last twenty are away.
      #expect(now == (second < 100 ? [devices[second].number] : []), "second \(second)")
      got += now
      if second == 50 {
        #expect(world.pending(devices[50]) == [id])
        #expect(world.pending(devices[51]) == [])
        // One that is away finds it only when its moment has come.
        #expect(world.pending(devices[110]) == [])
      }
      world.clock.advance(seconds: 1)
    }
    try await world.tick()
    #expect(got == devices.prefix(100).map(\.number))
    #expect(world.pending(devices[110]) == [id])
    #expect(devices.allSatisfy { world.pending($0) == [id] })
    for device in devices { _ = world.app.directory.acknowledge([id], by: device.number) }
    #expect(devices.allSatisfy { world.pending($0) == [] })
  }

  @Test func `A restart goes on where it was, neither early nor late`() async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(60)
    let id = try await world.accept(Self.request(minutes: 1)).get().id
    for _ in 0..<3 {
      world.clock.advance(seconds: 10)
      try await world.restart(isOrderly: false)
      try await world.tick()
      let released = Int((world.clock.now().milliseconds - 1_790_000_000_000) / 1000) + 1
      let waiting = devices.filter { world.pending($0) == [id] }.map(\.number)
      #expect(waiting == devices.prefix(released).map(\.number))
    }
    world.clock.advance(seconds: 30)
    try await world.restart(isOrderly: true)
    try await world.tick()
    #expect(devices.allSatisfy { world.pending($0) == [id] })
    // Its time to live counts from the end.
    world.clock.advance(seconds: 599)
    #expect(devices.allSatisfy { world.pending($0) == [id] })
    world.clock.advance(seconds: 1)
    #expect(devices.allSatisfy { world.pending($0) == [] })
  }

  @Test func `A recall stops it`() async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(60)
    for device in devices { _ = world.login(device) }
    let id = try await world.accept(Self.request(minutes: 1)).get().id
    for _ in 0..<5 {
      try await world.tick()
      world.clock.advance(seconds: 1)
    }
    #expect(Self.delivered(world, id).count == 5)
    _ = try await world.recall(id).get()
    _ = world.channel.drain()
    world.clock.advance(seconds: 30)
    try await world.tick()
    #expect(Self.delivered(world, id) == [])
    try await world.restart(isOrderly: false)
    try await world.tick()
    #expect(devices.allSatisfy { world.pending($0) == [] })
  }

  @Test func `A clock that is set back takes nothing back and sends nothing twice`() async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(60)
    for device in devices { _ = world.login(device) }
    let id = try await world.accept(Self.request(minutes: 1)).get().id
    world.clock.advance(seconds: 29)
    try await world.tick()
    #expect(Self.delivered(world, id).count == 30)
    world.clock.advance(seconds: -20)
    try await world.tick()
    #expect(Self.delivered(world, id) == [])
    #expect(world.pending(devices[29]) == [id])
    world.clock.advance(seconds: 21)
    try await world.tick()
    #expect(Self.delivered(world, id) == [devices[30].number])
  }

  @Test func `Twenty at a time are the most; one that is over or recalled makes room`() async throws {
    let world = try await TestWorld()
    _ = try await world.registerMany(3)
    var ids: [MessageID] = []
    for _ in 0..<20 { ids.append(try await world.accept(Self.request(minutes: 10)).get().id) }
    #expect(try await Self.code(world, minutes: 1) == 1012)
    _ = try await world.recall(ids[3]).get()
    #expect(try await Self.code(world, minutes: 1) == nil)
    #expect(try await Self.code(world, minutes: 1) == 1012)
    #expect(try await Self.code(world, minutes: 0) == nil)
    world.clock.advance(seconds: 60)
    #expect(try await Self.code(world, minutes: 1) == nil)
  }

  @Test func `One device gets it at once`() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    _ = world.login(device)
    _ = world.channel.drain()
    let id = try await world.accept(Self.request(minutes: 10)).get().id
    #expect(Self.delivered(world, id) == [device.number])
  }

  @Test func `Many more than one step takes are all released`() async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(5000)
    for device in devices { _ = world.login(device) }
    _ = world.channel.drain()
    let id = try await world.accept(Self.request(minutes: 1)).get().id
    world.clock.advance(seconds: 59)
    try await world.tick()
    #expect(Self.delivered(world, id).count == 5000 * 59 / 60 + 1)
    world.clock.advance(seconds: 1)
    try await world.tick()
    #expect(Self.delivered(world, id) == devices.suffix(83).map(\.number))
  }
}
