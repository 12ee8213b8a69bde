import BorealisBase
import BorealisDevice
import BorealisProtocol

/// Drives a `DeviceCore` and keeps what it wants done.
struct CoreRun {
  static let server = ServerAddress(host: "push.example.com", port: 7900)
  static let appKey = AppKey(high: 0x0123_4567_89ab_cdef, low: 0x0011_2233)
  static let identity = DeviceIdentity(
    registrationID: RegistrationID(high: 0x1a2b_3c4d_5e6f_7081, low: 0x923),
    secret: DeviceSecret(high: 1, low: 2))

  var core: DeviceCore
  var now: UInt64 = 1_000_000
  var actions: [DeviceAction] = []

  init(
    identity: DeviceIdentity? = CoreRun.identity, wishes: DeviceWishes = DeviceWishes(),
    handled: RecentMessages = RecentMessages(), inHand: Set<MessageID> = [], seed: UInt64 = 1
  ) {
    core = DeviceCore(
      server: Self.server, profile: DeviceProfile(appKey: Self.appKey, platform: .android),
      fingerprint: [1, 2, 3], identity: identity, wishes: wishes, handled: handled, inHand: inHand,
      seed: seed)
  }

  /// A run in a session, with nothing kept of how it came about.
  static func loggedIn(
    heartbeat: UInt16 = 300, ackDelay: UInt16 = 1000, handled: RecentMessages = RecentMessages(),
    inHand: Set<MessageID> = [], version: UInt8 = 1
  ) -> CoreRun {
    var run = CoreRun(handled: handled, inHand: inHand)
    run.logIn(heartbeat: heartbeat, ackDelay: ackDelay, version: version)
    _ = run.drain()
    return run
  }

  mutating func logIn(heartbeat: UInt16 = 300, ackDelay: UInt16 = 1000, version: UInt8 = 1) {
    start()
    connected()
    receive(Self.helloOK(version: version) + Self.loginOK(heartbeat: heartbeat, ackDelay: ackDelay))
  }

  mutating func start() { actions += core.start(at: now) }
  mutating func stop() { actions += core.stop(at: now) }
  mutating func resume() { actions += core.resumed(at: now) }
  mutating func connected() { actions += core.connected(at: now) }
  mutating func lost() { actions += core.connectionEnded("gone", at: now) }
  mutating func receive(_ bytes: [UInt8]) { actions += core.received(bytes, at: now) }
  mutating func handle(_ id: UInt64) { actions += core.pushHandled(MessageID(id), at: now) }
  mutating func report(_ kind: ReceiptKind, _ id: UInt64) {
    actions += core.report(Receipt(kind, MessageID(id)), at: now)
  }

  mutating func submit(_ operation: Operation) -> UInt32 {
    let (sequence, more) = core.submit(operation, at: now)
    actions += more
    return sequence
  }

  /// Lets time pass, with a tick at every deadline on the way.
  mutating func wait(_ milliseconds: UInt64) {
    let end = now + milliseconds
    while let next = core.nextDeadline, next <= end {
      now = max(now, next)
      actions += core.tick(at: now)
    }
    now = end
  }

  /// Lets time pass until the next attempt starts.
  mutating func waitForAttempt() {
    let before = connects.count
    while connects.count == before, let next = core.nextDeadline { wait(next > now ? next - now : 0) }
  }

  mutating func drain() -> [DeviceAction] {
    defer { actions = [] }
    return actions
  }

  var events: [DeviceEvent] {
    actions.compactMap { if case .event(let event) = $0 { event } else { nil } }
  }

  var pushes: [UInt64] {
    delivered.map(\.messageID.rawValue)
  }

  var delivered: [DevicePush] {
    actions.compactMap { if case .deliver(let push) = $0 { push } else { nil } }
  }

  var results: [OperationResult] {
    events.compactMap { if case .operationResult(let result) = $0 { result } else { nil } }
  }

  var connects: [ServerAddress] {
    actions.compactMap { if case .connect(let address) = $0 { address } else { nil } }
  }

  var sent: [[UInt8]] {
    actions.compactMap { if case .send(let bytes) = $0 { bytes } else { nil } }
  }

  var sentTypes: [FrameType] { Wire.types(sent.flatMap { $0 }) }
  var ages: [AgedAcknowledgement] { Wire.ages(sent.flatMap { $0 }) }
  var acknowledged: [UInt64] { Wire.acknowledged(sent.flatMap { $0 }) }
}

extension CoreRun {
  static let helloOK = helloOK(version: 1)

  static func helloOK(version: UInt8) -> [UInt8] {
    Wire.bytes(
      .helloOK(
        version: version, serverTime: Timestamp(milliseconds: 1_800_000_000_000), maxFrame: 65_536))
  }

  static let registerOK = Wire.bytes(.registerOK(identity.registrationID, identity.secret))

  static func loginOK(heartbeat: UInt16 = 300, ackDelay: UInt16 = 1000) -> [UInt8] {
    Wire.bytes(
      .loginOK(
        heartbeat: heartbeat, ackDelay: ackDelay, serverTime: Timestamp(milliseconds: 0), pending: 2))
  }

  static func push(_ id: UInt64, offline: Bool = false) -> [UInt8] {
    ServerFrame.encodePush(
      messageID: MessageID(id), offline: offline,
      content: Array("{\"message\":{\"msg_content\":\"hi\"}}".utf8))
  }
}

/// Writes frames of the server and reads those of the client.
enum Wire {
  static func bytes(_ frame: ServerFrame) -> [UInt8] {
    var bytes: [UInt8] = []
    frame.encode(into: &bytes)
    return bytes
  }

  static func result(
    _ sequence: UInt32, _ code: ResultCode = .ok, _ payload: ResultPayload = .none
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    ServerFrame.encodeResult(sequence: sequence, code: code, payload: payload, into: &bytes)
    return bytes
  }

  /// The client's frames in `bytes` up to the first that is not whole; views refer to `bytes`.
  static func frames(_ bytes: [UInt8]) -> [ClientFrame] {
    var frames: [ClientFrame] = []
    var at = 0
    while case .frame(let type, let body, let end) = scanFrame(bytes.span, at: at, limit: 65_536) {
      if let frame = try? ClientFrame(type: type, body: body, in: bytes.span) { frames.append(frame) }
      at = end
    }
    return frames
  }

  static func types(_ bytes: [UInt8]) -> [FrameType] { frames(bytes).map(\.type) }

  /// What acknowledgements with ages say.
  static func ages(_ bytes: [UInt8]) -> [AgedAcknowledgement] {
    frames(bytes).flatMap { frame -> [AgedAcknowledgement] in
      guard case .acknowledgeWithAges(let list) = frame else { return [] }
      return (0..<list.count).map { list[$0, in: bytes.span] }
    }
  }

  static func acknowledged(_ bytes: [UInt8]) -> [UInt64] {
    frames(bytes).flatMap { frame -> [UInt64] in
      switch frame {
      case .acknowledge(let list): return (0..<list.count).map { list[$0, in: bytes.span].rawValue }
      case .acknowledgeWithAges(let list):
        return (0..<list.count).map { list[$0, in: bytes.span].messageID.rawValue }
      default: return []
      }
    }
  }
}
