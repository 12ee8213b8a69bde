import BorealisBase
import Core
import Model
import PushTesting
import Testing

@testable import Channels

/// Notifications that services recall from devices.
@Suite struct VendorRecallTests {
  /// Waits until the service was asked to take so many back, without any time on the test's clock.
  private func recalls(_ count: Int, in scene: VendorScene) async throws -> [MessageID] {
    for _ in 0..<500 where scene.moments.recalls.count < count {
      scene.channel.tick()
      try await Task.sleep(for: .milliseconds(10))
    }
    return scene.moments.recalls
  }

  /// Its pushes never went to the service: there is nothing to recall, and nothing to report.
  @Test func `An app without a credential takes no place of others, however much it recalls`() async throws {
    let lines = LogLines()
    let scene = try await VendorScene(log: Log(level: .info) { lines.add($0) }) { _ in .status(200) }
    defer { scene.end() }
    try await scene.device("a")
    let other = try await scene.router.makeApp(in: scene.parts.store)
    _ = try await scene.router.newDevice(in: other, fingerprint: [1])
    let id = try await scene.push()
    _ = try await scene.requests(1)
    for _ in 0..<1100 {
      let id = try await scene.push(#""message":{"msg_content":"x"}"#, in: other)
      try await scene.recall(id, in: other)
    }
    try await scene.recall(id)
    scene.pass(seconds: 2)
    #expect(try await recalls(1, in: scene) == [id])
    #expect(!lines.all.contains { $0.contains("stay") })
  }

  /// Such as one that went over the direct connection, or was still in the queue.
  @Test func `What a service has not taken is not recalled`() async throws {
    let scene = try await VendorScene { number in
      number == 1 ? .status(ScriptedVendor.busy, "Retry-After: 800\r\n") : .status(200)
    }
    defer { scene.end() }
    try await scene.device("a")
    let waiting = try await scene.push()
    _ = try await scene.requests(1)
    try await scene.untilResting()
    let later = try await scene.push()
    for id in [waiting, later] { try await scene.recall(id) }
    #expect(scene.channel.recalls.count(of: scene.app) == 0)
  }

  @Test func `When all places are taken, those of the app with the most make room`() async throws {
    let lines = LogLines()
    let scene = try await VendorScene(log: Log(level: .info) { lines.add($0) }) { _ in .status(200) }
    defer { scene.end() }
    let recalls = scene.channel.recalls
    let most = VendorRecalls<ScriptedVendor>.most
    let other = try await scene.router.makeApp(in: scene.parts.store)
    for number in 1...most + 2 { recalls.add(MessageID(UInt64(number)), of: scene.app) }
    #expect(recalls.count(of: scene.app) == most && lines.all.count == 2)
    recalls.add(MessageID(1), of: scene.app)
    #expect(lines.all.count == 2, "it is known")
    for number in 1...most { recalls.add(MessageID(UInt64(10_000 + number)), of: other) }
    #expect(recalls.count(of: scene.app) == most / 2 && recalls.count(of: other) == most / 2)
    #expect(lines.all.count == most + 2, "one for each that stays")
  }

  @Test func `A failed recall is reported`() async throws {
    let lines = LogLines()
    let scene = try await VendorScene(log: Log(level: .info) { lines.add($0) }) { number in
      .status(number == 1 ? 200 : 401)
    }
    defer { scene.end() }
    scene.channel.recalls.add(MessageID(1), of: scene.app, canSend: false)
    #expect(lines.all.count == 1 && lines.all[0].contains("has no credential"))
    try await scene.device("a")
    let id = try await scene.push()
    _ = try await scene.requests(1)
    try await scene.recall(id)
    scene.pass(seconds: 2)
    _ = try await recalls(1, in: scene)
    scene.jump(seconds: 601)
    // The refusal may come only now, and what follows from it has moments of its own.
    for _ in 0..<500 where scene.channel.recalls.count(of: scene.app) > 0 {
      scene.pass(seconds: 1)
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(lines.all.contains { $0.contains("within ten minutes") && $0.contains(id.text) })
  }
}
