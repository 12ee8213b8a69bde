import BorealisBase
import BorealisNet
import BorealisProtocol
import CLinux
import Cluster
import Core
import DeviceGateway
import Dispatch
import Glibc
import Model
import PushTesting
import Storage
import Synchronization
import Testing

/// Two nodes with loops and sockets, over Debian's nats-server.
@Suite(.serialized, .timeLimit(.minutes(3))) struct NATSTests {
  /// A node: one loop with device sessions on a port, and its link.
  final class Node {
    let link: NodeLink
    let port: UInt16
    private let handle: LoopHandle

    init(_ number: UInt64, _ server: NATSServer) throws {
      let cluster = try #require(ClusterName("test"))
      let settings = try BusSettings("nats://\(server.address)")
      handle = try LoopHandle(index: 0)
      let channel = PassthroughChannel(loops: [handle])
      let identity = NodeIdentity(
        cluster: cluster, incarnation: Incarnation(number), name: "n\(number)", address: "h:1", program: "1")
      link = try NodeLink(
        identity, gateway: channel, loops: 1,
        connect: { (incarnation, wake) throws(SystemThread.Failure) in
          try NATSBus(settings, cluster: cluster, incarnation: incarnation, wake: wake)
        })
      let listener = try SystemError.check(cl_listen("127.0.0.1", 0, 512, 0), "listen")
      port = UInt16(try SystemError.check(cl_local_port(listener), "getsockname"))
      let (started, home) = (DispatchSemaphore(value: 0), link.home(ofLoop: 0))
      let metrics = PassthroughMetrics(Metrics())
      try handle.start { loop throws(SystemError) in
        let server = DeviceServer(
          loop: loop, channel: channel, home: home, limits: PassthroughLimits(), peers: PeerGuard(),
          metrics: metrics, time: SystemTime())
        try loop.listen(listener) { server.accept($0) }
        started.signal()
      } failed: { _ in
        started.signal()
      }
      started.wait()
    }

    deinit {
      handle.post { $0.stop() }
      link.close()
    }
  }

  private static func push(_ text: String, with router: Router, _ app: App) async throws -> MessageID {
    let content = PushContent(variants: [
      ContentVariant(platforms: .all, message: Array(#"{"msg_content":"\#(text)"}"#.utf8))
    ])
    let request = PushRequest(
      platforms: .all, audience: .all, content: content, options: PushOptions(timeToLive: 86_400))
    return try await router.acceptance.accept(AcceptRequest(request), for: app).get().id
  }

  @Test func `Whether there is a bus is told`() throws {
    let server = try NATSServer()
    let cluster = try #require(ClusterName("test"))
    let settings = try BusSettings("nats://\(server.address)")
    let (come, gone) = (BorealisBase.Semaphore(), BorealisBase.Semaphore())
    let link = try NodeLink(
      NodeIdentity(cluster: cluster, incarnation: Incarnation(1), name: "n", address: "h:1", program: "1"),
      gateway: PassthroughChannel(loops: []), loops: 0,
      events: { event in
        switch event {
        case .bus(.connected): come.signal()
        case .bus(.disconnected): gone.signal()
        default: break
        }
      },
      connect: { (incarnation, wake) throws(SystemThread.Failure) in
        try NATSBus(settings, cluster: cluster, incarnation: incarnation, wake: wake)
      })
    defer { link.close() }
    for _ in 0..<2 {
      come.wait()
      #expect(link.status.isBusConnected)
      server.kill()
      gone.wait()
      #expect(!link.status.isBusConnected)
      try server.start()
    }
  }

  @Test func `Devices stay connected while the home changes`() async throws {
    let server = try NATSServer()
    let (first, second) = (try Node(1, server), try Node(2, server))
    let database = try TestDatabase()
    let router = Router(store: database.store, scope: .all, log: .silent)
    try router.load()
    let app = try await router.makeApp(in: database.store)
    let (id, secret, number) = try await router.newDevice(in: app)
    second.link.follow(Incarnation(1), epoch: Epoch(1))
    first.link.lead(router, epoch: Epoch(1))
    #expect(first.link.waitForSessions(of: [Incarnation(2)], atMost: 60_000_000_000))

    // At the gateway: a login, a push, an acknowledgement and an operation.
    let device = try WireDevice(port: second.port)
    try device.login(app.key, id, secret)
    let one = try await Self.push("one", with: router, app)
    #expect(try device.nextPush() == one)
    #expect(try device.setAlias("a", acknowledging: [one]) == .ok)
    // It went behind the acknowledgement, though both came in one read.
    #expect(app.directory.pendingCount(for: number) == 0)
    #expect(app.directory.registrations(alias: "a") == [number])

    // At the home: the other session ends, and is not told to stay away.
    let other = try WireDevice(port: first.port)
    try other.login(app.key, id, secret)
    #expect(try device.next() == .frame(.goAway(.drain, retryAfter: 0, host: "")))

    // The gateway becomes the home, and the home a gateway.
    first.link.follow(nil, epoch: Epoch(1))
    router.unplug()
    let next = Router(store: database.store, scope: .all, log: .silent)
    try next.load()
    second.link.lead(next, epoch: Epoch(2))
    #expect(second.link.waitForSessions(of: [Incarnation(1)], atMost: 60_000_000_000))
    let known = try #require(next.apps.loaded(app.key))
    #expect(known.directory.onlineCount == 1)
    let two = try await Self.push("two", with: next, known)
    #expect(try other.nextPush() == two)
    #expect(try other.setAlias("b", acknowledging: [two]) == .ok)
    #expect(known.directory.pendingCount(for: number) == 0)

    // The other node dies: its devices are offline.
    second.link.forget(Incarnation(1))
    #expect(known.directory.onlineCount == 0)
    next.unplug()
  }
}

/// A device on a socket.
final class WireDevice {
  enum Event: Equatable {
    case frame(ServerFrame)
    case push(MessageID)
    case end
  }

  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  private let descriptor: Int32
  private var bytes: [UInt8] = []
  private var sequence: UInt32 = 0

  init(port: UInt16) throws { descriptor = try SystemError.check(cl_connect("127.0.0.1", port), "connect") }

  deinit { _ = cl_close(descriptor) }

  private func send(_ frames: [UInt8]) throws {
    guard case .sent(frames.count) = Socket.send(descriptor, frames) else {
      throw Failed(description: "cannot write")
    }
  }

  func login(_ app: AppKey, _ id: RegistrationID, _ secret: [UInt8]) throws {
    let secret = try #require(DeviceSecret(secret))
    var frames: [UInt8] = []
    ClientFrame.hello(Hello(clientName: "test")).encode(into: &frames)
    ClientFrame.login(
      LoginRequest(appKey: app, registrationID: id, secret: secret, heartbeat: 600, appState: .foreground)
    ).encode(into: &frames)
    try send(frames)
    guard case .frame(.helloOK) = try next(), case .frame(.loginOK) = try next() else {
      throw Failed(description: "not logged in")
    }
  }

  /// Acknowledges pushes and sets the alias in one write.
  func setAlias(_ alias: String, acknowledging ids: [MessageID]) throws -> ResultCode {
    sequence += 1
    var frames: [UInt8] = []
    ClientFrame.encodeAcknowledge(ids, into: &frames)
    ClientFrame.operation(sequence: sequence, .setAlias(alias)).encode(into: &frames)
    try send(frames)
    guard case .frame(.result(sequence, let code, _)) = try next() else {
      throw Failed(description: "no result")
    }
    return code
  }

  func nextPush() throws -> MessageID {
    let event = try next()
    guard case .push(let id) = event else { throw Failed(description: "\(event) instead of a push") }
    return id
  }

  func next() throws -> Event {
    while true {
      switch scanFrame(bytes.span, at: 0, limit: WireLimits.maxFrame) {
      case .frame(let type, let body, let end):
        let frame = try ServerFrame(type: type, body: body, in: bytes.span)
        var event = Event.frame(frame)
        if case .push(let view) = frame { event = .push(view.messageID) }
        bytes.removeFirst(end)
        return event
      case .invalid(let error): throw Failed(description: "malformed: \(error)")
      case .needMore:
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&wanted, 1, 60_000) == 1 else { throw Failed(description: "nothing comes") }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        guard let count = try Socket.read(descriptor, into: &buffer) else { continue }
        guard count > 0 else { return .end }
        bytes += buffer[..<count]
      }
    }
  }
}
