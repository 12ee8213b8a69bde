import BorealisBase
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Core

/// Plays Apple's queue: takes pushes and answers as the test says.
private final class FakeApple: FakeAPNs {
  struct Work: Sendable {
    var push: ChannelPush
    var results: [String: NumberSet] = [:]
    var left: NumberSet
  }

  private let open = Mutex<[MessageID: Work]>([:])

  func deliver(_ push: ChannelPush) {
    open.withLock { $0[push.id] = Work(push: push, left: push.targets.numbers) }
  }

  func withdraw(_ id: MessageID, of app: App, _ status: OutcomeStatus, at now: Timestamp) -> Int {
    open.withLock { $0.removeValue(forKey: id)?.left.count ?? 0 }
  }

  var waiting: [MessageID: NumberSet] { open.withLock { $0.mapValues(\.left) } }

  func remove(_ id: MessageID) -> Work? { open.withLock { $0.removeValue(forKey: id) } }

  func put(_ work: Work) { open.withLock { $0[work.push.id] = work } }
}

/// One target of a push, as plainly as possible.
private struct Target {
  var isOwn = false
  var isApple = false
  /// Ends of the two ways; nil while they are open.
  var ownEnd: End?
  var appleEnd: End?
  /// Whether it is the push's only target, so that it may have to make room for newer ones.
  var isListed = false

  enum End: Equatable { case delivered, expired, recalled, failed(String) }
}

private struct ModelPush {
  let id: MessageID
  let expires: Int64
  let strategy: Strategy
  let isOnlineOnly: Bool
  var targets: [RegistrationNumber: Target]
}

/// Counts in the order of the identity.
private struct Counts: Equatable, CustomStringConvertible {
  var delivered = 0
  var expired = 0
  var recalled = 0
  var pending = 0
  var failed: [String: Int] = [:]

  var total: Int { delivered + expired + recalled + pending + failed.values.reduce(0, +) }
  var description: String { "\(delivered) \(expired) \(recalled) \(pending) \(failed)" }
}

/// target = delivered + expired + recalled + failed + pending, for every push at every moment, and each term
/// as a plain model of single devices has it: over random pushes to one, some and many by every strategy,
/// acknowledgements, Apple's answers, recalls, overrides, the passing of time, full lists, reinstalls, and
/// restarts orderly or not.
@Suite struct TargetIdentityTests {
  @Test(arguments: 0..<16) func identity(seed: Int) async throws {
    var run = try await IdentityRun(seed: seed)
    for _ in 0..<120 {
      try await run.step()
      try await run.compare()
    }
  }
}

private struct IdentityRun {
  private let world: TestWorld
  private let apple: FakeApple
  private var random: SeededRandom
  private var devices: [TestDevice] = []
  private var isPhone: [RegistrationNumber: Bool] = [:]
  private var online: Set<RegistrationNumber> = []
  private var gone: Set<RegistrationNumber> = []
  private var pushes: [ModelPush] = []
  private let limit: Int

  init(seed: Int) async throws {
    random = SeededRandom(seed: UInt64(seed) &* 104_729 &+ 5)
    var options = RouterOptions()
    // Some runs have lists that fill up.
    limit = seed.isMultiple(of: 3) ? 4 : 10_000
    options.pending.perDevice = UInt32(limit)
    world = try await TestWorld(options: options)
    apple = FakeApple()
    world.router.add(apple)
    for index in 0..<(seed.isMultiple(of: 4) ? 90 : 7) { try await addDevice(index) }
  }

  private mutating func addDevice(_ mark: Int) async throws {
    let phone = mark.isMultiple(of: 2)
    let token = phone && mark % 6 != 4 ? Array("token\(mark)".utf8) : []
    let device = try await world.register(
      fingerprint: Array("device\(mark)".utf8), token: token, platform: phone ? .ios : .android)
    devices.append(device)
    isPhone[device.number] = phone
  }

  // MARK: Events

  mutating func step() async throws {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<30: try await push()
    case 30..<48: acknowledge()
    case 48..<64: try await answer()
    case 64..<72: toggle()
    case 72..<77: try await recall()
    case 77..<86:
      world.clock.advance(seconds: Int64.random(in: 1...30, using: &random))
      // The sweep goes in slices; the model has none.
      for _ in 0..<12 { try await world.tick() }
    case 86..<89: try await reinstall()
    default: try await restart()
    }
    try await world.tick()
    expire()
  }

  private mutating func push() async throws {
    var request = AcceptRequest.test(timeToLive: [0, 10, 40, 90].randomElement(using: &random) ?? 10)
    request.push.options.strategy = Strategy(
      Strategy.Rule.allCases.randomElement(using: &random) ?? .jpush,
      ios: Strategy.Rule.allCases.randomElement(using: &random))
    let parts: [PushParts] = [.notification, .message, .all]
    request.push.content = try .test(parts.randomElement(using: &random) ?? .all)
    if Bool.random(using: &random) {
      let chosen = (0..<2).compactMap { _ in devices.randomElement(using: &random) }
      request.push.audience = .devices(chosen.map(\.id))
    }
    if Int.random(in: 0..<6, using: &random) == 0 {
      request.push.options.overrideMessageID = pushes.randomElement(using: &random)?.id
    }
    let audience = try #require(
      world.app.directory.resolve(request.push.audience, platforms: request.push.platforms))
    let plan = world.app.directory.plan(audience, RouteTerms(request.push, apns: .production))
    guard case .success(let accepted) = await world.accept(request) else { return }
    if let old = request.overrides { withdraw(old) }
    var targets: [RegistrationNumber: Target] = [:]
    for number in audience.numbers.members() {
      targets[number] = Target(
        isOwn: plan.own.numbers.contains(number), isApple: plan[.apns].numbers.contains(number),
        isListed: plan.own.numbers.contains(number) && audience.count == 1)
    }
    let life: Int64 = request.push.options.timeToLive == 0 ? 30 : Int64(request.push.options.timeToLive)
    pushes.append(
      ModelPush(
        id: accepted.id, expires: world.clock.now().seconds + life, strategy: request.push.options.strategy,
        isOnlineOnly: request.push.options.timeToLive == 0, targets: targets))
    if audience.count == 1 { crowd(plan.own.numbers.members(), accepted.id) }
  }

  /// A newcomer takes the place of the oldest in lists that are full.
  private mutating func crowd(_ numbers: [RegistrationNumber], _ newcomer: MessageID) {
    for number in numbers {
      let waiting = pushes.indices.filter { index in
        guard let target = pushes[index].targets[number], pushes[index].id != newcomer else { return false }
        return target.isListed && target.ownEnd == nil
      }
      guard waiting.count >= limit, let oldest = waiting.first else { continue }
      pushes[oldest].targets[number]?.ownEnd = .failed("QueueFull")
    }
  }

  private mutating func acknowledge() {
    for device in devices where online.contains(device.number) {
      let ids = world.pending(device).filter { _ in Bool.random(using: &random) }
      world.router.deliveries.acknowledge(ids, by: device.number, in: world.app)
      for id in ids { note(id, device.number) { $0.ownEnd = .delivered } }
    }
  }

  private mutating func note(
    _ id: MessageID, _ number: RegistrationNumber, _ change: (inout Target) -> Void
  ) {
    guard let index = pushes.firstIndex(where: { $0.id == id }), var target = pushes[index].targets[number]
    else { return }
    change(&target)
    pushes[index].targets[number] = target
  }

  /// Apple answers for some devices of a push.
  private mutating func answer() async throws {
    guard let id = apple.waiting.keys.sorted().randomElement(using: &random),
      let index = pushes.firstIndex(where: { $0.id == id }), var work = apple.remove(id)
    else { return }
    var news: [String: NumberSet] = [:]
    var refused: [RegistrationNumber] = []
    for number in work.left.members() where Int.random(in: 0..<3, using: &random) > 0 {
      let word =
        [ChannelEnd.delivered, "BadDeviceToken", ChannelEnd.noToken].randomElement(using: &random) ?? ""
      news[word, default: NumberSet()].insert(number)
      work.results[word, default: NumberSet()].insert(number)
      work.left.remove(number)
      note(id, number) { $0.appleEnd = word == ChannelEnd.delivered ? .delivered : .failed(word) }
      if word != ChannelEnd.delivered, pushes[index].strategy.ios == .vendorThenOwn { refused.append(number) }
    }
    if !refused.isEmpty {
      world.router.deliveries.withdraw(id, in: world.app, from: .apns, for: refused) { _ in }
      try await world.barrier()
      let isAlive = world.clock.now().seconds < pushes[index].expires
      let new = refused.filter { isAlive && pushes[index].targets[$0]?.isOwn == false }
      for number in new {
        let isGone = gone.contains(number)
        let isOnly = pushes[index].targets.count == 1
        note(id, number) {
          ($0.isOwn, $0.isListed) = (true, !isGone && isOnly)
          if isGone { $0.ownEnd = .failed("Replaced") }
        }
      }
      if pushes[index].targets.count == 1 { crowd(new.filter { !gone.contains($0) }, id) }
    }
    let answers = ChannelAnswers(
      id: id, channel: .apns, results: [.apns: work.results], news: [.apns: news], isFinal: work.left.isEmpty)
    await awaitCallback { done in
      world.router.deliveries.store(answers, of: world.app) { _ in done(()) }
    }
    if !work.left.isEmpty { apple.put(work) }
  }

  private mutating func toggle() {
    guard let device = devices.randomElement(using: &random), !gone.contains(device.number) else { return }
    if online.remove(device.number) == nil {
      _ = world.login(device)
      online.insert(device.number)
    }
  }

  private mutating func recall() async throws {
    guard let id = pushes.randomElement(using: &random)?.id else { return }
    _ = await world.recall(id)
    withdraw(id)
  }

  private mutating func withdraw(_ id: MessageID) {
    guard let index = pushes.firstIndex(where: { $0.id == id }) else { return }
    for (number, target) in pushes[index].targets {
      if target.isOwn, target.ownEnd == nil { pushes[index].targets[number]?.ownEnd = .recalled }
      if target.isApple, target.appleEnd == nil { pushes[index].targets[number]?.appleEnd = .recalled }
    }
  }

  private mutating func expire() {
    let now = world.clock.now().seconds
    for index in pushes.indices where pushes[index].expires <= now {
      for (number, target) in pushes[index].targets {
        if target.isOwn, target.ownEnd == nil { pushes[index].targets[number]?.ownEnd = .expired }
        if target.isApple, target.appleEnd == nil { pushes[index].targets[number]?.appleEnd = .expired }
      }
      _ = apple.remove(pushes[index].id)
    }
  }

  private mutating func reinstall() async throws {
    guard let mark = devices.indices.randomElement(using: &random) else { return }
    let old = devices[mark].number
    let count = devices.count
    try await addDevice(mark)
    devices[mark] = devices[count]
    devices.removeLast()
    gone.insert(old)
    online.remove(old)
    for index in pushes.indices {
      guard let target = pushes[index].targets[old], target.isOwn, target.ownEnd == nil else { continue }
      pushes[index].targets[old]?.ownEnd = .failed("Replaced")
    }
  }

  /// A crash loses nothing here, since every step ends with a tick.
  private mutating func restart() async throws {
    let old = apple.waiting.keys
    try await world.restart(isOrderly: Bool.random(using: &random))
    world.router.add(apple)
    online = []
    for index in pushes.indices {
      let isListed = pushes[index].targets.count == 1
      for (number, target) in pushes[index].targets {
        pushes[index].targets[number]?.isListed = isListed && target.isOwn
      }
    }
    #expect(apple.waiting.keys == old)
  }

  // MARK: Comparing

  private func expected(_ push: ModelPush) -> Counts {
    var counts = Counts()
    for target in push.targets.values {
      let ends = [target.isOwn ? target.ownEnd : .none, target.isApple ? target.appleEnd : .none]
      if ends.contains(.delivered) {
        counts.delivered += 1
      } else if target.isOwn && target.ownEnd == nil || target.isApple && target.appleEnd == nil {
        counts.pending += 1
      } else if ends.contains(.recalled) {
        counts.recalled += 1
      } else if ends.contains(.expired) || (!target.isOwn && !target.isApple && push.isOnlineOnly) {
        counts.expired += 1
      } else {
        counts.failed[reason(of: target), default: 0] += 1
      }
    }
    return counts
  }

  private func reason(of target: Target) -> String {
    if case .failed(let reason) = target.appleEnd { return reason }
    if case .failed(let reason) = target.ownEnd { return reason }
    return "NoChannel"
  }

  func compare() async throws {
    for push in pushes {
      let stored = try #require(await world.targets(of: push.id))
      let counts = Counts(
        delivered: stored.delivered.count, expired: stored.expired.count, recalled: stored.recalled.count,
        pending: stored.pending.count, failed: stored.failed.mapValues(\.count))
      #expect(counts == expected(push), "push \(push.id.text), \(push.strategy)")
      #expect(counts.total == push.targets.count && stored.all.count == push.targets.count)
      #expect(stored.contradicted.isEmpty)
    }
  }
}
