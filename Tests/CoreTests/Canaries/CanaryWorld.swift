import BorealisBase
import Channels
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// An app with devices, and pushes that go to a share of them first.
final class CanaryWorld {
  let base: TestWorld
  let devices: [TestDevice]
  var app: App { base.app }
  var router: Router { base.router }

  /// With `apple`, Apple brings notifications to the devices.
  init(devices count: Int = 100, apple: (any ServiceChannel)? = nil) async throws {
    base = try await TestWorld()
    guard let apple else {
      devices = try await base.registerMany(count)
      return
    }
    base.router.add(apple)
    var phones: [TestDevice] = []
    for place in 0..<count {
      phones.append(try await base.register(token: Array("token \(place)".utf8), platform: .ios))
    }
    devices = phones
  }

  /// Those with which contents have a form for Apple.
  static let rules = PushRules(renderers: [APNsContentRenderer()])

  deinit { base.router.unplug() }

  static func request(
    share: Int = 10, wait: Int = 600, most: Int = 5, more: String = "", to audience: String = #""all""#
  ) throws -> AcceptRequest {
    let object =
      #"{"platform":"all","audience":\#(audience),"notification":{"alert":"x"},"options":{"canary":"#
      + #"{"share":\#(share),"wait":\#(wait),"max_failures":\#(most)}\#(more)}}"#
    return AcceptRequest(
      try PushRequest.parse(try parseJSON(Array(object.utf8)), rules: rules), object: Array(object.utf8))
  }

  func push(share: Int = 10, wait: Int = 600, most: Int = 5, more: String = "") async throws -> MessageID {
    try await base.accept(try Self.request(share: share, wait: wait, most: most, more: more)).get().id
  }

  /// The canary of a push, if it has one.
  func found(_ id: MessageID) async throws -> CanaryStatus? {
    try await awaitCallback { router.canaries.find(id, in: app, reply: $0) }.get()
  }

  func status(_ id: MessageID) async throws -> CanaryStatus { try #require(try await found(id)) }

  /// Those whose look has come.
  func due() async throws -> [DueCanary] {
    try await awaitCallback { router.canaries.due(limit: 10, found: $0) }.get().due
  }

  func look(at canary: DueCanary) async -> CanaryLook {
    let (router, rules) = (router, app.pushRules(Self.rules))
    return await awaitCallback {
      router.acceptance.look(at: canary, by: rules, router.canaries, done: $0)
    }
  }

  /// Looks at what is due, as a server does once a second.
  @discardableResult
  func look(after seconds: Int64 = 0) async throws -> [CanaryLook] {
    base.clock.advance(seconds: seconds)
    try await base.tick()
    var looks: [CanaryLook] = []
    for canary in try await due() { looks.append(await look(at: canary)) }
    try await base.barrier()
    return looks
  }

  func release(_ id: MessageID) async -> Result<CanaryRow.State, CanaryFailure> {
    let (router, app) = (router, app)
    return await awaitCallback {
      router.acceptance.release(
        id, of: app, by: app.pushRules(Self.rules), router.canaries, reply: $0)
    }
  }

  func stop(_ id: MessageID) async -> Result<Void, CanaryFailure> {
    await awaitCallback { router.canaries.stop(id, of: app, reply: $0) }
  }

  /// The devices that a push is for.
  func targets(_ id: MessageID) async throws -> [TestDevice] {
    let all = try #require(try await base.targets(of: id)).all
    return devices.filter { all.contains($0.number) }
  }

  /// Some of a push's devices say that they have it.
  func acknowledge(_ id: MessageID, _ count: Int = .max) async throws {
    for device in try await targets(id).prefix(count) {
      router.deliveries.acknowledge([id], by: device.number, in: app)
    }
    try await base.tick()
  }

  /// Apple answers for the devices of a push, the first reason for the first of them, and so on.
  func answer(_ id: MessageID, _ counts: (reason: String, count: Int)...) async throws {
    var left = try await targets(id)[...]
    let all = left.count
    var results: [String: NumberSet] = [:]
    for (reason, count) in counts {
      results[reason] = NumberSet(left.prefix(count).map(\.number))
      left = left.dropFirst(count)
    }
    let answers = ChannelAnswers(
      id: id, channel: .apns, results: [.apns: results], news: [.apns: results],
      isFinal: counts.reduce(0) { $0 + $1.count } >= all)
    await awaitCallback { done in
      router.deliveries.store(answers, of: app) { _ in done(()) }
    }
    try await base.tick()
  }

  /// How many pushes wait for how many devices.
  func waiting() -> [Int: Int] {
    devices.reduce(into: [:]) { $0[base.pending($1).count, default: 0] += 1 }
  }

  /// Why a push has not come to a device.
  func why(_ id: MessageID, _ device: TestDevice) async throws -> WhyStep? {
    let diagnosis = try await awaitCallback {
      router.diagnostics.diagnose(id, .there(device.number), in: app, reply: $0)
    }.get()
    return diagnosis?.step(.audience)
  }
}
