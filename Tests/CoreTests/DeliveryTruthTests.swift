import BorealisBase
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Core

/// One truth for each target (Docs/decisions/0029): whatever the order of acknowledgement, Apple's answer,
/// receipts, recall or override, the end of the push's time, and restarts between them, every reader says the
/// same of each device.
@Suite struct DeliveryTruthTests {
  /// Orders that went wrong: words of devices after the push was given up, and around that.
  @Test(arguments: [1, 2, 70])
  func wordsAfterARecall(count: Int) async throws {
    let all: [[TruthEvent]] = [
      [.acknowledge], [.shown], [.shown, .acknowledge], [.tapped], [.acknowledge, .shown],
    ]
    // Sets behave alike, whatever the words.
    let isSet = count > 64
    for words in isSet ? all.prefix(3) : all[...] {
      for end in isSet ? [TruthEvent.recall, .expire] : [.recall, .override, .expire] {
        for isBefore in isSet ? [false] : [false, true] {
          var run = try await TruthRun(seed: 1, androids: count, phones: 0)
          for event in isBefore ? words.prefix(1) + [end] + words.dropFirst() : [end] + words {
            for place in 0..<count { try await run.apply(event, to: place) }
            try await run.compare()
          }
          try await run.restart()
          try await run.compare()
          #expect(run.expected.allSatisfy { $0 == .delivered })
        }
      }
    }
  }

  /// With `isFalling`, what Apple refuses waits at our connection, and others acknowledge or it is recalled
  /// while that is being stored.
  @Test(arguments: 0..<15, [false, true]) func anyOrder(seed: Int, isFalling: Bool) async throws {
    var random = SeededRandom(seed: UInt64(seed) &* 7919 &+ 3)
    let shapes = [(1, 0), (0, 1), (1, 1), (3, 3), (40, 40)]
    let (androids, phones) = shapes[seed % shapes.count]
    for round in 0..<(androids > 3 ? 1 : 3) {
      var run = try await TruthRun(
        seed: seed * 100 + round, androids: androids, phones: phones, isFalling: isFalling)
      for _ in 0..<(androids > 3 ? 40 : 14) {
        let event = TruthEvent.allCases.randomElement(using: &random) ?? .shown
        try await run.apply(event, to: Int.random(in: 0..<androids + phones, using: &random))
        // Some things come so close together that they are stored together.
        if Int.random(in: 0..<3, using: &random) > 0 { try await run.compare() }
      }
      try await run.compare()
    }
  }
}

/// What may happen.
private enum TruthEvent: CaseIterable, Hashable {
  case acknowledge, appleAccepts, appleRefuses, shown, tapped, recall, override, expire, restart
}

/// What a target came to, as plainly as possible.
private enum TruthState: Equatable { case delivered, pending, recalled, expired, failed }

private struct TruthTarget {
  let device: TestDevice
  let isPhone: Bool
  var hasAcknowledged = false, isTaken = false, isRefused = false, wasShown = false, wasTapped = false
  /// Apple refused it for a phone, for which it waits at our connection since.
  var hasFallen = false

  /// Android has all parts from us; a phone has the notification from Apple, unless Apple refused it, and the
  /// message from us.
  var hasOurNotification: Bool { !isPhone || hasFallen }
  var hasOwn: Bool { hasAcknowledged || hasOurNotification && (wasShown || wasTapped) }
  var hasApple: Bool { isTaken || !hasOurNotification && (wasShown || wasTapped) }
}

/// Notes of whom an app's server would be told that they have a push, and by which channel.
private final class RecordedList: DeliveryObserver {
  private let all = Mutex<[ChannelID: [RegistrationNumber]]>([:])

  func stored(_ events: [DeliveryEvent], in transaction: WriteTransaction) throws(StorageError) {
    transaction.whenCommitted { [self] in note(events) }
  }

  private func note(_ events: [DeliveryEvent]) {
    for event in events {
      switch event.what {
      case .delivered(let numbers, let channel), .proven(let numbers, let channel):
        all.withLock { $0[channel, default: []] += numbers }
      case .ended(.delivered, let lastly?): all.withLock { $0[.passthrough, default: []].append(lastly) }
      case .ended, .refused, .arrived, .denied, .confirmed, .shown, .tapped: break
      }
    }
  }

  func numbers(_ channel: ChannelID) -> [RegistrationNumber] { all.withLock { $0[channel] ?? [] }.sorted() }
}

private struct TruthRun {
  private let world: TestWorld
  private let id: MessageID
  private let told = RecordedList()
  private let seed: Int
  private let isFalling: Bool
  private var random: SeededRandom
  private var targets: [TruthTarget] = []
  private var answers: [String: NumberSet] = [:]
  private var isWithdrawn = false, isOver = false

  init(seed: Int, androids: Int, phones: Int, isFalling: Bool = false) async throws {
    (self.seed, self.isFalling) = (seed, isFalling)
    random = SeededRandom(seed: UInt64(seed))
    world = try await TestWorld()
    world.router.add(SilentAPNs())
    world.router.journal.add(told)
    for index in 0..<androids + phones {
      let isPhone = index >= androids
      let device = try await world.register(
        token: isPhone ? Array("token\(index)".utf8) : [], platform: isPhone ? .ios : .android)
      targets.append(TruthTarget(device: device, isPhone: isPhone))
      _ = world.login(device)
    }
    var request = AcceptRequest.test(timeToLive: 1000)
    request.push.content = try .test(isFalling ? .notification : [.notification, .message])
    if isFalling { request.push.options.strategy = .vendorThenOwn }
    id = try await world.accept(request).get().id
  }

  // MARK: Events

  mutating func apply(_ event: TruthEvent, to place: Int) async throws {
    let target = targets[place]
    let number = target.device.number
    switch event {
    case .acknowledge: acknowledge(place)
    case .shown:
      world.router.deliveries.note([(id, false)], by: number, in: world.app)
      targets[place].wasShown = true
    case .tapped:
      world.router.deliveries.note([(id, true)], by: number, in: world.app)
      targets[place].wasTapped = true
    case .appleAccepts, .appleRefuses:
      guard target.isPhone, !target.isTaken, !target.isRefused else { return }
      guard event == .appleAccepts || !isFalling else { return try await fall(place) }
      let isTaken = event == .appleAccepts
      (targets[place].isTaken, targets[place].isRefused) = (isTaken, !isTaken)
      try await answer(number, isTaken ? ChannelEnd.delivered : "BadDeviceToken")
    case .recall:
      _ = await world.recall(id)
      if !isOver { isWithdrawn = true }
    case .override:
      guard !isWithdrawn, !isOver else { return }
      // To somebody else: what becomes of the other push is not looked at.
      let other = try await world.register()
      var request = AcceptRequest.test(to: [other], overrides: id)
      request.push.content = try .test(.message)
      let newer = try await world.accept(request).get().id
      world.router.deliveries.recall(newer, in: world.app) { _ in }
      isWithdrawn = true
    case .expire:
      guard !isOver else { return }
      world.clock.advance(seconds: 1001)
      for _ in 0..<3 { try await world.tick() }
      isOver = true
      // What the queue to Apple does.
      for place in targets.indices where targets[place].isPhone && !targets[place].isTaken {
        guard !targets[place].isRefused else { continue }
        targets[place].isRefused = true
        try await answer(targets[place].device.number, ChannelEnd.expired)
      }
    case .restart: try await restart()
    }
  }

  private mutating func acknowledge(_ place: Int) {
    world.router.deliveries.acknowledge([id], by: targets[place].device.number, in: world.app)
    // Of what does not come from us the word says nothing.
    if !isFalling || targets[place].hasOurNotification { targets[place].hasAcknowledged = true }
  }

  /// Apple refuses it for a phone. Before memory knows that it waits at our connection since, all kinds of
  /// things happen.
  private mutating func fall(_ place: Int) async throws {
    guard !isWithdrawn, !isOver else { return }
    // What was said before counts by what was true then.
    try await world.tick()
    let (number, hasAlready) = (targets[place].device.number, targets[place].hasApple)
    let (router, app, id) = (world.router, world.app, id)
    let isStored = Mutex(false)
    // The first may come too early, while an end is on its way into the database.
    for _ in 0..<3 where !isStored.withLock({ $0 }) {
      let gate = Gate()
      gate.hold(world.store)
      router.deliveries.withdraw(id, in: app, from: .apns, for: [number]) { stored in
        isStored.withLock { $0 = stored }
      }
      for other in targets.indices where other != place && Bool.random(using: &random) { acknowledge(other) }
      if Int.random(in: 0..<4, using: &random) == 0 {
        router.deliveries.recall(id, in: app) { _ in }
        isWithdrawn = true
      }
      gate.open()
      try await world.tick()
    }
    #expect(isStored.withLock { $0 })
    (targets[place].isRefused, targets[place].hasFallen) = (true, !hasAlready)
    try await answer(number, "BadDeviceToken")
  }

  /// Nothing is lost, since all is stored before.
  func restart() async throws {
    try await world.tick()
    try await world.restart(isOrderly: seed.isMultiple(of: 2))
    world.router.add(SilentAPNs())
    world.router.journal.add(told)
    for target in targets { _ = world.login(target.device) }
  }

  private mutating func answer(_ number: RegistrationNumber, _ word: String) async throws {
    answers[word, default: NumberSet()].insert(number)
    let isFinal = targets.allSatisfy { !$0.isPhone || $0.isTaken || $0.isRefused }
    let news = ChannelAnswers(
      id: id, channel: .apns, results: [.apns: answers], news: [.apns: [word: NumberSet([number])]],
      isFinal: isFinal)
    await awaitCallback { done in
      world.router.deliveries.store(news, of: world.app) { _ in done(()) }
    }
  }

  // MARK: Readers

  private func state(_ target: TruthTarget) -> TruthState {
    if target.hasOwn || target.hasApple { return .delivered }
    if !isWithdrawn && !isOver { return .pending }
    if isWithdrawn { return .recalled }
    return .expired
  }

  var expected: [TruthState] { targets.map(state) }

  func compare() async throws {
    try await world.tick()
    let (router, id) = (world.router, id)
    let app = world.app
    let report = try #require(
      try await awaitCallback { done in
        router.reports.report(on: id, in: app) { done($0) }
      }.get())
    compare(report)
    try await compareLists(report)
    for target in targets.prefix(6) + targets.suffix(2) {
      let number = target.device.number
      let why = try #require(
        try await awaitCallback { done in
          router.diagnostics.diagnose(id, .there(number), in: app) { done($0) }
        }.get())
      compare(why, target)
    }
  }

  private func numbers(where matches: (TruthTarget) -> Bool) -> [RegistrationNumber] {
    targets.filter(matches).map(\.device.number).sorted()
  }

  private func compare(_ report: PushReport) {
    let sets = report.targets
    #expect(sets.delivered.members() == numbers { state($0) == .delivered })
    #expect(sets.pending.members() == numbers { state($0) == .pending })
    #expect(sets.recalled.members() == numbers { state($0) == .recalled })
    #expect(sets.expired.members() == numbers { state($0) == .expired })
    #expect(sets.failed.isEmpty && sets.contradicted.isEmpty)
    // By channel: what was shown is booked to the one that brought it.
    #expect(sets.acknowledged.members() == numbers(where: \.hasOwn))
    #expect(sets.accepted.members() == numbers(where: \.hasApple))
    #expect(told.numbers(.passthrough) == numbers(where: \.hasOwn), "once each")
    #expect(told.numbers(.apns) == numbers(where: \.hasApple), "once each")
    let (own, apple) = (report.funnel(of: .passthrough), report.funnel(of: .apns))
    #expect(own.received.members() == numbers(where: \.hasOwn))
    #expect(own.shown.members() == numbers { $0.hasOurNotification && ($0.wasShown || $0.wasTapped) })
    #expect(own.tapped.members() == numbers { $0.hasOurNotification && $0.wasTapped })
    #expect(apple.sent.members() == numbers(where: \.hasApple))
    #expect(
      apple.shown.members() == numbers { !$0.hasOurNotification && ($0.wasShown || $0.wasTapped) })
    #expect(apple.tapped.members() == numbers { !$0.hasOurNotification && $0.wasTapped })
    for funnel in [own, apple] {
      #expect(funnel.sent.subtracting(funnel.target).isEmpty)
      #expect(funnel.received.subtracting(funnel.sent).isEmpty)
      #expect(funnel.shown.subtracting(funnel.received).isEmpty)
      #expect(funnel.tapped.subtracting(funnel.shown).isEmpty)
    }
    let states = targets.map(state)
    let word = report.status
    if states.allSatisfy({ $0 == .delivered }) {
      #expect(word == .delivered)
    } else if isWithdrawn {
      #expect(word.isWithdrawn)
    } else {
      #expect((word == .open) == states.contains(.pending))
      #expect((word == .partial) == (!states.contains(.pending) && states.contains(.delivered)))
    }
    #expect((report.withdrawal != nil) == isWithdrawn)
  }

  /// What lists and counters say.
  private func compareLists(_ report: PushReport) async throws {
    let (app, id) = (world.app.id, id)
    let hour = FixedZone.china.hour(of: world.clock.now())
    let (listed, rows) = try await world.store.look { transaction throws(StorageError) in
      (
        try transaction.pushes.history(of: app, limit: 100, looks: 100).pushes.first { $0.id == id },
        try transaction.statistics.find(app: app, hours: hour - 48..<hour + 1)
      )
    }
    if report.status == .partial {
      // Lists do not read who has it, and call each that has ended complete.
      #expect(listed?.status != .open && listed?.status.isWithdrawn == false)
    } else {
      #expect(listed.map { PushStatus($0.status) } == report.status)
    }
    let sum = rows.reduce(into: [0, 0, 0, 0]) {
      $0[0] += $1.row.acknowledged
      $0[1] += $1.row.accepted[.apns] ?? 0
      $0[2] += $1.row.shown
      $0[3] += $1.row.tapped
    }
    let sets = report.targets
    #expect(
      sum == [sets.acknowledged.count, sets.accepted.count, sets.shown.count, sets.tapped.count],
      "acknowledged, accepted by Apple, shown, tapped")
    #expect(world.router.audit.totals.unaccounted == 0)
  }

  private func compare(_ why: Diagnosis, _ target: TruthTarget) {
    let conclusion: WhyConclusion =
      if target.hasOwn || target.wasShown || target.wasTapped {
        .arrived
      } else if target.hasApple {
        .handedOver
      } else {
        state(target) == .pending ? .waiting : .failed
      }
    #expect(why.conclusion == conclusion)
    let isBlamed = why.steps.contains { $0.point == .sender && $0.verdict == .failed }
    #expect(isBlamed == (state(target) == .recalled))
  }
}
