import BorealisBase
import BorealisCrypto
import BorealisNet
import BorealisProtocol
import CLinux
import Core
import DeviceGateway
import Dispatch
import Glibc
import Model
import PushTesting
import Storage
import Synchronization

/// The real store, router and two loops with device sessions on a port of their own; everything but HTTP.
final class TestServer: Sendable {
  struct Failed: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  private let database: TestDatabase
  var store: Store { database.store }
  let router: Router
  let app: App
  let port: UInt16
  /// Where connections are WebSockets from their first byte: the handshake is the HTTP side's.
  let webSocketPort: UInt16
  let metrics = Metrics()
  let handles: [LoopHandle]
  private let servers = Servers()

  init(
    limits: PassthroughLimits = PassthroughLimits(), peers: PeerGuard = PeerGuard(), tls: TLSContext? = nil,
    loops: Int = 2, mailCapacity: Int = 1 << 16, clock: ManualClock? = nil, handshake: String = "101\n",
    servesBrowsers: Bool = false,
    home wrap: (LocalHome, PassthroughChannel) -> any AppHome = { home, _ in home }
  ) throws {
    database = try TestDatabase()
    let key = try Self.makeApp(in: database.store)
    let router = Router(store: database.store, scope: .all, log: .silent)
    try router.load()
    guard let app = router.apps.loaded(key) else { throw Failed("no app") }
    (self.router, self.app) = (router, app)
    handles = try (0..<loops).map { index in
      guard let clock else { return try LoopHandle(index: index) }
      return try LoopHandle(index: index, clock: { clock.monotonic() })
    }
    let channel = PassthroughChannel(loops: handles, capacity: mailCapacity)
    router.add(channel)
    let home = wrap(LocalHome(router), channel)
    let shared = PassthroughMetrics(metrics)
    let first = try SystemError.check(cl_listen("127.0.0.1", 0, 512, 1), "listen")
    port = UInt16(try SystemError.check(cl_local_port(first), "getsockname"))
    let webListener = try SystemError.check(cl_listen("127.0.0.1", 0, 512, 0), "listen")
    webSocketPort = UInt16(try SystemError.check(cl_local_port(webListener), "getsockname"))
    for handle in handles {
      let listener =
        handle.index == 0 ? first : try SystemError.check(cl_listen("127.0.0.1", port, 512, 1), "listen")
      let started = DispatchSemaphore(value: 0)
      try handle.start { [servers] loop throws(SystemError) in
        let server = DeviceServer(
          loop: loop, channel: channel, home: home, limits: limits, peers: peers,
          metrics: shared,
          time: SystemTime())
        try loop.listen(listener) { server.accept($0, tls: tls) }
        let autopush = servesBrowsers ? AutopushOptions(app: key, origin: "http://test") : nil
        if handle.index == 0 {
          try loop.listen(webListener) { Self.adopt($0, loop, server, handshake, autopush) }
        }
        let bound = LoopBound(value: server)
        servers.all.withLock { $0[handle.index] = bound }
        started.signal()
      } failed: { _ in
        started.signal()
      }
      started.wait()
    }
  }

  private static func adopt(
    _ descriptor: Int32, _ loop: EventLoop, _ server: DeviceServer, _ handshake: String,
    _ autopush: AutopushOptions?
  ) {
    let network = PeerNetwork(of: descriptor)
    let anyone = ConnectionToken(driver: 199, generation: 0, slot: 0)
    guard server.admit(network), var connection = try? Connection(accepted: descriptor),
      connection.watch(anyone, on: loop)
    else {
      loop.discard(descriptor)
      return
    }
    connection.append { $0 += Array(handshake.utf8) }
    server.adopt(MovingConnection(connection, unread: []), from: network, autopush: autopush)
  }

  /// Lets the loops stand still while something is done.
  func whileStalled(_ body: () throws -> Void) rethrows {
    let gate = DispatchSemaphore(value: 0)
    for handle in handles { handle.post { _ in gate.wait() } }
    defer { for _ in handles { gate.signal() } }
    try body()
  }

  deinit {
    for handle in handles { handle.post { $0.stop() } }
  }

  /// Waits for what comes on another thread.
  static func wait<Value: Sendable>(
    _ start: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
  ) throws -> Value {
    let done = DispatchSemaphore(value: 0)
    let box = Mutex<Result<Value, any Error>?>(nil)
    start { result in
      box.withLock { $0 = result }
      done.signal()
    }
    guard done.wait(timeout: .now() + 20) == .success, let result = box.withLock({ $0 }) else {
      throw Failed("no answer in 20 s")
    }
    return try result.get()
  }

  /// Pushes a message and waits until it is committed.
  @discardableResult
  func push(
    _ text: String, to audience: Audience, timeToLive: Int = 86_400, overrides: MessageID? = nil
  ) throws -> MessageID {
    let content = PushContent(variants: [
      ContentVariant(platforms: .all, message: Array(#"{"msg_content":"\#(text)"}"#.utf8))
    ])
    return try push(content, to: audience, timeToLive: timeToLive, overrides: overrides)
  }

  func push(
    _ content: PushContent, to audience: Audience, timeToLive: Int = 86_400, overrides: MessageID? = nil
  ) throws -> MessageID {
    try Self.wait { done in
      router.acceptance.accept(
        AcceptRequest(
          PushRequest(
            platforms: .all, audience: audience, content: content,
            options: PushOptions(timeToLive: timeToLive, overrideMessageID: overrides))), for: app
      ) { done($0.map(\.id).mapError { Failed("\($0)") }) }
    }
  }

  /// Adds an app of the standard account; gives its key.
  func addApp() throws -> AppKey { try Self.makeApp(in: database.store) }

  private static func makeApp(in store: Store) throws -> AppKey {
    let key = AppKey.random()
    _ = try wait { done in
      store.write { transaction throws(StorageError) in
        try transaction.apps.create(
          key: key, name: "test", secretHash: [UInt8](repeating: 7, count: 32),
          at: Timestamp(milliseconds: 0))
      } completion: {
        done($0.mapError { $0 as any Error })
      }
    }
    return key
  }

  /// Runs on every loop's device sessions and waits for it.
  func onEachServer(_ work: @escaping @Sendable (DeviceServer) -> Void) {
    for handle in handles {
      let done = DispatchSemaphore(value: 0)
      handle.post { [servers] _ in
        if let server = servers.all.withLock({ $0[handle.index] }) { work(server.value) }
        done.signal()
      }
      done.wait()
    }
  }

  /// Stops the loops, as SIGSTOP would, while something is done.
  func whileStopped(_ work: () throws -> Void) rethrows {
    let (stopped, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    for handle in handles {
      handle.post { _ in
        stopped.signal()
        goOn.wait()
      }
    }
    for _ in handles { stopped.wait() }
    defer { for _ in handles { goOn.signal() } }
    try work()
  }

  /// Lets seconds go by one after the other, with a look at the sockets and a tick in each.
  func pass(seconds: Int, on clock: ManualClock) {
    for _ in 0..<seconds {
      clock.advance(seconds: 1)
      // The time is read in the first turn, the tick comes in the second.
      for _ in 0..<3 { onEachServer { _ in } }
    }
  }

  /// How many messages still wait for a registration.
  func waiting(for id: RegistrationID) -> [MessageID] {
    guard let number = app.directory.find(id) else { return [] }
    return app.directory.pending(
      for: number, after: MessageID(0), at: UInt32(clamping: SystemTime().now().seconds), limit: 100_000
    ).ids
  }
}

/// The servers by loop.
private final class Servers: Sendable {
  let all = Mutex<[Int: LoopBound]>([:])
}

/// Carries a loop's server to later work on the same loop.
struct LoopBound: @unchecked Sendable {
  // Only read by work that runs on the loop that made it.
  let value: DeviceServer
}
