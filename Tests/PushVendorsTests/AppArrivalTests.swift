import PushBase
import PushTesting
import Testing

@testable import PushRouter
@testable import PushVendors

/// Apps that come to this home, from another one or as new ones.
@Suite struct AppArrivalTests {
  /// Channels learn of it before anybody can find it: there must be no moment in which pushes pass a channel by.
  @Test func `The first push of an app that was just loaded goes over its vendor`() async throws {
    let scene = try await VendorScene { _ in .status(200) }
    defer { scene.end() }
    try await scene.device("a")
    // As `Loading` does it for an app that was here before.
    _ = try #require(scene.router.apps.table.take(scene.app.key))
    scene.channel.forget(scene.app)
    await awaitCallback { done in scene.channel.learnChanges { done(()) } }
    scene.router.apps.table.add(scene.app)
    _ = try await scene.push()
    #expect(try await scene.requests(1).count == 1)
  }
}
