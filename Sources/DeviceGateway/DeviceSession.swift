import BorealisBase
import BorealisProtocol
import Core
import HTTP
import Model

/// The protocol session of a device as a state machine without I/O: bytes, time and events go in, steps come
/// out. It knows no socket, no home and no other session; `DeviceServer` carries out the steps and reports
/// their results. Seconds are those of the loop's clock.
struct DeviceSession {
  enum Phase: UInt8, Sendable {
    case vacant
    /// The TLS handshake is in progress.
    case handshaking
    /// Connected; HELLO is awaited.
    case greeting
    /// HELLO was answered; REGISTER or LOGIN is awaited.
    case greeted
    /// The home's answer to a REGISTER or a LOGIN is awaited.
    case waiting
    case loggedIn
    /// The queue is still sent, nothing more is read.
    case closing
  }

  /// What its bytes are.
  enum Form: UInt8, Sendable {
    /// Frames of the device protocol.
    case plain
    /// The same in WebSocket messages.
    case webSocket
    /// Text messages of a WebSocket, of the autopush protocol.
    case autopush
  }

  /// Nil for nearly all.
  var extras: SessionExtras?
  /// The largest message ID written to it.
  var sentThrough = MessageID(0)
  /// The largest message ID of a push accepted before the login, or before an iOS app came to the foreground:
  /// pushes up to it were stored for an offline device.
  var newestWhileAway = MessageID(0)
  /// Second at which it is closed unless something arrives before.
  var deadline: UInt32 = 0
  var heartbeat: UInt16 = 0
  /// Pushes sent whose acknowledgement is not stored.
  var unsettled: UInt16 = 0
  /// Those of them that are acknowledged already.
  var unstored: UInt16 = 0
  var phase = Phase.vacant
  var platform: UInt8 = 0
  /// The protocol version that it speaks.
  var version: UInt8 = 0
  var isForeground = false
  /// Stored pushes are being read for it; live pushes wait for their turn.
  var isCatchingUp = false
  /// More pushes wait than were sent: catch up once the queue has been sent and the device has acknowledged
  /// enough.
  var isBehind = false
  /// A push arrived while others were being read and was left for later: there may be more than these.
  var hasMissed = false
  var form = Form.plain
  /// It is draining since the server stops: nothing new is sent, acknowledgements are awaited.
  var isLeaving = false

  // MARK: Bytes

  /// Whether its bytes are in WebSocket frames.
  var isWebSocket: Bool { form != .plain }
  /// Whether it is a browser's.
  var isAutopush: Bool { form == .autopush }

  /// The largest frame that the device may send now.
  var mostFrameBytes: Int { phase == .loggedIn ? WireLimits.maxFrame : WireLimits.maxFrameBeforeLogin }

  /// Bytes that may be queued for a device that does not read before it is disconnected. Before its login it
  /// gets short answers only.
  func mostQueuedBytes(_ limits: PassthroughLimits) -> Int {
    phase == .loggedIn
      ? limits.queuedBytes + 4 * WireLimits.maxFrame : 4 * WireLimits.maxFrameBeforeLogin
  }

  func malformed() -> SessionStep { .end(refusal(.protocolError, .afterBackOff, "malformed frame")) }

  func heartbeatDeadline(from second: UInt32) -> UInt32 {
    second &+ UInt32(clamping: WireLimits.heartbeatDeadline(interval: heartbeat))
  }

  /// Handles a frame.
  mutating func handle(_ frame: ClientFrame, now: @autoclosure () -> Timestamp) -> SessionStep {
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

  private mutating func greet(_ hello: Hello, _ now: Timestamp) -> SessionStep {
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

  /// A registration was stored, or could not be (nil). Does nothing if the session no longer waits for it.
  mutating func registered(_ answer: ServerFrame?) -> SessionStep? {
    guard phase == .waiting else { return nil }
    phase = .greeted
    guard let answer else {
      return .end(refusal(.busy, .afterBackOff, "registrations cannot be stored now"))
    }
    return .send(answer)
  }

  /// The device logs in; asks the home of its app.
  mutating func beginLogin(_ request: LoginRequest, _ limits: PassthroughLimits) {
    phase = .waiting
    isForeground = request.appState == .foreground
    let wish = request.heartbeat == 0 ? limits.usualHeartbeat : request.heartbeat
    heartbeat = min(max(wish, limits.heartbeat.lowerBound), limits.heartbeat.upperBound)
  }

  /// The home has accepted the login.
  mutating func logIn(_ login: LoggedIn, second: UInt32) {
    platform = login.platform?.rawValue ?? 0
    newestWhileAway = login.newest
    phase = .loggedIn
    deadline = heartbeatDeadline(from: second)
  }

  // MARK: The end

  /// Refuses a connection with ERROR; after LOGIN_OK, ends the session instead.
  func refusal(_ code: ResultCode, _ reconnect: ReconnectRule, _ message: String) -> SessionFarewell {
    let isFault = code == .protocolError
    guard phase != .loggedIn else {
      return SessionFarewell(
        word: .goAway(.protocolError, retryAfter: 0, host: ""), end: .protocolError, isFault: isFault)
    }
    return SessionFarewell(
      word: .error(code, reconnect, message: message), end: .protocolError, isFault: isFault)
  }

  /// Ends a session for a reason of the server.
  static func farewell(_ reason: CloseReason, retryAfter: UInt32 = 0) -> SessionFarewell {
    SessionFarewell(
      word: .goAway(reason, retryAfter: retryAfter, host: ""), end: ConnectionEnd(reason),
      code: reason == .drain ? .goingAway : .normal)
  }

  /// Accepts no more frames; the queue has some seconds to be sent.
  mutating func end(at second: UInt32) {
    phase = .closing
    dropPartial()
    forgetDelivery()
    deadline = second &+ UInt32(clamping: WireLimits.loginSeconds)
  }

  /// How a session ends whose deadline has passed; nil if it is closed without a frame.
  func overdue(hasQueued: Bool) -> SessionFarewell? {
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
  /// The recorded reason of an end by the server.
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
