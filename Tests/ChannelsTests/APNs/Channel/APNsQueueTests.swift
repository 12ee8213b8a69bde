import BorealisBase
import Core
import HTTP
import Model
import PushTesting
import Synchronization
import Testing

@testable import Channels
@testable import Storage

/// What follows from Apple's answers, step by step, in a time that the test makes.
@Suite(.timeLimit(.minutes(5))) struct APNsQueueTests {
  /// A push of which a channel has nothing to send ends at once, with a line in the log, instead of waiting
  /// for ever.
  @Test func `A push without parts ends`() async throws {
    let scene = try await QueueScene()
    _ = try await scene.register(1)
    let lines = LogLines()
    let queue = ChannelQueue(
      of: .apns, app: scene.app, store: scene.world.store, deliveries: scene.router.deliveries,
      time: scene.world.clock, log: Log(level: .info) { lines.add($0) }
    ) { _ in [] }
    queue.credentialsAreSet()
    try await eventually { queue.state.withLock { !$0.isLoading } }
    let push = try await scene.push()
    func open() async throws -> [OpenChannelPush] {
      try await scene.world.store.look { [id = scene.app.id] t throws(StorageError) in
        try t.channelQueue.open(of: .apns, app: id, after: MessageID(0), limit: 1, triedOnce: [])
      }
    }
    let row = try #require(await open().first)
    queue.deliver(try #require(ChannelPush(row.push, .apns, app: scene.app, pacingMinutes: nil)))
    try await eventually { queue.state.withLock { $0.open.isEmpty && $0.finished.isEmpty } }
    try await scene.world.written()
    #expect(lines.all.contains { $0.contains(push.text) && $0.contains("unreadable") })
    #expect(try await open().isEmpty)
  }

  // MARK: Whose token it is

  /// 429 puts a push off for long enough that anything may happen to the token.
  @Test(arguments: [429, 500]) func `Before each try the token is read again`(status: Int) async throws {
    let scene = try await QueueScene()
    let first = try await scene.register(1, fingerprint: "first")
    let push = try await scene.push()
    let request = try #require(try await scene.popRequests().first)
    #expect(request.deviceToken == [1])
    scene.answer(request, status, status == 429 ? "TooManyRequests" : nil)
    _ = try await scene.register(1, fingerprint: "second")
    for _ in 0..<40 {
      try await scene.second()
      #expect(try await scene.popRequests().isEmpty)
    }
    #expect(try await scene.token(of: first) == nil)
    let targets = try await scene.targets(of: push)
    #expect(targets?.failed["NoToken"]?.members() == [first])
  }

  /// The token moves between the reading and the sending, and while the reading is under way.
  @Test func `What is ready with an old token is read again`() async throws {
    let scene = try await QueueScene()
    let number = try await scene.register(1)
    _ = try await scene.push()
    try await scene.settle()
    try await scene.setToken(2, of: number)
    #expect(try await scene.popRequests().map(\.deviceToken) == [[2]])
  }

  @Test func `Many changes at once put everything in question, and lose nothing`() async throws {
    var changes = TokenChanges()
    let before = changes.now
    changes.note((0..<5000).map { RegistrationNumber($0) })
    #expect(changes.hasChanged(RegistrationNumber(9_999), since: before))
    #expect(!changes.hasChanged(RegistrationNumber(1), since: changes.now))
    let later = changes.now
    changes.note([RegistrationNumber(7)])
    #expect(changes.hasChanged(RegistrationNumber(7), since: later))
    #expect(!changes.hasChanged(RegistrationNumber(8), since: later))
  }

  // MARK: Which tokens are given up

  /// Refused, told again and taken since: a minute later it is still there.
  @Test(arguments: [false, true]) func `A suspicion ends when the token works`(isTold: Bool) async throws {
    let scene = try await QueueScene()
    let number = try await scene.register(1)
    for _ in 0..<2 {
      _ = try await scene.push()
      for environment in [APNsEnvironment.production, .sandbox] {
        for request in try await scene.popRequests(environment) {
          scene.answer(request, 400, "BadDeviceToken", environment)
        }
      }
    }
    try await scene.second()
    if isTold {
      try await scene.setToken(1, of: number)
    } else {
      _ = try await scene.push()
      let request = try #require(try await scene.popRequests().first)
      scene.answer(request, 200)
    }
    for _ in 0..<130 { try await scene.second() }
    #expect(try await scene.token(of: number) == [1])
  }

  /// If no token works, it may not be the token's fault.
  @Test(arguments: [false, true]) func `A suspicion is confirmed if others work`(otherWorks: Bool)
    async throws
  {
    let scene = try await QueueScene()
    let number = try await scene.register(1)
    if otherWorks { _ = try await scene.register(2) }
    _ = try await scene.push()
    for environment in [APNsEnvironment.production, .sandbox] {
      for request in try await scene.popRequests(environment) {
        if request.deviceToken == [2] {
          scene.answer(request, 200)
        } else {
          scene.answer(request, 400, "BadDeviceToken", environment)
        }
      }
    }
    for _ in 0..<70 { try await scene.second() }
    #expect(try await scene.token(of: number) == (otherWorks ? nil : [1]))
  }

  /// Anybody can tell them.
  @Test func `Invented tokens beside good ones do not stop the sending`() async throws {
    let scene = try await QueueScene()
    var invented: [RegistrationNumber] = []
    for token in 1...10 { invented.append(try await scene.register(UInt8(token))) }
    for token in 11...30 { _ = try await scene.register(UInt8(token)) }
    for round in 0..<8 {
      if round % 4 == 0 { _ = try await scene.push() }
      for environment in [APNsEnvironment.production, .sandbox] {
        for request in try await scene.popRequests(environment) {
          if request.deviceToken[0] > 10 {
            scene.answer(request, 200)
          } else {
            scene.answer(request, 400, "BadDeviceToken", environment)
          }
        }
      }
      try await scene.second()
    }
    #expect(scene.parts.credentials.problem(scene.app.id) == nil)
    for number in invented { #expect(try await scene.token(of: number) == nil) }
  }

  /// Two requests are under way, and Apple takes the later one before it refuses the earlier.
  @Test func `A later acceptance counts more than a refusal`() async throws {
    let scene = try await QueueScene()
    let number = try await scene.register(1)
    _ = try await scene.push()
    let early = try #require(try await scene.popRequests().first)
    try await scene.second()
    _ = try await scene.push()
    let late = try #require(try await scene.popRequests().first)
    scene.answer(late, 200)
    scene.answer(early, 410, "Unregistered")
    try await scene.second()
    #expect(try await scene.token(of: number) == [1])
  }

  /// A service refuses all tokens that were reported for it, and so does the other when it is asked:
  /// outsiders can have reported them.
  @Test(arguments: [APNsEnvironment.production, .sandbox])
  func `Refused tokens stop no service and are kept`(home: APNsEnvironment) async throws {
    let scene = try await QueueScene()
    var numbers: [RegistrationNumber] = []
    for token in 1...20 { numbers.append(try await scene.register(UInt8(token), home)) }
    _ = try await scene.push()
    let other: APNsEnvironment = home == .production ? .sandbox : .production
    for _ in 0..<8 {
      for environment in [home, other] {
        for request in try await scene.popRequests(environment) {
          scene.answer(request, 400, "BadDeviceToken", environment)
        }
      }
      try await scene.second()
    }
    #expect(scene.parts.credentials.problem(scene.app.id, home) == nil)
    #expect(scene.parts.credentials.problem(scene.app.id, other) == nil)
    #expect(scene.queue.queue.tokens.doubt(of: home.service) == 20)
    for number in numbers { #expect(try await scene.token(of: number) != nil) }
  }

  /// A key for another bundle ID of the same team, after one whose tokens worked.
  @Test func `A wrong topic takes no token away`() async throws {
    let scene = try await QueueScene()
    var numbers: [RegistrationNumber] = []
    for token in 1...20 { numbers.append(try await scene.register(UInt8(token))) }
    _ = try await scene.push()
    for request in try await scene.popRequests() { scene.answer(request, 200) }
    try scene.replaceCredential()
    for _ in 0..<3 {
      _ = try await scene.push()
      for request in try await scene.popRequests() { scene.answer(request, 400, "DeviceTokenNotForTopic") }
      try await scene.second()
    }
    for number in numbers { #expect(try await scene.token(of: number) != nil) }
    // The service knows this one as the app's.
    _ = try await scene.push()
    let request = try #require(try await scene.popRequests(upTo: 1).first)
    scene.answer(request, 410, "Unregistered")
    try await scene.second()
    var left = 0
    for number in numbers { left += try await scene.token(of: number) == nil ? 0 : 1 }
    #expect(left == 19)
  }

  // MARK: When it is tried again

  /// What Apple did not process leaves again without waiting, however often that happens, and in its order.
  @Test func `What was not sent goes at once, in the same order`() async throws {
    let scene = try await QueueScene()
    _ = try await scene.register(1)
    var pushes: [MessageID] = []
    for _ in 0..<3 { pushes.append(try await scene.push()) }
    for _ in 0..<30 {
      let requests = try await scene.popRequests()
      #expect(requests.map(\.id.high) == pushes.map(\.rawValue))
      // As they come when a connection ends, in any order.
      for request in requests.reversed() { scene.answer(request, .notSent) }
    }
    // A stream that alone is refused again and again does wait.
    var refused = 0
    while let request = try await scene.popRequests(upTo: 1).first, refused < 30 {
      scene.answer(request, .refused)
      refused += 1
    }
    #expect(refused < 30)
  }

  @Test func `Apple is not asked before the time that it names`() async throws {
    let scene = try await QueueScene()
    _ = try await scene.register(1)
    _ = try await scene.push()
    let request = try #require(try await scene.popRequests().first)
    scene.answer(request, 429, "TooManyRequests", retryAfter: 120)
    for _ in 0..<119 {
      try await scene.second()
      let early = scene.dispatchers[.production]?.popRequests(upTo: 9, areScarce: false) ?? []
      #expect(early.isEmpty)
    }
    for _ in 0..<2 { try await scene.second() }
    #expect(try await scene.popRequests().count == 1)
  }

  @Test(arguments: [true, false]) func `A call rings soon or never`(hasTime: Bool) async throws {
    let scene = try await QueueScene()
    let number = try await scene.register(1)
    try await scene.setToken(9, as: .voip, of: number)
    let push = try await scene.push(
      #"{"voip":{"caller":"Anna"}}"#, options: hasTime ? #"{"time_to_live":300}"# : "{}")
    let request = try #require(try await scene.popRequests().first)
    #expect(request.type == .voip)
    scene.answer(request, 500, "InternalServerError")
    for _ in 0..<31 {
      scene.world.clock.advance(seconds: 1)
    }
    try await scene.second()
    let again = try await scene.popRequests()
    #expect(again.count == (hasTime ? 1 : 0))
    for request in again { scene.answer(request, 200) }
    try await scene.second()
    let targets = try await scene.targets(of: push)
    #expect(targets?.legs[.apnsCall]?.counts == [hasTime ? "delivered" : "Expired": 1])
  }

  /// Connections with an old credential still have requests when its successor has others.
  @Test func `A changed token calls its request back from where it is`() async throws {
    let scene = try await QueueScene()
    let number = try await scene.register(1)
    _ = try await scene.push()
    let request = try #require(try await scene.popRequests().first)
    let old = try #require(scene.queue.target(for: .production))
    let new = APNsDispatcher(environment: .production, mint: nil, parts: scene.parts)
    scene.queue.set(
      APNsQueue.Target(new, old.credential), isStopped: false, for: .production)
    let recalled = scene.queue.queue.state.withLock { $0.tokensChanged(of: [number]) }
    try #require(recalled.count == 1)
    #expect(recalled[0].0 === old && recalled[0].1 == [request.tag])
  }

  // MARK: Recalls

  /// Answers that come while a push is being recalled, and after it was, count as what they are.
  @Test func `Each target of a push that is recalled ends once, as what it is`() async throws {
    let scene = try await QueueScene()
    var numbers: [RegistrationNumber] = []
    for token in 1...6 { numbers.append(try await scene.register(UInt8(token))) }
    let push = try await scene.push()
    let requests = try await scene.popRequests(upTo: 4)
    try #require(requests.count == 4)
    // One is answered and not stored yet.
    scene.answer(requests[0], 200)
    let count = try await awaitCallback { done in
      scene.router.deliveries.recall(push, in: scene.app) { done($0) }
    }.get()
    #expect(count.waiting == 2)
    #expect(try await scene.popRequests().isEmpty)
    // What was answered is stored at a tick at which nobody else waits for the writer.
    var waiting = try await scene.targets(of: push)
    for _ in 0..<20 where waiting?.pending.count != 3 {
      try await scene.second()
      waiting = try await scene.targets(of: push)
    }
    #expect(waiting?.recalled.count == 2 && waiting?.pending.count == 3)
    scene.answer(requests[1], 200)
    scene.answer(requests[2], 503, "ServiceUnavailable")
    scene.answer(requests[3], .unknown)
    for _ in 0..<3 { try await scene.second() }
    let targets = try #require(try await scene.targets(of: push))
    #expect(targets.delivered.count == 2 && targets.recalled.count == 3 && targets.pending.isEmpty)
    #expect(targets.failed.mapValues(\.count) == ["NoAnswer": 1])
    #expect(try await scene.popRequests().isEmpty)
  }

  /// What Apple has answered is not lost when the database cannot take it at the moment of the recall.
  @Test func `Answers of a push that was recalled are stored when that is possible`() async throws {
    let scene = try await QueueScene()
    for token in 1...3 { _ = try await scene.register(UInt8(token)) }
    let push = try await scene.push()
    let request = try #require(try await scene.popRequests(upTo: 1).first)
    scene.answer(request, 200)
    let store = scene.world.store
    func rename(_ old: String, _ new: String) async throws {
      try await store.change { transaction throws(StorageError) in
        try transaction.database.run(script: "ALTER TABLE \(old) RENAME TO \(new)")
      }
    }
    try await rename("channel_targets", "away")
    #expect(scene.queue.queue.withdraw(push) == 2)
    try await eventually { scene.queue.queue.state.withLock { !$0.finished.isEmpty } }
    try await rename("away", "channel_targets")
    try await scene.second()
    try await eventually { scene.queue.queue.state.withLock { $0.finished.isEmpty && !$0.isSaving } }
    #expect(try await scene.targets(of: push)?.delivered.count == 1)
  }

  /// What was answered counts also when it could not be stored before its push was over.
  @Test func `News of a push that is gone is kept for the next commit`() {
    var state = QueueState(channel: .apns)
    let news: LegOutcomes = [.apns: [ChannelEnd.delivered: NumberSet([RegistrationNumber(1)])]]
    state.giveBack(
      ChannelAnswers(id: MessageID(7), channel: .apns, results: news, news: news, isFinal: false))
    #expect(state.finished.count == 1)
    let kept = state.finished.first?.news[.apns]?[ChannelEnd.delivered]?.members()
    #expect(kept == [RegistrationNumber(1)] && state.finished.first?.isFinal == false)
  }

  /// What Apple was being asked when the process was killed is not asked again.
  @Test func `A push that was recalled is not sent after a kill`() async throws {
    let scene = try await QueueScene()
    for token in 1...3 { _ = try await scene.register(UInt8(token)) }
    let push = try await scene.push()
    try #require(try await scene.popRequests(upTo: 2).count == 2)
    let count = try await awaitCallback { done in
      scene.router.deliveries.recall(push, in: scene.app) { done($0) }
    }.get()
    #expect(count.waiting == 1)
    let next = scene.successor()
    try await eventually {
      next.queue.state.withLock { !$0.isSpilled && !$0.isSaving && $0.finished.isEmpty }
    }
    #expect(next.queue.state.withLock { $0.open.isEmpty })
    #expect(next.popRequests(.production, upTo: 10, token: nil).isEmpty)
    let targets = try #require(try await scene.targets(of: push))
    #expect(targets.recalled.count == 1 && targets.failed.mapValues(\.count) == ["NoAnswer": 2])
  }
}
