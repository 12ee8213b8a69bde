import BorealisBase
import Core
import Model
import PushTesting
import Storage
import Testing

@Suite struct AcceptTests {
  /// An online device gets a push at once, an offline one has it kept; an acknowledgement ends it, also in
  /// the database.
  @Test func singles() async throws {
    let world = try await TestWorld()
    let (here, away) = (try await world.register(), try await world.register())
    let place = world.login(here)
    let first = try await world.push(to: [here])
    let second = try await world.push(to: [away])
    #expect(first < second)
    #expect(world.channel.drain() == [.single(first, here.number, place)])
    #expect(world.pending(here) == [first] && world.pending(away) == [second])
    world.router.deliveries.acknowledge([first, second], by: here.number, in: world.app)
    #expect(world.pending(here) == [] && world.pending(away) == [second], "nobody speaks for another")
    try await world.tick()
    #expect(try await world.storedPending() == [second])
    #expect(try await world.outcome(of: first)?.status == .delivered)
    #expect(try await world.outcome(of: second) == nil)
  }

  /// A push to a few goes to each who is connected, in one row; it ends with the last acknowledgement, before
  /// or after a restart.
  @Test(arguments: [2, 64, 65, 200])
  func several(count: Int) async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(count)
    let place = world.login(devices[1])
    let id = try await world.push()
    let numbers = devices.map(\.number)
    #expect(
      world.channel.drain()
        == [count <= 64 ? .single(id, devices[1].number, place) : .group(id, numbers)])
    world.router.deliveries.acknowledge([id], by: numbers[1], in: world.app)
    world.router.deliveries.acknowledge([id, id], by: numbers[1], in: world.app)
    try await world.tick()
    #expect(try await world.storedPending() == [id])
    try await world.restart(isOrderly: false)
    for (index, device) in devices.enumerated() {
      #expect(world.pending(device) == (index == 1 ? [] : [id]))
    }
    for number in numbers { world.router.deliveries.acknowledge([id], by: number, in: world.app) }
    try await world.tick()
    #expect(try await world.storedPending() == [])
    #expect(try await world.outcome(of: id)?.status == .delivered)
  }

  /// Between two ticks only full batches are stored, the oldest ends first: what a server that is killed
  /// again and again sends once more must not always be the same.
  @Test func oldestEndsAreStoredFirst() async throws {
    let world = try await TestWorld()
    let device = try await world.register()
    var ids: [MessageID] = []
    for _ in 0..<130 { ids.append(try await world.push(to: [device])) }
    world.router.deliveries.acknowledge(ids, by: device.number, in: world.app)
    try await world.barrier()
    #expect(try await world.storedPending() == Array(ids[100...]))
    try await world.restart(isOrderly: false)
    #expect(world.pending(device) == Array(ids[100...]))
  }

  /// A connection hears that its acknowledgements are stored, for those that were awaited, once they are, and
  /// not while the database refuses them.
  @Test func storedAcknowledgements() async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(100)
    let here = world.login(devices[0])
    let single = try await world.push(to: [devices[0]])
    let group = try await world.push()
    _ = world.channel.drain()
    try await world.setFault(.readOnly, true)
    let known = world.router.deliveries.acknowledge(
      [single, group, group, MessageID(1)], by: devices[0].number, in: world.app, from: here)
    #expect(known == 2)
    world.router.deliveries.flushSoon()
    try? await world.barrier()
    #expect(world.channel.drain() == [])
    try await world.setFault(.readOnly, false)
    try await world.tick()
    #expect(world.channel.drain() == [.stored([here: 2])])
    try await world.restart(isOrderly: false)
    #expect(world.pending(devices[0]) == [])
  }

  /// An acknowledgement that a crash took away brings the push back under its ID; an orderly end loses none.
  @Test(arguments: [true, false])
  func lateAcknowledgements(isOrderly: Bool) async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(3)
    let ids = [try await world.push(to: [devices[0]]), try await world.push(to: devices)]
    world.router.deliveries.acknowledge(ids, by: devices[0].number, in: world.app)
    try await world.restart(isOrderly: isOrderly)
    #expect(world.pending(devices[0]) == (isOrderly ? [] : ids))
    #expect(world.pending(devices[1]) == [ids[1]])
  }

  /// Nobody matches: 1011, and nothing is stored. A registration of another app is nobody.
  @Test func noTarget() async throws {
    let world = try await TestWorld()
    #expect(await world.accept(.test()) == .failure(.noTarget), "an app without devices")
    let outsider = try await world.register(in: try await world.addApp())
    _ = try await world.register()
    #expect(await world.accept(.test(to: [outsider])) == .failure(.noTarget))
    var request = AcceptRequest.test()
    request.push.platforms = PlatformSet(.ios)
    #expect(await world.accept(request) == .failure(.noTarget), "only Android is there")
    request.push.audience = .filter(AudienceFilter(tagsAnd: ["nobody"]))
    request.push.platforms = .all
    #expect(await world.accept(request) == .failure(.noTarget))
    #expect(try await world.storedPending() == [])
  }

  /// With a time to live of 0 only those who are connected get it; if there are none, it is over at once.
  @Test func onlineOnly() async throws {
    let world = try await TestWorld()
    let devices = try await world.registerMany(3)
    let lost = try await world.accept(.test(timeToLive: 0)).get()
    #expect(lost.targets == 3, "the audience, not those reached")
    #expect(try await world.outcome(of: lost.id)?.status == .expired)
    #expect(try await world.storedPending() == [] && world.channel.drain() == [])
    let place = world.login(devices[2])
    let id = try await world.push(timeToLive: 0)
    #expect(world.channel.drain() == [.single(id, devices[2].number, place)])
    #expect(devices.map { world.pending($0) } == [[], [], [id]])
    world.clock.advance(seconds: 31)
    #expect(world.pending(devices[2]) == [])
    try await world.tick()
    #expect(try await world.outcome(of: id)?.status == .expired)
  }

  /// Fifty concurrent requests with one `cid` make one push and get one answer, also when the audience is
  /// gone later and after a restart; another app may use the same name.
  @Test func repeatedRequests() async throws {
    let world = try await TestWorld()
    let device = try await world.register(fingerprint: [1])
    let other = try await world.addApp()
    let outsider = try await world.register(in: other)
    let answers = await withTaskGroup(of: Result<AcceptedPush, APIError>.self) { group in
      for sendno in 0..<50 as Range<Int64> {
        group.addTask { [router = world.router, app = world.app] in
          var request = AcceptRequest.test(to: [device], cid: "x-1")
          request.push.options.sendno = sendno
          return await awaitCallback { done in
            router.acceptance.accept(request, for: app) { done($0) }
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    let first = try answers[0].get()
    #expect(answers.allSatisfy { $0 == .success(first) })
    #expect(world.pending(device) == [first.id])
    #expect(try await world.push(to: [outsider], cid: "x-1", in: other) != first.id)
    _ = try await world.register(fingerprint: [1])
    #expect(await world.accept(.test(to: [device], cid: "x-1")) == .success(first))
    #expect(await world.accept(.test(to: [device], cid: "x-2")) == .failure(.noTarget))
    try await world.restart(isOrderly: true)
    #expect(await world.accept(.test(cid: "x-1")) == .success(first))
  }

  /// Message IDs grow over restarts, even when the clock is set back.
  @Test func idsGrow() async throws {
    let world = try await TestWorld()
    _ = try await world.register()
    var last = MessageID(0)
    for step in 0..<5 {
      let id = try await world.push()
      #expect(last < id)
      last = id
      world.clock.advance(seconds: -1000)
      if step == 2 { try await world.restart(isOrderly: true) }
    }
    #expect(try await last < world.push())
  }

  /// Over the bound the oldest push to the device alone makes room. What was sent to several, or to all,
  /// neither counts nor makes room, whatever it came by and however few they are, also after a restart.
  @Test(arguments: [false, true]) func fullLists(isRestarted: Bool) async throws {
    var options = RouterOptions()
    options.pending.perDevice = 3
    let world = try await TestWorld(options: options)
    let (one, two) = (try await world.register(), try await world.register())
    var shared: [MessageID] = []
    for _ in 0..<5 { shared.append(try await world.push(to: [one, two])) }
    let broadcast = try await world.push()
    world.router.deliveries.acknowledge([broadcast], by: two.number, in: world.app)
    if isRestarted {
      try await world.tick()
      try await world.restart(isOrderly: true)
    }
    var ids: [MessageID] = []
    for _ in 0..<4 { ids.append(try await world.push(to: [one])) }
    for _ in 0..<5 { shared.append(try await world.push(to: [one, two])) }
    try await world.tick()
    #expect(world.pending(one) == (shared + [broadcast] + ids.suffix(3)).sorted())
    #expect(world.pending(two) == shared)
    #expect(try await world.outcome(of: ids[0])?.status == .dropped)
    let lost = try #require(try await world.targets(of: ids[0]))
    #expect(lost.failed.mapValues { $0.members() } == ["QueueFull": [one.number]])
    // What has left the list makes room again.
    for id in shared { world.router.deliveries.acknowledge([id], by: one.number, in: world.app) }
    _ = await world.recall(ids[1])
    ids.append(try await world.push(to: [one]))
    try await world.tick()
    #expect(world.pending(one) == [broadcast] + ids.suffix(3))
    ids.append(try await world.push(to: [one]))
    try await world.tick()
    #expect(world.pending(one) == [broadcast] + ids.suffix(3))
    #expect(try await world.outcome(of: ids[2])?.status == .dropped)
  }
}

extension TestWorld {
  fileprivate func push(to devices: [TestDevice], cid: String, in app: App) async throws -> MessageID {
    try await accept(.test(to: devices, cid: cid), in: app).get().id
  }
}
