import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// Quiet hours, with zones of the test's own. The clock stands at 2026-09-21 14:13:20 UTC at first, and the
/// server is at UTC.
@Suite struct QuietHourTests {
  private static let zones: [String: any Zone] = {
    var zones: [String: any Zone] = [:]
    for hours in -11...12 { zones["Z/\(hours)"] = FixedZone(secondsEast: Int64(hours) * 3600) }
    // Forward or back by an hour on 22 September at 01:00 UTC, when these clocks show 02:00.
    zones["Z/forward"] = ChangingZone(before: 3600, after: 7200, change: 1_790_038_800)
    zones["Z/back"] = ChangingZone(before: 3600, after: 0, change: 1_790_038_800)
    return zones
  }()

  private let fallback: FallbackWorld
  private var world: TestWorld { fallback.world }

  init() async throws {
    var options = RouterOptions()
    options.deviceZones = TimeZones(Self.zones)
    options.zone = FixedZone(secondsEast: 0)
    fallback = try await FallbackWorld(options: options)
    let (router, app) = (world.router, world.app)
    try await awaitCallback {
      router.apps.setFacts(DeviceFactSet(.timeZone), of: app, noting: .test, done: $0)
    }.get()
    _ = world.channel.drain()
  }

  private func set(_ hours: QuietHours?) async throws {
    let (router, app) = (world.router, world.app)
    try await awaitCallback { router.apps.setQuietHours(hours, of: app, noting: .test, done: $0) }.get()
  }

  /// Hours in which it is quiet at UTC now: they end at 16:00, in 6400 seconds.
  private func beQuiet(_ action: QuietHours.Action = .hold) async throws {
    try await set(QuietHours(from: 14 * 60, until: 16 * 60, action))
  }

  private func move(_ device: TestDevice, to zone: String) async throws {
    let (router, app) = (world.router, world.app)
    try await awaitCallback {
      router.facts.set([.timeZone: zone], of: device.number, in: app, reply: $0)
    }.get()
  }

  /// A device that the channel knows by a word, or one of the direct connection alone.
  private func device(_ word: String? = nil, in zone: String? = nil) async throws -> TestDevice {
    let device = try await world.register()
    if let word { try await fallback.setToken(word, device) }
    if let zone { try await move(device, to: zone) }
    return device
  }

  private func request(
    to devices: [TestDevice]? = nil, timeToLive: Int = 86_400, _ parts: PushParts = .notification,
    _ change: (inout PushOptions) -> Void = { _ in }
  ) -> AcceptRequest {
    var request = AcceptRequest.test(to: devices, timeToLive: timeToLive)
    request.push.content = PushContent(variants: [
      ContentVariant(
        platforms: .all, notification: parts.contains(.notification) ? Array(#"{"alert":"x"}"#.utf8) : [],
        message: parts.contains(.message) ? Array(#"{"msg_content":"x"}"#.utf8) : [])
    ])
    change(&request.push.options)
    return request
  }

  private func push(
    to devices: [TestDevice]? = nil, timeToLive: Int = 86_400, _ parts: PushParts = .notification,
    _ change: (inout PushOptions) -> Void = { _ in }
  ) async throws -> MessageID {
    try await world.accept(request(to: devices, timeToLive: timeToLive, parts, change)).get().id
  }

  private func held() async throws -> [HeldPushRow] {
    try await world.store.look { transaction throws(StorageError) in
      var rows: [HeldPushRow] = []
      try transaction.heldPushes.all(in: .all) { rows.append($0) }
      return rows
    }
  }

  /// Who waits, by row.
  private func members() async throws -> [[RegistrationNumber]?] {
    try await held().map { NumberSet(serialized: $0.targets)?.members() }
  }

  /// Lets the hours of `beQuiet` end, a few seconds before or after.
  private func wait(_ seconds: Int) async throws {
    world.clock.advance(seconds: 6400 + seconds)
    try await fallback.run(2)
  }

  // MARK: Around the earth

  /// Each device gets it as soon as its quiet hours end, once, over whichever channel reaches it then, though
  /// the server is killed again and again and devices move.
  @Test(arguments: [nil, 1, 2, 3] as [UInt64?])
  func `Each of 26 zones gets it when its quiet hours end, once`(kills seed: UInt64?) async throws {
    var random = SeededRandom(seed: seed ?? 0)
    let hours = try #require(QuietHours(from: 22 * 60, until: 8 * 60))
    try await set(hours)
    var devices: [(device: TestDevice, word: String?, expected: Timestamp)] = []
    let now = world.clock.now()
    for (name, zone) in Self.zones.sorted(by: { $0.key < $1.key }) {
      for word in [nil, "word\(name)"] {
        let expected = hours.end(at: now, in: zone) ?? now
        devices.append((try await device(word, in: name), word, expected))
      }
    }
    // As many more as make it a push to many.
    for _ in 0..<20 { _ = try await device(in: "Z/0") }
    let id = try await push()
    #expect(try await held().count == Set(devices.map(\.expected)).subtracting([now]).count)
    var arrived: [RegistrationNumber: Timestamp] = [:]
    let step: Int64 = 1800
    // After a start devices have time to come back.
    var seconds = 2
    while world.clock.now() < now.adding(seconds: 11 * 3600) {
      try await fallback.run(seconds)
      seconds = 2
      for (device, word, _) in devices where arrived[device.number] == nil {
        let has = word.map { fallback.lines.contains("\(id.text) \($0)") } ?? (world.pending(device) == [id])
        if has { arrived[device.number] = world.clock.now() }
      }
      if seed != nil, Int.random(in: 0..<4, using: &random) == 0 {
        try await fallback.restart()
        seconds = 7
      }
      // Who travels meanwhile gets it when it was to get it.
      let traveller = devices.randomElement(using: &random)
      if let traveller {
        try await move(traveller.device, to: "Z/\(Int.random(in: -11...12, using: &random))")
      }
      world.clock.advance(seconds: step)
    }
    try await fallback.run(7)
    for (device, word, expected) in devices {
      let at = try #require(arrived[device.number], "\(word ?? "")")
      #expect(at >= expected && at < expected.adding(seconds: step + 60), "\(word ?? "own")")
      if word != nil { #expect(world.pending(device).isEmpty) }
    }
    #expect(fallback.lines == devices.compactMap(\.word).map { "\(id.text) \($0)" }.sorted())
    #expect(try await held().isEmpty)
    #expect(try await fallback.problems() == [])
    for (device, word, _) in devices where word == nil { try await fallback.acknowledge(id, device) }
    try await fallback.run(2)
    let report = try await fallback.report(id)
    #expect(report.held == nil && report.targets.delivered.count == devices.count)
    #expect(report.targets.pending.count == 20)
  }

  // MARK: One device

  @Test func `A device that is connected at the end gets it over its connection`() async throws {
    try await beQuiet()
    let anna = try await device("anna")
    let location = world.login(anna)
    let id = try await push()
    #expect(world.channel.drain().isEmpty && world.pending(anna).isEmpty)
    #expect(world.app.directory.pendingCount(for: anna.number) == 0)
    var report = try await fallback.report(id)
    #expect(report.status == .open && report.held?.count == 1 && report.targets.pending.count == 1)
    #expect(report.held?.until == world.clock.now().adding(seconds: 6400))
    var why = try await fallback.why(id, anna)
    #expect(why.conclusion == .waiting)
    #expect(why.step(.release)?.cause == .held && why.step(.release)?.detail == "16:00")
    try await wait(-10)
    #expect(world.channel.drain().isEmpty && fallback.lines.isEmpty)
    try await wait(-6390)
    #expect(world.channel.drain() == [.single(id, anna.number, location)])
    #expect(world.pending(anna) == [id] && fallback.lines.isEmpty)
    try await fallback.acknowledge(id, anna)
    try await fallback.run(2)
    report = try await fallback.report(id)
    #expect(report.status == .delivered && report.held == nil)
    why = try await fallback.why(id, anna)
    #expect(why.conclusion == .arrived)
    #expect(try await fallback.problems() == [])
  }

  /// It was connected when it was accepted, and is not when its quiet hours end.
  @Test func `A device that is away at the end gets it over its channel`() async throws {
    try await beQuiet()
    let anna = try await device("anna")
    let location = world.login(anna)
    let id = try await push()
    world.app.directory.disconnect(anna.number, from: location, at: world.clock.seconds)
    try await wait(0)
    #expect(fallback.lines == ["\(id.text) anna"] && world.pending(anna).isEmpty)
    let report = try await fallback.report(id)
    #expect(report.status == .delivered && report.targets.delivered.count == 1)
    let why = try await fallback.why(id, anna)
    #expect(why.conclusion == .handedOver && why.firstFailure == nil)
    #expect(why.step(.connection)?.verdict == .notApplicable)
    try await fallback.restart()
    try await fallback.run(7)
    #expect(fallback.lines.count == 1)
    #expect(try await fallback.problems() == [])
  }

  @Test(arguments: ["recall", "override"]) func `What is recalled while it waits reaches nobody`(
    how: String
  ) async throws {
    try await beQuiet()
    let anna = try await device("anna")
    let id = try await push()
    var expected: [String] = []
    if how == "recall" {
      #expect(try await world.recall(id).get() == 1)
      #expect(try await held().isEmpty)
    } else {
      let newer = try await push { $0.overrideMessageID = id }
      try await fallback.run(2)
      #expect(fallback.lines.isEmpty, "the device has nothing that could be replaced")
      #expect(try await held().map(\.push) == [newer])
      expected = ["\(newer.text) anna"]
    }
    try await wait(0)
    #expect(fallback.lines == expected && world.pending(anna).isEmpty)
    #expect(try await held().isEmpty)
    let targets = try await fallback.targets(id)
    #expect(targets.recalled.count == 1)
    #expect(try await fallback.problems() == [])
  }

  /// One of two devices has the push that is replaced.
  @Test func `A correction waits only for those for whom the old push waits`() async throws {
    let (anna, bert) = (try await device("anna"), try await device("bert", in: "Z/3"))
    try await beQuiet()
    let id = try await push()
    try await fallback.run(2)
    #expect(fallback.lines == ["\(id.text) bert"])
    // Now it is quiet where he is as well.
    try await set(QuietHours(from: 14 * 60, until: 18 * 60))
    let newer = try await push { $0.overrideMessageID = id }
    try await fallback.run(2)
    #expect(fallback.lines == ["\(id.text) bert", "\(newer.text) bert"])
    let rows = try await held()
    #expect(rows.map(\.push) == [newer])
    #expect(rows.first.flatMap { NumberSet(serialized: $0.targets)?.members() } == [anna.number])
    #expect(world.pending(anna).isEmpty && world.pending(bert).isEmpty)
  }

  /// A call comes at once, and a service accepts it: that is not the notification.
  @Test func `A notification waits though a call with it does not`() async throws {
    let calling = try await FallbackWorld(calls: true, options: fallback.world.options)
    let (router, app) = (calling.world.router, calling.world.app)
    let hours = QuietHours(from: 14 * 60, until: 16 * 60)
    try await awaitCallback { router.apps.setQuietHours(hours, of: app, noting: .test, done: $0) }.get()
    let anna = try await calling.world.register()
    try await calling.setToken("anna", anna)
    let id = try await calling.world.accept(request()).get().id
    try await calling.run(2)
    #expect(calling.lines == ["\(id.text) anna"])
    #expect(try await calling.report(id).held?.count == 1)
    // What it shows, and its user taps, is the call.
    router.deliveries.note([(id, false), (id, true)], by: anna.number, in: app)
    try await calling.run(2)
    let report = try await calling.report(id)
    #expect(report.held?.count == 1 && report.targets.shown.isEmpty && report.targets.tapped.isEmpty)
    calling.world.clock.advance(seconds: 6396)
    try await calling.run(2)
    #expect(calling.lines == ["\(id.text) anna", "\(id.text) anna"])
    #expect(try await calling.report(id).held == nil && calling.world.pending(anna).isEmpty)
    #expect(try await calling.problems() == [])
  }

  // MARK: What corrects another push

  /// It would be a way around quiet hours: nobody here has what is corrected.
  @Test(arguments: [QuietHours.Action.hold, .drop])
  func `A correction does not reach those who have nothing to correct`(action: QuietHours.Action) async throws
  {
    let (anna, bert) = (try await device(), try await device(in: "Z/3"))
    try await beQuiet(action)
    let id = try await push(to: action == .drop ? nil : [bert])
    #expect(world.pending(anna).isEmpty && world.pending(bert) == [id])
    let newer = try await push { $0.overrideMessageID = id }
    #expect(world.pending(anna).isEmpty && world.pending(bert) == [newer])
    try await wait(0)
    #expect(world.pending(anna) == (action == .hold ? [newer] : []))
    #expect(try await fallback.problems() == [])
  }

  /// A home learns of connections that were let in elsewhere, after newer pushes were sent on them.
  @Test(arguments: [1, 70]) func `What was released comes to devices that stayed connected`(count: Int)
    async throws
  {
    try await beQuiet()
    var devices: [TestDevice] = []
    for _ in 0..<count { devices.append(try await device()) }
    let location = world.login(devices[0])
    let id = try await push()
    let session = BoundSession(app: world.app.id, number: devices[0].number, location: location)
    world.router.deliverReleased(to: [session], of: world.app)
    try await world.barrier()
    #expect(world.channel.drain().isEmpty, "it waits")
    try await wait(0)
    try await fallback.run(2)
    let sent = RecordingChannel.Event.single(id, devices[0].number, location)
    #expect(world.channel.drain() == [sent])
    world.router.deliverReleased(to: [session], of: world.app)
    try await world.barrier()
    #expect(world.channel.drain() == [sent])
    try await fallback.acknowledge(id, devices[0])
    try await fallback.run(1)
    world.router.deliverReleased(to: [session], of: world.app)
    try await world.barrier()
    #expect(world.channel.drain().isEmpty)
  }

  // MARK: What takes over later

  /// The time that devices have to acknowledge it ends in the quiet hours of one of them, which begin at
  /// 14:14.
  @Test(arguments: [true, false], [QuietHours.Action.hold, .drop])
  func `No channel takes over in quiet hours`(isOnline: Bool, action: QuietHours.Action) async throws {
    try await set(QuietHours(from: 14 * 60 + 14, until: 16 * 60, action))
    let (anna, bert) = (try await device("anna"), try await device("bert", in: "Z/3"))
    let location = world.login(anna)
    _ = world.login(bert)
    let id = try await push { $0.fallbackAfter = 60 }
    #expect(world.channel.drain().count == 2)
    #expect(try await held().isEmpty)
    try await fallback.run(64)
    #expect(fallback.lines == ["\(id.text) bert"])
    #expect(try await fallback.rows(id).allSatisfy { $0.isDone })
    let end = world.clock.now().adding(seconds: 6336)
    #expect(try await held().map(\.until) == (action == .hold ? [end] : []))
    #expect(try await fallback.report(id).held?.count == (action == .hold ? 1 : nil))
    #expect(world.pending(anna) == (action == .hold ? [] : [id]))
    if !isOnline {
      world.app.directory.disconnect(anna.number, from: location, at: world.clock.seconds)
    }
    _ = world.channel.drain()
    world.clock.advance(seconds: 6334)
    try await fallback.run(4)
    let getsBySelf = isOnline && action == .hold
    #expect(world.channel.drain() == (getsBySelf ? [.single(id, anna.number, location)] : []))
    let byChannel = !isOnline && action == .hold
    #expect(fallback.lines == (byChannel ? ["\(id.text) anna", "\(id.text) bert"] : ["\(id.text) bert"]))
    #expect(world.pending(anna) == (byChannel ? [] : [id]))
    #expect(try await fallback.problems() == [])
  }

  @Test func `Who acknowledges it in quiet hours gets it no more`() async throws {
    try await set(QuietHours(from: 14 * 60 + 14, until: 16 * 60))
    let anna = try await device("anna")
    _ = world.login(anna)
    let id = try await push { $0.fallbackAfter = 60 }
    try await fallback.run(64)
    try await fallback.acknowledge(id, anna)
    try await fallback.run(2)
    _ = world.channel.drain()
    try await wait(0)
    #expect(fallback.lines.isEmpty && world.channel.drain().isEmpty)
    #expect(try await fallback.report(id).status == .delivered)
    #expect(try await held().isEmpty)
  }

  /// A channel without room keeps nobody waiting who does not need it.
  @Test func `A full channel holds up only what it is to bring`() async throws {
    try await beQuiet()
    let (anna, bert) = (try await device("anna"), try await device())
    let first = try await push(to: [anna])
    let second = try await push(to: [anna, bert])
    fallback.fill(true)
    try await wait(0)
    #expect(world.pending(bert) == [second] && fallback.lines.isEmpty)
    let report = try await fallback.report(second)
    #expect(report.held?.count == 1 && report.held?.until == world.clock.now(), "the end has passed")
    fallback.fill(false)
    try await fallback.run(7)
    #expect(fallback.lines == ["\(first.text) anna", "\(second.text) anna"].sorted())
    #expect(try await held().isEmpty)
    #expect(try await fallback.problems() == [])
  }

  /// More rows than are read at a time, before and behind those that can be released.
  @Test func `A full channel keeps none of many others waiting`() async throws {
    try await beQuiet()
    var (blocked, free): ([(word: String, id: MessageID)], [(device: TestDevice, id: MessageID)]) = ([], [])
    for place in 0..<200 {
      let word = place % 4 == 3 ? nil : "word\(place)"
      let device = try await device(word)
      let id = try await push(to: [device])
      if let word { blocked.append((word, id)) } else { free.append((device, id)) }
    }
    let all = try await push()
    fallback.fill(true)
    try await wait(0)
    for seconds in [0, 12] {
      try await fallback.run(seconds)
      #expect(free.allSatisfy { world.pending($0.device) == [$0.id, all] })
      #expect(fallback.lines.isEmpty)
      #expect(Set(try await held().map(\.push)) == Set(blocked.map(\.id) + [all]))
    }
    fallback.fill(false)
    try await fallback.run(22)
    let expected = blocked.flatMap { ["\($0.id.text) \($0.word)", "\(all.text) \($0.word)"] }
    #expect(fallback.lines == expected.sorted())
    #expect(try await held().isEmpty)
    #expect(try await fallback.problems() == [])
  }

  /// What fails when it is written, such as a row that is damaged.
  @Test func `A row that cannot be released keeps no other one waiting`() async throws {
    try await beQuiet()
    var devices: [TestDevice] = []
    var ids: [MessageID] = []
    for _ in 0..<3 {
      devices.append(try await device())
      ids.append(try await push(to: [devices[devices.count - 1]]))
    }
    let all = try await push()
    try await world.run(
      script: """
        CREATE TRIGGER fault BEFORE DELETE ON held_push WHEN OLD.msg_id = \(ids[1].text)
        BEGIN SELECT RAISE(ABORT, 'no'); END
        """)
    try await wait(0)
    #expect(devices.map { world.pending($0) } == [[ids[0], all], [all], [ids[2], all]])
    #expect(try await held().map(\.push) == [ids[1]])
    #expect(try await fallback.problems() == [])
    try await world.run(script: "DROP TRIGGER fault")
    try await fallback.run(12)
    #expect(devices.map { Set(world.pending($0)) } == ids.map { [$0, all] })
    #expect(try await held().isEmpty)
    #expect(try await fallback.problems() == [])
  }

  /// One waits since the push was accepted, the other one since a channel was to take over.
  @Test func `Those whose hours end together are one row`() async throws {
    try await beQuiet()
    let (anna, bert) = (try await device("anna", in: "Z/3"), try await device("bert"))
    let location = world.login(anna)
    let id = try await push { $0.fallbackAfter = 60 }
    #expect(try await members() == [[bert.number]])
    try await move(anna, to: "Z/0")
    try await fallback.run(64)
    #expect(try await members() == [[anna.number, bert.number].sorted()])
    #expect(world.pending(anna).isEmpty && fallback.lines.isEmpty)
    #expect(try await fallback.report(id).held?.count == 2)
    world.app.directory.disconnect(anna.number, from: location, at: world.clock.seconds)
    world.clock.advance(seconds: 6334)
    try await fallback.run(4)
    #expect(fallback.lines == ["\(id.text) anna", "\(id.text) bert"])
    #expect(try await held().isEmpty)
    #expect(try await fallback.problems() == [])
  }

  /// A registration that ends while it waits, and an app that is deleted.
  @Test func `Who is gone at the end gets nothing`() async throws {
    try await beQuiet()
    let (anna, bert) = (try await device("anna"), try await device("bert"))
    let id = try await push()
    _ = await awaitCallback { done in
      world.router.registrations.delete(anna.number, in: world.app) { done($0) }
    }
    try await wait(0)
    #expect(fallback.lines == ["\(id.text) bert"] && world.pending(bert).isEmpty)
    #expect(try await held().isEmpty)
    #expect(try await fallback.problems() == [])
  }

  // MARK: What does not wait

  @Test func `A push without a notification, or one that may come at any time, does not wait`() async throws {
    try await beQuiet()
    let anna = try await device()
    var expected: [MessageID] = []
    expected.append(try await push(.message))
    expected.append(try await push { $0.classification = 1 })
    expected.append(try await push { $0.ignoresQuietHours = true })
    #expect(world.pending(anna) == expected)
    _ = try await push { $0.classification = 0 }
    _ = try await push([.notification, .message])
    #expect(world.pending(anna) == expected)
    try await move(anna, to: "Z/3")
    expected.append(try await push())
    #expect(world.pending(anna) == expected, "it is 17:13 where the device is")
  }

  @Test func `Time-sensitive notifications on iOS do not wait, and others do`() async throws {
    try await beQuiet()
    let (phone, other) = (try await world.register(platform: .ios), try await device())
    var request = request()
    let alert = Array(#"{"alert":"x","interruption-level":"time-sensitive"}"#.utf8)
    request.push.content = PushContent(variants: [
      ContentVariant(platforms: PlatformSet(.ios), notification: alert),
      ContentVariant(platforms: PlatformSet(.android), notification: Array(#"{"alert":"x"}"#.utf8)),
    ])
    let id = try await world.accept(request).get().id
    #expect(world.pending(phone) == [id] && world.pending(other).isEmpty)
  }

  @Test func `Without quiet hours nothing is looked up, and changes count for later pushes`() async throws {
    let anna = try await device()
    let first = try await push()
    try await beQuiet()
    let second = try await push()
    try await set(nil)
    let third = try await push()
    #expect(world.pending(anna) == [first, third])
    try await wait(0)
    #expect(world.pending(anna) == [first, second, third])
  }

  // MARK: What is dropped

  @Test func `An app may have notifications dropped`() async throws {
    try await beQuiet(.drop)
    let (anna, bert) = (try await device(), try await device(in: "Z/3"))
    let id = try await push()
    #expect(world.pending(anna).isEmpty && world.pending(bert) == [id])
    try await fallback.run(1)
    let report = try await fallback.report(id)
    #expect(report.audience == 1 && report.quiet == 1 && report.held == nil)
    #expect(try await fallback.why(id, anna).firstFailure?.cause == .quietHours)
    let refused = await world.accept(request(to: [anna]))
    #expect(refused.failure?.code == 1011 && refused.failure?.message.contains("quiet hours") == true)
    try await wait(0)
    #expect(world.pending(anna).isEmpty)
    #expect(try await fallback.problems() == [])
  }

  /// It would end before, or at the moment at which the hours end.
  @Test(arguments: [0, 60, 6400]) func `What ends before the hours do does not wait`(seconds: Int)
    async throws
  {
    try await beQuiet()
    let anna = try await device()
    #expect(await world.accept(request(timeToLive: seconds)).failure?.code == 1011)
    let id = try await push(timeToLive: 6410)
    try await wait(0)
    #expect(world.pending(anna) == [id])
  }

  @Test func `What is dropped does not count for the day, and what waits does`() async throws {
    let (router, app) = (world.router, world.app)
    try await awaitCallback {
      router.apps.setCaps(CapsRow(normal: 1), of: app, noting: .test, done: $0)
    }.get()
    let (anna, bert) = (try await device(), try await device())
    try await beQuiet(.drop)
    #expect(await world.accept(request(to: [anna])).failure?.code == 1011)
    try await beQuiet()
    let id = try await push(to: [anna])
    #expect(await world.accept(request(to: [anna])).failure?.code == 1011)
    #expect(try await world.accept(request()).get().targets == 1)
    #expect(try await held().map(\.push).contains(id) && world.pending(bert).isEmpty)
  }

  // MARK: Many

  /// More than are read at a time, and than are sent before the writer goes on.
  @Test func `Whatever waits is released in a few seconds`() async throws {
    try await beQuiet()
    var devices: [TestDevice] = []
    for _ in 0..<150 { devices.append(try await device()) }
    var ids: [MessageID] = []
    for device in devices { ids.append(try await push(to: [device])) }
    let all = try await push()
    let locations = devices.map { world.login($0) }
    _ = world.channel.drain()
    #expect(try await held().count == 151)
    try await wait(0)
    try await fallback.run(2)
    #expect(try await held().isEmpty)
    var sent = world.channel.drain().map { "\($0)" }
    var expected: [String] = []
    for (place, device) in devices.enumerated() {
      #expect(world.pending(device) == [ids[place], all])
      for id in [ids[place], all] {
        expected.append("\(RecordingChannel.Event.single(id, device.number, locations[place]))")
      }
    }
    sent.sort()
    #expect(sent == expected.sorted())
  }

  @Test func `The reported end is that of those who wait`() async throws {
    try await set(QuietHours(from: 13 * 60, until: 16 * 60))
    let (anna, bert) = (try await device(), try await device(in: "Z/-1"))
    let id = try await push()
    let end = world.clock.now().adding(seconds: 6400)
    #expect(try await fallback.report(id).held?.until == end.adding(seconds: 3600))
    _ = await awaitCallback { done in
      world.router.registrations.delete(bert.number, in: world.app) { done($0) }
    }
    try await fallback.run(1)
    let held = try await fallback.report(id).held
    #expect(held?.until == end && held?.count == 1)
    #expect(world.pending(anna).isEmpty)
  }

  /// With paced delivery it is the moment at which a device's turn comes that counts.
  @Test(arguments: [(10, 60), (10, 1400), (100, 60), (100, 700), (100, 1400)])
  func `Turns that come in quiet hours wait`(count: Int, minutes: Int) async throws {
    let hours = try #require(QuietHours(from: 15 * 60, until: 20 * 60))
    try await set(hours)
    let names = Self.zones.keys.sorted()
    var devices: [(device: TestDevice, zone: any Zone)] = []
    for place in 0..<count {
      let name = names[place * 7 % names.count]
      devices.append((try await device(in: name), try #require(Self.zones[name])))
    }
    let id = try await push { $0.bigPushDuration = minutes }
    let (start, numbers) = (world.clock.now(), NumberSet(devices.map(\.device.number)))
    let pacing = PacingWindow(targets: numbers, start: start, minutes: Int64(minutes))
    var turns: [RegistrationNumber: Timestamp] = [:]
    var ends: [Timestamp: [RegistrationNumber]] = [:]
    for (device, zone) in devices {
      let turn = try #require(pacing.moment(of: device.number))
      turns[device.number] = hours.end(at: turn, in: zone) ?? turn
      if let end = hours.end(at: turn, in: zone) { ends[end, default: []].append(device.number) }
    }
    let rows = try await held()
    #expect(rows.map(\.until) == ends.keys.sorted() && !rows.isEmpty)
    for row in rows {
      #expect(NumberSet(serialized: row.targets)?.members() == ends[row.until]?.sorted())
    }
    while world.clock.now() < start.adding(seconds: Int64(minutes) * 60 + 20_000) {
      world.clock.advance(seconds: 1800)
      try await fallback.run(2)
      let now = world.clock.now()
      for (device, _) in devices {
        let moment = try #require(turns[device.number])
        guard abs(moment.seconds - now.seconds) > 3 else { continue }
        #expect(world.pending(device) == (moment < now ? [id] : []))
      }
    }
    #expect(try await fallback.problems() == [])
  }

  /// Those who do not get it leave their turns: nobody else comes later for that, and into the hours. They
  /// begin in half an hour, which is half of the time that the push takes.
  @Test(arguments: [(QuietHours.Action.drop, 86_400), (.hold, 60)], [2, 100])
  func `No turn moves into quiet hours`(how: (QuietHours.Action, Int), count: Int)
    async throws
  {
    let start = world.clock.now()
    try await set(QuietHours(from: 14 * 60 + 43, until: 20 * 60, how.0))
    var devices: [TestDevice] = []
    for _ in 0..<count { devices.append(try await device()) }
    let id = try await push(timeToLive: how.1) { $0.bigPushDuration = 60 }
    let report = try await fallback.report(id)
    #expect(report.held == nil && report.quiet + report.audience == count)
    #expect(abs(report.audience - count / 2) <= 1)
    for isRestarted in [false, true] {
      if isRestarted { try await fallback.restart() }
      world.clock.advance(seconds: isRestarted ? 1 : 1700)
      try await fallback.run(2)
      // 14:42: those who get it have it before the hours begin.
      let reached = devices.filter { world.pending($0) == [id] }.count
      #expect(reached >= report.audience - 2 && reached <= report.audience)
    }
    #expect(world.clock.now() < start.adding(seconds: 1800))
    world.clock.advance(seconds: 120)
    try await fallback.run(2)
    #expect(devices.filter { world.pending($0) == [id] }.count == report.audience)
    #expect(try await fallback.problems() == [])
  }

  /// What is left of those to whom it is paced keeps its pace, though others are released meanwhile.
  @Test func `A release does not hurry the others`() async throws {
    try await set(QuietHours(from: 14 * 60, until: 14 * 60 + 30))
    var devices: [TestDevice] = []
    for place in 0..<80 { devices.append(try await device("word\(place)", in: place < 20 ? nil : "Z/3")) }
    let id = try await push { $0.bigPushDuration = 60 }
    #expect(try await held().count == 1)
    // 14:30:03: the first 20, and the three others whose turn has come.
    world.clock.advance(seconds: 1001)
    try await fallback.run(2)
    let count = fallback.lines.count
    #expect(count >= 20 && count <= 24, "\(count)")
    world.clock.advance(seconds: 3000)
    try await fallback.run(2)
    #expect(fallback.lines.count == 80 && Set(fallback.lines).count == 80)
    #expect(fallback.lines.allSatisfy { $0.hasPrefix(id.text) })
    #expect(try await fallback.problems() == [])
  }

  /// A set for each moment, whatever the number of devices; those who do not wait get it at once.
  @Test(arguments: [false, true]) func `A push to many waits for some`(isPaced: Bool) async throws {
    try await beQuiet()
    var (here, there): ([TestDevice], [TestDevice]) = ([], [])
    for _ in 0..<70 { here.append(try await device()) }
    for _ in 0..<70 { there.append(try await device(in: "Z/3")) }
    let location = world.login(here[5])
    let id = try await push { if isPaced { $0.bigPushDuration = 10 } }
    let rows = try await held()
    #expect(rows.count == 1 && NumberSet(serialized: rows[0].targets)?.count == 70)
    if !isPaced {
      #expect(world.channel.drain() == [.group(id, there.map(\.number))])
    } else {
      world.clock.advance(seconds: 700)
      try await fallback.run(2)
      #expect(world.channel.drain().isEmpty)
    }
    #expect(there.allSatisfy { world.pending($0) == [id] } && here.allSatisfy { world.pending($0).isEmpty })
    for isOrderly in [true, false] {
      if !isOrderly { try await fallback.restart() }
      #expect(here.allSatisfy { world.pending($0).isEmpty })
    }
    let again = world.login(here[5])
    #expect(again != location)
    _ = world.channel.drain()
    try await wait(0)
    try await fallback.run(6)
    #expect(world.channel.drain() == [.single(id, here[5].number, again)])
    #expect(here.allSatisfy { world.pending($0) == [id] })
    try await fallback.acknowledge(id, here[5])
    try await fallback.run(1)
    #expect(world.pending(here[5]).isEmpty)
    #expect(try await fallback.problems() == [])
  }

  /// Groups are those that one finds device by device.
  @Test(arguments: 0..<4) func `Sets are those of each device`(seed: UInt64) async throws {
    var random = SeededRandom(seed: seed)
    let names = Self.zones.keys.sorted() + ["Mars/Olympus"]
    var devices: [(device: TestDevice, zone: String?)] = []
    for _ in 0..<200 {
      let zone = Int.random(in: 0..<5, using: &random) == 0 ? nil : names.randomElement(using: &random)
      devices.append((try await device(in: zone), zone))
    }
    let clocks = ScheduleClocks(server: FixedZone(secondsEast: 0), zones: TimeZones(Self.zones))
    for _ in 0..<30 {
      let (from, until) = (
        Int.random(in: 0..<1440, using: &random), Int.random(in: 0..<1440, using: &random)
      )
      guard let hours = QuietHours(from: from, until: until) else { continue }
      let now = world.clock.now().adding(seconds: Int64.random(in: 0..<86_400, using: &random))
      var expected: [Timestamp: Set<RegistrationNumber>] = [:]
      for (device, zone) in devices {
        if let end = hours.end(at: now, in: clocks.zone(zone)) {
          expected[end, default: []].insert(device.number)
        }
      }
      let numbers = devices.map(\.device.number)
      for audience in [Recipients.many(NumberSet(numbers)), .few(numbers)] {
        let groups = world.app.directory.quiet(audience, hours, at: now, by: clocks)
        #expect(groups.map(\.until) == expected.keys.sorted())
        #expect(groups.allSatisfy { Set($0.numbers.members()) == expected[$0.until] })
      }
    }
  }

  /// The groups get their contents late, and have as much time as if they had got them at 8:00.
  @Test func `An A/B test whose time passes while the server is away waits for its groups`() async throws {
    let test = try await ABTestWorld(devices: 20)
    let (router, app) = (test.base.router, test.base.app)
    let hours = QuietHours(from: 22 * 60, until: 8 * 60)
    try await awaitCallback { router.apps.setQuietHours(hours, of: app, noting: .test, done: $0) }.get()
    let added = try await test.add(try ABTestWorld.design(share: 50))
    _ = try await test.start(added)
    test.base.clock.advance(seconds: 601)
    #expect(try await test.look() == [.early])
    // Until 9:00 in China, an hour after the hours have ended.
    test.base.clock.advance(seconds: 34_599 + 3600)
    try await test.base.restart(isOrderly: false)
    let start = test.base.clock.now()
    #expect(try await test.look() == [.early])
    #expect(try await test.said() == ["": 20])
    #expect(try await test.run(added).lookAt == start.adding(seconds: 600))
    test.base.clock.advance(seconds: 6)
    repeat { try await test.base.tick() } while test.base.router.deliveries.heldPushes.isBusy
    #expect(try await test.said() == ["a": 5, "b": 5, "": 10])
    #expect(try await test.look().isEmpty)
    try await test.tap(try await test.run(added).pushes[1].id, 2)
    test.base.clock.advance(seconds: 600)
    #expect(try await test.look() == [.ended(.sent)])
    #expect(try await test.run(added).end?.winner == 2)
  }

  @Test func `Contents of an A/B test wait too`() async throws {
    let test = try await ABTestWorld(devices: 20)
    let (router, app) = (test.base.router, test.base.app)
    let hours = QuietHours(from: 22 * 60, until: 8 * 60)
    try await awaitCallback { router.apps.setQuietHours(hours, of: app, noting: .test, done: $0) }.get()
    let added = try await test.add(try ABTestWorld.design(share: 50))
    _ = try await test.start(added)
    #expect(try await test.said() == ["": 20])
    let run = try #require(try await test.runs(added).first)
    // It was 22:13 in China: the contents wait until 8:00, in 35,200 seconds.
    test.base.clock.advance(seconds: 601)
    #expect(try await test.look() == [.early])
    let lookAt = try await test.run(added).lookAt
    #expect(lookAt == run.startedAt.adding(seconds: 35_200 + 600))
    test.base.clock.advance(seconds: 34_600)
    repeat { try await test.base.tick() } while test.base.router.deliveries.heldPushes.isBusy
    #expect(try await test.said() == ["a": 5, "b": 5, "": 10])
    #expect(try await test.look().isEmpty)
    try await test.tap(run.pushes[1].id, 2)
    test.base.clock.advance(seconds: 600)
    #expect(try await test.look() == [.ended(.sent)])
    #expect(try await test.run(added).end?.winner == 2)
  }
}
