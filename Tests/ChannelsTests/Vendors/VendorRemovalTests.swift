import BorealisBase
import Core
import Model
import PushTesting
import Storage
import Testing

@testable import Channels

/// Somebody removes an app's credential before setting the next one.
@Suite(.timeLimit(.minutes(5))) struct VendorRemovalTests {
  private static let notification = #""notification":{"android":{"alert":"x"}}"#

  /// A service that takes nothing for as long as the first credential is there.
  private func busyScene() async throws -> VendorScene {
    try await VendorScene { number in
      number == 1 ? .status(ScriptedVendor.busy, "Retry-After: 800\r\n") : .status(200)
    }
  }

  private func target(_ device: RegistrationID) -> String { #"{"registration_id":["\#(device.text)"]}"# }

  /// Lets the channel work, without any time on the test's clock.
  private func work(_ scene: VendorScene, until isDone: () -> Bool) async throws {
    for _ in 0..<2000 where !isDone() {
      scene.channel.tick()
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  /// Whose device is away gets it with the next credential.
  @Test func `Who connects gets over the connection what waits for another credential`() async throws {
    let scene = try await busyScene()
    defer { scene.end() }
    let (back, away) = (try await scene.device("a"), try await scene.device("b"))
    _ = try await scene.push(to: target(back))
    _ = try await scene.requests(1)
    try await scene.untilResting()
    _ = try await scene.push(to: target(back))
    _ = try await scene.push(to: target(away))
    try await scene.removeCredential()
    scene.jump(seconds: 6)
    scene.connect(back)
    try await work(scene) { scene.waiting(for: back) == 2 }
    #expect(scene.waiting(for: back) == 2 && scene.waiting(for: away) == 0)
    try await scene.setCredential()
    _ = try await scene.requests(2)
    #expect(scene.moments.tokens == ["a", "b"])
  }

  /// Its strategy lets the vendor bring it nevertheless; it ends before the ten minutes do.
  @Test func `Who is connected does not wait for another credential`() async throws {
    let scene = try await busyScene()
    defer { scene.end() }
    let device = try await scene.device("a")
    scene.connect(device)
    let options = #""options":{"strategy":4,"time_to_live":60}"#
    _ = try await scene.push(to: target(device), "\(Self.notification),\(options)")
    _ = try await scene.requests(1)
    try await scene.untilResting()
    scene.jump(seconds: 6)
    #expect(scene.waiting(for: device) == 0)
    try await scene.removeCredential()
    try await work(scene) { scene.waiting(for: device) == 1 }
    #expect(scene.waiting(for: device) == 1 && scene.moments.list.count == 1)
  }

  @Test func `A recall waits for another credential`() async throws {
    let scene = try await VendorScene { _ in .status(200) }
    defer { scene.end() }
    try await scene.device("a")
    let pushes = [try await scene.push(), try await scene.push()]
    _ = try await scene.requests(2)
    try await scene.removeCredential()
    try await scene.recall(pushes[0])
    #expect(scene.channel.recalls.count(of: scene.app) == 1)
    try await scene.setCredential()
    for _ in 0..<500 where scene.moments.recalls.isEmpty {
      scene.pass(seconds: 1)
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(scene.moments.recalls == [pushes[0]])
    // None has come within ten minutes.
    try await scene.removeCredential()
    scene.jump(seconds: 601)
    let waiting = scene.channel.recalls.count(of: scene.app)
    try await scene.recall(pushes[1])
    #expect(scene.channel.recalls.count(of: scene.app) <= waiting)
  }
}
