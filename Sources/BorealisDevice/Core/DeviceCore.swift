import BorealisBase
import BorealisProtocol

/// The device's side of the protocol as a state machine without I/O, clock or randomness of its own. The
/// caller passes in events with a monotonic time in milliseconds and carries out the returned actions. It
/// never requests more than one connection at a time.
///
/// A session is one machine: operations, receipts, keys and held pushes are
/// types of their own, and each event has to change several of them together.
public struct DeviceCore: Sendable {
  enum Phase: Equatable {
    /// No connection is wanted; operations fail with this code.
    case stopped(ResultCode)
    /// The next attempt starts at this time.
    case waiting(until: UInt64)
    case connecting
    /// HELLO was sent; `knowsVersion` after HELLO_OK, `registering` until REGISTER_OK.
    case greeting(knowsVersion: Bool, registering: Bool)
    case session
    /// GO_AWAY 1 was received: pushes may follow until the server closes.
    case draining(retryAfter: UInt32)
  }

  /// Milliseconds from the start of an attempt to LOGIN_OK.
  public static let loginTime: UInt64 = 10_000
  /// Milliseconds to wait for anything after a PING.
  public static let pongTime: UInt64 = 10_000
  /// Milliseconds after which an operation without a response ends with 6002.
  public static let operationTime: UInt64 = 10_000
  /// Milliseconds that a draining server gets to close.
  public static let drainTime: UInt64 = 30_000
  /// The most operations that may wait for their results.
  public static let mostOperations = 1024
  /// The most receipts kept while there is no session; the oldest are dropped first.
  public static let mostReceipts = 256

  let server: ServerAddress
  let fingerprint: [UInt8]
  var profile: DeviceProfile
  var phase = Phase.stopped(.stopped)
  var actions: [DeviceAction] = []

  /// The registration, once there is one.
  public internal(set) var identity: DeviceIdentity?
  /// Pushes that were handled, to detect duplicates.
  public internal(set) var handled: RecentMessages
  /// Pushes that the app has got, but has not handled yet, with their arrival time.
  var inHand: [MessageID: UInt64] = [:]
  /// Since when the clock has run without a pause: it stops while the process is stopped.
  var clockSince: UInt64 = 0
  /// Pushes in hand whose acknowledgements must not wait, with the server's time, in milliseconds, from which
  /// on another channel brings their notification.
  var urgent: [MessageID: Int64] = [:]
  /// Milliseconds on a clock that goes on while the process is stopped or the machine suspended; the caller
  /// sets it before it passes bytes in.
  public var steady: UInt64 = 0
  /// That clock when HELLO was sent, and how much the server's time may be ahead of it.
  var helloSent: UInt64 = 0
  var serverAhead: Int64?
  /// Pushes that an earlier run had in hand when it ended, until they are handled.
  var inHandEarlier: Set<MessageID>
  /// Alias and tags to set again after a new registration.
  public internal(set) var wishes: DeviceWishes
  /// The tokens, besides the ordinary one in REGISTER, that the app has reported in this run.
  var otherTokens: [APNsTokenSlot: DeviceToken] = [:]
  /// The tokens of channels that the app told, in the order in which it did.
  var channelTokens: [ReportedToken] = []
  /// Whether they were sent for the current registration.
  var knowsOtherTokens = true
  /// The operations that set up a new registration like the old one.
  var restoration = Restoration()

  /// The facts that the server asks for in this session.
  var wantedFacts: DeviceFactSet = []
  /// What the server knows of the current registration from this run.
  var knownFacts: [DeviceFact: String] = [:]
  /// The report of facts that is under way, and when it is sent again.
  var factReport = Restoration()

  var backOff: BackOff
  var nextServer: ServerAddress?
  var input: [UInt8] = []
  var attemptSince: UInt64 = 0
  var sessionSince: UInt64?
  var drainSince: UInt64 = 0
  var heartbeat: UInt64 = 0
  var ackDelay: UInt64 = 0
  /// The protocol version of the connection.
  var version = WireLimits.versions.lowerBound
  var sendLimit = WireLimits.maxFrame
  var lastSent: UInt64 = 0
  var lastReceived: UInt64 = 0
  var pongDue: UInt64?
  var isPaused = false
  /// Pushes to acknowledge, with their arrival time; nil if that is unknown.
  var acks: [(id: MessageID, came: UInt64?)] = []
  var ackDue: UInt64?
  var operations: [PendingOperation] = []
  var receipts: [Receipt] = []
  var sequence: UInt32 = 0

  /// Makes a machine that is not started. `fingerprint` is stored already: 1 to 64 bytes; the rest was stored
  /// by an earlier run. The same seed gives the same waits.
  public init(
    server: ServerAddress, profile: DeviceProfile, fingerprint: [UInt8], identity: DeviceIdentity? = nil,
    wishes: DeviceWishes = DeviceWishes(), handled: RecentMessages = RecentMessages(),
    inHand: Set<MessageID> = [], seed: UInt64
  ) {
    self.server = server
    self.profile = profile
    self.fingerprint = fingerprint
    self.identity = identity
    if !profile.appVersion.isEmpty { self.profile.facts[.appVersion] = profile.appVersion }
    self.wishes = wishes
    self.handled = handled
    inHandEarlier = inHand
    backOff = BackOff(seed: seed)
  }

  /// How many pushes the app has got and not handled yet.
  public var inHandCount: Int { inHand.count }

  /// Whether operations are sent immediately.
  public var isLoggedIn: Bool { phase == .session }

  /// Failures since the last session of a minute or more.
  public var backOffFailures: Int { backOff.failures }

  mutating func drainActions() -> [DeviceAction] {
    defer { actions = [] }
    return actions
  }
}

// MARK: - Connections
extension DeviceCore {
  /// Connects, unless that is in progress.
  public mutating func start(at now: UInt64) -> [DeviceAction] {
    if case .stopped = phase { connect(at: now) }
    return drainActions()
  }

  /// Ends the session and every wait; operations end with 6012. `start` starts again.
  public mutating func stop(at now: UInt64) -> [DeviceAction] {
    if case .stopped = phase { return [] }
    flushAcks(at: now)
    end(.stopped, .never, at: now)
    return drainActions()
  }

  /// The network has changed: does not wait any longer, and asks with a PING whether a session's connection
  /// still works.
  public mutating func networkChanged(at now: UInt64) -> [DeviceAction] {
    switch phase {
    case .waiting: connect(at: now)
    case .session: ping(at: now)
    default: break
    }
    return drainActions()
  }

  /// The requested connection is ready (with its TLS session, if any).
  public mutating func connected(at now: UInt64) -> [DeviceAction] {
    guard phase == .connecting else { return [] }
    phase = .greeting(knowsVersion: false, registering: identity == nil)
    helloSent = steady
    var bytes: [UInt8] = []
    ClientFrame.hello(Hello(clientName: Self.clipped(profile.clientName))).encode(into: &bytes)
    if let identity {
      ClientFrame.login(login(identity)).encode(into: &bytes)
    } else {
      let request = RegisterRequest(
        appKey: profile.appKey, platform: profile.platform, fingerprint: fingerprint, token: profile.token,
        appVersion: Self.clipped(profile.appVersion))
      ClientFrame.register(request).encode(into: &bytes)
    }
    send(bytes, at: now)
    return drainActions()
  }

  /// The connection could not be made, or the peer has ended it; the text, for people, has details.
  public mutating func connectionEnded(_ why: String, at now: UInt64) -> [DeviceAction] {
    switch phase {
    case .stopped, .waiting: break
    case .connecting: end(.connectFailed(why), .afterBackOff, isOpen: false, at: now)
    case .greeting, .session:
      end(.connectionLost(why), .afterBackOff, isOpen: false, at: now)
    case .draining(let retryAfter):
      end(.goAway(.drain), .atOnce, retryAfter: retryAfter, isOpen: false, at: now)
    }
    return drainActions()
  }

  /// A registration could not be stored, or these pushes could not be recorded: the app does not have them,
  /// and the server must send them again.
  public mutating func storageFailed(notStored ids: [MessageID] = [], at now: UInt64) -> [DeviceAction] {
    for id in ids {
      inHand[id] = nil
      urgent[id] = nil
    }
    switch phase {
    case .greeting:
      // The server has issued a registration that cannot be stored; a later REGISTER replaces it.
      identity = nil
      end(.storageFailed, .afterBackOff, at: now)
    case .session, .draining: end(.storageFailed, .afterBackOff, at: now)
    default: break
    }
    return drainActions()
  }

  /// As much of a text as fits its field.
  private static func clipped(_ text: String) -> String {
    var clipped = text
    while clipped.utf8.count > WireLimits.maxCounted { clipped.removeLast() }
    return clipped
  }

  func login(_ identity: DeviceIdentity) -> LoginRequest {
    LoginRequest(
      appKey: profile.appKey, registrationID: identity.registrationID, secret: identity.secret,
      heartbeat: profile.heartbeat, appState: profile.appState)
  }

  mutating func connect(at now: UInt64) {
    phase = .connecting
    attemptSince = now
    actions.append(.connect(nextServer ?? server))
    nextServer = nil
  }

  mutating func send(_ bytes: [UInt8], at now: UInt64) {
    guard !bytes.isEmpty else { return }
    lastSent = now
    actions.append(.send(bytes))
  }

  /// Ends the connection, if there is one, and decides what follows. `isOpen` says whether to close it;
  /// waiting operations end with `code` when nothing follows.
  mutating func end(
    _ reason: DisconnectReason, _ rule: ReconnectRule, retryAfter: UInt32 = 0, isOpen: Bool? = nil,
    failing code: ResultCode = .stopped, at now: UInt64
  ) {
    var (reason, rule) = (reason, rule)
    if operations.contains(where: { $0.operation == .logout }) {
      // There is nothing left for the server to end.
      finish(.ok) { $0 == .logout }
      if rule != .never { (reason, rule) = (.stopped, .never) }
    }
    var wasOpen = true
    if case .waiting = phase { wasOpen = false }
    if isOpen ?? wasOpen { actions.append(.close) }
    if let sessionSince, now >= sessionSince + BackOff.successAfter { backOff.succeeded() }
    sessionSince = nil
    input = []
    acks = []
    ackDue = nil
    pongDue = nil
    // The pause ends with the connection, and nobody else says so.
    isPaused = false
    operations.removeAll {
      restoration.inFlight.contains($0.sequence) || factReport.inFlight.contains($0.sequence)
    }
    (restoration, factReport, wantedFacts) = (Restoration(), Restoration(), [])
    for index in operations.indices { operations[index].isSent = false }
    let wait: UInt64? =
      switch rule {
      case .never: nil
      case .afterBackOff: backOff.afterFailure(retryAfter: retryAfter)
      case .atOnce: backOff.atOnce(retryAfter: retryAfter)
      }
    actions.append(.event(.disconnected(reason, retryIn: wait)))
    if let wait {
      phase = .waiting(until: now &+ wait)
    } else {
      phase = .stopped(code)
      finish(code) { _ in true }
    }
  }
}
