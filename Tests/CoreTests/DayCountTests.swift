import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// How many notifications devices get in a day.
@Suite struct DayCountTests {
  private static func set(_ numbers: some Sequence<UInt32>) -> NumberSet {
    NumberSet(numbers.map { RegistrationNumber($0) })
  }

  /// Whatever is taken and given back, a device has never more than its limit, and as many as plain counting
  /// says.
  @Test(arguments: 0..<4) func `Counts are those of plain counting`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let counts = DayCounts()
    var model: [PushClass: [UInt32: Int]] = [:]
    var day: Int64 = 20_000
    var taken: [(numbers: NumberSet, pushClass: PushClass, day: Int64)] = []
    for _ in 0..<60 {
      let pushClass = PushClass.allCases.randomElement(using: &random) ?? .normal
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        (day, model) = (day + 1, [:])
      case 1...2 where !taken.isEmpty:
        let one = taken.remove(at: Int.random(in: taken.indices, using: &random))
        counts.remove(one.numbers, one.pushClass, on: one.day)
        guard one.day == day else { continue }
        for number in one.numbers.members() { model[one.pushClass]?[number.rawValue]? -= 1 }
      default:
        let asked = Self.set((0..<5000).filter { _ in Int.random(in: 0..<5, using: &random) == 0 })
        let limit = Int.random(in: 1...4, using: &random)
        let capped = counts.add(asked, pushClass, limit: limit, on: day)
        for number in asked.members() {
          let count = model[pushClass, default: [:]][number.rawValue, default: 0]
          #expect(capped.contains(number) == (count >= limit))
          if count < limit { model[pushClass, default: [:]][number.rawValue] = count + 1 }
        }
        taken.append((asked.subtracting(capped), pushClass, day))
      }
    }
  }

  @Test func `Another day begins anew, and a clock that is set back does not`() {
    let counts = DayCounts()
    let one = Self.set([7])
    #expect(counts.add(one, .normal, limit: 1, on: 5).isEmpty)
    #expect(counts.add(one, .normal, limit: 1, on: 5).contains(RegistrationNumber(7)))
    #expect(counts.add(one, .marketing, limit: 1, on: 5).isEmpty, "each class has its own")
    #expect(counts.add(one, .normal, limit: 1, on: 4).contains(RegistrationNumber(7)))
    #expect(counts.add(one, .normal, limit: 1, on: 6).isEmpty)
    counts.remove(one, .normal, on: 5)
    #expect(counts.add(one, .normal, limit: 1, on: 6).count == 1, "yesterday's is not given back today")
  }

  private static let notification = PushContent(variants: [
    ContentVariant(platforms: .all, notification: Array(#"{"alert":"x"}"#.utf8))
  ])

  private static func request(_ classification: Int64?, to devices: [TestDevice]? = nil) -> AcceptRequest {
    var request = AcceptRequest(to: devices.map { .devices($0.map(\.id)) } ?? .all, notification)
    request.push.options.classification = classification
    return request
  }

  private static func cap(_ caps: CapsRow, in world: TestWorld) async throws {
    let (router, app) = (world.router, world.app)
    let entry = AuditRow(
      at: world.clock.now(), account: app.account, app: app.id, person: nil, who: "somebody",
      action: "app.caps", target: "", address: "")
    try await awaitCallback { router.apps.setCaps(caps, of: app, noting: entry, done: $0) }.get()
  }

  /// What was accepted counts after a kill as before; each class by itself, and others not at all.
  @Test func `A kill forgets nothing that was counted`() async throws {
    let world = try await TestWorld()
    try await Self.cap(CapsRow(normal: 2, marketing: 1), in: world)
    let devices = try await world.registerMany(70)
    for _ in 0..<2 { _ = try await world.accept(Self.request(nil)).get() }
    _ = try await world.accept(Self.request(0, to: [devices[3]])).get()
    for isOrderly in [false, true] {
      let late = try await world.register()
      #expect(await world.accept(Self.request(nil, to: devices)).failure?.code == 1011)
      #expect(await world.accept(Self.request(0, to: [devices[3]])).failure?.code == 1011)
      #expect(try await world.accept(Self.request(1)).get().targets >= 70, "system notifications are exempt")
      #expect(try await world.accept(.test()).get().targets >= 70, "and so are custom messages")
      let rest = try await world.accept(Self.request(nil)).get()
      #expect(rest.targets == 1 && world.pending(late).contains(rest.id))
      try await world.restart(isOrderly: isOrderly)
      #expect(await world.accept(Self.request(nil, to: devices)).failure?.code == 1011)
      _ = try await world.accept(Self.request(nil, to: [late])).get()
      #expect(await world.accept(Self.request(nil, to: [late])).failure?.code == 1011)
    }
    // Another day in China, where the server's clocks are.
    world.clock.advance(seconds: 86_400)
    #expect(try await world.accept(Self.request(nil)).get().targets == 72)
    #expect(try await world.accept(Self.request(0)).get().targets == 72)
  }

  /// What is refused, or a repeated request, costs nobody anything.
  @Test func `Only what is sent counts`() async throws {
    let world = try await TestWorld()
    try await Self.cap(CapsRow(normal: 1), in: world)
    let device = try await world.register()
    var named = Self.request(nil)
    named.push.options.overrideMessageID = MessageID(5)
    #expect(await world.accept(named).failure?.code == 1003)
    named.push.options.overrideMessageID = nil
    named.push.cid = "a"
    let first = try await world.accept(named).get()
    #expect(try await world.accept(named).get() == first)
    #expect(world.pending(device) == [first.id])
    try await Self.cap(CapsRow(normal: 2), in: world)
    let second = try await world.accept(Self.request(nil)).get()
    #expect(await world.accept(Self.request(nil)).failure?.code == 1011)
    #expect(world.pending(device) == [first.id, second.id])
    try await Self.cap(CapsRow(), in: world)
    #expect(try await world.accept(Self.request(nil)).get().targets == 1)
  }

  /// Each content counts for those who get it, and the winner for the rest when it is sent.
  @Test func `Contents of an A/B test count like other pushes`() async throws {
    let world = try await ABTestWorld(devices: 20)
    try await Self.cap(CapsRow(normal: 1), in: world.base)
    let test = try await world.add(try ABTestWorld.design(share: 50))
    _ = try await world.start(test)
    #expect(try await world.said() == ["a": 5, "b": 5, "": 10])
    for isOrderly in [true, false] {
      try await world.base.restart(isOrderly: isOrderly)
      let sampled = try await world.devices.asyncFilter { try await !world.texts($0).isEmpty }
      #expect(await world.base.accept(Self.request(nil, to: sampled)).failure?.code == 1011)
    }
    #expect(try await world.base.accept(Self.request(nil)).get().targets == 10)
    world.base.clock.advance(seconds: 600)
    #expect(try await world.look() == [.ended(.nobodyLeft)])
  }

  /// One of eight may get a notification: it gets it if it is among those that get a content, and otherwise
  /// the test does not start.
  @Test func `A test that nobody may get does not start`() async throws {
    let world = try await ABTestWorld(devices: 8)
    try await Self.cap(CapsRow(normal: 1), in: world.base)
    let test = try await world.add(try ABTestWorld.design(share: 50))
    var outcomes: Set<String> = []
    // Each time at the same time of day, so that no day ends in the middle.
    var elapsed: Int64 = 0
    for _ in 0..<24 {
      world.base.clock.advance(seconds: 86_400 - elapsed)
      elapsed = 0
      _ = try await world.base.accept(Self.request(nil, to: Array(world.devices.dropFirst()))).get()
      let before = world.base.pending(world.devices[0]).count
      let answer = await world.base.accept(try world.request(test))
      let got = world.base.pending(world.devices[0]).count - before
      switch answer {
      case .success:
        #expect(got == 1)
        let texts = try await world.texts(world.devices[0])
        outcomes.insert(texts.last ?? "")
        elapsed = 600
        world.base.clock.advance(seconds: elapsed)
        #expect(try await world.look() == [.ended(.nobodyLeft)])
      case .failure(let error):
        #expect(error.code == 1011 && got == 0)
        outcomes.insert("refused")
        // It was not counted either.
        #expect(try await world.base.accept(Self.request(nil)).get().targets == 1)
      }
    }
    #expect(outcomes == ["a", "b", "refused"])
  }

  /// A mistake can be corrected, also where no more may be sent.
  @Test func `A push that replaces another has no limit`() async throws {
    let world = try await TestWorld()
    try await Self.cap(CapsRow(normal: 1), in: world)
    let device = try await world.register()
    let first = try await world.accept(Self.request(nil)).get()
    var correction = Self.request(nil)
    correction.push.options.overrideMessageID = first.id
    let second = try await world.accept(correction).get()
    #expect(second.targets == 1 && world.pending(device) == [second.id])
    #expect(await world.accept(Self.request(nil)).failure?.code == 1011)
  }

  @Test func `After a clock was set back what is not stored is not counted`() {
    let counts = DayCounts()
    let one = Self.set([7])
    #expect(counts.begin(5) == 5 && counts.begin(4) == 5 && counts.begin(6) == 6)
    let day = counts.begin(5)
    #expect(counts.add(one, .normal, limit: 1, on: day).isEmpty)
    counts.remove(one, .normal, on: day)
    #expect(counts.add(one, .normal, limit: 1, on: counts.begin(5)).isEmpty)
  }

  /// Many at the same time: no device gets more than it may.
  @Test func `Pushes at the same time keep the limit together`() async throws {
    let world = try await TestWorld()
    try await Self.cap(CapsRow(normal: 3), in: world)
    let device = try await world.register()
    let (router, app) = (world.router, world.app)
    let accepted = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<40 {
        group.addTask {
          if case .success = await router.acceptance.accept(Self.request(nil), for: app) {
            true
          } else {
            false
          }
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(accepted == 3 && world.pending(device).count == 3)
  }
}

extension Sequence {
  fileprivate func asyncFilter(_ isIncluded: (Element) async throws -> Bool) async rethrows -> [Element] {
    var found: [Element] = []
    for element in self where try await isIncluded(element) { found.append(element) }
    return found
  }
}

extension Result {
  var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
