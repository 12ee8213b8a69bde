import BorealisBase
import BorealisNet
import BorealisProtocol
import CLinux
import Core
import Glibc

/// A device for tests that waits in poll(2), speaking the protocol by BorealisProtocol, over TCP or TLS.
final class TestDevice {
  /// A push as it arrived.
  struct Arrived: Equatable {
    let id: MessageID
    let isOffline: Bool
    let content: String
  }

  /// A frame that owns its bytes.
  enum Event: Equatable {
    case frame(ServerFrame)
    case push(Arrived)
    case end
  }

  struct Identity {
    let id: RegistrationID
    let secret: DeviceSecret
  }

  private let descriptor: Int32
  private let tls: TLSSession?
  private var bytes: [UInt8] = []
  private var position = 0
  /// Takes WebSocket frames apart, nil on a plain connection.
  private var unwrapper: WebSocketUnwrapper?

  /// A device over WebSocket.
  static func overWebSocket(_ server: TestServer) throws -> TestDevice {
    let device = try TestDevice(port: server.webSocketPort)
    device.unwrapper = WebSocketUnwrapper()
    return device
  }

  /// The codes of the Close frames that came, and the contents of the Pongs.
  var closes: [UInt16] { unwrapper?.closes ?? [] }
  var pongs: [[UInt8]] { unwrapper?.pongs ?? [] }

  init(port: UInt16, tls context: TLSContext? = nil, resuming: [UInt8]? = nil) throws {
    descriptor = try SystemError.check(cl_connect("127.0.0.1", port), "connect")
    tls = try context.map { [descriptor] context in
      try TLSSession(context: context, fd: descriptor, peerName: "localhost", resuming: resuming)
    }
    guard let tls else { return }
    handshake: while true {
      switch tls.handshake() {
      case .done: break handshake
      case .wantRead: try wait(POLLIN)
      case .wantWrite: try wait(POLLOUT)
      case .failed(let reason): throw TestServer.Failed(reason)
      }
    }
  }

  deinit { _ = cl_close(descriptor) }

  var isResumed: Bool { tls?.isResumed ?? false }
  func exportSession() -> [UInt8]? { tls?.exportSession() }

  // MARK: Bytes

  private func wait(_ events: Int32) throws {
    var wanted = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    guard poll(&wanted, 1, 20_000) == 1 else { throw TestServer.Failed("nothing happens on the socket") }
  }

  func write(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = Array(rest)
      let count: Int
      if let tls {
        switch part.withUnsafeBytes({ tls.write($0) }) {
        case .bytes(let written): count = written
        case .wantWrite, .wantRead: count = 0
        case .closed, .failed: throw TestServer.Failed("cannot write")
        }
      } else {
        switch Socket.send(descriptor, part) {
        case .sent(let sent): count = sent
        case .wouldBlock: count = 0
        case .failed: throw TestServer.Failed("cannot write")
        }
      }
      if count == 0 { try wait(POLLOUT) }
      rest = rest.dropFirst(count)
    }
  }

  func shutDownWriting() { _ = cl_shutdown_write(descriptor) }

  /// Sends what the kernel takes now and says how much that was; -1 when the connection is gone.
  func writeSome(_ bytes: [UInt8]) -> Int {
    switch Socket.send(descriptor, bytes) {
    case .sent(let count): count
    case .wouldBlock: 0
    case .failed: -1
    }
  }

  /// Reads more; false at the end of the connection.
  private func fill() throws -> Bool {
    bytes.removeFirst(position)
    position = 0
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count: Int?
      if let tls {
        switch buffer.withUnsafeMutableBytes({ tls.read(into: $0) }) {
        case .bytes(let read): count = read
        case .wantRead, .wantWrite: count = nil
        case .closed, .failed: count = 0
        }
      } else {
        count = try? Socket.read(descriptor, into: &buffer) ?? -1
      }
      switch count {
      case nil where tls == nil: return false
      case nil, -1: try wait(POLLIN)
      case 0: return false
      case let count?:
        bytes += unwrapper?.unwrap(Array(buffer[..<count])) ?? Array(buffer[..<count])
        return true
      }
    }
  }

  /// The next frame, or the end.
  func next() throws -> Event {
    while true {
      switch scanFrame(bytes.span, at: position, limit: WireLimits.maxFrame) {
      case .frame(let type, let body, let end):
        let frame = try ServerFrame(type: type, body: body, in: bytes.span)
        position = end
        if case .push(let view) = frame {
          return .push(
            Arrived(
              id: view.messageID, isOffline: view.isOffline,
              content: String(decoding: bytes[view.content], as: UTF8.self)))
        }
        return .frame(frame)
      case .needMore:
        guard try fill() else { return .end }
      case .invalid(let error): throw TestServer.Failed("malformed: \(error)")
      }
    }
  }

  // MARK: Frames

  func send(_ frames: ClientFrame...) throws { try send(frames) }

  func send(_ frames: [ClientFrame]) throws {
    var bytes: [UInt8] = []
    for frame in frames { frame.encode(into: &bytes) }
    try say(bytes)
  }

  func acknowledge(_ ids: [MessageID]) throws {
    var bytes: [UInt8] = []
    ClientFrame.encodeAcknowledge(ids, into: &bytes)
    try say(bytes)
  }

  func acknowledge(_ aged: [AgedAcknowledgement]) throws {
    var bytes: [UInt8] = []
    ClientFrame.encodeAcknowledge(aged, into: &bytes)
    try say(bytes)
  }

  func report(_ receipts: [Receipt]) throws {
    var bytes: [UInt8] = []
    ClientFrame.encodeReceipt(receipts, into: &bytes)
    try say(bytes)
  }

  /// Sends frames as the connection wants them: over WebSocket in one message.
  private func say(_ frames: [UInt8]) throws {
    try write(unwrapper == nil ? frames : WebSocketUnwrapper.masked(0x82, frames))
  }

  static let hello = ClientFrame.hello(Hello(clientName: "test"))

  func register(
    _ app: AppKey, platform: Platform = .android, fingerprint: [UInt8] = SystemRandom.bytes(16),
    token: DeviceToken = DeviceToken(.none, [])
  ) throws -> Identity {
    try send(
      Self.hello,
      .register(
        RegisterRequest(
          appKey: app, platform: platform, fingerprint: fingerprint, token: token, appVersion: "1.0")))
    guard case .frame(.helloOK) = try next(), case .frame(.registerOK(let id, let secret)) = try next() else {
      throw TestServer.Failed("not registered")
    }
    return Identity(id: id, secret: secret)
  }

  func login(
    _ app: AppKey, _ identity: Identity, heartbeat: UInt16 = 600, state: AppState = .foreground
  ) throws {
    try send(
      .login(
        LoginRequest(
          appKey: app, registrationID: identity.id, secret: identity.secret, heartbeat: heartbeat,
          appState: state)))
  }

  /// The frame that answers a login.
  func expectLogin() throws -> UInt32 {
    guard case .frame(.loginOK(_, _, _, let pending)) = try next() else {
      throw TestServer.Failed("not logged in")
    }
    return pending
  }

  /// Waits for a turn of the server's.
  func ping() throws {
    try send(.ping)
    guard try next() == .frame(.pong) else { throw TestServer.Failed("no PONG") }
  }

  /// Carries an operation out and gives its result; other frames in between are an error.
  func perform(_ operation: Operation, sequence: UInt32 = 1) throws -> (ResultCode, ResultPayload) {
    try send(.operation(sequence: sequence, operation))
    guard case .frame(.result(sequence, let code, let payload)) = try next() else {
      throw TestServer.Failed("no result")
    }
    return (code, try ResultPayload(payload, answering: operation.type, code: code))
  }

  /// The next `count` pushes; other frames in between are an error.
  func pushes(_ count: Int) throws -> [Arrived] {
    try (0..<count).map { _ in
      guard case .push(let push) = try next() else { throw TestServer.Failed("not a push") }
      return push
    }
  }
}

extension TestServer {
  /// A new device, logged in.
  func device(
    platform: Platform = .android, fingerprint: [UInt8] = SystemRandom.bytes(16),
    state: AppState = .foreground,
    tls: TLSContext? = nil
  ) throws -> (TestDevice, TestDevice.Identity) {
    let device = try TestDevice(port: port, tls: tls)
    let identity = try device.register(app.key, platform: platform, fingerprint: fingerprint)
    try device.login(app.key, identity, state: state)
    _ = try device.expectLogin()
    return (device, identity)
  }

  /// A known device on a new connection.
  func back(_ identity: TestDevice.Identity, state: AppState = .foreground) throws -> TestDevice {
    let device = try TestDevice(port: port)
    try device.send(TestDevice.hello)
    try device.login(app.key, identity, state: state)
    guard case .frame(.helloOK) = try device.next() else { throw Failed("no HELLO_OK") }
    _ = try device.expectLogin()
    return device
  }
}
