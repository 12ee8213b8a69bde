import BorealisBase
import Core
import Model
import PushTesting
import Storage
import Synchronization
import Testing

@testable import Channels

/// What waits for Apple when its device connects, and is not in the memory of a queue.
@Suite(.timeLimit(.minutes(5))) struct LeftPushesTests {
  private static let ownIfRefused = #"{"strategy":4}"#

  /// A queue with a paused credential. If it is full it leaves all in the database, as what is beyond its
  /// memory.
  private func pausedQueue(_ scene: QueueScene, isFull: Bool = true) -> APNsQueue {
    let queue = APNsQueue(app: scene.app, parts: scene.parts)
    for environment in [APNsEnvironment.production, .sandbox] {
      queue.set(nil, isStopped: true, for: environment)
    }
    if isFull {
      queue.queue.state.withLock {
        $0.retries.laterCount = ChannelQueue.Bounds.later + ChannelQueue.Bounds.laterOfFew
      }
    }
    queue.queue.credentialsAreSet()
    return queue
  }

  private func connect(
    _ number: RegistrationNumber, _ scene: QueueScene, isForeground: Bool = true
  ) throws -> Location {
    let id = try #require(scene.app.directory.identity(number)?.id)
    let location = Location(loop: 0, slot: number.rawValue, generation: 1)
    let outcome = scene.app.directory.bind(
      id, number, at: location, isForeground: isForeground, replacing: nil, since: 0)
    guard case .bound = outcome else { throw CredentialWorld.Missing() }
    return location
  }

  /// Ticks as every second does until nothing is left to do: a queue that still reads what it starts with
  /// begins no pass.
  private func pass(_ queue: APNsQueue, _ scene: QueueScene) async throws {
    try await eventually {
      queue.tick()
      return queue.queue.state.withLock { $0.left.isIdle && $0.failed.isEmpty && $0.finished.isEmpty }
    }
    try await scene.world.written()
  }

  private func brought(_ scene: QueueScene, _ number: RegistrationNumber) -> [MessageID] {
    scene.app.directory.pending(for: number, after: MessageID(0), at: 0, limit: 9).ids
  }

  @Test func `A device that connects gets what is left in the database`() async throws {
    let scene = try await QueueScene()
    let number = try await scene.register(1)
    let old = try await scene.push(options: Self.ownIfRefused)
    scene.world.clock.advance(seconds: 10)
    let new = try await scene.push(options: Self.ownIfRefused)
    let queue = pausedQueue(scene)
    _ = try connect(number, scene)
    queue.queue.reached(number)
    try await pass(queue, scene)
    #expect(brought(scene, number) == [old])
    #expect(try await scene.targets(of: old)?.legs[.apns]?.counts["Connected"] == 1)
    // Nobody has come since, and what is new has its time.
    scene.world.clock.advance(seconds: 10)
    try await pass(queue, scene)
    #expect(brought(scene, number) == [old])
    queue.queue.reached(number)
    try await pass(queue, scene)
    #expect(brought(scene, number) == [old, new])
    // The rest is read once there is room, and these are not among it.
    queue.queue.state.withLock { $0.retries.laterCount = 0 }
    queue.tick()
    try await eventually { queue.queue.state.withLock { !$0.isSpilled && !$0.isLoading } }
    #expect(queue.queue.state.withLock { $0.open.isEmpty })
  }

  /// Its connection stays what it was.
  @Test func `An iPhone whose app comes to the foreground gets what waits`() async throws {
    let scene = try await QueueScene()
    let number = try await scene.register(1)
    for environment in [APNsEnvironment.production, .sandbox] {
      scene.queue.set(nil, isStopped: true, for: environment)
    }
    let old = try await scene.push(options: Self.ownIfRefused)
    try await pass(scene.queue, scene)
    scene.world.clock.advance(seconds: 10)
    let location = try connect(number, scene, isForeground: false)
    let session = BoundSession(app: scene.app.id, number: number, location: location)
    let home = LocalHome(scene.router)
    for isForeground in [false, true] {
      var answers: [HomeMessage] = []
      home.handle(
        [.state(session, isForeground: isForeground, wantsNewest: isForeground)], answers: &answers)
      try await pass(scene.queue, scene)
      // The queue hears of it a moment later.
      if isForeground {
        try await eventually {
          scene.queue.tick()
          return !brought(scene, number).isEmpty
        }
      }
      #expect(brought(scene, number) == (isForeground ? [old] : []))
    }
  }

  @Test func `Who connects while a queue still reads gets what it has read`() async throws {
    let scene = try await QueueScene()
    let number = try await scene.register(1)
    let old = try await scene.push(options: Self.ownIfRefused)
    scene.world.clock.advance(seconds: 10)
    let queue = APNsQueue(app: scene.app, parts: scene.parts)
    _ = try connect(number, scene)
    // It reads nothing before it knows its credentials.
    queue.queue.reached(number)
    for environment in [APNsEnvironment.production, .sandbox] {
      queue.set(nil, isStopped: true, for: environment)
    }
    queue.queue.credentialsAreSet()
    try await eventually { queue.queue.state.withLock { !$0.isSpilled } }
    try await pass(queue, scene)
    #expect(brought(scene, number) == [old])
  }

  /// More than is read of a page.
  @Test func `A pass goes over all that is left`() async throws {
    let scene = try await QueueScene()
    let number = try await scene.register(1)
    var pushes: [MessageID] = []
    for _ in 0..<70 { pushes.append(try await scene.push(options: Self.ownIfRefused)) }
    scene.world.clock.advance(seconds: 10)
    let queue = pausedQueue(scene)
    _ = try connect(number, scene)
    queue.queue.reached(number)
    try await pass(queue, scene)
    let ids = scene.app.directory.pending(for: number, after: MessageID(0), at: 0, limit: 99).ids
    #expect(ids == pushes)
  }

  /// Nobody tells the queue of it.
  @Test func `Who was there all along gets what waits for another credential`() async throws {
    let scene = try await QueueScene()
    let number = try await scene.register(1)
    let push = try await scene.push(options: Self.ownIfRefused)
    _ = try connect(number, scene)
    let queue = pausedQueue(scene)
    scene.world.clock.advance(seconds: 120 - scene.world.clock.now().seconds % 60)
    try await pass(queue, scene)
    #expect(brought(scene, number).isEmpty, "it is only paused")
    for environment in [APNsEnvironment.production, .sandbox] {
      queue.set(nil, isStopped: false, for: environment)
    }
    scene.world.clock.advance(seconds: 60)
    try await pass(queue, scene)
    #expect(brought(scene, number) == [push])
  }

  /// The usual strategy lets Apple alone bring it. What is to many waits for its turn.
  @Test(arguments: [(#"{"strategy":1}"#, 1), (ownIfRefused, 2)] as [(String, UInt8)])
  func `What the connection must not bring stays`(options: String, devices: UInt8) async throws {
    let scene = try await QueueScene()
    let number = try await scene.register(1)
    if devices > 1 { _ = try await scene.register(2) }
    let push = try await scene.push(options: options)
    scene.world.clock.advance(seconds: 10)
    let queue = pausedQueue(scene)
    _ = try connect(number, scene)
    queue.queue.reached(number)
    try await pass(queue, scene)
    #expect(brought(scene, number).isEmpty && queue.queue.state.withLock { $0.open.isEmpty })
    #expect(try await scene.targets(of: push)?.pending.count == Int(devices))
  }

  /// Each for one device of Apple's and another one. What is paced is not late.
  @Test(arguments: [false, true]) func `Paced pushes stay`(isPaced: Bool) async throws {
    let scene = try await QueueScene()
    let number = try await scene.register(1)
    _ = try await scene.router.newDevice(in: scene.app)
    let push = try await scene.push(
      #"{"android":{"alert":"x"},"ios":{"alert":"x"}}"#,
      options: isPaced ? #"{"strategy":4,"big_push_duration":10}"# : Self.ownIfRefused)
    scene.world.clock.advance(seconds: 10)
    let queue = pausedQueue(scene)
    _ = try connect(number, scene)
    queue.queue.reached(number)
    try await pass(queue, scene)
    #expect(brought(scene, number) == (isPaced ? [] : [push]))
  }

  /// Its notification would wait for it in vain while Apple could bring it.
  @Test func `A device that is away again gets it from the service`() async throws {
    let scene = try await QueueScene()
    let number = try await scene.register(1)
    let push = try await scene.push(options: Self.ownIfRefused)
    scene.world.clock.advance(seconds: 10)
    let queue = pausedQueue(scene)
    let location = try connect(number, scene)
    queue.queue.reached(number)
    scene.app.directory.disconnect(number, from: location, at: 0)
    try await pass(queue, scene)
    #expect(brought(scene, number).isEmpty)
    #expect(try await scene.targets(of: push)?.pending.members() == [number])
  }

  /// Nothing is sent then, but devices may connect.
  @Test func `A queue reads its pushes while its credential is paused`() async throws {
    let scene = try await QueueScene()
    let number = try await scene.register(1)
    let other = try await scene.register(2)
    let push = try await scene.push(options: Self.ownIfRefused)
    scene.world.clock.advance(seconds: 10)
    let queue = pausedQueue(scene, isFull: false)
    try await eventually { queue.queue.state.withLock { !$0.isSpilled && !$0.isLoading } }
    _ = try connect(number, scene)
    queue.queue.reached(number)
    try await eventually { brought(scene, number) == [push] }
    #expect(brought(scene, other).isEmpty)
    #expect(queue.queue.state.withLock { $0.open[LegKey(push: push, leg: 1)]?.awaits(other) } == true)
  }
}
