import BorealisBase
import Model
import PushTesting
import Testing

@testable import Core
@testable import Storage

/// Schedules that follow the clocks of devices, with 24 zones of the test's own. The clock stands at
/// 2026-09-21 14:13:20 UTC at first.
@Suite struct DeviceClockTests {
  /// The zones `Z/-11` to `Z/12` and `Z/14`, by their hours east of UTC, and two whose clocks change.
  private static let zones: [String: any Zone] = {
    var zones: [String: any Zone] = [:]
    for hours in -11...12 { zones["Z/\(hours)"] = FixedZone(secondsEast: Int64(hours) * 3600) }
    zones["Z/14"] = FixedZone(secondsEast: 14 * 3600)
    // Forward by an hour on 22 September at 01:00 UTC, when these clocks show 02:00.
    zones["Z/forward"] = ChangingZone(before: 3600, after: 7200, change: 1_790_038_800)
    // Back by an hour at that moment, when these clocks show 02:00 for the first time.
    zones["Z/back"] = ChangingZone(before: 3600, after: 0, change: 1_790_038_800)
    return zones
  }()

  private let world: TestWorld

  init() async throws {
    var options = RouterOptions()
    options.deviceZones = TimeZones(Self.zones)
    options.zone = FixedZone(secondsEast: 0)
    world = try await TestWorld(options: options)
    try await want(DeviceFactSet(.timeZone))
  }

  private func want(_ facts: DeviceFactSet) async throws {
    let (router, app) = (world.router, world.app)
    let entry = AuditRow(
      at: world.clock.now(), account: app.account, app: app.id, person: nil, who: "somebody",
      action: "app.facts", target: "", address: "")
    try await awaitCallback { router.apps.setFacts(facts, of: app, noting: entry, done: $0) }.get()
  }

  private func move(_ device: TestDevice, to zone: String) async throws {
    let (router, app) = (world.router, world.app)
    try await awaitCallback {
      router.facts.set([.timeZone: zone], of: device.number, in: app, reply: $0)
    }.get()
  }

  private func device(in zone: String? = nil) async throws -> TestDevice {
    let device = try await world.register()
    if let zone { try await move(device, to: zone) }
    return device
  }

  private static func time(_ text: String) throws -> LocalTime { try #require(LocalTime(text)) }

  private func moment(_ text: String, _ zone: String? = nil) throws -> Timestamp {
    let zone = zone.flatMap { Self.zones[$0] } ?? FixedZone(secondsEast: 0)
    return zone.moment(of: try Self.time(text))
  }

  /// Lets the clock show a moment, without a look at schedules.
  private func set(_ moment: Timestamp) {
    world.clock.advance(milliseconds: Int(moment.milliseconds - world.clock.now().milliseconds))
  }

  /// Fires what is due; the IDs of the pushes.
  @discardableResult
  private func fire(_ push: PushRequest = AcceptRequest.test().push) async throws -> [MessageID] {
    var ids: [MessageID] = []
    while true {
      let due = try await ScheduleTests.due(in: world)
      guard !due.isEmpty else { return ids }
      for one in due {
        let router = world.router
        let end = await awaitCallback { done in
          router.acceptance.fire(one, .success(push)) { done($0) }
        }
        if case .fired(let id) = end { ids.append(id) }
        if end == .postponed { return ids }
      }
    }
  }

  private func runs(of schedule: Schedule) async throws -> [ScheduleRunRow] {
    let (router, app) = (world.router, world.app)
    return try await awaitCallback { router.schedules.runs(of: schedule.id, in: app, reply: $0) }.get()
  }

  private func change(_ schedule: Schedule, _ update: ScheduleUpdate) async throws -> Schedule {
    let (router, app) = (world.router, world.app)
    return try await awaitCallback {
      router.schedules.change(schedule.id, update, in: app, reply: $0)
    }.get()
  }

  private func single(_ text: String) async throws -> Schedule {
    try await ScheduleTests.makeSchedule(.single(try Self.time(text), by: .device), in: world)
  }

  private func turns() async throws -> Int {
    try await world.store.look { transaction throws(StorageError) in
      try transaction.database.first("SELECT count(*) AS n FROM schedule_turn") { $0.count() } ?? 0
    }
  }

  // MARK: Around the earth

  /// Each device gets the push within the minute, once, in whichever order zones come, and though the server
  /// is killed again and again.
  @Test(arguments: [nil, 1, 2, 3] as [UInt64?])
  func `Each of 24 zones gets it at its own time, once`(kills seed: UInt64?) async throws {
    var random = SeededRandom(seed: seed ?? 0)
    var devices: [(device: TestDevice, zone: String)] = []
    for hours in -11...12 {
      for _ in 0..<2 { devices.append((try await device(in: "Z/\(hours)"), "Z/\(hours)")) }
    }
    let text = "2026-09-23 09:00:00"
    let schedule = try await single(text)
    var arrived: [RegistrationNumber: [Timestamp]] = [:]
    for hours in stride(from: 12, through: -11, by: -1) {
      set(try moment(text, "Z/\(hours)").adding(seconds: -30))
      for _ in 0..<4 {
        let ids = Set(try await fire())
        for (device, _) in devices where !ids.isDisjoint(with: world.pending(device)) {
          arrived[device.number, default: []].append(world.clock.now())
        }
        if seed != nil, Int.random(in: 0..<4, using: &random) == 0 {
          try await world.restart(isOrderly: false)
        }
        world.clock.advance(seconds: 30)
      }
    }
    for (device, zone) in devices {
      let times = arrived[device.number] ?? []
      let expected = try moment(text, zone)
      #expect(times.count == 1, "\(zone)")
      #expect(times.allSatisfy { ($0.seconds - expected.seconds) < 60 && $0 >= expected }, "\(zone)")
    }
    let runs = try await runs(of: schedule)
    #expect(runs.count == 24 && runs.allSatisfy { $0.code == 0 && $0.occurrence.text == text })
    #expect(try await ScheduleTests.due(in: world).isEmpty)
    #expect(try await turns() == 0, "what was kept on the way is gone")
  }

  /// Devices without a zone, or with one that nobody knows, follow the server's clocks.
  @Test func `Without a zone the server's clocks count`() async throws {
    let (here, odd, east) = (
      try await device(), try await device(in: "Mars/Olympus"), try await device(in: "Z/5")
    )
    _ = try await single("2026-09-22 09:00:00")
    set(try moment("2026-09-22 09:00:00", "Z/5"))
    #expect(try await fire().count == 1)
    #expect((world.pending(here).count, world.pending(odd).count, world.pending(east).count) == (0, 0, 1))
    set(try moment("2026-09-22 09:00:00"))
    let ids = try await fire()
    #expect(ids.count == 1 && world.pending(here) == ids && world.pending(odd) == ids)
    #expect(world.pending(east).count == 1)
  }

  /// Two in a row whose ways around the earth overlap do not disturb each other.
  @Test func `Every day has one for each`() async throws {
    var devices: [TestDevice] = []
    for hours in [-11, 0, 14] { devices.append(try await device(in: "Z/\(hours)")) }
    let start = try Self.time("2026-09-22 00:00:00")
    let trigger = ScheduleTrigger.periodical(
      SchedulePeriod(
        start: start, end: try Self.time("2026-09-24 23:59:59"), secondOfDay: 12 * 3600, days: .day,
        frequency: 1), by: .device)
    let schedule = try await ScheduleTests.makeSchedule(trigger, in: world)
    for _ in 0..<(5 * 24) {
      world.clock.advance(seconds: 3600)
      try await fire()
    }
    let runs = try await runs(of: schedule)
    #expect(runs.count == 9 && Set(runs.map(\.occurrence)).count == 3)
    #expect(runs.map(\.occurrence.date.day) == [22, 22, 23, 22, 23, 24, 23, 24, 24])
    for device in devices {
      let targets = try await runs.asyncCount { run in
        try await world.targets(of: run.id)?.all.contains(device.number) == true
      }
      #expect(targets == 3)
    }
    #expect(try await turns() == 0)
  }

  /// The time of the schedule is in the app's quiet hours, in which notifications are dropped.
  @Test func `That quiet hours keep it from everybody is said once`() async throws {
    let (router, app) = (world.router, world.app)
    let hours = QuietHours(from: 22 * 60, until: 8 * 60, .drop)
    try await awaitCallback { router.apps.setQuietHours(hours, of: app, noting: .test, done: $0) }.get()
    for hours in [-3, 2, 5] { _ = try await device(in: "Z/\(hours)") }
    var push = AcceptRequest.test().push
    push.content = PushContent(variants: [
      ContentVariant(platforms: .all, notification: Array(#"{"alert":"x"}"#.utf8))
    ])
    let text = "2026-09-22 23:00:00"
    let schedule = try await single(text)
    for hours in stride(from: 14, through: -11, by: -1) {
      set(try moment(text).adding(seconds: Int64(-3600 * hours)))
      #expect(try await fire(push).isEmpty)
    }
    let runs = try await runs(of: schedule)
    #expect(runs.map(\.code) == [1011])
    #expect(runs.first?.message.contains("quiet hours") == true)
  }

  // MARK: Travellers and newcomers

  /// A device that reports another zone on the way has one turn all the same: not two if it flies west behind
  /// the sun, and one, late, if it flies east past its time.
  @Test func `A device that travels gets it once`() async throws {
    let (west, east, still) = (
      try await device(in: "Z/9"), try await device(in: "Z/-8"), try await device(in: "Z/1")
    )
    let text = "2026-09-22 09:00:00"
    _ = try await single(text)
    set(try moment(text, "Z/9"))
    let first = try await fire()
    #expect(first.count == 1 && world.pending(west) == first && world.pending(east).isEmpty)
    try await move(west, to: "Z/-5")
    try await move(east, to: "Z/12")
    try await world.restart(isOrderly: false)
    // The clocks of some zone show it next.
    set(try moment(text, "Z/8"))
    let second = try await fire()
    #expect(second.count == 1 && world.pending(east) == second && world.pending(west) == first)
    try await move(east, to: "Z/-11")
    for hours in stride(from: 7, through: -11, by: -1) {
      set(try moment(text, "Z/\(hours)"))
      try await fire()
    }
    #expect(world.pending(west) == first && world.pending(east) == second)
    #expect(world.pending(still).count == 1)
  }

  /// Whoever comes when the clocks have shown the time there does not get it late.
  @Test func `Who registers later waits for no push`() async throws {
    let here = try await device(in: "Z/9")
    let text = "2026-09-22 09:00:00"
    _ = try await single(text)
    set(try moment(text, "Z/9"))
    #expect(try await fire().count == 1)
    world.clock.advance(seconds: 600)
    let (late, early) = (try await device(in: "Z/9"), try await device(in: "Z/-8"))
    for hours in stride(from: 8, through: -11, by: -1) {
      set(try moment(text, "Z/\(hours)"))
      try await fire()
    }
    #expect((world.pending(here).count, world.pending(late).count, world.pending(early).count) == (1, 0, 1))
  }

  /// Wherever devices fly and whenever the server is killed: each that was there from the start gets each
  /// occurrence once, and never before its clocks have shown the time.
  @Test(arguments: 0..<6) func `Any travels end in one push`(seed: UInt64) async throws {
    var random = SeededRandom(seed: seed)
    let names = Self.zones.keys.sorted()
    var devices: [TestDevice] = []
    for _ in 0..<12 { devices.append(try await device(in: names.randomElement(using: &random))) }
    let text = "2026-09-23 02:30:00"
    let schedule = try await single(text)
    set(try moment(text, "Z/14").adding(seconds: -3600))
    let end = try moment(text, "Z/-11").adding(seconds: 60)
    while world.clock.now() < end {
      world.clock.advance(seconds: Int.random(in: 60...3000, using: &random))
      switch Int.random(in: 0..<6, using: &random) {
      case 0: try await world.restart(isOrderly: false)
      case 1...3:
        guard let device = devices.randomElement(using: &random) else { continue }
        try await move(device, to: names.randomElement(using: &random) ?? "")
      default: break
      }
      try await fire()
    }
    let runs = try await runs(of: schedule)
    for device in devices {
      let count = try await runs.asyncCount { run in
        guard run.code == 0 else { return false }
        return try await world.targets(of: run.id)?.all.contains(device.number) == true
      }
      #expect(count == 1)
    }
  }

  // MARK: Changes of clocks

  /// A time that the clocks leave out comes with the first moment after it, one that they show twice once.
  @Test func `Clocks that change give one push`() async throws {
    let (forward, back) = (try await device(in: "Z/forward"), try await device(in: "Z/back"))
    let change = Timestamp(milliseconds: 1_790_038_800_000)
    _ = try await single("2026-09-22 02:30:00")
    _ = try await single("2026-09-22 01:30:00")
    var times: [RegistrationNumber: [Int64]] = [:]
    set(change.adding(seconds: -7200))
    for _ in 0..<(8 * 60) {
      world.clock.advance(seconds: 60)
      let fired = Set(try await fire())
      for device in [forward, back] where !fired.isDisjoint(with: world.pending(device)) {
        times[device.number, default: []].append(world.clock.now().seconds - change.seconds)
      }
    }
    // 01:30 comes half an hour before the change for both; the clocks that go back show it again half an hour
    // after the change, and 02:30 an hour later. Those that go forward leave 02:30 out.
    #expect(times[forward.number] == [-1800, 0])
    #expect(times[back.number] == [-1800, 5400])
  }

  // MARK: What is late, changed or refused

  @Test func `What was missed is told once, and later zones get it`() async throws {
    let (east, west) = (try await device(in: "Z/12"), try await device(in: "Z/-11"))
    let text = "2026-09-22 09:00:00"
    let schedule = try await single(text)
    // The server was not there for most of the way.
    set(try moment(text, "Z/-10"))
    try await fire()
    #expect(world.pending(east).isEmpty && world.pending(west).isEmpty)
    #expect(try await runs(of: schedule).map(\.code) == [1030])
    try await move(east, to: "Z/-11")
    set(try moment(text, "Z/-11"))
    try await fire()
    #expect(world.pending(east).isEmpty, "its turn was missed")
    #expect(world.pending(west).count == 1)
    #expect(try await runs(of: schedule).map(\.code) == [1030, 0])
  }

  @Test func `An occurrence for nobody is told once, at its end`() async throws {
    let schedule = try await single("2026-09-22 09:00:00")
    for hours in stride(from: 12, through: -11, by: -1) {
      set(try moment("2026-09-22 09:00:00", "Z/\(hours)"))
      #expect(try await runs(of: schedule).isEmpty)
      try await fire()
    }
    #expect(try await runs(of: schedule).map(\.code) == [1011])
  }

  @Test func `What passes while it is paused is not made up for`() async throws {
    var devices: [TestDevice] = []
    for hours in [9, 5, 1] { devices.append(try await device(in: "Z/\(hours)")) }
    let text = "2026-09-22 09:00:00"
    let schedule = try await single(text)
    set(try moment(text, "Z/9"))
    try await fire()
    _ = try await change(schedule, ScheduleUpdate(isEnabled: false))
    set(try moment(text, "Z/4"))
    try await fire()
    _ = try await change(schedule, ScheduleUpdate(isEnabled: true))
    // The one that had it flies after the sun, the one that missed it too.
    try await move(devices[0], to: "Z/1")
    for hours in stride(from: 3, through: -11, by: -1) {
      set(try moment(text, "Z/\(hours)"))
      try await fire()
    }
    #expect(devices.map { world.pending($0).count } == [1, 0, 1])
    #expect(try await runs(of: schedule).map(\.code) == [0, 0])
  }

  @Test func `A schedule made in the middle reaches those whose time is to come`() async throws {
    let (over, ahead) = (try await device(in: "Z/2"), try await device(in: "Z/-3"))
    let text = "2026-09-21 20:00:00"
    set(try moment(text))
    _ = try await single(text)
    for hours in stride(from: -1, through: -11, by: -1) {
      set(try moment(text, "Z/\(hours)"))
      try await fire()
    }
    #expect((world.pending(over).count, world.pending(ahead).count) == (0, 1))
  }

  @Test func `A clock that is set back and a change fire nothing again`() async throws {
    let device = try await device(in: "Z/9")
    let text = "2026-09-22 09:00:00"
    let schedule = try await single(text)
    let trigger = schedule.trigger
    set(try moment(text, "Z/9"))
    try await fire()
    world.clock.advance(seconds: -7200)
    _ = try await change(
      schedule, ScheduleUpdate(trigger: .single(try Self.time("2026-09-23 09:00:00"), by: .device)))
    _ = try await change(schedule, ScheduleUpdate(trigger: trigger))
    for hours in stride(from: 10, through: -11, by: -1) {
      set(try moment(text, "Z/\(hours)"))
      try await fire()
    }
    #expect(world.pending(device).count == 1)
  }

  @Test func `Without the fact there is no such schedule`() async throws {
    try await want([])
    await #expect(throws: APIError.self) { try await single("2026-09-22 09:00:00") }
    let plain = try await ScheduleTests.makeSchedule(.single(try Self.time("2026-09-22 09:00:00")), in: world)
    await #expect(throws: APIError.self) {
      try await change(
        plain, ScheduleUpdate(trigger: .single(try Self.time("2026-09-22 10:00:00"), by: .device)))
    }
  }

  /// The brake is for the push as a whole, not for what each zone gets of it.
  @Test func `All zones together are one push for limits`() async throws {
    for hours in [3, 2, 1] { _ = try await device(in: "Z/\(hours)") }
    let schedule = try await single("2026-09-22 09:00:00")
    let app = world.app.id
    try await world.run(
      script: "UPDATE app SET approval_above = 2, approval_of_servers = 1 WHERE id = \(app.rawValue)")
    try await world.restart(isOrderly: true)
    set(try moment("2026-09-22 09:00:00", "Z/3"))
    try await fire()
    #expect(try await runs(of: schedule).map(\.code) == [2005])
    set(try moment("2026-09-22 09:00:00", "Z/2"))
    try await fire()
    #expect(try await runs(of: schedule).map(\.code) == [2005], "the same is told once")
  }
}

extension [ScheduleRunRow] {
  /// How many are as wanted.
  fileprivate func asyncCount(_ isWanted: (ScheduleRunRow) async throws -> Bool) async rethrows -> Int {
    var count = 0
    for row in self { if try await isWanted(row) { count += 1 } }
    return count
  }
}
