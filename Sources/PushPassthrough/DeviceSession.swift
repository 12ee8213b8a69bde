import PushBase
import PushDomain
import PushRouter
import PushWebSocket
import PushWire

/// What a device and this server have said to each other, and what is owed to it, as a state machine without input or output: bytes,
/// time and events go in, steps come out. It knows no socket, no home and no other session; `DeviceServer` carries the steps
/// out and tells what became of them. Seconds are those of the loop's clock.
struct DeviceSession {
  enum Phase: UInt8, Sendable {
    case vacant
    /// The TLS handshake is under way.
    case handshaking
    /// Connected; HELLO is awaited.
    case greeting
    /// HELLO was answered; REGISTER or LOGIN is awaited.
    case greeted
    /// The home's answer to a REGISTER or a LOGIN is awaited.
    case waiting
    case loggedIn
    /// What is queued still leaves, nothing more is read.
    case closing
  }

  /// What is to be done about what came.
  enum Step {
    case send(ServerFrame)
    /// A control frame of the WebSocket.
    case sendControl([UInt8])
    case register(RegisterRequest)
    case logIn(LoginRequest)
    case acknowledge(AckList)
    case acknowledgeWithAges(AgedAckList)
    case note(ReceiptList)
    case perform(UInt32, Operation)
    case end(Farewell)
  }

  /// How a session ends: with a last word or none, what is kept of it, and the code for a WebSocket.
  struct Farewell {
    let word: ServerFrame?
    let end: ConnectionEnd
    var code = WebSocketCloseCode.normal
    /// The device broke the protocol's rules.
    var isFault = false
  }

  /// Nil for nearly all.
  var extras: SessionExtras?
  /// The largest message ID written to it.
  var sentThrough = MessageID(0)
  /// The largest message ID of a push accepted before the login, or before an iOS app came to the foreground: those up
  /// to it were kept for a device that was away.
  var newestWhileAway = MessageID(0)
  /// Second at which it is closed unless something arrives before.
  var deadline: UInt32 = 0
  var heartbeat: UInt16 = 0
  /// Pushes sent whose acknowledgement is not stored.
  var unsettled: UInt16 = 0
  /// Those of them that are acknowledged.
  var unstored: UInt16 = 0
  var phase = Phase.vacant
  var platform: UInt8 = 0
  /// The protocol version that it speaks.
  var version: UInt8 = 0
  var isForeground = false
  /// Contents for it are being read; live pushes wait for their turn.
  var isCatchingUp = false
  /// More waits than was sent: catch up once the queue has left and the device has acknowledged enough.
  var isBehind = false
  /// A push came that was left for later, since others were being read: there may be more than these.
  var hasMissed = false
  /// Its bytes are in WebSocket frames.
  var isWebSocket = false
  /// Was told to leave since the server stops: nothing new is sent, acknowledgements are awaited.
  var isLeaving = false

  // MARK: Bytes

  /// The largest frame that the device may send now.
  var mostFrameBytes: Int { phase == .loggedIn ? WireLimits.maxFrame : WireLimits.maxFrameBeforeLogin }

  /// What may wait for a device that does not read before it is cut off. Before its login it is owed short answers only.
  func mostQueuedBytes(_ limits: PassthroughLimits) -> Int {
    phase == .loggedIn
      ? limits.queuedBytes + 4 * WireLimits.maxFrame : 4 * WireLimits.maxFrameBeforeLogin
  }

  func malformed() -> Step { .end(refusal(.protocolError, .afterBackOff, "malformed frame")) }

  func heartbeatDeadline(from second: UInt32) -> UInt32 {
    second &+ UInt32(clamping: WireLimits.heartbeatDeadline(interval: heartbeat))
  }

  /// Takes a frame.
  mutating func take(_ frame: ClientFrame, now: @autoclosure () -> Timestamp) -> Step {
    switch (phase, frame) {
    case (.greeting, .hello(let hello)): return greet(hello, now())
    case (.greeting, _): return .end(refusal(.protocolError, .afterBackOff, "HELLO comes first"))
    case (.greeted, .register(let request)): return .register(request)
    case (.greeted, .login(let request)): return .logIn(request)
    case (.greeted, .ping), (.waiting, .ping), (.loggedIn, .ping): return .send(.pong)
    case (.loggedIn, .acknowledge(let list)): return .acknowledge(list)
    case (.loggedIn, .acknowledgeWithAges(let list)) where version >= 3: return .acknowledgeWithAges(list)
    case (.loggedIn, .receipt(let list)): return .note(list)
    case (.loggedIn, .operation(let sequence, let operation)):
      guard operation.version <= version else {
        return .end(refusal(.protocolError, .afterBackOff, "an operation of a later version"))
      }
      return .perform(sequence, operation)
    default: return .end(refusal(.protocolError, .afterBackOff, "frame out of place"))
    }
  }

  private mutating func greet(_ hello: Hello, _ now: Timestamp) -> Step {
    let known = WireLimits.versions
    let version = min(hello.maxVersion, known.upperBound)
    guard version >= hello.minVersion, known.contains(version) else {
      let message = "this server speaks versions \(known.lowerBound) to \(known.upperBound)"
      return .end(refusal(.noCommonVersion, .never, message))
    }
    phase = .greeted
    self.version = version
    return .send(.helloOK(version: version, serverTime: now, maxFrame: UInt32(WireLimits.maxFrame)))
  }

  // MARK: Login

  /// A registration was stored, or could not be (nil). Nothing is to be done if nobody waits for it any more.
  mutating func registered(_ answer: ServerFrame?) -> Step? {
    guard phase == .waiting else { return nil }
    guard let answer else {
      return .end(refusal(.busy, .afterBackOff, "registrations cannot be stored now"))
    }
    phase = .greeted
    return .send(answer)
  }

  /// The device says who it is; the home of its app is asked.
  mutating func beginLogin(_ request: LoginRequest, _ limits: PassthroughLimits) {
    phase = .waiting
    isForeground = request.appState == .foreground
    let wish = request.heartbeat == 0 ? limits.usualHeartbeat : request.heartbeat
    heartbeat = min(max(wish, limits.heartbeat.lowerBound), limits.heartbeat.upperBound)
  }

  /// The home has let the device in.
  mutating func logIn(_ login: LoggedIn, second: UInt32) {
    platform = login.platform?.rawValue ?? 0
    newestWhileAway = login.newest
    phase = .loggedIn
    deadline = heartbeatDeadline(from: second)
  }

  // MARK: The end

  /// Refuses what a device wants. What is wrong in a session ends it as a session ends.
  func refusal(_ code: ResultCode, _ reconnect: ReconnectRule, _ message: String) -> Farewell {
    let isFault = code == .protocolError
    guard phase != .loggedIn else {
      return Farewell(
        word: .goAway(.protocolError, retryAfter: 0, host: ""), end: .protocolError, isFault: isFault)
    }
    return Farewell(word: .error(code, reconnect, message: message), end: .protocolError, isFault: isFault)
  }

  /// Ends a session for a reason of ours.
  static func farewell(_ reason: CloseReason, retryAfter: UInt32 = 0) -> Farewell {
    Farewell(
      word: .goAway(reason, retryAfter: retryAfter, host: ""), end: ConnectionEnd(reason),
      code: reason == .drain ? .goingAway : .normal)
  }

  /// Takes no more frames; what is queued has some seconds to leave.
  mutating func end(at second: UInt32) {
    phase = .closing
    dropPartial()
    forgetDelivery()
    deadline = second &+ UInt32(clamping: WireLimits.loginSeconds)
  }

  /// What becomes of a session whose deadline is over; nil if it is closed without a word.
  func overdue(hasQueued: Bool) -> Farewell? {
    switch phase {
    case .greeting, .greeted, .waiting: refusal(.loginTimeout, .afterBackOff, "no login in time")
    case .loggedIn: hasQueued ? nil : Self.farewell(.heartbeatMissed)
    case .handshaking, .closing, .vacant: nil
    }
  }

  /// Whether it was told to leave and has acknowledged everything.
  var isSettled: Bool { isLeaving && unsettled == 0 && phase == .loggedIn }
}

extension ConnectionEnd {
  /// What an end for one of our own reasons is kept as.
  fileprivate init(_ reason: CloseReason) {
    self =
      switch reason {
      case .drain: .serverDrain
      case .replaced: .replacedByLogin
      case .slowReader: .tooSlow
      case .heartbeatMissed: .heartbeatLost
      case .protocolError: .protocolError
      case .loggedOut: .loggedOut
      case .registrationReplaced: .registrationReplaced
      case .appDisabled: .appDisabled
      default: .unknown
      }
  }
}
