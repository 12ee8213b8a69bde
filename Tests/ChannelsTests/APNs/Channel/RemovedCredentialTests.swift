import BorealisBase
import Core
import PushTesting
import Testing

@testable import Channels

/// Somebody removes an app's credential before adding the next one.
@Suite(.timeLimit(.minutes(5))) struct RemovedCredentialTests {
  /// What was never looked up, what is ready, and what waits for a retry.
  @Test func `What waits is sent with a credential that comes within minutes`() async throws {
    let scene = try await QueueScene()
    _ = try await scene.register(1)
    var pushes = [try await scene.push()]
    scene.answer(try #require(try await scene.popRequests().first), 429)
    pushes.append(try await scene.push())
    try await scene.settle()
    let target = try #require(scene.queue.target(for: .production))
    scene.queue.set(nil, isStopped: false, for: .production)
    pushes.append(try await scene.push())
    scene.world.clock.advance(seconds: 590)
    try await scene.second()
    // Said again at each change of credentials: that is no other removal.
    scene.queue.set(nil, isStopped: false, for: .production)
    try await scene.second()
    #expect(try await scene.popRequests().isEmpty)
    for push in pushes { #expect(try await scene.targets(of: push)?.pending.count == 1) }
    scene.queue.set(target, isStopped: false, for: .production)
    let sent = Set(try await scene.popRequests().map(\.id.high))
    #expect(sent == Set(pushes.map(\.rawValue)))
  }

  @Test(arguments: [false, true]) func `What waits for none ends`(isPaused: Bool) async throws {
    let scene = try await QueueScene()
    let number = try await scene.register(1)
    let push = try await scene.push()
    if isPaused { scene.queue.set(nil, isStopped: true, for: .production) }
    try await scene.settle()
    scene.queue.set(nil, isStopped: false, for: .production)
    scene.world.clock.advance(seconds: 598)
    try await scene.second()
    scene.queue.set(nil, isStopped: false, for: .production)
    #expect(try await scene.targets(of: push)?.pending.members() == [number])
    for _ in 0..<3 { try await scene.second() }
    #expect(try await scene.targets(of: push)?.failed["NoCredential"]?.members() == [number])
    // There is nothing more to wait for.
    scene.queue.set(nil, isStopped: false, for: .production)
    let next = try await scene.push()
    for _ in 0..<2 { try await scene.second() }
    #expect(try await scene.targets(of: next)?.failed["NoCredential"]?.members() == [number])
  }
}
