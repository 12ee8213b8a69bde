import BorealisBase
import Model
import PushTesting
import Storage
import Testing

@testable import Core

/// An app with devices and A/B tests.
final class ABTestWorld {
  let base: TestWorld
  let devices: [TestDevice]
  var app: App { base.app }
  var router: Router { base.router }

  init(devices count: Int, options: RouterOptions = RouterOptions()) async throws {
    base = try await TestWorld(options: options)
    devices = try await base.registerMany(count)
  }

  static func design(
    _ contents: [String] = ["a", "b"], share: Int = 20, after: Int = 600, confidence: Int? = nil,
    audience: String = #""all""#
  ) throws -> ABTestDesign {
    let texts = contents.map { #"{"alert":"\#($0)"}"# }.joined(separator: ",")
    let level = confidence.map { #","confidence":\#($0)"# } ?? ""
    let text =
      #"{"contents":[\#(texts)],"share":\#(share),"after":\#(after),"audience":\#(audience)\#(level)}"#
    return try ABTestDesign.parse(
      try #require(try parseJSON(Array(text.utf8)).object), rules: PushRules())
  }

  func add(_ design: ABTestDesign, name: String = "n") async throws -> ABTest {
    try await awaitCallback { router.abTests.add(name, design, to: app, reply: $0) }.get()
  }

  func request(_ test: ABTest, _ members: String = "") throws -> AcceptRequest {
    let object = #"{"platform":"all","audience":{"abtest":["\#(test.id)"]}\#(members)}"#
    let json = try parseJSON(Array(object.utf8))
    return AcceptRequest(
      try PushRequest.parse(json, rules: app.pushRules(PushRules())), object: Array(object.utf8))
  }

  func start(_ test: ABTest, _ members: String = "") async throws -> AcceptedPush {
    try await base.accept(try request(test, members)).get()
  }

  /// The runs of a test, the newest first.
  func runs(_ test: ABTest) async throws -> [ABTestRun] {
    try await awaitCallback { router.abTestRuns.list(of: test.id, in: app, reply: $0) }.get()
  }

  /// The latest run of a test.
  func run(_ test: ABTest) async throws -> ABTestRun { try #require(try await runs(test).first) }

  /// Looks at what is due, as a server does once a second.
  @discardableResult
  func look() async throws -> [ABTestLook] {
    try await base.tick()
    let page = try await awaitCallback { router.abTestRuns.due(limit: 10, found: $0) }.get()
    var looks: [ABTestLook] = []
    for run in page.runs {
      looks.append(
        await awaitCallback {
          router.acceptance.look(
            at: run, by: run.app.pushRules(PushRules()), router.abTestRuns, done: $0)
        })
    }
    try await base.barrier()
    return looks
  }

  /// What waits for a device, as texts.
  func texts(_ device: TestDevice) async throws -> [String] {
    let pending = base.pending(device)
    let found = try await awaitCallback { router.deliveries.contents(of: pending, found: $0) }.get()
    return try found.map { _, push in
      let said = try parseJSON(push.deviceJSON(.android, viaVendor: false))
      return said["notification"]?["alert"]?.string ?? ""
    }
  }

  /// How many devices wait for which texts; fails if one waits for several.
  func said() async throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for device in devices {
      let texts = try await texts(device)
      #expect(texts.count <= 1, "\(texts)")
      counts[texts.first ?? "", default: 0] += 1
    }
    return counts
  }

  /// The devices that a push is for.
  func targets(_ id: MessageID) async throws -> [TestDevice] {
    let all = try #require(try await base.targets(of: id)).all
    return devices.filter { all.contains($0.number) }
  }

  /// Some of a push's devices have it and tap it.
  func tap(_ id: MessageID, _ count: Int, delivered: Int? = nil) async throws {
    let targets = try await targets(id)
    for (place, device) in targets.enumerated() {
      if place < delivered ?? targets.count {
        router.deliveries.acknowledge([id], by: device.number, in: app)
      }
      if place < count { router.deliveries.note([(id, true)], by: device.number, in: app) }
    }
    try await base.tick()
  }
}
